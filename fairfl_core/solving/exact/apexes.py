"""How far out a path can reach between two of its points, without a look at what is between.

From its first point a stretch of a path rises at least as its flattest direction from there, to
its last at most as its steepest one to there. So it stays above both lines, and in the triangle
of its ends and of where the lines meet, the apex. That is known for the stretches of 2, 4, 8 ...
steps that begin at multiples of their length.
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
    levels, size = [], 1
    while len(path) > size:
        many = (len(path) - 1) // size
        x, y = (part[: many * size].reshape(many, size) for part in (right, up))
        x_end, y_end = right[size : many * size + 1 : size], up[size : many * size + 1 : size]
        x_after = np.append(x[:, 1:], x_end[:, None], axis=1)
        y_after = np.append(y[:, 1:], y_end[:, None], axis=1)
        low = _slope(x[:, :1], y[:, :1], x_after, y_after).min(axis=1)
        high = _slope(x, y, x_end[:, None], y_end[:, None]).max(axis=1)
        # Where the line that leaves the start meets the one that comes to the end.
        spread, over = high - low, high * (x_end - x[:, 0]) - (y_end - y[:, 0])
        way = np.divide(over, spread, out=np.zeros_like(spread), where=spread > 0)
        apex = np.empty((many, 2))
        apex[:, 1 - side] = y[:, 0] + low * way
        apex[:, side] = x[:, 0] + way - apex[:, 1 - side]
        levels.append(apex)
        size *= 2
    return levels


def _slope(x0: Floats, y0: Floats, x1: Floats, y1: Floats) -> Floats:
    """Up by right; 0 where there is nothing between."""
    across = x1 - x0
    return np.divide(y1 - y0, across, out=np.zeros_like(across), where=across > 0)
