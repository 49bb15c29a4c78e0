"""What to ask for: the tightest limits within a price, what certainty costs, and not to know the group."""

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.advice import price_of_certainty, price_of_prohibition, tightest_limits
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.scored import scored_network
from tests.helpers.strategies import synthetic


@pytest.mark.parametrize("guarantee", [None, Guarantee(0.9)])
@pytest.mark.parametrize("points", [0.0, 0.5, 3.0])
def test_the_next_tighter_limit_costs_too_much(guarantee, points):
    counts = [synthetic(4, 2, 2, rows=3000, seed=s) for s in (1, 2)]
    programs = [FairnessProgram(one, "eo", guarantee=guarantee) for one in counts]
    advice = tightest_limits(programs, points)

    def cost(eps):
        return np.mean([p.solve(1, 1).accuracy - p.solve(eps, eps).accuracy for p in programs])

    assert advice.cost == pytest.approx(cost(advice.eps)) and advice.cost <= points / 100 + 1e-9
    assert advice.accuracy == pytest.approx(advice.unlimited - advice.cost)
    if advice.eps > 0:
        assert cost(advice.eps - 0.005) > points / 100


def test_more_people_make_certainty_cheaper():
    counts = synthetic(4, 2, 2, rows=800, seed=1)
    sure, plain = (FairnessProgram(counts, "eop", guarantee=g) for g in (Guarantee(), None))
    found = price_of_certainty(
        [sure],
        [plain],
        0.2,
        0.1,
        times=(0.5, 1.0, 4.0, 1000.0),
    )
    assert found.people.tolist() == [400.0, 800.0, 3200.0, 800000.0]
    assert (np.diff(found.cost) <= 1e-9).all() and found.cost[-1] < 1e-3 < found.cost[0]
    now = plain.solve(0.2, 0.1).accuracy - sure.solve(0.2, 0.1).accuracy
    assert found.cost[1] == pytest.approx(now)
    # Four times the people at the same rates is what four times the counts would give.
    more = ClientCounts(4 * counts.table, counts.clients, counts.groups, counts.labels)
    alike = FairnessProgram(more, "eop", guarantee=Guarantee()).solve(0.2, 0.1)
    assert sure.as_if(4.0).solve(0.2, 0.1).accuracy == pytest.approx(alike.accuracy, abs=1e-8)


def test_a_price_is_in_points():
    program = FairnessProgram(synthetic(2, 2, 2), "eo")
    for points in (-1.0, -0.1, 100.1):
        with pytest.raises(InputError, match="between 0 and 100"):
            tightest_limits([program], points)
    assert tightest_limits([program], 100.0).eps == 0.0


def test_certainty_bought_with_constants_is_said():
    counts = synthetic(3, 2, 2, rows=40)
    solution = FairnessProgram(counts, "eo", guarantee=Guarantee()).solve(1.0, 0.05)
    assert solution.blind == counts.clients
    (said,) = solution.remarks()
    assert "In 3 of 3 clients certainty is bought with a constant answer" in said
    assert "3 of them have under 100 people" in said
    assert FairnessProgram(counts, "eo").solve(1.0, 0.05).remarks() == []


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
