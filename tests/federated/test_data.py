"""Splits inside clients."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.federated.data import TRAINING, federate, split_rows
from tests.federated.tiny import RECIPE, people


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_units_never_part_and_shares_hold_inside_each_client(seed, most):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(300), rng.integers(1, most + 1, 300))
    client = rng.integers(0, 3, 300)[unit]
    split = split_rows(client, unit, (0.6, 0.2, 0.2), seed)
    pairs = np.unique(np.stack([unit, split]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1]
    for c in range(3):
        inside = split[client == c]
        got = np.bincount(inside, minlength=3)
        assert np.abs(got - np.array([0.6, 0.2, 0.2]) * len(inside)).max() <= most


def test_single_rows_split_exactly():
    split = split_rows(np.zeros(100, int), np.arange(100), (0.6, 0.2, 0.2), seed=3)
    assert np.bincount(split).tolist() == [60, 20, 20]


def test_quantities_are_scaled_on_training_rows_of_all_clients():
    federation = federate(people(), RECIPE, seed=1)
    known = federation.people.inputs[federation.split == TRAINING]
    assert np.allclose(known.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(known.std(axis=0), 1, atol=1e-5)


def test_a_scenario_has_its_shares_and_names_and_changes_with_the_seed():
    base = replace(people(2000), unit=np.arange(2000, dtype=np.int32) // 2)
    base = replace(base, group=(base.unit % 2).astype(np.int16))
    recipe = replace(RECIPE, shares=(0.2, 0.8), size=200)
    first, second = (federate(base, recipe, seed) for seed in (0, 1))
    assert first.people.clients == ("client 1 (20 % a)", "client 2 (80 % a)")
    assert np.bincount(first.people.client).tolist() == [200, 200]
    assert (first.people.group[first.people.client == 0] == 0).sum() == 40
    pairs = np.unique(np.stack([first.people.unit, first.people.client, first.split]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1], "a unit in two clients or splits"
    assert not np.array_equal(first.people.unit, second.people.unit)
