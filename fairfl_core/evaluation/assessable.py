"""Where groups are crossed, which of them have people enough to be judged."""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts

__all__ = ["FEWEST", "NOT_ASSESSABLE", "assessable"]

FEWEST = 30  # people of a crossed group below which its rates say nothing
NOT_ASSESSABLE = "not assessable"


def assessable(counts: ClientCounts, people: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each of these groups can be judged.

    Crossing cuts people into ever smaller groups: one with fewer than 30 people is said to be not
    assessable. Groups of one column are all judged; their intervals say how little that may be.

    Parameters
    ----------
    counts : ClientCounts
        Know whether their groups are crossed.
    people : ndarray
        People of each group, in any shape; a mean over runs.
    """
    crossed = counts.grouping is not None and len(counts.grouping.columns) > 1
    return (people >= FEWEST) if crossed else np.ones(people.shape, bool)
