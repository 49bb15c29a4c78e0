"""The ways a call can fail. Each message is a sentence a person can act on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class FairflError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(FairflError, ValueError):
    """What was given is wrong: the message says what, where, and what to do.

    `refused_by` tells which check it was, where the error does not come from where it was raised.
    """

    refused_by: str = ""


class OverBudgetError(InputError):
    """The work is larger than its budget of time or memory: the message says what to do instead."""


class SolveError(FairflError, RuntimeError):
    """The solver did not return an optimum: the message gives its reason."""


class InfeasibleError(FairflError):
    """No lottery keeps all limits and floors; `infeasible` (`lp.infeasible.Infeasible`) says what would do."""

    def __init__(
        self,
        sentence: str = "what is asked collides: no lottery keeps all of it.",
        infeasible: Any = None,
    ) -> None:
        super().__init__(sentence)
        self.infeasible = infeasible


def check_type(value: Any, kinds: type | tuple[type, ...], what: str, instead: str) -> None:
    """Refuse a value of another type in a sentence: what it is, and what to give instead."""
    if not isinstance(value, kinds):
        kind = type(value).__name__
        raise InputError(f"{what} is of type {kind}; give {instead}.")


@contextmanager
def about(where: object) -> Iterator[None]:
    """Say of what is refused inside where it stands: ``rows.csv: there is no column "age"``."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import optional packages inside; a missing one is an `InputError` that names the extra.

    Parameters
    ----------
    name : {"app", "report", "privacy", "train", "federation"}
        Whose packages are imported inside the block: ``with extra("app"): import pandas``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise InputError(
            f'this needs {package}, which is not installed: pip install "fairfl[{name}]".'
        ) from error
