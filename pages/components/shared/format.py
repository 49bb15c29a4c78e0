"""Numbers as text: how many digits, which unit."""

from fairfl_core._io.numbers import (
    count,
    debiased,
    epsilon,
    gap,
    gaps,
    hundred,
    percent,
    points,
    signed_points,
)

__all__ = [
    "count",
    "debiased",
    "epsilon",
    "gap",
    "gaps",
    "hundred",
    "percent",
    "points",
    "signed_points",
]
