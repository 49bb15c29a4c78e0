"""One setting over seeds."""

import numpy as np
import pytest

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.study import Spread, run_study
from fairfl_core.solving.program import FairnessProgram
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


def test_without_unseen_people_there_is_nothing_held_out():
    study = run_study([(0, FairnessProgram(synthetic(2, 2, 2)))], [None], 0.1, 0.1)
    assert not study.has_held_out and study.evaluations(unseen=True) == []


def test_a_client_without_a_gap_in_some_seed_is_averaged_over_the_others():
    found = run_study(
        [(s, FairnessProgram(synthetic(2, 2, 2, seed=s))) for s in (0, 1)], [None, None], 1.0, 1.0
    )
    values = {0: np.array([0.2, np.nan]), 1: np.array([np.nan, np.nan])}
    order = iter((0, 1))
    mean = found.client_mean(lambda _: values[next(order)], unseen=False)
    assert mean[0] == 0.2 and np.isnan(mean[1])


def test_the_spread_of_one_seed_is_none():
    assert Spread(np.array([0.5])).deviation == 0.0
    assert Spread(np.array([0.1, 0.3, np.nan])).mean == pytest.approx(0.2)
    assert np.isnan(Spread(np.array([np.nan])).mean)
