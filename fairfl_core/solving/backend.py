"""HiGHS as the programs use it: one quiet model, solved warm, with a sentence when it fails."""

import highspy
import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import SolveError

__all__ = ["new_solver", "optimum"]

Floats = NDArray[np.float64]
_TOLERANCE = 1e-10  # primal and dual: finer than what we promise to users, 1e-7


def new_solver() -> highspy.Highs:
    """An empty model with our options."""
    highs = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("dual_feasibility_tolerance", _TOLERANCE),
        ("small_matrix_value", 1e-12),  # a small client's share of a pooled rate is tiny
    ):
        highs.setOptionValue(option, value)
    return highs


def optimum(highs: highspy.Highs) -> tuple[Floats, Floats]:
    """Column values and row duals; solved warm, if that fails once more from scratch."""
    for attempt in ("warm", "cold"):
        if attempt == "cold":
            # Presolve takes epsilons below its tolerance for contradictions.
            highs.clearSolver()
            highs.setOptionValue("presolve", "off")
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            solution = highs.getSolution()
            return np.array(solution.col_value), np.array(solution.row_dual)
    reason = highs.modelStatusToString(status)
    raise SolveError(
        f"HiGHS ended without an optimum ({reason}); the program is always feasible, so "
        "please report this with the counts."
    )
