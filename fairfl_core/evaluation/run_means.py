"""Means over the runs of one setting."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["run_mean"]

Floats = NDArray[np.float64]


def run_mean(values: Sequence[Any] | Floats) -> Floats:
    """The mean over the runs (first axis) that have a value; NaN where none has."""
    stacked = np.array(values, float)
    there = ~np.isnan(stacked)
    total = np.where(there, stacked, 0.0).sum(axis=0)
    return np.divide(
        total, there.sum(axis=0), out=np.full(total.shape, np.nan), where=there.any(axis=0)
    )
