"""The trend over scenarios: found where it is, not where it is not, with however many seeds."""

from itertools import permutations

import numpy as np
import pytest

from research.paper.trend import scenario_costs, trend_of, trend_table


def by_all_orders(table):
    """Page's p by going through every order of every block, three scenarios each."""
    ranks = table.argsort(axis=1).argsort(axis=1) + 1
    reached = (ranks.sum(axis=0) * np.arange(1, 4)).sum()
    sums = {0: 1.0}
    for _ in range(len(table)):
        after = {}
        for total, chance in sums.items():
            for order in permutations((1, 2, 3)):
                new = total + int(np.dot(order, (1, 2, 3)))
                after[new] = after.get(new, 0.0) + chance / 6
        sums = after
    return sum(chance for total, chance in sums.items() if total >= reached)


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_p_is_the_share_of_orders_as_good(seeds):
    table = np.random.default_rng(seeds).normal(size=(seeds, 3)) + np.array([0, 0.4, 0.8])
    found = trend_of(list(table.T))
    assert found.p == pytest.approx(by_all_orders(table), abs=1e-9)
    assert found.rise == pytest.approx((table[:, 2] - table[:, 0]).mean())
    assert found.seeds == seeds and found.means == pytest.approx(table.mean(axis=0))


def test_a_rise_is_found_and_a_fall_is_none():
    rising = [np.arange(6.0) / 100 + k for k in range(3)]
    assert trend_of(rising).p < 0.001
    assert trend_of(rising[::-1]).p > 0.99


def test_costs_are_read_off_the_maps_corners_and_told():
    accuracy = np.array([[0.6, 0.7], [0.65, 0.8]])  # eps_local by eps_global, tightest first
    costs = scenario_costs([accuracy, accuracy])
    assert costs["both"] == pytest.approx([25, 25])
    assert costs["global"] == pytest.approx([10, 10])
    maps = {
        f"scenario {k}": {
            seed: accuracy - [[k * (1 + seed) / 100, 0], [0, 0]] for seed in range(4 + k)
        }
        for k in range(3)
    }
    text = "\n".join(trend_table(maps))
    assert "| 4 |" in text and "a rise beyond chance" in text
