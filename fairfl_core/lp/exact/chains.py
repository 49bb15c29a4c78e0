"""Convex chains of many sets of points at once."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_chain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_ROUNDING = 1e-12  # how far above a line, in its length, a point surely is above it


def lower_chain(part: Ints, x: Floats, y: Floats, slack: float = 0.0) -> Ints:
    """Positions of the corners of each part's lower convex hull, from its first point to its last.

    Points come part by part and within a part by x, then y. One above the line between its
    neighbours is no corner, whoever they are, so that all of these leave in one go. Of points on
    a line no two neighbours leave at once: one of them may be a corner without the other.

    Parameters
    ----------
    part : ndarray, shape (points,)
    x, y : ndarray, shape (points,)
    slack : float
        How far below a line is still on it, in the unit of x and y.
    """
    place = np.arange(len(x))
    turn, idle = 0, 0
    while idle < 2:
        below, length, beyond = _below_neighbours(part, x, y)
        leaves = (below <= slack * length) & ~beyond
        leaves[turn::2] &= (below < -(slack + _ROUNDING) * length)[turn::2]
        turn, idle = 1 - turn, 0 if leaves.any() else idle + 1
        if not idle:
            stays = np.ones(len(place), bool)
            stays[1:-1] = ~leaves
            place, part, x, y = place[stays], part[stays], x[stays], y[stays]
    return place


def _below_neighbours(
    part: Ints, x: Floats, y: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """How far each point but the first and last is below its neighbours' line, times its length.

    And whether it is on that line and yet not between them: rounding can put a point that is
    farther down, on an upright line, to the right of one that is above it.
    """
    across, up = x[2:] - x[:-2], y[2:] - y[:-2]
    below = (x[1:-1] - x[:-2]) * up - (y[1:-1] - y[:-2]) * across
    below[part[2:] != part[:-2]] = np.inf  # a part's first and last stay
    backward = (x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) + (y[1:-1] - y[:-2]) * (y[2:] - y[1:-1]) < 0
    return below, np.abs(across) + np.abs(up) + 1, backward & (below > 0)
