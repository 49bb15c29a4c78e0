"""How a program is solved: whole or client by client; chosen by what it asks and its size."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.constraints.base import Constraints
from fairfl_core.lp.decomposition import ClientsApart
from fairfl_core.lp.highs import Whole
from fairfl_core.lp.sharing import Sharing

__all__ = ["Solver", "solver_for"]

Floats = NDArray[np.float64]
_FEW = 8  # variables of a block that count for its size, at most
_MANY = 4000  # variables from which on clients are solved apart


class Solver(Protocol):
    """Finds the optimum of one program within any limits; one thread at a time."""

    def solve(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """Values of the variables (auxiliary ones first) and duals of the rows.

        A function of the program and the limits alone, whatever was solved before.

        Raises
        ------
        InfeasibleError
            Where no lottery keeps all rows.
        """

    def grid(
        self, eps_globals: Sequence[float], locals_: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Row by row of a map: values at every overall limit, None where limits collide.

        Where neighbours agree it is one and the same array.
        """


def solver_for(rows: Constraints, sharing: Sharing, worth: Floats, order: Floats) -> Solver:
    """The solver of a program: its rows, its variables, what they are worth, and their order.

    Of equally good optima the one with the least order.x is found; client by client any of them.
    """
    if rows.cones(sharing.columns):
        from fairfl_core.lp.cone_solver import ConeSolver  # SciPy starts slowly

        return ConeSolver(rows, sharing, worth, order)
    # HiGHS sets up less, and is slowed by blocks more than by how many variables each has.
    size = min(len(sharing.merged), _FEW * sharing.merged.blocks)
    if size >= _MANY and ClientsApart.serves(rows, sharing):
        return ClientsApart(rows, sharing, worth, order)
    return Whole(rows, sharing, worth, order)
