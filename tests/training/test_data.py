"""Splits inside clients."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from fairfl_core.training.data import (
    TEST,
    TRAINING,
    VALIDATION,
    check_folds,
    federate,
    split_people,
)
from tests.training.tiny import RECIPE, people


def in_units(seed, most):
    """People whose units have up to `most` rows, in three clients."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(300, dtype=np.int32), rng.integers(1, most + 1, 300))
    client = rng.integers(0, 3, 300)[unit].astype(np.int16)
    return replace(people(len(unit)), unit=unit, client=client)


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_units_never_part_and_shares_hold_inside_each_client(seed, most):
    base = in_units(seed, most)
    unit, client, split = base.unit, base.client, split_people(base, RECIPE, seed)
    pairs = np.unique(np.stack([unit, split]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1]
    for c in range(3):
        inside = split[client == c]
        got = np.bincount(inside, minlength=3)
        assert np.abs(got - np.array([0.6, 0.2, 0.2]) * len(inside)).max() <= most


def test_single_rows_split_exactly():
    split = split_people(replace(people(100), client=np.zeros(100, np.int16)), RECIPE, seed=3)
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


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 5))
def test_units_stay_in_one_fold_and_folds_are_even_inside_each_client(seed, most, folds):
    base, recipe = in_units(seed, most), replace(RECIPE, folds=folds)
    unit, client = base.unit, base.client
    parts = np.stack([split_people(base, recipe, seed, fold) for fold in range(folds)])
    tested = split_people(base, RECIPE, seed) == TEST
    assert ((parts == TEST) == tested).all() and (
        (parts == VALIDATION).sum(axis=0) == ~tested
    ).all()
    fold = np.where(tested, -1, (parts == VALIDATION).argmax(axis=0))
    pairs = np.unique(np.stack([unit, fold]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1], "a lesion in two folds"
    for c in range(3):
        inside = fold[(client == c) & (fold >= 0)]
        sizes = np.bincount(inside, minlength=folds)
        assert np.abs(sizes - len(inside) / folds).max() <= most


def test_each_fold_is_held_out_once_and_test_people_stay():
    recipe = replace(RECIPE, folds=4)
    plain = federate(people(), RECIPE, seed=3)
    parts = [federate(people(), recipe, seed=3, fold=fold) for fold in range(4)]
    held_out = np.concatenate([part.rows(VALIDATION) for part in parts])
    assert sorted(held_out) == sorted([*plain.rows(TRAINING), *plain.rows(VALIDATION)])
    for part in parts:
        assert np.array_equal(part.rows(TEST), plain.rows(TEST))
        known = part.people.inputs[part.split == TRAINING]
        assert np.allclose(known.mean(axis=0), 0, atol=1e-5)
    assert federate(people(), recipe, seed=4, fold=0).rows(VALIDATION).tolist() != (
        parts[0].rows(VALIDATION).tolist()
    )


def test_as_many_folds_as_the_smallest_client_can_carry():
    base = people(120)
    smallest = np.bincount(base.client).argmin()
    fitted = np.isin(federate(base, RECIPE, 0).split, (TRAINING, VALIDATION))
    most = int((fitted & (base.client == smallest)).sum())
    check_folds(base, replace(RECIPE, folds=most), [0])
    says = (
        f'client "{base.clients[smallest]}" has {most} rows to train on, which leaves one of '
        f"{most + 1} folds empty in seed 0"
    )
    with pytest.raises(InputError, match=says):
        check_folds(base, replace(RECIPE, folds=most + 1), [0])
    for folds in (1, -2):
        with pytest.raises(InputError, match="at least 2 folds"):
            check_folds(base, replace(RECIPE, folds=folds), [0])
