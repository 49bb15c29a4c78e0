"""Noise against fairness: the study equals its parts done by hand."""

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor
from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, Mechanism, what_if
from fairfl_core.privacy.noise_study import (
    Judged,
    NoiseStudy,
    band,
    noise_study,
    spending,
)
from tests.helpers.strategies import synthetic

ASKED = {"eps_global": 0.02, "eps_local": 0.05}


def two_runs(clients=3, groups=2, labels=2, rows=300):
    def people(seed):
        return synthetic(clients, groups, labels, rows, seed)

    return [(people(seed), people(seed + 9)) for seed in (0, 1)]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("groups", "labels"), [(2, 2), (3, 3)])
def test_every_draw_equals_noise_solve_and_judge_done_one_by_one(name, groups, labels):
    runs = two_runs(3, groups, labels)
    mechanisms = [spending(name, budget, "replace-one") for budget in (2.0, 0.1)]
    study = noise_study(runs, mechanisms, "eo", "simplex", **ASKED, draws=3, seed=4)
    states = np.random.SeedSequence(4).generate_state(3)
    for b, mechanism in enumerate(mechanisms):
        for draw in range(3):
            true, test = runs[draw % 2]
            noisy = what_if(true, mechanism, seed=int(states[draw]))
            solution = FairnessProgram(noisy, "eo", "simplex").solve(0.02, 0.05)
            predictor = FairPredictor.from_solution(solution)
            for judged, people in ((study.reached, true), (study.held_out, test)):
                direct = evaluate(predictor, people)
                assert judged.accuracy[b, draw] == pytest.approx(direct.accuracy, abs=1e-12)
                assert judged.overall[b, draw] == pytest.approx(direct.gaps.overall, abs=1e-12)
                np.testing.assert_allclose(judged.local[b, draw], direct.gaps.local, atol=1e-12)
                assert judged.local_mean[b, draw] == pytest.approx(direct.gaps.local_mean)
                assert judged.local_worst[b, draw] == pytest.approx(direct.gaps.local_worst)


def test_budgets_studied_apart_and_joined_are_the_same_study():
    runs = two_runs()
    mechanisms = [Mechanism(epsilon=epsilon) for epsilon in (2.0, 0.2)]
    whole = noise_study(runs, mechanisms, "eo", **ASKED, draws=3, seed=1)
    joined = NoiseStudy.joined(
        [noise_study(runs, [each], "eo", **ASKED, draws=3, seed=1) for each in mechanisms]
    )
    assert joined.mechanisms == whole.mechanisms
    for mine, other in ((joined.reached, whole.reached), (joined.held_out, whole.held_out)):
        np.testing.assert_array_equal(mine.local, other.local)
        np.testing.assert_array_equal(mine.accuracy, other.accuracy)
        np.testing.assert_array_equal(mine.overall, other.overall)


def test_noise_that_leaves_nothing_keeps_the_models_answers():
    one = ClientCounts([[[[1, 0], [0, 0]], [[0, 0], [0, 1]]]], ("a",), ("f", "m"), ("n", "y"))
    mechanism = spending("paper", 0.01, "replace-one")
    study = noise_study([(one, None)], [mechanism], "sp", **ASKED, draws=200, seed=0)
    states = np.random.SeedSequence(0).generate_state(200)
    lost = [i for i, seed in enumerate(states) if not what_if(one, mechanism, seed=int(seed)).n]
    assert lost
    np.testing.assert_allclose(study.reached.accuracy[0, lost], 1.0)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_can_be_asked_for_by_what_it_really_spends(name, neighbours):
    mechanism = spending(name, 0.3, neighbours)
    assert mechanism.spent == pytest.approx(0.3)
    assert (mechanism.name, mechanism.neighbours) == (name, neighbours)


def test_progress_is_told_and_nothing_to_do_is_refused():
    output = []

    def on_progress(done, total):
        output.append((done, total))

    runs, twice = two_runs(), [Mechanism(epsilon=1)] * 2
    noise_study(runs, twice, "eo", **ASKED, draws=3, seed=0, on_progress=on_progress)
    assert output == [(done, 6) for done in range(1, 7)]
    with pytest.raises(InputError, match="at least one"):
        noise_study(runs, [], "eo", **ASKED, draws=3, seed=0)
    noisy = what_if(runs[0][0], Mechanism(epsilon=1), seed=0)
    with pytest.raises(InputError, match="noisy already"):
        noise_study([(noisy, None)], [Mechanism(epsilon=1)], "eo", **ASKED, draws=1, seed=0)


def test_a_client_without_a_gap_is_left_out_of_the_mean_and_never_fails():
    """Two budgets of two draws; the second client has no gap in one, nobody has in another."""
    none = np.nan
    local = np.array([[[0.1, 0.3], [0.2, none]], [[none, none], [0.0, 0.4]]])
    judged = Judged(np.zeros((2, 2)), np.zeros((2, 2)), local)
    np.testing.assert_allclose(judged.local_mean, [[0.2, 0.2], [none, 0.2]])
    np.testing.assert_allclose(judged.local_worst, [[0.3, 0.2], [none, 0.4]])
    np.testing.assert_allclose(judged.fails(np.array([0.15, 0.3])), [[0.5, 0.0], [0.0, 0.5]])
    limits = band(judged.local_mean)
    np.testing.assert_allclose([limits.low, limits.middle, limits.high], [[0.2, 0.2]] * 3)
