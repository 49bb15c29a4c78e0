"""How sure a counted share is."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["normal_quantile", "wilson"]

Floats = NDArray[np.float64]


def normal_quantile(probability: float) -> float:
    """The z below which a standard normal lies so often; without SciPy, which starts slowly."""
    return NormalDist().inv_cdf(probability)


def wilson(rate: Floats, n: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """Wilson score limits of a share; (0, 1) where nobody is behind it."""
    rate, n = np.asarray(rate, float), np.asarray(n, float)
    size = np.where(n > 0, n, 1.0)
    middle = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(rate * (1 - rate) / size + z**2 / (4 * size**2))
    low = np.where(n > 0, np.clip(middle - half, 0, 1), 0.0)
    return low, np.where(n > 0, np.clip(middle + half, 0, 1), 1.0)
