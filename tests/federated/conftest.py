"""A tiny federation: three clients, two groups, three labels that can be learnt."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest

from tests.federated.tiny import RECIPE, people


@pytest.fixture(scope="session")
def tiny():
    return people()


@pytest.fixture
def recipe():
    return RECIPE
