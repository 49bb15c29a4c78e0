"""Programs whose overall margin is a second-order cone, solved by Clarabel.

Clarabel is an interior-point solver: its answer is a function of the program and the limits alone,
whatever was solved before. Where the overall limit asks for nothing no cone counts, and HiGHS
solves the program.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.budget import look
from fairfl_core.errors import SolveError
from fairfl_core.solving.backend import Infeasible
from fairfl_core.solving.constraints.base import OVERALL, Constraints
from fairfl_core.solving.sharing import Sharing
from fairfl_core.solving.whole import Whole

__all__ = ["ConeSolver", "cone_matrices", "solve_conic"]

Floats = NDArray[np.float64]
_TOLERANCE = 1e-10
_SLACK = 2e-9  # limits are tightened by this, so that what the solver leaves open keeps them
_NO_PRICE = 1e-7  # what an interior point leaves of a price that is none


def cone_matrices(
    rows: Constraints, sharing: Sharing, columns: int | None = None
) -> list[sparse.csr_array]:
    """The cones of a program, each as a matrix: (M x)_0 >= |(M x)_1, (M x)_2, ...|.

    Columns are the auxiliary ones, then the variables; `columns` says how many in all, where more
    follow.
    """
    size = rows.auxiliary + len(sharing.merged) if columns is None else columns
    found = []
    for entries in rows.cones(sharing.columns):
        row, column, value = sharing.entries(entries)
        column = np.where(column < 0, -1 - column, rows.auxiliary + column)
        found.append(sparse.csr_array((value, (row, column)), (int(row.max()) + 1, size)))
    return found


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
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, _TOLERANCE)
    look()
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((len(cost), len(cost))),
        cost,
        sparse.csc_matrix(whole),
        right,
        [
            clarabel.ZeroConeT(blocks.shape[0]),
            clarabel.NonnegativeConeT(len(limits) + len(cost)),
            *map(clarabel.SecondOrderConeT, sizes),
        ],
        settings,
    ).solve()
    look()
    status = str(found.status)
    if "Infeasible" in status:
        raise Infeasible
    if status not in ("Solved", "AlmostSolved"):
        raise SolveError(
            f"Clarabel ended without an optimum ({status}); please report this with the counts."
        )
    duals = -np.asarray(found.z)
    first = blocks.shape[0]
    return np.asarray(found.x), duals[first : first + len(limits)], duals[:first]


class ConeSolver:
    """Solve a program with cones; see `solvers.Solver`.

    Parameters
    ----------
    rows : Constraints
    sharing : Sharing
    worth, order : ndarray, shape (variables,)
    """

    def __init__(self, rows: Constraints, sharing: Sharing, worth: Floats, order: Floats) -> None:
        self._rows = rows
        self._without_cones = Whole(rows, sharing, worth, order)
        self._cost = np.append(rows.auxiliary_costs(), -worth)
        size = len(self._cost)
        row, column, value = sharing.entries(rows.entries(sharing.columns))
        own_row, own_column, own_value = rows.auxiliary_entries(sharing.columns)
        places = (np.append(own_row, row), np.append(own_column, rows.auxiliary + column))
        self._matrix = sparse.csr_array((np.append(own_value, value), places), (len(rows), size))
        block, member = sharing.merged.members
        self._blocks = sparse.csr_array(
            (np.ones(len(block)), (block, rows.auxiliary + member)), (sharing.merged.blocks, size)
        )
        self._cones = cone_matrices(rows, sharing)

    def solve(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """Values of the variables and duals of the rows."""
        if eps_global >= 1:
            return self._without_cones.solve(eps_global, local)
        lower, upper = self._rows.bounds(eps_global, local)
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        values, prices, _ = solve_conic(
            self._cost,
            sparse.vstack([self._matrix[high], -self._matrix[low]]).tocsr(),
            np.append(upper[high], -lower[low]),
            self._blocks,
            self._cones,
        )
        duals = np.zeros(len(self._rows))
        np.add.at(duals, high, prices[: len(high)])
        np.subtract.at(duals, low, prices[len(high) :])
        return values, duals

    def grid(
        self, eps_globals: Sequence[float], locals_: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Each row from the tightest overall limit until that has no price."""
        overall = self._rows.scope == OVERALL
        for local in locals_:
            found: dict[float, Floats | None] = {}
            values = None
            for eps_global in sorted(set(eps_globals)):
                try:
                    values, duals = self.solve(eps_global, local)
                except Infeasible:
                    found[eps_global] = None
                    continue
                found[eps_global] = values
                if self._rows.prices(duals[: len(self._rows)])[overall].sum() <= _NO_PRICE:
                    break
            yield [found.get(eps_global, values) for eps_global in eps_globals]
