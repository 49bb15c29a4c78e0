"""Solve programs with HiGHS, within any limits and over maps of them; the only file that imports it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.budget import is_over, look, watched
from fairfl_core.errors import InfeasibleError, SolveError
from fairfl_core.lp.constraints.base import OVERALL
from fairfl_core.lp.linear_program import LinearProgram

__all__ = ["FullSolver", "HighsSolver", "Solver", "highs_solver"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BASIC, _NONBASIC = highspy.HighsBasisStatus.kBasic, highspy.HighsBasisStatus.kLower
_OPTIMAL, _INFEASIBLE = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible
_DUAL, _PRIMAL = 1, 4  # HiGHS's names of the simplex
_TOLERANCE = 1e-10  # primal and dual: finer than what we promise to users, 1e-7
_TRIES = ((_DUAL, _TOLERANCE), (_PRIMAL, _TOLERANCE), (_PRIMAL, 10 * _TOLERANCE))
_LARGE = 10_000  # columns above which a solve may last, and can be interrupted
_FINER = 1e3  # HiGHS sees costs in thousandths, so that it does not overlook a tie-break
_TIE = 1e-9  # a nonbasic variable whose reduced cost is closer to 0 may be in an optimum
_BLUR, _WARM_BLUR = 1e-8, 1e-6  # of reduced costs, by updates of an ill-conditioned basis
_SAME = 1e-9  # weights that differ by less
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


class HighsSolver:
    """Minimise cost.x subject to lower <= matrix x <= upper and x >= 0; one thread at a time.

    A solve starts from the same basis every time, unless it is asked to start from the last
    optimum, so that what is found is a function of the program and the limits alone: not of what
    was solved before, by whom, or in which thread. A starting basis that is dual feasible whatever
    the limits are saves presolve and phase 1: at fifty clients starting there costs as much as
    starting from the last optimum.

    Parameters
    ----------
    lower, upper : ndarray, shape (rows,)
        Limits of the rows, to begin with.
    """

    def __init__(self, lower: Floats, upper: Floats) -> None:
        self._highs = highspy.Highs()
        for option, value in _OPTIONS:
            self._highs.setOptionValue(option, value)
        self._rows = np.arange(len(lower), dtype=np.int32)
        self._lower, self._upper = np.array(lower, float), np.array(upper, float)
        self._cost, self._tie_break = np.zeros(0), np.zeros(0)
        self._start: highspy.HighsBasis | None = None
        none = np.zeros(0)
        starts = np.zeros(len(lower), np.int32)
        self._highs.addRows(
            len(lower), self._lower, self._upper, 0, starts, none.astype(np.int32), none
        )

    def add_columns(
        self, cost: Floats, matrix: sparse.sparray, tie_break: Floats | None = None
    ) -> None:
        """Append columns: their costs, what they put into the rows, and what decides ties."""
        columns = sparse.csc_array(matrix)
        order = np.zeros(len(cost)) if tie_break is None else tie_break
        self._cost = np.append(self._cost, _FINER * cost)
        self._tie_break = np.append(self._tie_break, order)
        self._highs.addCols(
            len(cost),
            _FINER * cost,
            np.zeros(len(cost)),
            np.full(len(cost), np.inf),
            columns.nnz,
            columns.indptr[:-1].astype(np.int32),
            columns.indices.astype(np.int32),
            columns.data,
        )

    def set_start(self, columns: Ints, rows: Ints) -> None:
        """Say which columns and rows are basic where every solve starts."""
        self._start = highspy.HighsBasis()
        self._start.col_status = _status(columns, len(self._cost))
        self._start.row_status = _status(rows, len(self._rows))
        self._start.valid = True

    def solve(
        self, lower: Floats | None = None, upper: Floats | None = None, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return an optimum and the duals of the rows, d cost / d limit.

        Parameters
        ----------
        lower, upper : ndarray, shape (rows,), optional
            New limits.
        warm : bool
            Start from the last optimum.

        Raises
        ------
        InfeasibleError
        SolveError
            Where HiGHS finds no optimum for another reason.
        """
        self._blur = _WARM_BLUR if warm else _BLUR
        if not warm:
            self._highs.clearSolver()
        if lower is not None and upper is not None:
            self._lower, self._upper = lower, upper
            self._highs.changeRowsBounds(len(self._rows), self._rows, lower, upper)
        if not warm and self._start is not None:
            self._highs.setBasis(self._start)
        return self._optimum()

    def _optimum(self) -> tuple[Floats, Floats]:
        ended = [self._run()]
        # A basis can be numerically unlucky, and so can the way from it.
        for strategy, tolerance in _TRIES:
            if ended[-1] == _OPTIMAL or _INFEASIBLE in ended[1:]:
                break
            self._highs.clearSolver()
            self._set_way(strategy, tolerance)
            ended.append(self._run())
        self._set_way(_DUAL, _TOLERANCE)
        if ended[-1] != _OPTIMAL and _INFEASIBLE in ended:
            raise InfeasibleError
        if ended[-1] != _OPTIMAL:
            reason = self._highs.modelStatusToString(ended[-1])
            raise SolveError(
                f"HiGHS ended without an optimum ({reason}); please report this with the counts."
            )
        solution = self._highs.getSolution()
        self._x, self._reduced = np.array(solution.col_value), np.array(solution.col_dual)
        self._duals = np.array(solution.row_dual)
        return self._x, self._duals / _FINER

    def _set_way(self, strategy: int, tolerance: float) -> None:
        self._highs.setOptionValue("simplex_strategy", strategy)
        self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)

    def break_ties(self) -> Floats:
        """Return the optimum with the least tie_break.x, after `solve`.

        Every optimum is complementary to the same duals: columns with a reduced cost stay at 0,
        and rows with a dual at their limit. Over what is left tie_break.x is minimised. Nothing is
        solved where every nonbasic column and row has a dual, so that the optimum is unique.
        """
        if not self._is_tied():
            return self._x
        basis = self._highs.getBasis()
        self._highs.clearSolver()
        self._highs.setBasis(basis)
        self._optimum()  # the same, with reduced costs that no update has blurred
        zero = np.flatnonzero(np.abs(self._reduced) > _TIE).astype(np.int32)
        active = np.where(self._duals > 0, self._lower, self._upper)
        tight = np.abs(self._duals) > _TIE
        tight = np.flatnonzero(tight & np.isfinite(active)).astype(np.int32)
        every = np.arange(len(self._cost), dtype=np.int32)
        none, basis = np.zeros(len(zero)), self._highs.getBasis()
        self._highs.changeColsBounds(len(zero), zero, none, none)
        self._highs.changeRowsBounds(len(tight), tight, active[tight], active[tight])
        self._highs.changeColsCost(len(every), every, self._tie_break)
        self._highs.setOptionValue("simplex_strategy", _PRIMAL)  # this basis is primal feasible
        try:
            if self._run() == _OPTIMAL:
                self._x = np.array(self._highs.getSolution().col_value)
        finally:  # work may end here, and others go on with this solver
            self._highs.setOptionValue("simplex_strategy", _DUAL)
            self._highs.changeColsCost(len(every), every, self._cost)
            self._highs.changeRowsBounds(len(tight), tight, self._lower[tight], self._upper[tight])
            self._highs.changeColsBounds(len(zero), zero, none, np.full(len(zero), np.inf))
            self._highs.setBasis(basis)
        return self._x

    def _is_tied(self) -> bool:
        """Whether fewer columns and rows have a dual than there are nonbasic ones."""
        duals = np.append(self._reduced, self._duals)
        return bool(np.count_nonzero(np.abs(duals) > self._blur) < len(self._cost))

    def _run(self) -> highspy.HighsModelStatus:
        look()
        can_be_interrupted = watched() and self._highs.getNumCol() > _LARGE
        if can_be_interrupted:
            self._highs.cbSimplexInterrupt += _stop_where_over
        self._highs.run()
        if can_be_interrupted:
            self._highs.cbSimplexInterrupt -= _stop_where_over
        ended = self._highs.getModelStatus()
        if ended == highspy.HighsModelStatus.kInterrupt:
            self._highs.clearSolver()
            look()  # says so
        return ended


def _status(basic: Ints, many: int) -> list[highspy.HighsBasisStatus]:
    status = [_NONBASIC] * many
    for place in basic.tolist():
        status[place] = _BASIC
    return status


def _stop_where_over(event: highspy.HighsCallbackEvent) -> None:
    """End a long solve where its time is over."""
    event.interrupt(is_over())  # set either way: HiGHS remembers the last


class Solver(ABC):
    """Finds the optimum of one program within any limits; one thread at a time."""

    def __init__(self, program: LinearProgram) -> None:
        self.program = program

    @abstractmethod
    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the rows, those of the constraints first.

        A function of the program and the limits alone, whatever was solved before; `warm` allows
        to start from the last optimum, if that leads to the same one.

        Raises
        ------
        InfeasibleError
            Where no lottery keeps all rows.
        """

    def grid(
        self, eps_globals: Sequence[float], eps_locals: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Row by row of a map: x at every overall limit, None where the program is infeasible.

        Where neighbours agree it is one and the same array. Once the overall limit has no price,
        more of it changes the utility no more: if the widest one leads to the same optimum, so do
        those in between.
        """
        constraints, upward = self.program.constraints, sorted(set(eps_globals))
        overall = constraints.scope == OVERALL
        for eps_local in eps_locals:
            found: dict[float, Floats | None] = {}
            x: Floats | None = None
            for eps_global in upward:
                try:
                    x, duals = self.solve(eps_global, eps_local, warm=x is not None)
                except InfeasibleError:
                    found[eps_global] = x = None
                    continue
                found[eps_global] = x
                price = constraints.prices(duals[: len(constraints)])[overall].sum()
                if price <= 0 and self._is_still_best(x, upward[-1], eps_local):
                    break
            yield [found.get(eps_global, x) for eps_global in eps_globals]

    def _is_still_best(self, x: Floats, eps_global: float, eps_local: Floats) -> bool:
        """Whether an optimum is that of a wider overall limit, too."""
        wider, _ = self.solve(eps_global, eps_local, warm=True)
        first = self.program.auxiliary
        return bool(np.abs(wider[first:] - x[first:]).max() <= _SAME)


class FullSolver(Solver):
    """Solve the full program with HiGHS, whatever its rows are."""

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._highs = highs_solver(program)

    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the rows; see `Solver.solve`."""
        _, duals = self._highs.solve(*self.program.limits(eps_global, eps_local), warm=warm)
        return self._highs.break_ties(), duals


def highs_solver(program: LinearProgram) -> HighsSolver:
    """Return HiGHS with the columns of a program and its starting basis."""
    solver = HighsSolver(*program.limits(1.0, np.ones(int(program.rules.client.max()) + 1)))
    solver.add_columns(program.cost, program.whole, program.order)
    solver.set_start(program.start, np.arange(len(program.constraints)))
    return solver
