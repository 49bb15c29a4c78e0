"""A tiny federation: three clients, two groups, three labels that can be learnt."""

import os
from dataclasses import replace

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest

from tests.training.tiny import RECIPE, people


@pytest.fixture(scope="session")
def tiny():
    return people()


@pytest.fixture(scope="session")
def recipe():
    """Of the linear model, which needs no TensorFlow: rounds and methods are the same for all."""
    return replace(RECIPE, model="linear", learning_rate=0.02)


@pytest.fixture(scope="session")
def prepared(tiny, recipe):
    """Seed 0 with its compiled trainer, for whoever asks for other methods or rounds of it."""
    from fairfl_core.training.training import prepare

    return prepare(tiny, recipe, 0)


@pytest.fixture(scope="session")
def plain(prepared, recipe):
    """Seed 0 trained without a break."""
    from fairfl_core.training.training import train_prepared

    return train_prepared(prepared, recipe)
