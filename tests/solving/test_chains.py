"""Hulls of many cells at once: what SciPy and a look at every cut find one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from fairfl_core.solving.exact.apexes import Apexes, roundest
from fairfl_core.solving.exact.chains import lower_chain
from fairfl_core.solving.exact.hull import hull_rules
from fairfl_core.solving.rate_estimates import PSEUDO_ROWS, measured
from tests.helpers.scored import scored_network, scored_people

coordinates = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=3, max_size=40)


@settings(max_examples=60)
@given(st.lists(coordinates, min_size=1, max_size=4))
def test_chains_are_the_lower_part_of_the_hull(parts):
    part = np.repeat(np.arange(len(parts)), [len(points) for points in parts])
    points = np.concatenate([np.array(points, float) for points in parts])
    order = np.lexsort((points[:, 1], points[:, 0], part))
    part, points = part[order], points[order]
    chain = lower_chain(part, points[:, 0], points[:, 1])
    for number in range(len(parts)):
        mine, corners = points[part == number], points[chain[part[chain] == number]]
        x, y = corners.T
        inner = np.diff(x) > 0
        assert (np.diff(np.diff(y)[inner] / np.diff(x)[inner]) > 0).all()  # it turns one way
        low = np.interp(mine[:, 0], *_lowest(x, y))
        assert (mine[:, 1] >= low - 1e-9).all()  # and nothing is below it
        assert {tuple(one) for one in corners} <= {tuple(one) for one in mine}


def _lowest(x, y):
    """A chain ends at its highest last point: below it stands the lowest."""
    at = np.unique(x)
    return at, np.array([y[x == one].min() for one in at])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=20))
def test_no_stretch_of_a_path_goes_beyond_its_ends_and_its_apex(steps):
    steps = [step if any(step) else (1, 0) for step in steps]
    path = np.concatenate([np.zeros((1, 2)), np.cumsum(np.array(steps, float), axis=0)])
    low, high = np.triu_indices(len(path), 1)
    slope = np.linspace(0, 1, 11)  # every direction that looks down and to the right
    for side in (0, 1):
        look = np.stack([-slope, 1 - slope])[[side, 1 - side]]
        apex = Apexes([path], side).of(np.zeros(len(low), np.int64), low, high) @ look
        seen = path @ look
        for first, last, most in zip(low, high, apex, strict=True):
            lowest = np.minimum(most, np.minimum(seen[first], seen[last]))
            assert (seen[first : last + 1].min(axis=0) >= lowest - 1e-9).all()


@given(st.integers(0, 10**6), st.integers(2, 10**6))
def test_the_roundest_number_between_two_is_between_them(low, more):
    middle = int(roundest(np.array([low]), np.array([low + more]))[0])
    power = middle & -middle
    assert low < middle < low + more
    assert not [
        n
        for n in (middle - power, middle + power)
        if low < n < low + more and n % (2 * power) == 0
    ]


@pytest.mark.parametrize("rates", ["labels", "shrunk"])
@settings(max_examples=20)
@given(scored_people(labels=(2, 2)))
def test_no_cut_of_a_cell_lies_outside_of_its_corners(rates, people):
    _, columns = hull_rules(measured(people, rates))
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


def test_the_corners_of_a_cell_are_those_of_its_convex_hull():
    people = scored_network(3, 2, 2, rows=200)
    _, columns = hull_rules(measured(people, "shrunk"))
    for cell in range(6):
        mine = columns.confusion[columns.block == cell][:, :, 1]
        hull = ConvexHull(_all_cuts(people, cell, "shrunk"))
        area = ConvexHull(mine).volume
        assert area == pytest.approx(hull.volume, rel=1e-9)
        # No corner twice: but for the model's answer all are needed.
        assert len(mine) <= len(hull.vertices) + 2
