"""A tiny federation: three clients, two groups, three labels that can be learnt."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest

from tests.federated.tiny import RECIPE, people


@pytest.fixture(scope="session")
def tiny():
    return people()


@pytest.fixture(scope="session")
def recipe():
    return RECIPE


@pytest.fixture(scope="session")
def plain(tiny, recipe):
    """Seed 0 trained without a break."""
    from fairfl_core.federated.training import train_seed

    return train_seed(tiny, recipe, 0)
