"""Bounded caches of results: shared by all visitors, or kept with a visitor's own set."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from fairfl_core.budget import Budget, within
from pages.shared import own_data
from pages.shared.view import View

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
