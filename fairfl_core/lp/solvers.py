"""Solve a program within any limits, and maps of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.constraints.base import OVERALL
from fairfl_core.lp.highs import HighsSolver
from fairfl_core.lp.linear_program import LinearProgram

__all__ = ["FullSolver", "Solver", "highs_solver"]

Floats = NDArray[np.float64]
_SAME = 1e-9  # weights that differ by less


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
