"""The map of accuracy over (eps_local, eps_global): what each pair of tolerances costs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core._io.frames import notebook_html, to_frame
from fairfl_core._io.numbers import epsilon, percent
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.fairness.notions import Notion, number_or_none, spreads
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.policy import check_epsilon, eps_per_client
from fairfl_core.lp.program import FairnessProgram, solver_for

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
        from fairfl_core.explore.charts import heat_map

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
    program.measure_optimism(float(overall.min()))
    for figures in _rows(program, local, overall):
        rows.append(figures)
        if on_progress:
            on_progress(len(rows) * overall.size, local.size * overall.size)
    cells = np.stack(rows, axis=1)
    tables = dict(zip([field.name for field in fields(Frontier)][2:], cells, strict=True))
    return Frontier(local, overall, **tables)


def _rows(program: FairnessProgram, eps_local: Floats, eps_global: Floats) -> Iterator[Floats]:
    """Row by row: accuracy, global gap, mean and worst local gap, (4, eps_global).

    NaN where limits are infeasible.
    """
    each = [eps_per_client(program.counts.clients, float(local)) for local in eps_local]
    if program.linear_program is None:
        yield from (_row(program, local, eps_global) for local in each)
        return
    figures = _Figures(program.linear_program, program.notion, program.counts)
    # A solver of its own: others may move a slider meanwhile.
    for found in solver_for(program.linear_program).grid(eps_global.tolist(), each):
        yield figures.of(found)


def _row(program: FairnessProgram, local: Floats, eps_globals: Floats) -> Floats:
    """Cell by cell, from the tightest limit on, until the overall one has no price."""
    cells: dict[float, Floats] = {}
    price = np.inf
    figures = np.full(4, np.nan)
    for eps_global in sorted(set(map(float, eps_globals))):
        if price > 0:
            try:
                found = program.optimum(eps_global, local)
                price, gap = found.price_global, found.gaps
                figures = np.array([found.accuracy, gap.overall, gap.local_mean, gap.local_worst])
            except InfeasibleError:
                pass
        cells[eps_global] = figures
    return np.stack([cells[float(eps_global)] for eps_global in eps_globals], axis=1)


class _Figures:
    """Accuracy, global gap, mean and worst local gap from optima of a program."""

    def __init__(self, program: LinearProgram, notion: Notion, counts: ClientCounts) -> None:
        self._people, self._n, rules = notion.people(counts.n_label), counts.n, program.rules
        _, groups, rates = self._people.shape
        place = ((rules.client * groups + rules.group) * rates)[:, None] + np.arange(rates)
        rule = np.repeat(np.arange(len(rules)), rates)
        answered = sparse.csr_array(
            (notion.answered(rules.confusion).ravel(), (place.ravel(), rule)),
            (self._people.size, len(rules)),
        )
        correct = sparse.csr_array(rules.correct[None])
        self._matrix = sparse.vstack([answered, correct]) @ program.shares
        self._first = program.auxiliary

    def of(self, cells: Sequence[Floats | None]) -> Floats:
        """Return the figures of optima x, (4, cells); NaN for None."""
        distinct = {id(x): x[self._first :] for x in cells if x is not None}
        figures = dict(zip(distinct, self._each(list(distinct.values())), strict=True))
        nothing = np.full(4, np.nan)
        return np.stack([figures.get(id(x), nothing) for x in cells], axis=1)

    def _each(self, values: list[Floats]) -> Floats:
        """Return the figures of every one of these, shape (cells, 4)."""
        if not values:
            return np.zeros((0, 4))
        sums = self._matrix @ np.stack(values, axis=1)
        answered = sums[:-1].T.reshape(len(values), *self._people.shape)
        overall, local = spreads(answered, self._people)
        there = ~np.isnan(local)
        many = there.sum(axis=1)
        total = np.where(there, local, 0.0).sum(axis=1)
        mean = np.divide(total, many, out=np.full(len(values), np.nan), where=many > 0)
        return np.stack([sums[-1] / self._n, overall, mean, np.fmax.reduce(local, axis=1)], axis=1)


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
