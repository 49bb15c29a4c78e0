"""The rules that a cell (client, group) may mix: one region a file, from the paper's to the largest."""

from fairfl_core.lp.regions.answers import AnswerRules
from fairfl_core.lp.regions.base import (
    RegionKind,
    RegionRules,
    default_rates,
    default_region,
    default_region_sentence,
    region_kind,
    region_names,
    register_region,
)

from fairfl_core.lp.regions import simplex, kernel, exact  # isort: skip

__all__ = [
    "AnswerRules",
    "RegionKind",
    "RegionRules",
    "default_rates",
    "default_region",
    "default_region_sentence",
    "exact",
    "kernel",
    "region_kind",
    "region_names",
    "register_region",
    "simplex",
]
