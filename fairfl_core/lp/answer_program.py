"""Old name, until every room has moved to `program.FairnessProgram`."""

from fairfl_core.lp.program import FairnessProgram

__all__ = ["FairnessProgram"]
