"""Bounded caches of results: shared by all visitors, or inside a visitor's own set."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

import streamlit as st

from pages.components.session import own_data

__all__ = ["cached"]

P = ParamSpec("P")
T = TypeVar("T")


class _HasView(Protocol):
    view: Any


def cached(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function of an experiment: for everybody if it is bundled, else inside the set.

    The experiment is told by the first argument: its name, a view, or something that has one.
    All arguments must be hashable; `most` results are kept.
    """

    def around(function: Callable[P, T]) -> Callable[P, T]:
        everybody = st.cache_resource(max_entries=most, show_spinner=False)(function)

        @wraps(function)
        def result(*arguments: P.args, **named: P.kwargs) -> T:
            name = _experiment(arguments[0])
            if not own_data.is_own(name):
                return everybody(*arguments, **named)
            key = (function.__module__, function.__qualname__, arguments, *sorted(named.items()))
            made: T = own_data.find(name).result(key, lambda: function(*arguments, **named))
            return made

        return result

    return around


def _experiment(first: Any) -> str:
    if isinstance(first, str):
        return first
    return _experiment(first.view) if hasattr(first, "view") else str(first.experiment)
