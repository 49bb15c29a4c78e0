"""One setting over seeds."""

import numpy as np
import pytest

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.study import run_study
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.strategies import synthetic


def test_a_study_is_its_seeds_solved_and_judged_one_by_one():
    seeds = [3, 5, 8]
    fitted = [synthetic(3, 2, 2, seed=seed) for seed in seeds]
    unseen = [synthetic(3, 2, 2, seed=100 + seed) for seed in seeds]
    programs = [(seed, FairnessProgram(c, "eo")) for seed, c in zip(seeds, fitted, strict=True)]
    study = run_study(programs, unseen, 0.02, {"c0": 0.01, "c1": 0.05, "c2": 1.0})
    assert [one.seed for one in study.outcomes] == seeds and study.has_held_out
    for one, counts, test in zip(study.outcomes, fitted, unseen, strict=True):
        alone = FairnessProgram(counts, "eo").solve(0.02, [0.01, 0.05, 1.0])
        assert one.solution.accuracy == pytest.approx(alone.accuracy, abs=1e-9)
        assert one.reached.accuracy == pytest.approx(alone.accuracy, abs=1e-9)
        assert one.held_out.accuracy == evaluate(one.predictor, test).accuracy
    accuracy = study.over(lambda e: e.accuracy, unseen=True)
    assert accuracy.mean == pytest.approx(np.mean([o.held_out.accuracy for o in study.outcomes]))
    prices = np.mean([o.solution.price_local for o in study.outcomes], axis=0)
    np.testing.assert_allclose(study.price_local, prices)


def two_seeds():
    """Two seeds of three clients with limits of their own."""
    programs, tests = [], []
    for seed in (0, 1):
        counts = [synthetic(3, 2, 2, rows=180, seed=10 * seed + split) for split in (0, 1)]
        programs.append((seed, FairnessProgram(counts[0], "eo", "kernel")))
        tests.append(counts[1])
    return run_study(
        programs, tests, 0.02, dict(zip(tests[0].clients, (0.05, 0.1, 0.3), strict=True))
    )


@pytest.mark.parametrize("unseen", [True, False])
def test_the_client_table_is_the_mean_of_the_evaluations(unseen):
    study = two_seeds()
    table = study.client_table(unseen=unseen)
    judged = study.evaluations(unseen=unseen)
    own = judged[0].client_table()
    assert list(table) == [*own, "gap_reached", "eps_local", "price"]
    assert list(table["client"]) == list(own["client"])
    for column in list(own)[2:]:
        means = np.mean([each.client_table()[column] for each in judged], axis=0)
        np.testing.assert_allclose(table[column], means, rtol=1e-12)
        # Neighbours differ, so a mix-up would show; a lower limit is often zero.
        assert column == "gap_low" or len(set(np.round(means, 9))) == 3
    fitted = np.mean([one.reached.gaps.local for one in study.outcomes], axis=0)
    np.testing.assert_allclose(table["gap_reached"], fitted, rtol=1e-12)
    assert list(table["eps_local"]) == [0.05, 0.1, 0.3]
    prices = np.mean([one.solution.price_local for one in study.outcomes], axis=0)
    np.testing.assert_allclose(table["price"], prices, rtol=1e-12)
    worst = study.worst_client(unseen=unseen)
    assert table["gap"][worst] == table["gap"].max()
