"""Programs whose overall margin is a second-order cone, solved by HiGHS and Clarabel.

The cone couples the clients; without it every client is on its own. So the clients are solved
alone first, by HiGHS: the same for all overall limits. Where that keeps the overall margin, too, it
is the optimum. Else Clarabel solves the cone program over few columns and rows, those near the
optimum of the clients alone, and takes in what is missing: columns with a reduced cost, and rows
that are violated. At fifty clients by their scores that is up to thirty times as fast as the
whole cone program, and rounds of cuts need 30 to more than 200 programs for what Clarabel does in 20
iterations.

The answer is a function of the program and the limits alone, whatever was solved before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.budget import look
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.highs import FullSolver, HighsSolver, Solver
from fairfl_core.lp.linear_program import LinearProgram

__all__ = ["ConeProgram", "ConeSolver"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Tolerance and regularisation; the next where one does not get there.
_TRIES = ((1e-10, 1e-8), (1e-8, 1e-6), (1e-7, 1e-8))
_SLACK = 2e-9  # limits are tightened by this, so that what the solver leaves open keeps them
_NO_ROOM = 1e-6  # an overall limit below this is taken as 0
_NEAR = 0.02  # of a limit: rows with less slack are taken in at first
_FEW = 4  # columns of a block that are taken in at first
_HELPFUL = 0.3  # of the best reduced cost of a block: such columns are taken in together
_VIOLATED = 2e-10
_GAP = 1e-10  # what a block may still gain, in units of a mean cell
_MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Minimise cost.x over x >= 0, matrix x <= limits, blocks x = 1 and the cones.

    Attributes
    ----------
    cost, limits : ndarray
    matrix, blocks : csr_array
    cones : csr_array
        The rows of all cones, one below the other.
    sizes : tuple of int
        How many rows each cone has.
    """

    cost: Floats
    matrix: sparse.csr_array
    limits: Floats
    blocks: sparse.csr_array
    cones: sparse.csr_array
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        cost: Floats,
        matrix: sparse.csr_array,
        limits: Floats,
        blocks: sparse.csr_array,
        cones: Sequence[sparse.csr_array],
    ) -> "ConeProgram":
        """Put the cones together."""
        none = sparse.csr_array((0, len(cost)))
        sizes = tuple(cone.shape[0] for cone in cones)
        return cls(cost, matrix, limits, blocks, sparse.vstack([none, *cones], "csr"), sizes)

    def take(self, rows: Bools, columns: Bools) -> "ConeProgram":
        """Return the same over some of the limits and columns."""
        row, column = np.flatnonzero(rows), np.flatnonzero(columns)
        parts = self.matrix[row][:, column], self.limits[row], self.blocks[:, column]
        return ConeProgram(self.cost[column], *parts, self.cones[:, column], self.sizes)

    def solve(self) -> tuple[Floats, Floats, Floats]:
        """Return x and the duals of limits and blocks: d(cost) / d(right-hand side).

        Without a cone that is a linear program. Where Clarabel finds no interior point, all errors
        are 0: every limit is kept, at a cost that may be higher.
        """
        found = self.by_clarabel() if self.sizes else None
        return self.without_error() if found is None else found[:3]

    def by_clarabel(self) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Return the same and the duals of the cones' rows; None where there is no interior point."""
        import clarabel  # only where a confidence is asked for

        size, blocks, limits = len(self.cost), self.blocks.shape[0], self.limits
        rows = [self.blocks, self.matrix, -sparse.eye_array(size, format="csr"), -self.cones]
        whole = sparse.csc_matrix(sparse.vstack(rows, "csc"))
        tightened = np.where(limits > 2 * _SLACK, limits - _SLACK, limits)
        right = np.concatenate([np.ones(blocks), tightened, np.zeros(size + sum(self.sizes))])
        kinds = [
            clarabel.ZeroConeT(blocks),
            clarabel.NonnegativeConeT(len(limits) + size),
            *map(clarabel.SecondOrderConeT, self.sizes),
        ]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.direct_solve_method = "qdldl"  # one thread: a fifth of the time of the default
        none = sparse.csc_matrix((size, size))
        for tolerance, regularisation in _TRIES:
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
            settings.static_regularization_constant = regularisation
            look()
            found = clarabel.DefaultSolver(none, self.cost, whole, right, kinds, settings).solve()
            look()
            status = str(found.status)
            if status == "Solved":
                ends = [blocks, blocks + len(limits), blocks + len(limits) + size]
                paid, prices, _, tight = np.split(-np.asarray(found.z), ends)
                return np.asarray(found.x), prices, paid, tight
            if "Infeasible" in status:
                raise InfeasibleError
        return None

    def without_error(self) -> tuple[Floats, Floats, Floats]:
        """Solve the same where nothing is left to chance: every cone is a point."""
        first = np.cumsum([0, *self.sizes])[:-1]
        errors = self.cones[np.setdiff1d(np.arange(sum(self.sizes)), first)]
        # Of a sum of errors that is to be 0 every part is.
        one_sided = (errors < 0).sum(axis=1) == 0
        free = np.flatnonzero((errors[one_sided] > 0).sum(axis=0) == 0)
        rest = sparse.vstack([self.matrix, self.blocks, errors[~one_sided]], "csc")
        many, blocks = len(self.limits), self.blocks.shape[0]
        sums = np.zeros(rest.shape[0] - many)
        sums[:blocks] = 1.0
        lower, upper = np.append(np.full(many, -np.inf), sums), np.append(self.limits, sums)
        solver = HighsSolver(lower, upper)
        solver.add_columns(self.cost[free], rest[:, free])
        x = np.zeros(len(self.cost))
        x[free], duals = solver.solve()
        return x, duals[:many], duals[many : many + blocks]


class ConeSolver(Solver):
    """Solve a program with cones; see `Solver`."""

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._clients = FullSolver(program)
        self._last: _Start | None = None

    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the constraints."""
        start = self._clients_alone(eps_local)
        if eps_global >= 1 or start.keeps(eps_global):
            return start.x, start.duals
        conic = replace(start.conic, limits=start.limits(eps_global))
        if eps_global < _NO_ROOM:
            x, prices, _ = conic.without_error()
        else:
            x, prices = self._near(conic, start) or conic.solve()[:2]
        duals = np.zeros(len(self.program.constraints))
        np.add.at(duals, start.place, start.sign * prices)
        return x, duals

    def _clients_alone(self, eps_local: Floats) -> "_Start":
        """The optimum without an overall limit: the same for all overall limits, the last is kept."""
        if self._last is None or not np.array_equal(self._last.eps_local, eps_local):
            x, duals = self._clients.solve(1.0, eps_local)
            self._last = _Start(self.program, eps_local.copy(), self._bounded(x), duals)
        return self._last

    def _bounded(self, x: Floats) -> Floats:
        """Return x with the least auxiliary columns of the cones that its weights allow."""
        x = x.copy()
        for bound, free, own, cone in self._cone_parts:
            x[free] = 0.0
            x[free] = np.linalg.lstsq(own, -(cone @ x), rcond=None)[0]
            x[bound] = np.linalg.norm(cone @ x)
        return x

    @cached_property
    def _cone_parts(self) -> list[tuple[int, Ints, Floats, sparse.csr_array]]:
        """Of each cone its bound, its free auxiliary columns, what these add, and the errors."""
        parts: list[tuple[int, Ints, Floats, sparse.csr_array]] = []
        for cone in self.program.cones:
            own = cone[:, : self.program.auxiliary].toarray()
            (bound,) = np.flatnonzero(own[0])
            others = np.flatnonzero(own[1:].any(axis=0))
            free = np.setdiff1d(others, [part[0] for part in parts])  # bounds of cones before it
            parts.append((int(bound), free, own[1:, free], cone[1:]))
        return parts

    def _near(self, conic: ConeProgram, start: "_Start") -> tuple[Floats, Floats] | None:
        """Solve over few columns and rows, and take in what is missing until nothing is.

        None where that finds no optimum.
        """
        columns, limits = start.columns.copy(), conic.limits
        near = start.sums - limits >= -_NEAR * np.abs(limits)
        rows = near | (start.duals[start.place] != 0)
        rows |= self.program.constraints.scope[start.place] < 0  # of no client
        for _ in range(_MOST_ROUNDS):
            try:
                found = conic.take(rows, columns).by_clarabel()
            except InfeasibleError:
                return None
            if found is None:
                return None
            x, prices = np.zeros(len(columns)), np.zeros(len(rows))
            x[columns], prices[rows], paid, tight = found
            more = np.where(rows, 0.0, conic.matrix @ x - limits) > _VIOLATED
            reduced = conic.cost - conic.matrix.T @ prices - conic.blocks.T @ paid
            reduced += conic.cones.T @ tight
            helpful = self._helpful(np.where(columns, 0.0, reduced))
            if not more.any() and not helpful.any():
                return x, prices
            rows, columns = rows | more, columns | helpful
        return None

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


@dataclass(frozen=True, eq=False)
class _Start:
    """An optimum of the clients alone, the duals of all rows, and its rows as upper limits."""

    program: LinearProgram
    eps_local: Floats
    x: Floats
    duals: Floats

    def keeps(self, eps_global: float) -> bool:
        """Whether it keeps this overall limit."""
        return bool((self.sums <= self.limits(eps_global) + _VIOLATED).all())

    def limits(self, eps_global: float) -> Floats:
        """The upper limits of its rows, as long as the overall one is below 1."""
        return self.program.constraints.upper_limits(eps_global, self.eps_local)[2]

    @cached_property
    def place(self) -> Ints:
        """The row of every finite limit, those from above first."""
        return self.program.constraints.upper_limits(0.0, self.eps_local)[0]

    @cached_property
    def sign(self) -> Floats:
        """1 for a limit from above, -1 for one from below."""
        return self.program.constraints.upper_limits(0.0, self.eps_local)[1]

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """What x adds up to in these rows, by their sign."""
        return sparse.csr_array(self.program.matrix[self.place] * self.sign[:, None])

    @cached_property
    def sums(self) -> Floats:
        """What its x adds up to."""
        return np.asarray(self.matrix @ self.x)

    @cached_property
    def conic(self) -> ConeProgram:
        """The program with its rows as upper limits, which are still to be set."""
        program, none = self.program, np.zeros(len(self.place))
        return ConeProgram.of(program.cost, self.matrix, none, program.blocks, program.cones)

    @cached_property
    def columns(self) -> Bools:
        """Columns that are taken in at first: auxiliary ones, constant answers, the model's own.

        And those in use, and in each block those of the least reduced cost.
        """
        auxiliary, variables = self.program.auxiliary, self.program.variables
        constant = ~np.isnan(variables.known).any(axis=1)
        always = np.append(np.ones(auxiliary, bool), variables.keeps | constant)
        reduced = self.program.cost - self.program.whole.T @ self.duals
        block, member = variables.members
        order = np.lexsort((reduced[auxiliary + member], block))
        first = np.searchsorted(block[order], np.arange(variables.blocks))
        rank = np.zeros(len(reduced), np.int64)
        rank[auxiliary + member[order]] = np.arange(len(order)) - first[block[order]]
        return np.asarray((self.x > 0) | always | (rank < _FEW))
