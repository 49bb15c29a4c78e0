"""Scalers fitted where the rows are: a client tells counts, sums and squares, and no row.

Moments add up over clients, so that a federation has the very scaler it would have in one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Moments", "Scaler"]

Floats = NDArray[np.float64]
_CONSTANT = 1e-12  # a share of the mean square below which a spread is rounding


@dataclass(frozen=True, eq=False)
class Scaler:
    """What is taken off each quantity, and what the rest is divided by."""

    shift: Floats
    spread: Floats

    def apply(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The quantities, standardised."""
        shift, spread = self.shift.astype(np.float32), self.spread.astype(np.float32)
        return np.asarray((values - shift) / spread, np.float32)


@dataclass(frozen=True, eq=False)
class Moments:
    """Rows, and of each quantity their sum and the sum of their squares."""

    rows: int
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, values: NDArray[np.number]) -> "Moments":
        """The moments of rows, shape (rows, quantities)."""
        exact = values.astype(np.float64)
        return cls(len(values), exact.sum(axis=0), np.square(exact).sum(axis=0))

    @classmethod
    def pooled(cls, parts: Sequence["Moments"]) -> "Moments":
        """The moments of all clients' rows, added in the order of the clients."""
        return cls(
            sum(part.rows for part in parts),
            np.sum([part.total for part in parts], axis=0),
            np.sum([part.squares for part in parts], axis=0),
        )

    def scaler(self, least: float = 0.0) -> Scaler:
        """Mean and standard deviation, `least` at least; 1 for what never varies."""
        mean, square = self.total / self.rows, self.squares / self.rows
        variance = square - mean**2
        spread = np.sqrt(np.where(variance > _CONSTANT * square, variance, 0.0))
        spread = np.maximum(spread, least)
        return Scaler(mean, np.where(spread == 0, 1.0, spread))
