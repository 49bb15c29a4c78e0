"""The map of accuracy over (eps_local, eps_global): what each pair of tolerances costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import notebook_html, to_frame
from fairfl_core._io.numbers import epsilon, percent
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import number_or_none
from fairfl_core.lp.limits import check_epsilon
from fairfl_core.lp.program import FairnessProgram

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FREE", "Frontier", "frontier", "joined_frontier", "mean_frontier"]

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

    def to_frame(self) -> "pd.DataFrame":
        """One row a cell: both tolerances, accuracy and the gaps reached."""
        local, overall = np.meshgrid(self.eps_local, self.eps_global, indexing="ij")
        columns = {"eps_local": local.ravel(), "eps_global": overall.ravel()}
        tables = {field.name: getattr(self, field.name).ravel() for field in fields(self)[2:]}
        return to_frame(columns | tables)

    def to_json(self) -> dict[str, Any]:
        """The grid and its tables as lists, None where limits and floors collide."""
        return {
            field.name: [
                [number_or_none(cell) for cell in row] if np.ndim(row) else float(row)
                for row in getattr(self, field.name)
            ]
            for field in fields(self)
        }

    def plot(self, here: tuple[float, float] | None = None) -> Any:
        """Draw the map, with a cross at `here`: eps_global and eps_local; a Plotly figure."""
        from fairfl_core.explore.figures import heat_map

        return heat_map(self, here)

    def _repr_html_(self) -> str:
        return notebook_html(
            "Accuracy by the gap allowed overall (columns) and inside each client (rows)",
            [],
            ["", *map(epsilon, self.eps_global)],
            (
                [epsilon(limit), *map(percent, row)]
                for limit, row in zip(self.eps_local, self.accuracy, strict=True)
            ),
            len(self.eps_local),
        )


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


def joined_frontier(rows: Sequence[Frontier]) -> Frontier:
    """The map of several maps over one choice of eps_global, row below row."""
    tables = [field.name for field in fields(Frontier) if field.name != "eps_global"]
    whole = {name: np.concatenate([getattr(one, name) for one in rows]) for name in tables}
    return Frontier(eps_global=rows[0].eps_global, **whole)
