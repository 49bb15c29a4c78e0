"""Work has an end: a budget of time and memory, known before work begins and watched meanwhile.

Whoever starts work for somebody else opens a budget around it (`within`). Work that may become
long asks what it will need (`afford`) before it takes it, and looks up from time to time (`look`).
Without a budget a shell's work may take all the time there is, and most of the memory.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from fairfl_core.errors import OverBudgetError

__all__ = ["MEGABYTE", "Budget", "afford", "is_over", "look", "watched", "within"]

MEGABYTE = 2**20
_SHARE = 0.8  # of the machine's memory, for work without a budget of its own


@dataclass(frozen=True)
class Budget:
    """What one piece of work may take.

    Attributes
    ----------
    seconds : float
        Of processor time: a machine that is busy with other things takes longer, by no fault of
        this work. It is the whole process's, as the solver works in a thread of its own.
    megabytes : float
        Memory that the work may ask for at a time.
    instead : str
        Where larger work belongs, as the end of a sentence.
    on_look : callable, optional
        Called whenever work looks up; what it raises ends the work, for nobody waits for it.
    """

    seconds: float = float("inf")
    megabytes: float = float("inf")
    instead: str = "make it smaller"
    on_look: Callable[[], object] | None = None


@dataclass(frozen=True)
class _Running:
    budget: Budget
    until: float  # of the process's own time


_current: ContextVar[_Running | None] = ContextVar("budget", default=None)


@contextmanager
def within(budget: Budget) -> Iterator[None]:
    """Do what is inside within a budget; one inside another keeps the outer's end."""
    outer = _current.get()
    until = time.process_time() + budget.seconds
    token = _current.set(_Running(budget, min(until, outer.until) if outer else until))
    try:
        yield
    finally:
        _current.reset(token)


def watched() -> bool:
    """Whether anyone has set a budget."""
    return _current.get() is not None


def is_over() -> bool:
    """Whether the time is over."""
    running = _current.get()
    return running is not None and time.process_time() > running.until


def look() -> None:
    """End the work where its time is over, or nobody waits for it any more."""
    running = _current.get()
    if running is None:
        return
    if running.budget.on_look is not None:
        running.budget.on_look()
    if is_over():
        raise OverBudgetError(
            f"this takes longer than the {running.budget.seconds:.0f} seconds of work it has here; "
            f"{running.budget.instead}."
        )


def afford(megabytes: float, what: str, instead: str) -> None:
    """Refuse work that needs more memory than there is for it.

    Parameters
    ----------
    megabytes : float
        What it will need, computed from its size.
    what : str
        The work and its size, as the beginning of a sentence.
    instead : str
        What to choose instead.
    """
    look()
    running = _current.get()
    most = running.budget.megabytes if running else _SHARE * _machine()
    if megabytes > most:
        raise OverBudgetError(
            f"{what} needs about {_size_text(megabytes)} of memory, and {_size_text(most)} are allowed for "
            f"it here; {instead}."
        )


def _machine() -> float:
    """Memory of this machine, in megabytes; without a word from the system, endless."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    except (ValueError, OSError, AttributeError):
        return float("inf")


def _size_text(megabytes: float) -> str:
    return f"{megabytes / 1000:,.1f} GB" if megabytes >= 1000 else f"{megabytes:,.0f} MB"
