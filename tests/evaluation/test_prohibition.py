"""What it costs not to look at the group."""

import numpy as np
import pytest

from fairfl_core.evaluation.advice import price_of_prohibition
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.scored import scored_network


@pytest.mark.parametrize("region", ["kernel", "exact"])
def test_it_is_the_difference_at_the_same_limits(region):
    people = scored_network(3, 2, 2, rows=900)
    programs = [
        FairnessProgram(people, "sp", region, rates="labels", policy=Policy(without_group=blind))
        for blind in (False, True)
    ]
    found = [program.solve(0.02, {"c0": 0.05, "c1": 0.1, "c2": 1.0}) for program in programs]
    price = price_of_prohibition(programs[1], found[1])
    accuracy = [evaluate(predictor_of(one), people).accuracy for one in found]
    np.testing.assert_allclose([price.with_group, price.without_group], accuracy)
    assert price.cost == pytest.approx(accuracy[0] - accuracy[1]) and price.cost > 0.001
    assert price.to_json()["fitted"] | {"cost": 0} == {
        "n": 2700,
        "with_group": price.with_group,
        "without_group": price.without_group,
        "cost": 0,
    }
