"""The experiments of this session, and bounded caches of what is computed of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from fairfl_core.budget import Budget, within
from fairfl_core.data import experiments
from fairfl_core.data.datasets import DATASETS
from fairfl_core.data.experiments import Experiment
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
            max_entries=most, show_spinner=False, hash_funcs={View: repr}
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
    return Budget(seconds=seconds, megabytes=MEGABYTES, instead=LARGER_WORK)


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
    return Catalogue(_names(), experiment_of, _cross_fitted)


@st.cache_resource(ttl=60, show_spinner=False)  # a new experiment is seen a minute later
def _names() -> tuple[str, ...]:
    return tuple(experiments.list_experiments())


def _cross_fitted(name: str) -> str | None:
    """The cross-fitted companion of a bundled experiment."""
    return None if own_data.is_own(name) else experiments.cross_fitted_of(name)


@cached(16)
def experiment_of(name: str) -> Experiment:
    """An experiment, its hash checked once; or the visitor's own set."""
    if own_data.is_own(name):
        return own_data.find(name).intake.experiment
    return experiments.open(name)


def noun_of(name: str) -> str:
    """What a client of this experiment is called: state, age band; else client."""
    experiment = experiment_of(name)
    dataset = DATASETS.get(experiment.manifest["dataset"].get("dataset", ""))
    if dataset is None or any(client.startswith("client") for client in experiment.clients):
        return "client"
    return dataset.noun
