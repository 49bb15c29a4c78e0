"""Bounded caches of results: shared by all visitors, or inside a visitor's own set.

Every result is made within a budget, and not finished for a visitor who has left.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from fairfl_core.budget import Budget, within
from pages.components.session import own_data, streamlit_internals, text
from pages.components.session.store import Store

__all__ = ["cached", "forget_everything"]

_shared: list[Store] = []

SECONDS, MEGABYTES = 60, 2_000  # for one result: a solution, a map, an evaluation

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
        everybody = Store(most)
        _shared.append(everybody)

        @wraps(function)
        def result(*arguments: P.args, **named: P.kwargs) -> T:
            name = _experiment(arguments[0])
            results = own_data.find(name).results if own_data.is_own(name) else everybody
            key = (function, arguments, *sorted(named.items()))

            def make() -> T:
                with within(_budget()):
                    return function(*arguments, **named)

            made: T = results.result(key, make)
            return made

        return result

    return around


