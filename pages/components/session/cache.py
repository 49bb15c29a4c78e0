"""Bounded caches of results: shared by all visitors, or inside a visitor's own set.

Every result is made within a budget, and not finished for a visitor who has left.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from fairfl_core.budget import Budget, within
from pages.components.session import own_data, streamlit_internals
from pages.components.session.store import Store

__all__ = ["budget", "cached", "forget_everything", "while_wanted"]

SECONDS, MEGABYTES = 60, 2_000  # for one result: a solution, a map, an evaluation
_shared: list[Store] = []
_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("unwanted", default=None)

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
                with within(budget()):
                    return function(*arguments, **named)

            made: T = results.result(key, make)
            return made

        return result

    return around


def budget(seconds: float = SECONDS) -> Budget:
    """What one result may take of the machine that all visitors share, while its visitor is here."""
    from pages.components.session import text  # which tells of results, and so needs this file

    return Budget(
        seconds=seconds,
        megabytes=MEGABYTES,
        left=_unwanted.get() or streamlit_internals.has_left(),
        instead=text.LARGER_WORK,
    )


@contextmanager
def while_wanted(unwanted: Callable[[], bool]) -> Iterator[None]:
    """Make results for nobody in particular, until they are `unwanted`."""
    token = _unwanted.set(unwanted)
    try:
        yield
    finally:
        _unwanted.reset(token)


def forget_everything() -> None:
    """Forget what visitors share: everything is computed anew. No visitor can ask for it."""
    for store in _shared:
        store.clear()


def _experiment(first: Any) -> str:
    if isinstance(first, str):
        return first
    return _experiment(first.view) if hasattr(first, "view") else str(first.experiment)
