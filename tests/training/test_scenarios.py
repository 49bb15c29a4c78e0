"""Clients drawn with given shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.cli.train import describe
from fairfl_core.data import experiments
from fairfl_core.data.datasets import People
from fairfl_core.data.resample import client_names
from fairfl_core.errors import InputError
from fairfl_core.training.data import draw_clients
from fairfl_core.training.recipes import RECIPES, SCENARIOS


def population(units: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Units of one to six rows, each of one group, in shuffled rows."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rng.integers(1, 7, units))
    group = (rng.random(units) < 0.5)[unit].astype(int)
    order = rng.permutation(len(unit))
    return group[order], unit[order]


@given(
    seed=st.integers(0, 10**6),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    size=st.integers(1, 20),
)
def test_sizes_and_shares_are_exact_and_no_unit_is_in_two_clients(seed, shares, size):
    group, unit = population(400, seed)
    client = draw_clients(group, shares, size, seed=seed, unit=unit)
    for c, share in enumerate(shares):
        assert (client == c).sum() == size
        assert (group[client == c] == 0).sum() == round(share * size)
    pairs = np.unique(np.stack([unit, client])[:, client >= 0], axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1]


def test_the_same_seed_draws_the_same_clients_and_another_seed_others():
    group, unit = population(300, 1)
    first = draw_clients(group, (0.4, 0.6), 50, seed=7, unit=unit)
    assert np.array_equal(first, draw_clients(group, (0.4, 0.6), 50, seed=7, unit=unit))
    assert not np.array_equal(first, draw_clients(group, (0.4, 0.6), 50, seed=8, unit=unit))


def test_every_row_can_be_drawn_when_rows_stand_alone():
    group = np.array([0] * 4 + [1] * 6)
    client = draw_clients(group, (0.4,), 10, seed=0)
    assert (client == 0).all()


@pytest.mark.parametrize("name", RECIPES)
def test_an_experiment_is_shipped_under_its_recipes_title(name):
    assert experiments.open(name).manifest["title"] == RECIPES[name].title


@pytest.mark.parametrize("name", RECIPES)
def test_a_training_is_described_as_the_shipped_one_is(name):
    """All that a manifest says of people, clients and recipe, but for what came or went since."""
    shipped = experiments.open(name).manifest
    client = np.repeat(np.arange(len(shipped["clients"])), list(shipped["client_rows"].values()))
    names = (tuple(shipped[key]) for key in ("labels", "groups", "clients"))
    people = People(client, client, client, client, client, *names, origin=shipped["dataset"])
    found = describe(people, RECIPES[name], people.clients)
    for key in ("title", "labels", "groups", "clients", "favourable", "notion", "client_rows"):
        assert found[key] == shipped[key]
    for part in ("dataset", "training"):
        since = {"group"} if part == "dataset" else {"from_moments"}
        assert {key: found[part][key] for key in found[part].keys() - since} == {
            key: shipped[part][key] for key in shipped[part].keys() - since
        }


def test_too_few_rows_is_a_sentence():
    with pytest.raises(InputError, match="group 1 has 5 rows, too few"):
        draw_clients(np.array([0] * 5 + [1] * 5), (0.0, 0.0), 3, seed=0)


@pytest.mark.parametrize(("shares", "size"), [((1.2,), 5), ((-0.1,), 5), ((0.5,), 0)])
def test_impossible_shares_are_refused(shares, size):
    with pytest.raises(InputError, match="between 0 and 1"):
        draw_clients(np.array([0, 1] * 20), shares, size, seed=0)


def test_the_papers_scenarios_grow_apart_and_have_readable_names():
    spread = [np.ptp(shares) for shares in SCENARIOS.values()]
    assert spread == sorted(spread)
    assert all(len(shares) == 5 for shares in SCENARIOS.values())
    assert client_names((0.2, 0.6), "women")[1] == "client 2 (60 % women)"
