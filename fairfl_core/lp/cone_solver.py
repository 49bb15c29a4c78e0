"""Programs whose overall margin is a second-order cone, solved by Clarabel.

Clarabel is an interior-point solver: its answer is a function of the program and the limits alone,
whatever was solved before. Where the overall limit asks for nothing no cone counts, and HiGHS
solves the program.
"""

from collections.abc import Sequence

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
# Tolerance and regularisation; the next where one does not get there.
_TRIES = ((1e-10, 1e-8), (1e-8, 1e-6), (1e-7, 1e-8))
_SLACK = 2e-9  # limits are tightened by this, so that what the solver leaves open keeps them
_INFEASIBLE = 2  # SciPy's word for it
_NO_ROOM = 1e-6  # an overall limit below this is taken as 0
_NO_PRICE = 1e-7  # what an interior point leaves of a price that is none


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
        return _solve_polyhedral(cost, matrix, limits, blocks, cones)
    duals = -np.asarray(found.z)
    first = blocks.shape[0]
    return np.asarray(found.x), duals[first : first + len(limits)], duals[:first]


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

    no_price = _NO_PRICE

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._without_cones = FullSolver(program)

    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the constraints."""
        program = self.program
        if eps_global >= 1:
            return self._without_cones.solve(eps_global, eps_local)
        lower, upper = program.constraints.bounds(eps_global, eps_local)
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        matrix = sparse.vstack([program.matrix[high], -program.matrix[low]]).tocsr()
        limits = np.append(upper[high], -lower[low])
        if eps_global < _NO_ROOM:
            values, prices = self._without_error(matrix, limits)
        else:
            values, prices, _ = solve_conic(
                program.cost, matrix, limits, program.blocks, program.cones
            )
        duals = np.zeros(len(program.constraints))
        np.add.at(duals, high, prices[: len(high)])
        np.subtract.at(duals, low, prices[len(high) :])
        return values, duals

    def _without_error(self, matrix: sparse.csr_array, limits: Floats) -> tuple[Floats, Floats]:
        """Solve where the overall limit leaves no room for chance: every cone is a point."""
        closed = sparse.vstack([self.program.blocks, *(cone[1:] for cone in self.program.cones)])
        sums = np.zeros(closed.shape[0])
        sums[: self.program.blocks.shape[0]] = 1.0
        found = linprog(self.program.cost, matrix, limits, closed, sums)
        if found.status != 0:
            raise InfeasibleError
        return np.asarray(found.x), np.asarray(found.ineqlin.marginals)
