"""Maps over both epsilons: each cell is what one solve gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.oracles import optimum
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic

grids = st.lists(epsilons, min_size=1, max_size=4)


@given(
    count_tables(clients=(1, 4), groups=(2, 2), labels=(2, 2)), notion_and_region(), grids, grids
)
def test_each_cell_is_the_optimum_and_keeps_its_limits(counts, chosen, local, overall):
    found = frontier(FairnessProgram(counts, *chosen), eps_local=local, eps_global=overall)
    for i, inside in enumerate(local):
        for j, across in enumerate(overall):
            expected = optimum(counts, *chosen, across, inside)
            assert found.accuracy[i, j] == pytest.approx(expected, abs=1e-7)
    assert (np.nan_to_num(found.gap_global) <= np.array(overall) + 1e-7).all()
    assert (np.nan_to_num(found.gap_local_worst) <= np.array(local)[:, None] + 1e-7).all()
    mean, worst = np.nan_to_num(found.gap_local_mean), np.nan_to_num(found.gap_local_worst)
    assert (mean <= worst + 1e-12).all()


def test_each_cell_is_what_one_solve_gives():
    counts = synthetic(5, 2, 3)
    grid = [0.0, 0.05, 0.2]
    heard = []
    found = frontier(
        FairnessProgram(counts, "eo", "kernel"),
        eps_local=grid,
        eps_global=grid,
        on_progress=lambda done, total: heard.append((done, total)),
    )
    for i, local in enumerate(grid):
        for j, overall in enumerate(grid):
            alone = FairnessProgram(counts, "eo", "kernel").solve(overall, local)
            assert found.accuracy[i, j] == pytest.approx(alone.accuracy, abs=1e-9)
    assert heard == [(3, 9), (6, 9), (9, 9)]


def test_an_empty_grid_is_refused():
    program = FairnessProgram(synthetic(3, 2, 2), "sp")
    with pytest.raises(InputError, match="grid is empty"):
        frontier(program, eps_local=[], eps_global=[0.1])
