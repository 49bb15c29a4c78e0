"""HiGHS as the programs use it; the only file that imports it.

A model is solved from the same starting point every time: the best rule of every block basic,
every other row slack. That point is dual feasible whatever the limits are, so HiGHS skips
presolve and phase 1, and what it finds is a function of the model and the limits alone: not of
what was solved before, by whom, or in which thread. At fifty clients that costs as much as
starting from the last optimum.
"""

import highspy
import numpy as np
from numpy.typing import NDArray

from fairfl_core.budget import look, watched
from fairfl_core.errors import Abandoned, InfeasibleError, OverBudgetError, SolveError

__all__ = ["Basis", "Model"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Basis = highspy.HighsBasis
_NONBASIC = highspy.HighsBasisStatus.kLower
_DUAL, _PRIMAL = 1, 4  # HiGHS's names of the simplex
_TOLERANCE = 1e-10  # primal and dual: finer than what we promise to users, 1e-7
_LARGE = 10_000  # columns above which a solve may last, and is looked after
_FINER = 1e3  # costs are told in thousandths, so that HiGHS does not overlook a tie-break
_TIE = (
    10 * _TOLERANCE
)  # a nonbasic variable whose reduced cost is closer to 0 may be in an optimum
_BLUR, _WARM_BLUR = 1e-8, 1e-6  # of reduced costs, by updates of an ill-conditioned basis
_OPTIONS = (
    ("output_flag", False),
    ("threads", 1),
    ("solver", "simplex"),
    ("presolve", "off"),  # it takes epsilons below its tolerance for contradictions
    ("primal_feasibility_tolerance", _TOLERANCE),
    ("dual_feasibility_tolerance", _TOLERANCE),
    # Rates and shares need no scaling, and scaled tolerances do not hold.
    ("simplex_scale_strategy", 0),
    ("small_matrix_value", 1e-12),  # a small client's share of a pooled rate is tiny
)


class Model:
    """Minimise cost.x over x >= 0 with limits on the rows; one thread at a time.

    Parameters
    ----------
    lower, upper : ndarray, shape (rows,)
        Limits of the rows, to begin with.
    """

    def __init__(self, lower: Floats, upper: Floats) -> None:
        self._highs = highspy.Highs()
        for option, value in _OPTIONS:
            self._highs.setOptionValue(option, value)
        self._rows = len(lower)
        self._lower, self._upper = lower.astype(float), upper.astype(float)
        self._cost = np.zeros(0)
        self._levels = np.zeros((2, 0), np.int64)
        nothing = np.zeros(0)
        self._highs.addRows(
            len(lower),
            lower,
            upper,
            0,
            np.zeros(len(lower), np.int32),
            nothing.astype(np.int32),
            nothing,
        )

    def add_columns(self, cost: Floats, entries: tuple[Ints, Ints, Floats]) -> None:
        """Append columns: their costs, and (row, column, value) of what they put into rows."""
        row, column, value = entries
        order = np.lexsort((row, column))
        starts = np.searchsorted(column[order], np.arange(len(cost)))
        self._cost = np.append(self._cost, _FINER * cost)
        self._highs.addCols(
            len(cost),
            _FINER * cost,
            np.zeros(len(cost)),
            np.full(len(cost), np.inf),
            len(order),
            starts.astype(np.int32),
            row[order].astype(np.int32),
            value[order],
        )

    def set_levels(self, row: Ints, column: Ints) -> None:
        """Say which of the first columns are levels, and in which rows they stand.

        Those count that share no row with another: while none of its rows has a dual, such a
        level is free to move, and nothing else moves with it.
        """
        alone = np.bincount(row)[row] == 1
        shares = np.bincount(column, ~alone) > 0
        mine = ~shares[column]
        self._levels = np.stack([row[mine], column[mine]])

    def set_start(self, basic_columns: Ints, basic_rows: Ints) -> None:
        """Say which columns and rows are basic where every solve begins."""
        basic = highspy.HighsBasisStatus.kBasic
        columns = np.zeros(self._highs.getNumCol(), bool)
        columns[basic_columns] = True
        rows = np.zeros(self._rows, bool)
        rows[basic_rows] = True
        self._start = highspy.HighsBasis()
        self._start.col_status = [basic if one else _NONBASIC for one in columns]
        self._start.row_status = [basic if one else _NONBASIC for one in rows]
        self._start.valid = True

    def begin(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Set the limits of some rows and go back to the starting point."""
        self._highs.clearSolver()
        self.change_limits(rows, lower, upper)
        self._highs.setBasis(self._start)

    def basis(self) -> Basis:
        """Where the last optimum stands."""
        return self._highs.getBasis()

    def set_basis(self, basis: Basis) -> None:
        """Go on from an earlier optimum instead of the last."""
        self._highs.setBasis(basis)

    def change_limits(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Set the limits of some rows and go on from the last optimum."""
        self._lower[rows], self._upper[rows] = lower, upper
        self._highs.changeRowsBounds(len(rows), rows.astype(np.int32), lower, upper)

    def optimum(self) -> tuple[Floats, Floats]:
        """Column values and row duals."""
        optimal, infeasible = (
            highspy.HighsModelStatus.kOptimal,
            highspy.HighsModelStatus.kInfeasible,
        )
        ended = [self._ended()]
        # A starting point can be numerically unlucky, and so can a way from it.
        for strategy in (_DUAL, _PRIMAL):
            if ended[-1] == optimal or infeasible in ended[1:]:
                break
            self._highs.clearSolver()
            self._highs.setOptionValue("simplex_strategy", strategy)
            ended.append(self._ended())
        self._highs.setOptionValue("simplex_strategy", _DUAL)
        if ended[-1] != optimal and infeasible in ended:
            raise InfeasibleError
        if ended[-1] != optimal:
            reason = self._highs.modelStatusToString(ended[-1])
            raise SolveError(
                f"HiGHS ended without an optimum ({reason}); please report this with the counts."
            )
        solution = self._highs.getSolution()
        self._values, self._reduced = np.array(solution.col_value), np.array(solution.col_dual)
        self._duals = np.array(solution.row_dual)
        return self._values, self._duals / _FINER

    def break_ties(self, order: Floats, *, warm: bool = False) -> Floats:
        """Return the column values of the optimum with the least order.x, after `optimum`.

        Every optimum is complementary to the same duals: columns with a reduced cost stay at 0,
        and rows with a dual at their limit. Over what is left `order` is minimised, which must
        tell all columns apart. Nothing is solved where no nonbasic variable but levels can move.
        `warm` says that the optimum was found from another one, not from the starting point.
        """
        if not self._is_tied(_WARM_BLUR if warm else _BLUR):
            return self._values
        basis = self.basis()
        self._highs.clearSolver()
        self.set_basis(basis)
        self.optimum()  # the same, with reduced costs that no update has blurred
        if not self._is_tied(_TIE):
            return self._values
        columns, rows = np.abs(self._reduced) > _TIE, np.abs(self._duals) > _TIE
        active = np.where(self._duals > 0, self._lower, self._upper)
        stays = np.flatnonzero(columns).astype(np.int32)
        tight = np.flatnonzero(rows & np.isfinite(active)).astype(np.int32)
        everything = np.arange(len(columns), dtype=np.int32)
        zeros, basis = np.zeros(len(stays)), self.basis()
        self._highs.changeColsBounds(len(stays), stays, zeros, zeros)
        self._highs.changeRowsBounds(len(tight), tight, active[tight], active[tight])
        self._highs.changeColsCost(len(order), everything, order)
        self._highs.setOptionValue("simplex_strategy", _PRIMAL)  # it stands on a feasible point
        if self._ended() == highspy.HighsModelStatus.kOptimal:
            self._values = np.array(self._highs.getSolution().col_value)
        self._highs.setOptionValue("simplex_strategy", _DUAL)
        self._highs.changeColsCost(len(order), everything, self._cost)
        self._highs.changeRowsBounds(len(tight), tight, self._lower[tight], self._upper[tight])
        self._highs.changeColsBounds(len(stays), stays, zeros, np.full(len(stays), np.inf))
        self.set_basis(basis)
        return self._values

    def _is_tied(self, tolerance: float) -> bool:
        """Whether a nonbasic variable that can move, and is no free level, has no reduced cost.

        There are as many nonbasic variables as columns, and one of each free level's.
        """
        columns, rows = np.abs(self._reduced) > tolerance, np.abs(self._duals) > tolerance
        held = np.count_nonzero(columns) + np.count_nonzero(rows)
        row, level = self._levels
        if held < len(columns) and level.size:
            stays = np.bincount(level, rows[row] | columns[level])[level] > 0
            held += len(np.unique(level[~stays]))
            rows[row] = True  # counted
        if held < len(columns):
            fixed = np.flatnonzero(~rows & (self._lower == self._upper))
            status = self.basis().row_status if fixed.size else []
            held += sum(status[row] != highspy.HighsBasisStatus.kBasic for row in fixed)
        return bool(held < len(columns))

    def _ended(self) -> highspy.HighsModelStatus:
        look()
        looked_after = watched() and self._highs.getNumCol() > _LARGE
        if looked_after:
            self._highs.cbSimplexInterrupt += _stop_where_over
        self._highs.run()
        if looked_after:
            self._highs.cbSimplexInterrupt -= _stop_where_over
        ended = self._highs.getModelStatus()
        if ended == highspy.HighsModelStatus.kInterrupt:
            self._highs.clearSolver()
            look()
            raise Abandoned  # the one it was done for has come back in between
        return ended


def _stop_where_over(event: highspy.HighsCallbackEvent) -> None:
    """End a long solve where nobody waits for it any more."""
    over = False
    try:
        look()
    except (Abandoned, OverBudgetError):
        over = True
    event.interrupt(over)  # said either way: HiGHS remembers what it was told last
