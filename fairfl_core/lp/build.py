"""Old names, until every room has moved to `program.FairnessProgram`."""

from fairfl_core.lp.program import FairnessProgram as build_program
from fairfl_core.lp.regions import default_rates, default_region, default_region_sentence

__all__ = ["build_program", "default_rates", "default_region", "default_region_sentence"]
