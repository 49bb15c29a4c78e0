"""What a region costs at equal held-out gaps."""

import numpy as np
import pytest

from fairfl_core.evaluation.study import run_study
from fairfl_core.lp.program import FairnessProgram
from research.held_out_curve import held_out_curve, pooled_debiased
from tests.helpers.scored import scored_network


def network(seed):
    return scored_network(3, 2, 2, rows=600, seed=seed)


@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_every_point_is_the_study_of_its_tolerance(region):
    seeds = (0, 1)
    fit, test = [network(seed) for seed in seeds], [network(seed + 9) for seed in seeds]

    def programs():
        built = [FairnessProgram(people, "eop", region, rates="labels") for people in fit]
        return list(zip(seeds, built, strict=True))

    curve = held_out_curve(programs(), test, [0.0, 0.1])
    fresh = programs()
    for place, epsilon in enumerate((0.0, 0.1)):
        study = run_study(fresh, test, epsilon, epsilon)
        accuracy = study.over(lambda e: e.accuracy, unseen=True).mean
        assert curve.accuracy[place] == pytest.approx(accuracy, abs=1e-6)


def test_squares_are_pooled_not_roots():
    programs = [(s, FairnessProgram(network(s), "eop", "simplex")) for s in range(3)]
    study = run_study(programs, [network(s + 20) for s in range(3)], 0.01, 0.01)
    middle, low, high = pooled_debiased(study)
    found = [e.debiased(e.larger_half).gap for e in study.evaluations(unseen=True)]
    squares = np.array([g * abs(g) for g in found])
    error = np.sqrt(((squares - squares.mean()) ** 2).sum() / 2 / 3)  # of the mean of three
    assert middle * abs(middle) == pytest.approx(squares.mean())
    assert low * abs(low) == pytest.approx(squares.mean() - 2 * error)
    assert high * abs(high) == pytest.approx(squares.mean() + 2 * error)
    assert low < middle < high
