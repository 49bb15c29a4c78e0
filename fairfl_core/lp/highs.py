"""A program solved whole, by HiGHS: whatever its rows are."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.constraints.base import OVERALL, Constraints
from fairfl_core.lp.highs_model import Model
from fairfl_core.lp.sharing import Sharing

__all__ = ["Whole"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_SAME = 1e-9  # weights that differ by less


class Whole:
    """Solves a program in one piece; see `solvers.Solver`.

    Parameters
    ----------
    rows : Constraints
    sharing : Sharing
    worth : ndarray, shape (variables,)
    order : ndarray, shape (variables,)
        Of equally good optima the one with the least order.x is found.
    """

    def __init__(self, rows: Constraints, sharing: Sharing, worth: Floats, order: Floats) -> None:
        self._rows, self._sharing = rows, sharing
        self._order = np.zeros(rows.auxiliary)
        columns = sharing.merged
        lower = np.concatenate([np.full(len(rows), -1.0), np.ones(columns.blocks)])
        self._model = Model(lower, np.ones(len(lower)))
        if rows.auxiliary:
            entries = rows.auxiliary_entries(sharing.columns)
            self._model.add_columns(rows.auxiliary_costs(), entries)
            self._model.set_levels(*entries[:2])
        self.add(sharing, worth, order)
        # Of every block the best rule, of equal ones the first; a rule of several blocks never.
        best = np.lexsort((np.arange(len(columns)), -worth, columns.block))
        best = best[columns.span[best] == 1]
        _, first = np.unique(columns.block[best], return_index=True)
        self._model.set_start(rows.auxiliary + best[first], np.arange(len(rows)))

    def add(self, sharing: Sharing, worth: Floats, order: Floats) -> None:
        """Put more columns into the program."""
        self._order = np.append(self._order, order)
        row, column, value = sharing.entries(self._rows.entries(sharing.columns))
        block, member = sharing.merged.members
        self._model.add_columns(
            -worth,
            (
                np.concatenate([row, len(self._rows) + block]),
                np.concatenate([column, member]),
                np.concatenate([value, np.ones(len(block))]),
            ),
        )

    def again(self) -> tuple[Floats, Floats]:
        """An optimum after columns, rows or limits were changed, from the last one on."""
        return self._model.optimum()

    def break_ties(self, *, warm: bool = False) -> Floats:
        """Values of the variables at the optimum of least order, after any optimum."""
        return self._model.break_ties(self._order, warm=warm)

    def solve(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """Values of the variables and duals of the rows, from the starting point on."""
        places = np.arange(len(self._rows))
        self._model.begin(places, *self._rows.bounds(eps_global, local))
        _, duals = self.again()
        return self.break_ties(), duals

    def grid(
        self, eps_globals: Sequence[float], locals_: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Every row upward from where the last one began, each cell from the one before it.

        Once the overall limit has no price, more of it is worth nothing. If the widest one leads
        to the same optimum, so do those in between.
        """
        overall = self._rows.scope == OVERALL
        upward = sorted(set(eps_globals))
        begun = None
        for local in locals_:
            found: dict[float, Floats | None] = {}
            values, warm = None, begun is not None
            if begun is not None:
                self._model.set_basis(begun)
            for eps_global in upward:
                way = self._go_on if warm else self.solve
                try:
                    values, duals = way(eps_global, local)
                except InfeasibleError:
                    warm = False
                    found[eps_global] = values
                    continue
                warm = True
                begun = begun if found else self._model.basis()
                found[eps_global] = values
                price = self._rows.prices(duals[: len(self._rows)])[overall].sum()
                if price == 0 and self._is_still_best(values, upward[-1], local):
                    break
            yield [found.get(eps_global, values) for eps_global in eps_globals]

    def _is_still_best(self, values: Floats, eps_global: float, local: Floats) -> bool:
        """Whether an optimum is that of a wider overall limit, too."""
        wider, _ = self._go_on(eps_global, local)
        first = self._rows.auxiliary
        return bool(np.abs(wider[first:] - values[first:]).max() <= _SAME)

    def _go_on(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """The optimum from the last one on."""
        places = np.arange(len(self._rows))
        self._model.change_limits(places, *self._rows.bounds(eps_global, local))
        _, duals = self.again()
        return self.break_ties(warm=True), duals
