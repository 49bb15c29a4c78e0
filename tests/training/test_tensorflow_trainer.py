"""The compiled epoch against Keras, and its padding."""

from dataclasses import replace

import keras
import numpy as np
import pytest
import tensorflow as tf

from fairfl_core.training.data import TEST, TRAINING, federate
from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer, poses_of
from tests.training.test_models import shaped
from tests.training.tiny import RECIPE, pictures


@pytest.fixture(scope="module")
def federation(tiny):
    return federate(tiny, RECIPE, seed=0)


@pytest.fixture(scope="module")
def trainer(federation):
    return TensorFlowTrainer(federation, RECIPE)


def test_an_epoch_is_what_keras_fit_does_with_adam(federation, trainer):
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
    model.compile(keras.optimizers.Adam(RECIPE.learning_rate), "sparse_categorical_crossentropy")
    theta = trainer.model.initial(0)
    model.set_weights(shaped(trainer.model, theta))
    rows = federation.client_rows(TRAINING)[1]  # the last batch is short
    assert len(rows) % RECIPE.batch
    model.fit(x[rows], people.label[rows], batch_size=RECIPE.batch, shuffle=False, verbose=0)
    ours = trainer.epoch(theta, rows, np.ones(len(rows), np.float32), seed=0)
    expected = np.concatenate([part.ravel() for part in model.get_weights()])
    assert np.abs(ours - theta).max() > 0.005
    assert np.allclose(ours, expected, atol=2e-5)


def test_rows_of_weight_zero_do_not_count(federation, trainer):
    theta = trainer.model.initial(0)
    rows = federation.client_rows(TRAINING)[0][:16]
    half = np.repeat([1, 0], 8).astype(np.float32)
    ones = np.ones(8, np.float32)
    assert np.allclose(
        trainer.epoch(theta, rows, half, 0), trainer.epoch(theta, rows[:8], ones, 0), atol=1e-6
    )


def test_scores_sum_to_one_and_do_not_depend_on_their_company(federation, trainer):
    theta = trainer.model.initial(3)
    rows = federation.rows(TEST)
    scores = trainer.scores(theta, rows)
    assert np.allclose(scores.sum(axis=1), 1)
    assert np.allclose(trainer.scores(theta, rows[5:9]), scores[5:9], atol=1e-6)


def test_group_and_client_are_inputs_only_when_asked(federation, trainer):
    blind = TensorFlowTrainer(federation, replace(RECIPE, group_input=False, client_input=False))
    assert trainer.model.size - blind.model.size == (2 + 3) * 64
    theta, rows = blind.model.initial(0), federation.rows(TEST)
    nothing = np.zeros((len(rows), 0), np.float32)
    logits = blind.model.logits(theta, federation.people.inputs[rows], nothing)
    assert np.allclose(blind.scores(theta, rows), tf.nn.softmax(logits), atol=1e-6)


def test_the_eight_poses_are_different_and_the_first_is_the_picture():
    image = np.random.default_rng(0).integers(0, 255, (2, 28, 28, 3)).astype(np.uint8)
    poses = poses_of(image)
    assert np.array_equal(poses[0], image[0])
    assert np.array_equal(poses[8], image[1])
    assert len({pose.tobytes() for pose in poses[:8]}) == 8
    assert all(np.array_equal(np.sort(pose, None), np.sort(image[0], None)) for pose in poses[:8])


def test_pictures_train_with_a_seeded_augmentation():
    recipe = replace(RECIPE, model="cnn", augment=True, batch=32)
    federation = federate(pictures(), recipe, seed=0)
    trainer = TensorFlowTrainer(federation, recipe)
    theta = trainer.model.initial(0)
    rows = federation.client_rows(TRAINING)[2]
    ones = np.ones(len(rows), np.float32)
    first = trainer.epoch(theta, rows, ones, seed=1)
    assert np.array_equal(first, trainer.epoch(theta, rows, ones, seed=1))
    assert not np.array_equal(first, trainer.epoch(theta, rows, ones, seed=2))


def test_a_weighted_epoch_with_weights_of_one_is_the_plain_epoch_to_the_bit(federation, trainer):
    theta, rows = trainer.model.initial(0), federation.client_rows(TRAINING)[2]
    ones = np.ones(len(rows), np.float32)
    plain = trainer.epoch(theta, rows, ones, 0)
    assert np.array_equal(trainer.epoch(theta, rows, np.float32(1) * ones, 0), plain)
    assert np.allclose(trainer.epoch(theta, rows, 3 * ones, 0), plain, atol=1e-6)
    group = federation.people.group[rows]
    uneven = np.where(group == 0, 4, 1).astype(np.float32)
    assert not np.allclose(trainer.epoch(theta, rows, uneven, 0), plain, atol=1e-3)


def test_no_rows_have_no_scores(trainer):
    assert trainer.scores(trainer.model.initial(0), np.empty(0, np.int32)).shape == (0, 3)
