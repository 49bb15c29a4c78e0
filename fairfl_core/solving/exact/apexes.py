"""How far out a path can reach between two of its points, without a look at what is between.

From a stretch of a path its steepest and its flattest direction are kept: at first it rises at
least as `low` says, at last at most as `high` says, so that it stays above both lines, and above
the point where they meet, the apex. Stretches of 2, 4, 8 ... steps are put together of their
halves, so that all apexes of a path of n steps take n numbers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Apexes", "roundest"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def roundest(low: Ints, high: Ints) -> Ints:
    """Of the whole numbers between two the one that is a multiple of the highest power of 2."""
    last = high - 1
    power = np.frexp((low ^ last).astype(float))[1] - 1
    return (last >> power) << power


class Apexes:
    """Of several paths that rise in both coordinates, as seen from below.

    Parameters
    ----------
    paths : sequence of ndarray, shape (points, 2)
    side : int
        The coordinate that goes to the right, 0 or 1; the other goes up.
    """

    def __init__(self, paths: Sequence[Floats], side: int) -> None:
        self._paths, self._side = paths, side
        self._levels = [_levels(path, side) for path in paths]

    def of(self, path: Ints, low: Ints, high: Ints) -> Floats:
        """Where a path can reach to between two of its points: (stretches, 2).

        It stays in the triangle of the two and this one.
        """
        reach = np.empty((len(low), 2))
        for number, points in enumerate(self._paths):
            mine = np.flatnonzero(path == number)
            first, last = low[mine], high[mine]
            # In any case it stays in the box that the two points span.
            reach[mine, self._side] = points[last, self._side]
            reach[mine, 1 - self._side] = points[first, 1 - self._side]
            level = np.frexp((last - first).astype(float))[1] - 1
            size = np.int64(1) << level
            known = (last - first == size) & (first % size == 0)
            for one in np.flatnonzero(np.bincount(level[known])).tolist():
                these = np.flatnonzero(known & (level == one))
                reach[mine[these]] = self._levels[number][one][first[these] >> one]
        return reach


def _levels(path: Floats, side: int) -> list[Floats]:
    """Apexes of the stretches of 1, 2, 4 ... steps, each of shape (stretches, 2).

    Seen with the sum of both coordinates to the right, so that all directions are in [0, 1].
    """
    right, up = path.sum(axis=1), path[:, 1 - side]
    (x0, y0), (x1, y1) = (right[:-1], up[:-1]), (right[1:], up[1:])
    low = high = _slope(x0, y0, x1, y1)
    top_x, top_y = x1, y1
    levels = []
    while len(low):
        apex = np.empty((len(low), 2))
        apex[:, side], apex[:, 1 - side] = top_x - top_y, top_y
        levels.append(apex)
        first, second = slice(0, len(low) // 2 * 2, 2), slice(1, None, 2)
        x0, y0, x1, y1 = x0[first], y0[first], x1[second], y1[second]
        whole = _slope(x0, y0, x1, y1)
        low, high = (
            np.minimum.reduce([low[first], whole, _slope(x0, y0, top_x[second], top_y[second])]),
            np.maximum.reduce([high[second], whole, _slope(top_x[first], top_y[first], x1, y1)]),
        )
        between = high * (x1 - x0) - (y1 - y0)
        spread = high - low
        way = np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0)
        top_x, top_y = x0 + way, y0 + low * way
    return levels


def _slope(x0: Floats, y0: Floats, x1: Floats, y1: Floats) -> Floats:
    """Up by right; 0 where there is nothing between."""
    across = x1 - x0
    return np.divide(y1 - y0, across, out=np.zeros_like(across), where=across > 0)
