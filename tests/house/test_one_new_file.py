"""A notion and a region of one's own: one file each, through program, evaluation and map."""

import numpy as np
import pytest

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.fairness import notions
from fairfl_core.fairness.notions import NotionKind, Rate, register_notion
from fairfl_core.people import experiments
from fairfl_core.predictors.load import predictor_of, read_predictor
from fairfl_core.solving import regions
from fairfl_core.solving.build import build_program
from fairfl_core.solving.frontier import frontier
from fairfl_core.solving.regions import AnswerRules, RegionKind, register_region


class EqualMisses(NotionKind):
    """Equal shares of the favourable label that are missed."""

    name = "misses"
    title = "Equal misses"
    meaning = "Among people who truly are “{favourable}”, every group is missed equally often."

    def rates(self, labels, favourable):
        return tuple(Rate(label, favourable) for label in labels if label != favourable)


class KeepOrTurn(RegionKind):
    """The model's answer, or the next label round; and the first label for everybody."""

    name = "turn"
    title = "keep or turn"
    meaning = "The lottery keeps the model's answer, turns it round, or gives the first label."

    def answer_rules(self, labels):
        n = len(labels)
        one = np.eye(n)
        first = np.broadcast_to(one[0], (n, n))
        return AnswerRules(
            name=self.name,
            labels=labels,
            response=np.stack([one, np.roll(one, 1, axis=1), first]),
            block=np.zeros(3, np.int64),
            keeps=np.array([True, False, False]),
            names=("model's answer", "turned round", f"always {labels[0]}"),
        )


@pytest.fixture
def ours():
    notions.notion_names(), regions.region_names()  # the ones that come with us are there first
    register_notion(EqualMisses)
    register_region(KeepOrTurn)
    yield
    notions._KINDS.pop("misses")
    regions._KINDS.pop("turn")


def test_they_go_all_the_way(ours, tmp_path):
    experiment = experiments.open("adult")
    counts, test = (experiment.counts(0, split) for split in ("validation", "test"))
    assert "misses" in notions.notion_names() and "turn" in regions.region_names(scores=False)
    for notion, region in (("misses", "turn"), ("misses", "kernel"), ("eop", "turn")):
        program = build_program(counts, notion, region)
        solution = program.solve(0.01, 0.02)
        assert solution.gaps.overall <= 0.01 + 1e-7 and solution.gaps.local_worst <= 0.02 + 1e-7
        path = predictor_of(solution).write(tmp_path / "fair.json")
        judged = evaluate(read_predictor(path), test)
        assert judged.notion.name == notion and judged.counts.n == test.n
        grid = frontier(program, eps_local=[0.01, 1.0], eps_global=[0.01, 1.0])
        assert grid.accuracy[1, 1] == pytest.approx(counts.model_accuracy, abs=1e-7)
        assert grid.accuracy[0, 0] <= grid.accuracy[1, 1]
