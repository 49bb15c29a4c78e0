"""Maps over both epsilons: cell by cell, and merged by slope."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.frontier import frontier
from fairfl_core.solving.guarantee import Guarantee
from tests.helpers.strategies import count_tables, epsilons, synthetic

grids = st.lists(epsilons, min_size=1, max_size=4)


@settings(max_examples=80)
@given(
    count_tables(clients=(1, 6), groups=(2, 2), labels=(2, 2)),
    st.sampled_from(["eop", "sp"]),
    st.sampled_from(["simplex", "kernel"]),
    grids,
    grids,
)
def test_merging_by_slope_equals_the_program(counts, notion, region, local, overall):
    merged, solved = (
        frontier(
            FairnessProgram(counts, notion, region),
            eps_local=local,
            eps_global=overall,
            method=method,
        )
        for method in ("merge", "program")
    )
    np.testing.assert_allclose(merged.accuracy, solved.accuracy, rtol=0, atol=1e-8)
    # Optima may differ in which gaps they show, never in keeping within what was asked.
    for found in (merged, solved):
        assert (np.nan_to_num(found.gap_global) <= np.array(overall) + 1e-7).all()
        assert (np.nan_to_num(found.gap_local_worst) <= np.array(local)[:, None] + 1e-7).all()
        assert (np.isnan(found.gap_global) == np.isnan(merged.gap_global)).all()
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


def test_merge_is_taken_where_it_can_be_and_refused_where_not():
    small = FairnessProgram(synthetic(40, 2, 2, rows=40), "sp")
    assert small.merges
    assert frontier(small, eps_local=[0.1], eps_global=[0.1]).accuracy.shape == (1, 1)
    for counts, notion, guarantee in (
        (synthetic(3, 3, 2), "sp", None),
        (synthetic(3, 2, 2), "eo", None),
        (synthetic(3, 2, 2), "sp", Guarantee()),
    ):
        program = FairnessProgram(counts, notion, guarantee=guarantee)
        assert not program.merges
        with pytest.raises(InputError, match="two labels, two groups"):
            frontier(program, eps_local=[0.1], eps_global=[0.1], method="merge")
    with pytest.raises(InputError, match="grid is empty"):
        frontier(small, eps_local=[], eps_global=[0.1])
