"""A program of many columns a block, solved over the few that matter ("sifting").

A cell of the exact region has dozens of rules, and an optimum mixes one or two of them. HiGHS is
given a few columns of every block; at its optimum all others are priced in one go, the best of
every block goes to work beside them, until none is worth more than it costs. What is found is an optimum of
the whole program: no reduced cost says otherwise, to the tolerance by which HiGHS itself would
stop (Bixby et al., "Very large-scale linear programming", Operations Research, 1992).
"""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.solving.backend import COST_TOLERANCE, NONBASIC, TIE_TOLERANCE, Model, Stand
from fairfl_core.solving.whole import Whole

__all__ = ["Sifted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_USUAL = (0.3, 0.1, 0.03, 0.01)  # epsilons near which others are
_FAINT = 0.003  # limits below this are much alike


class Sifted(Whole):
    """Solves a program whose rows one answer for everybody keeps; see `solvers.Solver`.

    Solves begin where the optimum stands at the nearest of a few usual limits, over the columns
    that matter there: a function of the program alone, made at the first solve. A map goes its
    own way and needs none of it.
    """

    _model: "_SiftingModel"

    def _new_model(self, lower: Floats, upper: Floats) -> Model:
        return _SiftingModel(lower, upper, self._sharing.one_answer)

    def solve(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """Values of the variables and duals of the rows, from the nearest usual limits on."""
        if not self._model.is_used_to_limits:
            self._model.get_used_to(
                [self._rows.bounds(eps, np.full(len(local), eps)) for eps in _USUAL]
            )
        return super().solve(eps_global, local)


class _SiftingModel(Model):
    """A `Model` whose columns wait until they are worth it.

    Parameters
    ----------
    lower, upper : ndarray, shape (rows,)
        Limits of the rows, to begin with.
    always : ndarray of bool, shape (columns,)
        Columns that are at work in any case: with them alone all limits can be kept.
    """

    def __init__(self, lower: Floats, upper: Floats, always: NDArray[np.bool_]) -> None:
        super().__init__(lower, upper)
        self.trust_costs()  # the grain keeps them apart, and half the pivots suffice
        self._always = always
        self._at_work = np.zeros(0, np.int64)
        self._stands: list[tuple[Floats, Stand]] = []

    def add_columns(self, cost: Floats, entries: tuple[Ints, Ints, Floats]) -> None:
        """Take all columns, once; the last row of each is its block's."""
        row, column, value = entries
        order = np.lexsort((row, column))
        self._costs, self._row, self._value = cost, row[order], value[order]
        self._ends = np.searchsorted(column[order], np.arange(len(cost) + 1))
        self._block = self._row[self._ends[1:] - 1]

    def set_start(self, basic_columns: Ints, basic_rows: Ints) -> None:
        """Say which columns and rows are basic where every solve begins."""
        first = self._always.copy()
        first[basic_columns] = True
        self._employ(np.flatnonzero(first))
        self._staff = len(self._at_work)
        super().set_start(np.searchsorted(self._at_work, basic_columns), basic_rows)

    @property
    def is_used_to_limits(self) -> bool:
        """Whether it knows where to begin near usual limits."""
        return bool(self._stands)

    def get_used_to(self, limits: list[tuple[Floats, Floats]]) -> None:
        """Keep at work what is worth it at these limits, and remember where the optima stand."""
        rows = np.arange(len(limits[0][0]))
        self.begin(rows, *limits[0])
        stands = []
        for lower, upper in limits:
            self.change_limits(rows, lower, upper)
            self.optimum()
            stands.append((upper, self.stand()))
        self._staff = len(self._at_work)
        self._stands = [(upper, self._widened(stand)) for upper, stand in stands]

    def begin(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Set the limits of the rows and go back to where solves near them begin."""
        self.drop_columns(self._staff)
        self._at_work = self._at_work[: self._staff]
        super().begin(rows, lower, upper)
        if self._stands:
            nearest = min(self._stands, key=lambda usual: _distance(upper, usual[0]))
            super().go_to(nearest[1])

    def go_to(self, stand: Stand) -> None:
        """Go on from an earlier optimum; columns that came later are not in it."""
        super().go_to(self._widened(stand))

    def _widened(self, stand: Stand) -> Stand:
        missing = len(self._at_work) - len(stand.col_status)
        stand.col_status = [*stand.col_status, *[NONBASIC] * missing]
        return stand

    def optimum(self) -> tuple[Floats, Floats]:
        """Column values and row duals, once no column that waits is worth it."""
        while True:
            values, duals = super().optimum()
            paid = np.add.reduceat(self._value * duals[self._row], self._ends[:-1])
            waiting = self._costs - paid
            waiting[self._at_work] = np.inf
            promising = self._promising(waiting)
            if not promising.size:
                self._equal = np.flatnonzero(waiting <= TIE_TOLERANCE)
                return self._of_all(values), duals
            self._employ(promising)

    def break_ties(self, order: Floats, *, warm: bool = False) -> Floats:
        """Likewise, once all columns that an optimum may use are at work."""
        if self._equal.size:
            self._employ(self._equal)
            super().optimum()
        return self._of_all(super().break_ties(order[self._at_work], warm=warm))

    def _of_all(self, values: Floats) -> Floats:
        """The values of all columns from those at work."""
        everyone = np.zeros(len(self._costs))
        everyone[self._at_work] = values
        return everyone

    def _promising(self, reduced: Floats) -> Ints:
        """Of every block the waiting column that would lower the cost most."""
        place = np.flatnonzero(reduced < -COST_TOLERANCE)
        place = place[np.lexsort((reduced[place], self._block[place]))]
        _, first = np.unique(self._block[place], return_index=True)
        return np.asarray(place[first])

    def _employ(self, columns: Ints) -> None:
        """Give some columns to HiGHS."""
        first, many = self._ends[columns], np.diff(self._ends)[columns]
        number = np.repeat(np.arange(len(columns)), many)
        entry = np.arange(many.sum()) + (first - np.cumsum(many) + many)[number]
        super().add_columns(self._costs[columns], (self._row[entry], number, self._value[entry]))
        self._at_work = np.append(self._at_work, columns)


def _distance(limits: Floats, others: Floats) -> float:
    return float(np.abs(np.log((limits + _FAINT) / (others + _FAINT))).sum())
