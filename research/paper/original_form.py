"""The paper's own linear program, letter by letter: the reference that tests compare us with.

Variables are the true positives z_ac^y; the region is K_ac z_ac <= l_ac; the lottery comes from
the linear equations G_ac beta_ac = gamma_ac (paper, LP (4), appendices A to C). It takes two
groups, needs every cell to hold people, and is infeasible when the true positives of a cell sum
to less than one, and singular when they sum to exactly one. `program.FairnessProgram` has none of
these limits; where this form is defined the two agree.

It also stands for the authors' way of computing (dense matrices made anew and
`scipy.optimize.linprog` called for every pair of epsilons) in `benchmarks/`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, SolveError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PaperSolution:
    """The minimiser z, shape (clients, groups, labels), and the accuracy -c'z."""

    z: Floats
    accuracy: float


def _statistics(counts: ClientCounts) -> tuple[Floats, Floats]:
    """p_ac^y = Pr(Y=y, A=a, C=c), and TP_ac^y of the model: the two statistics of step 2."""
    if len(counts.groups) != 2 or (counts.n_label == 0).any():
        raise InputError("the paper's form takes two groups and people in every cell.")
    p = counts.n_label / counts.n
    return p, np.einsum("cayy->cay", counts.table) / counts.n_label


def paper_parameters(counts: ClientCounts, notion: str) -> tuple[Floats, Floats]:
    """The cost c and the matrix A of -b <= A z <= b (appendix A; for `eop` its extension)."""
    p, _ = _statistics(counts)
    clients, _, labels = p.shape
    rows = range(labels) if notion == "eo" else [counts.labels.index(counts.favourable)]
    if notion not in ("eo", "eop"):
        raise InputError("the paper's K/l form is for eo and eop.")
    alpha = p.sum(axis=0)
    one = np.eye(labels)
    # The paper's n_ac^i carries the sign of c; |.| <= eps does not care.
    share = p / alpha
    overall = [
        np.vstack([np.hstack([share[c, 0, i] * one[i], -share[c, 1, i] * one[i]]) for i in rows])
        for c in range(clients)
    ]
    inside = np.vstack([np.hstack([one[i], -one[i]]) for i in rows])
    return -p.ravel(), np.vstack([np.hstack(overall), block_diag(*[inside] * clients)])


def paper_region(tp: Floats) -> tuple[Floats, Floats]:
    """K_ac and l_ac of one cell from its true positives (appendix B)."""
    labels = len(tp)
    body = np.tile(tp[:, None], (1, labels))
    np.fill_diagonal(body, 1 - (tp.sum() - tp))
    return np.vstack([-np.ones(labels), body]), np.concatenate([[-1.0], tp])


def paper_lottery(tp: Floats, z: Floats) -> Floats:
    """beta_ac of one cell: the solution of G_ac beta = gamma_ac (appendix C)."""
    labels = len(tp)
    g = np.zeros((labels + 1, labels + 1))
    g[0] = 1.0
    g[1:, 0] = tp
    g[1:, 1:] = np.eye(labels)
    return np.linalg.solve(g, np.concatenate([[1.0], z]))


def paper_form(
    counts: ClientCounts, notion: str, eps_global: float, eps_local: float
) -> PaperSolution:
    """Build LP (4) densely and solve it once with `scipy.optimize.linprog`."""
    p, tp = _statistics(counts)
    cost, a = paper_parameters(counts, notion)
    clients = p.shape[0]
    per_scope = a.shape[0] // (clients + 1)
    b = np.repeat([eps_global, *[eps_local] * clients], per_scope)
    cells = [paper_region(cell) for client in tp for cell in client]
    region, limit = block_diag(*[k for k, _ in cells]), np.concatenate([row for _, row in cells])
    found = linprog(
        cost, np.vstack([a, -a, region]), np.concatenate([b, b, limit]), bounds=(None, None)
    )
    if found.status != 0:
        raise SolveError(f"the paper's form has no optimum here: {found.message}")
    return PaperSolution(found.x.reshape(p.shape), float(-found.fun))
