"""Convex chains of many sets of points at once."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_chain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def lower_chain(part: Ints, x: Floats, y: Floats, slack: float = 0.0) -> Ints:
    """Positions of the corners of each part's lower convex hull, from its first point to its last.

    Points come part by part and within a part by x, then y. One that does not lie below the line
    between its neighbours is no corner, whoever they are, so that all parts lose theirs in one
    go; but never two neighbours at once, of which one may be a corner without the other.

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
        inside = np.flatnonzero(_on_a_line(part, x, y, slack)) + 1
        leaves = inside[inside % 2 == turn]
        turn, idle = 1 - turn, 0 if leaves.size else idle + 1
        if leaves.size:
            stays = np.ones(len(place), bool)
            stays[leaves] = False
            place, part, x, y = place[stays], part[stays], x[stays], y[stays]
    return place


def _on_a_line(part: Ints, x: Floats, y: Floats, slack: float) -> NDArray[np.bool_]:
    """Whether each point but the first and the last is on or above its neighbours' line."""
    across, up = x[2:] - x[:-2], y[2:] - y[:-2]
    area = (x[1:-1] - x[:-2]) * up - (y[1:-1] - y[:-2]) * across
    within = part[2:] == part[:-2]
    return np.asarray(within & (area <= slack * (np.abs(across) + np.abs(up) + 1)))
