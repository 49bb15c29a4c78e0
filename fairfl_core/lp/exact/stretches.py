"""The point of a stretch of a path that lies farthest below a direction, without a look at all.

Of the stretches of 1, 2, 4 ... points that begin at multiples of their length the lower hulls are
known. Any stretch is made of a few of these, and in a hull the point is found by its slope.
"""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.exact.chains import lower_chain

__all__ = ["Stretches"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Stretches:
    """Of a path that rises in both coordinates.

    Parameters
    ----------
    path : ndarray, shape (points, 2)
    side : int
        The coordinate that goes to the right, 0 or 1; the other goes up.
    """

    def __init__(self, path: Floats, side: int) -> None:
        self._x, self._y = (np.ascontiguousarray(path[:, part]) for part in (side, 1 - side))
        self._levels = []
        place = np.arange(len(path))
        for level in range(max(len(path) - 1, 0).bit_length() + 1):
            x, y = self._x[place], self._y[place]
            place = place[lower_chain(place >> level, x, y)]
            self._levels.append((place, self._keys(place, place >> level)))

    def _keys(self, corner: Ints, stretch: Ints) -> Floats:
        """A number a corner that rises over all hulls: which it is of, and the slope that follows.

        Slopes are up by up and right together, which is between 0 and 1; after the last there is
        nothing.
        """
        right, up = np.diff(self._x[corner]), np.diff(self._y[corner])
        slope = np.divide(up, right + up, out=np.ones_like(up), where=right + up > 0)
        return 2 * stretch + np.append(np.where(np.diff(stretch) > 0, 1.0, slope), 1.0)

    def lowest(self, first: Ints, last: Ints, right: Floats, up: Floats) -> Ints:
        """Of the points from `first` to `last` the one farthest below the direction (right, up)."""
        slope = np.divide(up, right + up, out=np.ones_like(up), where=right + up > 0)
        best, depth = last.copy(), up * self._x[last] - right * self._y[last]

        def look(ask: Ints, stretch: Ints, corner: Ints, key: Floats) -> None:
            point = corner[np.searchsorted(key, 2 * stretch + slope[ask])]
            found = up[ask] * self._x[point] - right[ask] * self._y[point]
            deeper = np.flatnonzero(found > depth[ask])
            best[ask[deeper]], depth[ask[deeper]] = point[deeper], found[deeper]

        begin, end = first, last  # stretches not looked at yet; at an odd end is one to look at
        ask = np.flatnonzero(begin < end)
        for level in self._levels:
            left, over = ask[begin[ask] % 2 == 1], ask[end[ask] % 2 == 1]
            look(left, begin[left], *level)
            look(over, end[over] - 1, *level)
            begin, end = (begin + 1) >> 1, end >> 1
            ask = ask[begin[ask] < end[ask]]
        return best
