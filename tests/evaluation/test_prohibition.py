"""What it costs not to look at the group."""

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.evaluation.advice import ProhibitionPrice
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.study import run_study
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.load import predictor_of
from tests.helpers.scored import scored_network

BLIND = Policy(without_group=True)


def studied(region, policy, *, unseen=True):
    fit = [scored_network(3, 2, 2, rows=900, seed=seed) for seed in (0, 1)]
    test = [scored_network(3, 2, 2, rows=900, seed=seed + 10) for seed in (0, 1)]
    programs = [
        (seed, FairnessProgram(people, "sp", region, rates="labels", policy=policy))
        for seed, people in enumerate(fit)
    ]
    return run_study(programs, test if unseen else [None] * 2, 0.02, 0.05), fit, test


@pytest.mark.parametrize("region", ["kernel", "exact"])
def test_it_is_the_difference_at_the_same_limits(region):
    (knowing, fit, test), (blind, *_) = studied(region, Policy()), studied(region, BLIND)
    price = ProhibitionPrice(knowing, blind)
    for unseen, people in ((False, fit), (True, test)):
        accuracy = np.array(
            [
                [evaluate(one.predictor, people[one.seed]).accuracy for one in study.outcomes]
                for study in (knowing, blind)
            ]
        )
        told = price.accuracy(unseen=unseen)
        np.testing.assert_allclose([one.values for one in told], accuracy)
        np.testing.assert_allclose(price.cost(unseen=unseen).values, accuracy[0] - accuracy[1])
        assert price.people(unseen=unseen) == 2700
    assert price.cost(unseen=False).mean > 0.01
    value = price.to_json()
    assert value["fitted"]["cost"] == pytest.approx(price.cost(unseen=False).mean)
    assert value["unseen"]["without_group"] == pytest.approx(told[1].mean)


def test_without_unseen_people_it_is_told_on_the_fitted_ones():
    studies = [studied("kernel", policy, unseen=False)[0] for policy in (Policy(), BLIND)]
    price = ProhibitionPrice(*studies)
    assert not price.has_unseen and price.to_json()["unseen"] is None
    with pytest.raises(InputError, match="with the group first"):
        ProhibitionPrice(*studies[::-1])
    one = studies[1].first
    assert not one.predictor.needs_group
    assert one.reached.accuracy == pytest.approx(
        evaluate(predictor_of(one.solution), scored_network(3, 2, 2, rows=900)).accuracy
    )
