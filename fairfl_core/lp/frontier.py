"""The map of accuracy over (eps_local, eps_global): what each pair of tolerances costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.lp.limits import check_epsilon
from fairfl_core.lp.program import FairnessProgram

__all__ = ["FREE", "Frontier", "frontier", "mean_frontier"]

FREE = 0.0005  # a twentieth of a point of accuracy: what costs no more costs nothing
Floats = NDArray[np.float64]
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Frontier:
    """Results on a grid; every table has a row per eps_local and a column per eps_global.

    NaN where limits and floors collide.
    """

    eps_local: Floats
    eps_global: Floats
    accuracy: Floats
    gap_global: Floats
    gap_local_mean: Floats
    gap_local_worst: Floats


def frontier(
    program: FairnessProgram,
    *,
    eps_local: Sequence[float] | Floats,
    eps_global: Sequence[float] | Floats,
    on_progress: OnProgress | None = None,
) -> Frontier:
    """Solve every pair of a grid.

    Parameters
    ----------
    program : FairnessProgram
        Of any region.
    eps_local, eps_global : sequences of float
        The grid; every client gets the same eps_local.
    on_progress : callable, optional
        Called with (cells done, cells in all).
    """
    local = np.array([check_epsilon(value, "eps_local") for value in eps_local])
    overall = np.array([check_epsilon(value, "eps_global") for value in eps_global])
    if not local.size or not overall.size:
        raise InputError("the grid is empty; give at least one epsilon in each direction.")
    rows = []
    for figures in program.map_rows(local, overall):
        rows.append(figures)
        if on_progress:
            on_progress(len(rows) * overall.size, local.size * overall.size)
    cells = np.stack(rows, axis=1)
    tables = dict(zip([field.name for field in fields(Frontier)][2:], cells, strict=True))
    return Frontier(local, overall, **tables)


def mean_frontier(frontiers: Sequence[Frontier]) -> Frontier:
    """The mean over runs, table by table, of maps over one grid."""
    first = frontiers[0]
    tables = [field.name for field in fields(Frontier)][2:]
    means = {name: np.mean([getattr(one, name) for one in frontiers], axis=0) for name in tables}
    return Frontier(first.eps_local, first.eps_global, **means)
