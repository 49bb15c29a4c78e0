"""The overall margin: solved near the clients alone, compared with cone programs solved whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.cone_solver import ConeProgram, ConeSolver
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.optimism import without_each_part
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.scored import scored_network
from tests.helpers.strategies import biased

PAIRS = ((0.05, 0.1), (0.01, 0.3), (0.2, 0.02), (0.03, 1.0), (0.004, 0.05))
CASES = (
    ("eop", "simplex", 12, 2, Policy()),
    ("eo", "kernel", 6, 2, Policy()),
    ("sp", "simplex", 5, 3, Policy()),
    ("eo", "simplex", 8, 2, Policy(floors=(Floor("l1", keeps=0.2),))),
)


def rows_of(program, eps_global, eps_local):
    """Every row as matrix x <= limits, from the program's own lower and upper limits."""
    lower, upper = program.constraints.bounds(eps_global, eps_local)
    low, high = np.isfinite(lower), np.isfinite(upper)
    matrix = sparse.vstack([program.matrix[high], -program.matrix[low]]).tocsr()
    return matrix, np.append(upper[high], -lower[low])


def solved_by_cvxpy(program, eps_global, eps_local):
    """The least cost of the same second-order cone program, by cvxpy and Clarabel."""
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed: no independent cone solver")
    x = cp.Variable(len(program.cost), nonneg=True)
    matrix, limits = rows_of(program, eps_global, eps_local)
    cones = [cp.norm(cone[1:] @ x) <= (cone[:1] @ x)[0] for cone in program.cones]
    rules = [matrix @ x <= limits, program.blocks @ x == 1, *cones]
    return cp.Problem(cp.Minimize(program.cost @ x), rules).solve(
        solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )


def assert_margins_are_kept(program, x, eps_global, eps_local):
    matrix, limits = rows_of(program, eps_global, eps_local)
    assert (matrix @ x <= limits + 1e-9).all()
    for cone in program.cones:
        bound, *errors = cone @ x
        assert np.linalg.norm(errors) <= bound + 1e-9
    np.testing.assert_allclose(program.blocks @ x, 1.0, atol=1e-8)
    assert x.min() >= -1e-9


def program_of(case, seed=0):
    notion, region, clients, labels, policy = case
    counts = biased(clients, labels, rows=400 + 100 * seed)
    return FairnessProgram(
        counts, notion, region, guarantee=Guarantee(0.9), policy=policy
    ).linear_program


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
@pytest.mark.parametrize("pair", PAIRS)
def test_it_is_the_optimum_of_the_whole_cone_program(case, pair):
    program = program_of(case)
    eps_local = np.full(case[2], pair[1])
    matrix, limits = rows_of(program, pair[0], eps_local)
    try:
        x, _ = ConeSolver(program).solve(pair[0], eps_local)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            ConeProgram.of(program.cost, matrix, limits, program.blocks, program.cones).solve()
        return
    assert_margins_are_kept(program, x, pair[0], eps_local)
    whole, *_ = ConeProgram.of(program.cost, matrix, limits, program.blocks, program.cones).solve()
    cells = program.variables.blocks
    assert program.cost @ x == pytest.approx(program.cost @ whole, abs=1e-8 * cells)


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: f"{case[0]}-{case[1]}")
def test_cvxpy_finds_no_better(case):
    program = program_of(case)
    for pair in PAIRS[:3]:
        eps_local = np.full(case[2], pair[1])
        expected = solved_by_cvxpy(program, pair[0], eps_local)
        x, _ = ConeSolver(program).solve(pair[0], eps_local)
        cells = program.variables.blocks
        assert program.cost @ x == pytest.approx(expected, abs=1e-7 * cells)


def test_many_cuts_of_a_score_with_cvxpy():
    people = scored_network(8, 2, 2, rows=300)
    program = FairnessProgram(people, "eo", "exact", rates="labels", guarantee=Guarantee(0.9))
    program = program.linear_program
    eps_local = np.full(8, 0.2)
    x, _ = ConeSolver(program).solve(0.1, eps_local)
    assert_margins_are_kept(program, x, 0.1, eps_local)
    expected = solved_by_cvxpy(program, 0.1, eps_local)
    assert program.cost @ x == pytest.approx(expected, abs=1e-7 * program.variables.blocks)


def test_a_map_is_its_cells():
    program = FairnessProgram(biased(6, 2, rows=500), "eop", guarantee=Guarantee(0.9))
    grid = (0.0, 0.02, 0.1, 1.0)
    drawn = frontier(program, eps_local=grid, eps_global=grid)
    for i, j in np.ndindex(4, 4):
        found = program.solve(grid[j], grid[i])
        assert drawn.accuracy[i, j] == pytest.approx(found.accuracy, abs=1e-7)


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(30, 200), st.integers(0, 5))
def test_parts_of_points_are_parts_of_people(clients, rows, seed):
    """People who are answered alike are one point; what is left without a part is the same."""
    people = scored_network(clients, 2, 2, rows=rows, seed=seed).calibrated
    program = FairnessProgram(people, "eo", "exact", rates="labels", guarantee=Guarantee())
    whole, samples = without_each_part(program.sample)
    _, expected = without_each_part(people)
    assert whole.amount.sum() == len(people)
    for points, left in zip(samples, expected, strict=True):
        assert isinstance(points.counts, ClientCounts)
        np.testing.assert_array_equal(points.counts.table, left.counts.table)
        above = points.amount[points.scores[:, 1] > 0.5].sum(axis=0)
        chosen = left.scores[:, 1] > 0.5
        np.testing.assert_array_equal(above, np.bincount(left.label[chosen], minlength=2))
