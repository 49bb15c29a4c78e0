"""The compiled epoch against Keras, and its padding."""

from dataclasses import replace

import keras
import numpy as np
import pytest

from fairfl_core.federated.data import TEST, federate
from fairfl_core.federated.work import Work, _poses
from tests.federated.test_models import shaped
from tests.federated.tiny import pictures


@pytest.fixture(scope="module")
def federation(tiny):
    from tests.federated.tiny import RECIPE

    return federate(tiny, RECIPE, seed=0)


@pytest.fixture(scope="module")
def work(federation):
    from tests.federated.tiny import RECIPE

    return Work(federation, RECIPE)


def test_an_epoch_is_what_keras_fit_does_with_adam(federation, work, recipe):
    people = federation.people
    x = np.concatenate(
        [people.inputs, np.eye(2)[people.group], np.eye(3)[people.client]], axis=1
    ).astype(np.float32)
    model = keras.Sequential(
        [
            keras.layers.Input((x.shape[1],)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.Adam(recipe.learning_rate), "sparse_categorical_crossentropy")
    theta = work.model.initial(0)
    model.set_weights(shaped(work.model, theta))
    rows = federation.training_rows()[1]  # the last batch is short
    assert len(rows) % recipe.batch
    model.fit(x[rows], people.label[rows], batch_size=recipe.batch, shuffle=False, verbose=0)
    ours = work.epoch(theta, rows, np.ones(len(rows), np.float32), seed=0)
    expected = np.concatenate([part.ravel() for part in model.get_weights()])
    assert np.abs(ours - theta).max() > 0.005
    assert np.allclose(ours, expected, atol=2e-5)


def test_rows_of_weight_zero_do_not_count(federation, work):
    theta = work.model.initial(0)
    rows = federation.training_rows()[0][:16]
    half = np.repeat([1, 0], 8).astype(np.float32)
    ones = np.ones(8, np.float32)
    assert np.allclose(
        work.epoch(theta, rows, half, 0), work.epoch(theta, rows[:8], ones, 0), atol=1e-6
    )


def test_scores_sum_to_one_and_do_not_depend_on_their_company(federation, work):
    theta = work.model.initial(3)
    rows = federation.rows(TEST)
    scores = work.scores(theta, rows)
    assert np.allclose(scores.sum(axis=1), 1)
    assert np.allclose(work.scores(theta, rows[5:9]), scores[5:9], atol=1e-6)


def test_group_and_client_are_inputs_only_when_asked(federation, work, recipe):
    blind = Work(federation, replace(recipe, group_input=False, client_input=False))
    assert work.model.size - blind.model.size == (2 + 3) * 64


def test_the_eight_poses_are_different_and_the_first_is_the_picture():
    image = np.random.default_rng(0).integers(0, 255, (2, 28, 28, 3)).astype(np.uint8)
    poses = _poses(image)
    assert np.array_equal(poses[0], image[0])
    assert np.array_equal(poses[8], image[1])
    assert len({pose.tobytes() for pose in poses[:8]}) == 8
    assert all(np.array_equal(np.sort(pose, None), np.sort(image[0], None)) for pose in poses[:8])


def test_pictures_train_with_a_seeded_augmentation(recipe):
    recipe = replace(recipe, model="cnn", augment=True, batch=32)
    federation = federate(pictures(), recipe, seed=0)
    work = Work(federation, recipe)
    theta = work.model.initial(0)
    rows = federation.training_rows()[2]
    ones = np.ones(len(rows), np.float32)
    first = work.epoch(theta, rows, ones, seed=1)
    assert np.array_equal(first, work.epoch(theta, rows, ones, seed=1))
    assert not np.array_equal(first, work.epoch(theta, rows, ones, seed=2))
