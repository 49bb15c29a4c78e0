"""Programs whose overall margin is a second-order cone, solved by HiGHS and Clarabel.

The cone couples the clients; without it every client is on its own. So the clients are solved
alone first, by HiGHS: the same for all overall limits. Where that keeps the overall margin, too, it
is the optimum. Else Clarabel solves the cone program over few columns and rows, those near the
optimum of the clients alone, and takes in what is missing: columns with a reduced cost, rows and
cones that are violated. At fifty clients that is five to ten times as fast as the cone program whole, and
rounds of cuts need 30 to more than 200 programs for what Clarabel does in 20 iterations.

The answer is a function of the program and the limits alone, whatever was solved before.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from fairfl_core.budget import look
from fairfl_core.errors import InfeasibleError, SolveError
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.solvers import FullSolver, Solver

__all__ = ["ConeSolver", "solve_conic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Tolerance and regularisation; the next where one does not get there.
_TRIES = ((1e-10, 1e-8), (1e-8, 1e-6), (1e-7, 1e-8))
_SLACK = 2e-9  # limits are tightened by this, so that what the solver leaves open keeps them
_INFEASIBLE = 2  # SciPy's word for it
_NO_ROOM = 1e-6  # an overall limit below this is taken as 0
_NEAR = 0.02  # of a limit: rows with less slack are taken in at first
_FEW = 4  # columns of a block that are taken in at first
_HELPFUL = 0.3  # of the best reduced cost of a block: such columns are taken in together
_WORST = 0.3  # of a client's largest violation: such rows are taken in together
_VIOLATED = 2e-10
_GAP = 1e-10  # what a block may still gain, in units of a mean cell
_MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class _ConicOptimum:
    """Where Clarabel ended; duals are d cost / d right-hand side."""

    x: Floats
    limits: Floats
    blocks: Floats
    cones: list[Floats]


def solve_conic(
    cost: Floats,
    matrix: sparse.csr_array,
    limits: Floats,
    blocks: sparse.csr_array,
    cones: Sequence[sparse.csr_array],
) -> tuple[Floats, Floats, Floats]:
    """Minimise cost.x over x >= 0, matrix x <= limits, blocks x = 1 and the cones.

    Returns x and the duals of limits and blocks: d(cost) / d(right-hand side).
    """
    found = _clarabel(cost, matrix, limits, blocks, cones)
    if found is None:
        return _solve_polyhedral(cost, matrix, limits, blocks, cones)
    return found.x, found.limits, found.blocks


def _clarabel(
    cost: Floats,
    matrix: sparse.csr_array,
    limits: Floats,
    blocks: sparse.csr_array,
    cones: Sequence[sparse.csr_array],
) -> _ConicOptimum | None:
    """Solve the same by Clarabel; None where it finds no interior point."""
    import clarabel  # only where a confidence is asked for

    sizes = [cone.shape[0] for cone in cones]
    positive = sparse.eye_array(len(cost), format="csr")
    whole = sparse.vstack([blocks, matrix, -positive, *(-cone for cone in cones)])
    right = np.concatenate(
        [
            np.ones(blocks.shape[0]),
            np.where(limits > 2 * _SLACK, limits - _SLACK, limits),
            np.zeros(len(cost) + sum(sizes)),
        ]
    )
    size = len(cost)
    cone_kinds = [
        clarabel.ZeroConeT(blocks.shape[0]),
        clarabel.NonnegativeConeT(len(limits) + size),
        *map(clarabel.SecondOrderConeT, sizes),
    ]
    for tolerance, regularisation in _TRIES:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.direct_solve_method = "qdldl"  # one thread: a fifth of the time of the default
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.static_regularization_constant = regularisation
        look()
        found = clarabel.DefaultSolver(
            sparse.csc_matrix((size, size)),
            cost,
            sparse.csc_matrix(whole),
            right,
            cone_kinds,
            settings,
        ).solve()
        look()
        status = str(found.status)
        if status == "Solved" or "Infeasible" in status:
            break
    if "Infeasible" in status:
        raise InfeasibleError
    if status != "Solved":
        return None
    ends = np.cumsum([blocks.shape[0], len(limits), size, *sizes])
    of_blocks, of_limits, _, *of_cones = np.split(-np.asarray(found.z), ends)[:-1]
    return _ConicOptimum(np.asarray(found.x), of_limits, of_blocks, of_cones)


def _solve_polyhedral(
    cost: Floats,
    matrix: sparse.csr_array,
    limits: Floats,
    blocks: sparse.csr_array,
    cones: Sequence[sparse.csr_array],
) -> tuple[Floats, Floats, Floats]:
    """Solve where no interior point is found, with sums of errors for their lengths.

    A sum is never shorter, so that every margin is kept; it may cost more than the cone.
    """
    errors = sparse.vstack([cone[1:] for cone in cones])
    size, more = len(cost), errors.shape[0]
    one = sparse.eye_array(more)
    member = np.repeat(np.arange(len(cones)), [cone.shape[0] - 1 for cone in cones])
    sums = sparse.csr_array((np.ones(more), (member, np.arange(more))), (len(cones), more))
    bounds = sparse.vstack([cone[:1] for cone in cones])
    found = linprog(
        np.append(cost, np.zeros(more)),
        sparse.block_array(
            [[matrix, None], [errors, -one], [-errors, -one], [-bounds, sums]], format="csr"
        ),
        np.append(limits, np.zeros(2 * more + len(cones))),
        sparse.hstack([blocks, sparse.csr_array((blocks.shape[0], more))]),
        np.ones(blocks.shape[0]),
    )
    if found.status == _INFEASIBLE:
        raise InfeasibleError
    if found.status != 0:
        raise SolveError(
            f"no optimum was found ({found.message}); please report this with the counts."
        )
    prices = np.asarray(found.ineqlin.marginals)[: len(limits)]
    return np.asarray(found.x)[:size], prices, np.asarray(found.eqlin.marginals)


class ConeSolver(Solver):
    """Solve a program with cones; see `solvers.Solver`."""

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._clients = FullSolver(program)

    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the constraints."""
        return self._solve(eps_global, eps_local, self._clients_alone(eps_local))

    def _clients_alone(self, eps_local: Floats) -> "_Start":
        """The optimum without an overall limit: the same for all overall limits."""
        x, duals = self._clients.solve(1.0, eps_local)
        return _Start(self._bounded(x, range(len(self.program.cones))), duals)

    def _bounded(self, x: Floats, cones: Iterable[int]) -> Floats:
        """Return x with the least auxiliary columns of these cones that its weights allow."""
        x = x.copy()
        for number in cones:
            bound, others, own, errors = self._cone_parts[number]
            rest = errors @ x[self.program.auxiliary :]
            x[others] = np.linalg.lstsq(own, -rest, rcond=None)[0]
            x[bound] = np.linalg.norm(rest + own @ x[others])
        return x

    @cached_property
    def _cone_parts(self) -> list[tuple[int, Ints, Floats, sparse.csr_array]]:
        """Of each cone its bound, its other auxiliary columns, and what all put into the errors."""
        parts, auxiliary = [], self.program.auxiliary
        for cone in self.program.cones:
            own = cone[:, :auxiliary].toarray()
            (bound,) = np.flatnonzero(own[0])
            others = np.flatnonzero(own[1:].any(axis=0))
            parts.append((int(bound), others, own[1:, others], cone[1:, auxiliary:]))
        return parts

    def _solve(
        self, eps_global: float, eps_local: Floats, start: "_Start"
    ) -> tuple[Floats, Floats]:
        if eps_global >= 1:
            return start.x, start.duals
        lower, upper = self.program.constraints.bounds(eps_global, eps_local)
        sums = self.program.matrix @ start.x
        if (sums <= upper).all() and (sums >= lower - _VIOLATED)[np.isfinite(lower)].all():
            return start.x, start.duals
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        place = np.append(high, low)
        sign = np.append(np.ones(len(high)), -np.ones(len(low)))
        matrix = sparse.csr_array(self._matrix[place] * sign[:, None])
        limits = np.append(upper[high], -lower[low])
        if eps_global < _NO_ROOM:
            x, prices = self._without_error(matrix, limits)
        else:
            x, prices = self._near(matrix, limits, place, start) or self._whole(matrix, limits)
        duals = np.zeros(len(lower))
        np.add.at(duals, place, sign * prices)
        return x, duals

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        return sparse.csr_array(self.program.matrix)

    @cached_property
    def _by_column(self) -> tuple[sparse.csc_array, list[sparse.csc_array]]:
        """The blocks and the cones, to take columns of."""
        program = self.program
        return sparse.csc_array(program.blocks), [sparse.csc_array(one) for one in program.cones]

    def _whole(self, matrix: sparse.csr_array, limits: Floats) -> tuple[Floats, Floats]:
        program = self.program
        return solve_conic(program.cost, matrix, limits, program.blocks, program.cones)[:2]

    def _near(
        self, matrix: sparse.csr_array, limits: Floats, place: Ints, start: "_Start"
    ) -> tuple[Floats, Floats] | None:
        """Solve over few columns and rows, and take in what is missing until nothing is.

        None where that finds no optimum.
        """
        program, cost = self.program, self.program.cost
        blocks, cones = self._by_column
        bounds = [part[0] for part in self._cone_parts]
        scope = np.maximum(program.constraints.scope[place], -1) + 1  # 0: no client's
        of_cone = sparse.csc_array(matrix)[:, bounds].toarray() != 0  # (rows, cones)
        over = matrix @ start.x - limits
        active = of_cone[over > 0].any(axis=0)
        near = (start.duals[place] != 0) | (over >= -_NEAR * np.abs(limits))
        rows = np.where(of_cone.any(axis=1), of_cone[:, active].any(axis=1), near | (scope == 0))
        reduced = cost - program.whole.T @ start.duals
        columns = (start.x > 0) | self._always | (self._rank(reduced) < _FEW)
        by_column = sparse.csc_array(matrix)
        for _ in range(_MOST_ROUNDS):
            for number in np.flatnonzero(~active).tolist():
                columns[self._own(number)] = False
            some, chosen, cone_numbers = map(np.flatnonzero, (columns, rows, active))
            among = sparse.csr_array(by_column[:, some])
            try:
                found = _clarabel(
                    cost[some],
                    among[chosen],
                    limits[chosen],
                    sparse.csr_array(blocks[:, some]),
                    [sparse.csr_array(cones[number][:, some]) for number in cone_numbers],
                )
            except InfeasibleError:
                return None
            if found is None:
                return None
            x = np.zeros(len(cost))
            x[some] = found.x
            x = self._bounded(x, np.flatnonzero(~active))
            over = np.where(rows, 0.0, matrix @ x - limits)
            worst = np.zeros(int(scope.max()) + 1)
            np.maximum.at(worst, scope, over)
            more = (over > _VIOLATED) & (over >= _WORST * worst[scope])
            reduced = cost - blocks.T @ found.blocks - matrix[chosen].T @ found.limits
            for number, dual in zip(cone_numbers.tolist(), found.cones, strict=True):
                reduced += cones[number].T @ dual
            helpful = self._helpful(np.where(columns, 0.0, reduced))
            if not more.any() and not helpful.any():
                prices = np.zeros(len(limits))
                prices[chosen] = found.limits
                return x, prices
            active = active | of_cone[more].any(axis=0)
            rows = rows | more | of_cone[:, active].any(axis=1)
            columns = columns | helpful
            columns[: program.auxiliary] = True
        return None

    def _own(self, number: int) -> Ints:
        """The auxiliary columns of a cone."""
        bound, others, *_ = self._cone_parts[number]
        return np.append(others, bound)

    @cached_property
    def _always(self) -> Bools:
        """Auxiliary columns, constant answers, and the model's own: always taken in."""
        variables = self.program.variables
        constant = ~np.isnan(variables.known).any(axis=1)
        return np.append(np.ones(self.program.auxiliary, bool), variables.keeps | constant)

    def _rank(self, reduced: Floats) -> Ints:
        """The place of each column among those of its block, by reduced cost."""
        block, member = self.program.variables.members
        order = np.lexsort((reduced[self.program.auxiliary + member], block))
        first = np.searchsorted(block[order], np.arange(self.program.variables.blocks))
        rank = np.zeros(len(reduced), np.int64)
        rank[self.program.auxiliary + member[order]] = np.arange(len(order)) - first[block[order]]
        return rank

    def _helpful(self, reduced: Floats) -> Bools:
        """The columns of each block that would lower the cost most; none if that is next to nothing."""
        auxiliary, variables = self.program.auxiliary, self.program.variables
        block, member = variables.members
        best = np.zeros(variables.blocks)
        np.minimum.at(best, block, reduced[auxiliary + member])
        helpful = np.zeros(len(reduced), bool)
        if best.sum() < -_GAP * variables.blocks:
            mine = reduced[auxiliary + member] < np.minimum(_HELPFUL * best[block], -_GAP / 10)
            helpful[auxiliary + member[mine]] = True
        return helpful

    def _without_error(self, matrix: sparse.csr_array, limits: Floats) -> tuple[Floats, Floats]:
        """Solve where the overall limit leaves no room for chance: every cone is a point."""
        closed = sparse.vstack([self.program.blocks, *(cone[1:] for cone in self.program.cones)])
        sums = np.zeros(closed.shape[0])
        sums[: self.program.blocks.shape[0]] = 1.0
        found = linprog(self.program.cost, matrix, limits, closed, sums)
        if found.status != 0:
            raise InfeasibleError
        return np.asarray(found.x), np.asarray(found.ineqlin.marginals)

    def grid(
        self, eps_globals: Sequence[float], eps_locals: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Row by row, from the tightest overall limit until the clients alone keep it."""
        for eps_local in eps_locals:
            try:
                start = self._clients_alone(eps_local)
            except InfeasibleError:
                yield [None] * len(eps_globals)
                continue
            found: dict[float, Floats | None] = {}
            for eps_global in sorted(set(eps_globals)):
                look()
                try:
                    found[eps_global] = x = self._solve(eps_global, eps_local, start)[0]
                except InfeasibleError:
                    found[eps_global] = None
                    continue
                if x is start.x:
                    break
            yield [found.get(eps_global, start.x) for eps_global in eps_globals]


@dataclass(frozen=True, eq=False)
class _Start:
    """An optimum of the clients alone, and the duals of all rows."""

    x: Floats
    duals: Floats
