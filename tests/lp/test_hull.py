"""Hulls of many cells at once: what SciPy and a look at every cut find one by one."""

import numpy as np
import pytest
from hypothesis import given, settings

from fairfl_core.lp.hull import hull_rules, lower_chain
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS, measured
from tests.helpers.scored import scored_people


def test_a_corner_below_others_stays_where_rounding_puts_it_beside_them():
    """Hypothesis found it: three points on an upright line, the lowest of them not the first."""
    x = np.array([0, 0.6105919003115264, 0.610591900311527, 0.610591900311527, 2.3115, 7])
    y = np.array([0, 2.0654205607476634, 8.9e-16, 1, 1, 7])
    assert lower_chain(np.zeros(6, int), x, y, 1e-9).tolist() == [0, 2, 4, 5]


def test_a_corner_where_many_points_stand_on_each_other_stays():
    """Each of them is on the line of its neighbours; they leave by turns, and one is left."""
    x, y = np.array([(0, 1)] * 2 + [(1, 0)] * 6 + [(1, 1)], float).T
    chain = lower_chain(np.zeros(9, int), x, y)
    assert list(zip(x[chain], y[chain], strict=True)) == [(0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("rates", ["labels", "shrunk"])
@settings(max_examples=20)
@given(scored_people(labels=(2, 2)))
def test_no_cut_of_a_cell_lies_outside_of_its_corners(rates, people):
    columns = hull_rules(measured(people, rates))
    for cell in range(len(people.clients) * len(people.groups)):
        points = _all_cuts(people, cell, rates)
        corners = columns.confusion[columns.block == cell][:, :, 1]
        for angle in np.linspace(0, 2 * np.pi, 25):
            direction = np.array([np.cos(angle), np.sin(angle)])
            assert (points @ direction).max() <= (corners @ direction).max() + 1e-7


def _all_cuts(people, cell, rates):
    """Who gets the second label above every score there is, by a look at each; and below it."""
    own = people.cell == cell
    group = people.group == cell % len(people.groups)
    places = np.append(np.unique(people.scores[:, 1]), 2.0)
    points = []
    for place in places:
        second = people.scores[:, 1] >= place
        point, turned = [], []
        for label in (0, 1):
            mine, pool = own & (people.label == label), group & (people.label == label)
            n, share = mine.sum(), second[pool].mean() if pool.any() else 0.0
            counted = second[mine].sum()
            if rates == "shrunk":
                counted = n * (counted + PSEUDO_ROWS * share) / (n + PSEUDO_ROWS)
            point.append(counted)
            turned.append(n - counted)
        points += [point, turned]
    return np.array(points)
