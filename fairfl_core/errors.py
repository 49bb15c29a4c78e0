"""The two ways a call can fail. Each message is one sentence a person can act on."""

__all__ = ["FairflError", "InputError", "SolveError"]


class FairflError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(FairflError, ValueError):
    """What was given is wrong: the message says what, where, and what to do."""


class SolveError(FairflError, RuntimeError):
    """The solver did not return an optimum: the message gives its reason."""
