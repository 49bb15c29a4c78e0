"""The linear model in numpy against the same model in TensorFlow's arithmetic."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.training.data import TRAINING, federate
from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer
from fairfl_core.training.trainers import LinearTrainer, first_parameters, make_trainer, size_of
from fairfl_core.training.training import prepare, train_prepared, train_seed
from tests.training import toy  # noqa: F401  (it makes itself known)
from tests.training.tiny import RECIPE, people

LINEAR = replace(RECIPE, model="linear", learning_rate=0.05)


@pytest.fixture(scope="module")
def federation():
    return federate(people(), LINEAR, 0)


@pytest.fixture(scope="module")
def trainer(federation):
    return LinearTrainer(federation, LINEAR)


@pytest.fixture(scope="module")
def theta(trainer):
    return first_parameters(trainer.shapes, 0)


@pytest.fixture(scope="module")
def tensorflow_trainer(federation):
    """A network without hidden layers: what the numpy one says it is."""
    return TensorFlowTrainer(federation, LINEAR)


def test_it_does_what_tensorflow_does(trainer, tensorflow_trainer, federation, theta):
    rows = federation.client_rows(TRAINING)[1]
    weight = np.linspace(0.5, 2, len(rows)).astype(np.float32)
    assert np.allclose(
        trainer.scores(theta, rows), tensorflow_trainer.scores(theta, rows), atol=1e-6
    )
    ours, theirs = (one.epoch(theta, rows, weight, 0) for one in (trainer, tensorflow_trainer))
    assert np.allclose(ours, theirs, atol=1e-4)


def test_it_trains_without_tensorflow_in_the_way_of_the_others():
    scores = train_seed(people(), LINEAR, 0)
    right = (scores.scores.argmax(axis=1) == scores.label).mean()
    assert right > 0.7
    assert len(scores.loss) == LINEAR.rounds


def test_of_rounds_that_are_equally_good_the_first_is_kept():
    few = replace(LINEAR, rounds=4, batch=64, method="toy")
    runs = []
    found = train_prepared(prepare(people(60), few, 2), few, on_progress=runs.append)
    assert found.accuracy.argmax() == 2 and (found.accuracy[3:] == found.accuracy[2]).all()
    assert found.chosen == 3
    third, *later = (run.best for run in runs[3:])
    assert all(np.array_equal(third, best) for best in later)
    assert not np.array_equal(runs[3].state.theta, runs[4].state.theta)  # it went on training


def test_an_unknown_model_is_named(federation):
    with pytest.raises(InputError, match='no model "tree"; choose one of: linear'):
        make_trainer(federation, replace(LINEAR, model="tree"))


def test_the_number_of_parameters(trainer, theta):
    assert size_of(trainer.shapes) == len(theta) == (4 + 2 + 3) * 3 + 3
