"""The exact region: rules of the scores."""

from typing import Any

__all__ = ["exact_program"]


def exact_program(people: Any, notion: str = "eo", **more: Any) -> Any:
    """Build what `fairfl_core.ExactProgram` was in 0.2, which goes in the next release."""
    from fairfl_core.lp.program import FairnessProgram

    return FairnessProgram(people, notion, "exact", **more)
