"""The ways a call can fail. Each message is a sentence a person can act on."""

from typing import Any

__all__ = [
    "Abandoned",
    "FairflError",
    "InfeasibleError",
    "InputError",
    "OverBudgetError",
    "SolveError",
    "check_type",
]


class FairflError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(FairflError, ValueError):
    """What was given is wrong: the message says what, where, and what to do.

    `refused_by` tells which check it was, where the error does not come from where it was raised.
    """

    refused_by: str = ""


class OverBudgetError(InputError):
    """The work is larger than its budget of time or memory: the message says what to do instead."""


class Abandoned(FairflError):
    """Nobody waits for the work any more; raised to end it, never shown."""


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
