"""Noise: how much, of what kind, and what it really spends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.privacy.mechanisms import (
    MECHANISMS,
    NEIGHBOURS,
    Mechanism,
    _statistics,
    release,
    what_if,
)
from tests.helpers.strategies import count_tables, synthetic


def wide(n=1000, labels=2):
    """A table of many clients with so many people that nothing is clipped."""
    table = np.full((n, 2, labels, labels), 10_000)
    return ClientCounts(
        table, tuple(map(str, range(n))), ("f", "m"), tuple(f"l{i}" for i in range(labels))
    )


@given(count_tables(clients=(1, 1), most=4), st.data())
def test_sensitivity_bounds_every_pair_of_neighbours_and_is_reached(counts, data):
    shape = counts.table.shape
    cells = list(np.ndindex(shape))
    there = [cell for cell in cells if counts.table[cell] > 0]
    gone, come = data.draw(st.sampled_from(there)), data.draw(st.sampled_from(cells))

    def moved(steps, name):
        other = counts.table.copy()
        for cell, step in steps:
            other[cell] += step
        if not other.sum():
            return None
        neighbour = ClientCounts(other, counts.clients, counts.groups, counts.labels)
        mechanism = Mechanism(name=name, epsilon=1)
        return np.abs(_statistics(counts, mechanism) - _statistics(neighbour, mechanism)).sum()

    for name in MECHANISMS:
        for relation, steps in (
            ("replace-one", [(gone, -1), (come, 1)]),
            ("add-remove", [(come, 1)]),
        ):
            limit = Mechanism(name=name, epsilon=1, neighbours=relation).sensitivity
            distance = moved(steps, name)
            assert distance is None or distance <= limit


def test_the_paper_spends_two_or_four_times_its_epsilon():
    spent = {
        (name, relation): Mechanism(name=name, epsilon=0.5, neighbours=relation).spent
        for name in MECHANISMS
        for relation in NEIGHBOURS
    }
    assert spent == {
        ("histogram", "replace-one"): 0.5,
        ("histogram", "add-remove"): 0.5,
        ("paper", "replace-one"): 2.0,
        ("paper", "add-remove"): 1.0,
    }
    assert "really spends epsilon = 2" in Mechanism(name="paper", epsilon=0.5).sentence()
    # and these are reached: a rightly answered person replaced by another such
    counts = ClientCounts([[[[1, 1], [1, 1]], [[1, 1], [1, 1]]]], ("a",), ("f", "m"), ("n", "y"))
    other = counts.table.copy()
    other[0, 0, 0, 0] -= 1
    other[0, 1, 1, 1] += 1
    moved = ClientCounts(other, ("a",), ("f", "m"), ("n", "y"))
    paper = Mechanism(name="paper", epsilon=1)
    assert np.abs(_statistics(counts, paper) - _statistics(moved, paper)).sum() == 4


@pytest.mark.parametrize("draw", [lambda c, m: what_if(c, m, seed=5), release])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_histogram_noise_is_discrete_laplace_of_the_stated_scale(draw, neighbours):
    mechanism = Mechanism(epsilon=0.7, neighbours=neighbours)
    counts = wide()
    noise = (draw(counts, mechanism).table - counts.table).ravel()
    assert (noise % 1 == 0).all()
    values = np.arange(-6, 7)
    chance = np.exp(-np.abs(values) / mechanism.scale) * np.tanh(0.5 / mechanism.scale)
    observed = np.array([(noise == value).sum() for value in values])
    rest, rest_chance = noise.size - observed.sum(), 1 - chance.sum()
    expected = np.append(chance, rest_chance) * noise.size
    test = stats.chisquare(np.append(observed, rest), expected)
    assert test.pvalue > 1e-4


@pytest.mark.parametrize("draw", [lambda c, m: what_if(c, m, seed=6), release])
def test_paper_noise_is_laplace_of_scale_one_over_epsilon(draw):
    mechanism = Mechanism(name="paper", epsilon=0.5)
    counts = wide()
    noisy = draw(counts, mechanism)
    people = (noisy.n_label - counts.n_label).ravel()
    correct = np.einsum("cayy->cay", noisy.table - counts.table).ravel()
    for noise in (people, correct):
        assert stats.kstest(noise, "laplace", args=(0, 2.0)).pvalue > 1e-4
    assert abs(np.corrcoef(people, correct)[0, 1]) < 0.08


@given(count_tables(most=5), st.sampled_from(MECHANISMS), st.floats(0.01, 10), st.integers(0, 99))
def test_what_comes_back_is_always_a_table_of_counts(counts, name, epsilon, seed):
    mechanism = Mechanism(name=name, epsilon=epsilon)
    noisy = what_if(counts, mechanism, seed=seed)
    assert noisy.noisy and (noisy.table >= 0).all()
    again = what_if(counts, mechanism, seed=seed)
    np.testing.assert_array_equal(noisy.table, again.table)
    if name == "paper":
        assert (np.einsum("cayy->cay", noisy.table) <= noisy.n_label + 1e-9).all()


def test_a_table_that_noise_emptied_is_told_when_it_is_to_be_solved():
    tiny = ClientCounts([[[[1, 0], [0, 0]], [[0, 0], [0, 1]]]], ("a",), ("f", "m"), ("n", "y"))
    empty = next(
        table
        for table in (what_if(tiny, Mechanism(epsilon=0.01), seed=seed) for seed in range(2000))
        if not table.n
    )
    with pytest.raises(InputError, match="hold nobody"):
        FairnessProgram(empty)


def test_a_release_cannot_be_repeated_and_is_not_noised_twice():
    counts = wide(20)
    mechanism = Mechanism(epsilon=1)
    first = release(counts, mechanism)
    assert (first.table != release(counts, mechanism).table).any()
    for noised_again in (
        lambda: release(first, mechanism),
        lambda: what_if(first, mechanism, seed=0),
    ):
        with pytest.raises(InputError, match="noisy already"):
            noised_again()


def test_histogram_beats_paper_at_the_same_true_budget():
    """The same spent budget leaves less error in the true positives of a small client."""
    counts = synthetic(200, 2, 2, rows=600)
    truth = np.einsum("cayy->cay", counts.table) / counts.n_label

    def error(mechanism):
        noisy = what_if(counts, mechanism, seed=1)
        rate = np.einsum("cayy->cay", noisy.table) / np.maximum(noisy.n_label, 1)
        return np.sqrt(((rate - truth) ** 2).mean())

    histogram = Mechanism(epsilon=0.5)
    paper = Mechanism(name="paper", epsilon=0.5 / 4)
    assert histogram.spent == paper.spent
    assert error(histogram) < 0.8 * error(paper)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "gauss"}, 'no mechanism "gauss"'),
        ({"neighbours": "far"}, 'no neighbour relation "far"'),
        ({"epsilon": 0}, "must be a number above 0"),
        ({"epsilon": "1"}, "must be a number above 0"),
        ({"epsilon": float("nan")}, "must be a number above 0"),
        ({"epsilon": float("inf")}, "must be a number above 0"),
    ],
)
def test_a_mechanism_that_is_none_is_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        Mechanism(**({"epsilon": 1.0} | change))
