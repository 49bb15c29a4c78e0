"""The experiments of this session, and bounded caches of what is computed of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from fairfl_core.budget import Budget, within
from fairfl_core.data import experiments
from fairfl_core.data.experiments import Experiment
from fairfl_core.report import text
from pages.shared import own_data
from pages.shared.view import Catalogue, View

SECONDS, MEGABYTES = 60, 2_000  # for one result: a solution, a map, an evaluation
LARGER_WORK = "use the command line or Python, where work may take as long as it needs"

P = ParamSpec("P")
T = TypeVar("T")


def cached(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function of an experiment: for everybody if it is bundled, else with the set.

    The first argument tells the experiment: its name, a view, or something that has a view. All
    arguments must be hashable; at most `most` results are kept. Each is made within a budget.
    """

    def around(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def make(*arguments: P.args, **named: P.kwargs) -> T:
            with within(budget()):
                return function(*arguments, **named)

        everybody = st.cache_resource(
            max_entries=most, show_spinner=False, hash_funcs={View: repr, tuple: repr}
        )(make)

        @wraps(function)
        def result(*arguments: P.args, **named: P.kwargs) -> T:
            name = _experiment(arguments[0])
            if not own_data.is_own(name):
                shared: T = everybody(*arguments, **named)
                return shared
            own: T = own_data.find(name).cached(make)(*arguments, **named)
            return own

        return result

    return around


def budget(seconds: float = SECONDS) -> Budget:
    """What one result may take of the machine that all visitors share."""
    return Budget(seconds, MEGABYTES, LARGER_WORK, on_look=_end_if_nobody_waits)


def _end_if_nobody_waits() -> None:
    """End the script of a visitor who has left: every access to the state is a place where it may end."""
    st.session_state.get("visitor")


def _experiment(first: Any) -> str:
    if isinstance(first, str):
        return first
    return _experiment(first.view) if hasattr(first, "view") else str(first.experiment)


def catalogue() -> Catalogue:
    """What this visitor can choose; their own set stands first."""
    held, everybodys = own_data.current(), bundled()
    return (
        everybodys if held is None else replace(everybodys, names=(held.name, *everybodys.names))
    )


def bundled() -> Catalogue:
    """What everybody can choose."""
    companions = _companions()
    return Catalogue(tuple(companions), experiment_of, companions.get)


@st.cache_resource(ttl=60, show_spinner=False)  # a new experiment is seen a minute later
def _companions() -> dict[str, str | None]:
    """Every bundled experiment, with its cross-fitted companion."""
    return {name: experiments.cross_fitted_of(name) for name in experiments.list_experiments()}


def experiment_of(name: str) -> Experiment:
    """An experiment; or the visitor's own set."""
    return own_data.find(name).intake.experiment if own_data.is_own(name) else _opened(name)


@lru_cache(32)  # asked for some thirty times by every move
def _opened(name: str) -> Experiment:
    """A bundled experiment, its hash checked once."""
    return experiments.open(name)


def noun_of(name: str) -> str:
    """What a client of this experiment is called: state, age band; else client."""
    return text.noun_of(experiment_of(name))
