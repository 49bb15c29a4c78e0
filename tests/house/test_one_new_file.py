"""A notion and a region of one's own: one file each, through program, evaluation and map."""

import pytest

from fairfl_core.data import experiments
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.fairness import notions
from fairfl_core.lp import regions
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of, read_predictor
from tests.helpers.own_kinds import registered


@pytest.fixture
def ours():
    with registered():
        yield


def test_they_go_all_the_way(ours, tmp_path):
    experiment = experiments.open("adult")
    counts, test = (experiment.counts(0, split) for split in ("validation", "test"))
    assert "misses" in notions.notion_names() and "turn" in regions.region_names(scores=False)
    for notion, region in (("misses", "turn"), ("misses", "kernel"), ("eop", "turn")):
        program = FairnessProgram(counts, notion, region)
        solution = program.solve(0.01, 0.02)
        assert solution.gaps.overall <= 0.01 + 1e-7 and solution.gaps.local_worst <= 0.02 + 1e-7
        path = predictor_of(solution).write(tmp_path / "fair.json")
        judged = evaluate(read_predictor(path), test)
        assert judged.notion.name == notion and judged.counts.n == test.n
        grid = frontier(program, eps_local=[0.01, 1.0], eps_global=[0.01, 1.0])
        assert grid.accuracy[1, 1] == pytest.approx(counts.model_accuracy, abs=1e-7)
        assert grid.accuracy[0, 0] <= grid.accuracy[1, 1]
