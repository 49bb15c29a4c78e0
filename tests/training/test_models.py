"""Our networks against the same ones in Keras."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from fairfl_core.training.tensorflow_trainer import Model
from fairfl_core.training.trainers import parameter_shapes


def network(kind, inputs, side, labels):
    return Model(parameter_shapes(kind, inputs, side, labels))


def shaped(model, theta):
    parts = np.split(theta, np.cumsum([int(np.prod(shape)) for shape in model.shapes])[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, model.shapes, strict=True)]


def test_the_mlp_is_the_papers():
    model = network("mlp", 99, 0, 1)
    assert model.size == 99 * 64 + 64 + 64 * 32 + 32 + 32 + 1
    assert network("mlp", 19, 0, 1).size == 3393  # the authors' size on PublicCoverage


def test_the_mlp_computes_what_keras_computes():
    model = network("mlp", 5, 3, 4)
    theta = model.initial(0)
    reference = keras.Sequential(
        [
            keras.layers.Input((8,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(4),
        ]
    )
    reference.set_weights(shaped(model, theta))
    x = np.random.default_rng(0).normal(size=(7, 8)).astype(np.float32)
    ours = model.logits(tf.constant(theta), tf.constant(x[:, :5]), tf.constant(x[:, 5:]))
    assert np.allclose(ours, reference(x), atol=1e-5)


def test_the_cnn_computes_what_keras_computes_with_pooling_after_relu():
    model = network("cnn", 3, 2, 4)
    theta = model.initial(1) + np.random.default_rng(2).normal(0, 0.05, model.size).astype("f4")
    image, side = keras.layers.Input((28, 28, 3)), keras.layers.Input((2,))
    x = image
    for filters in (32, 64, 128):
        x = keras.layers.Conv2D(filters, 3, activation="relu")(x)
        if filters < 128:
            x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Concatenate()([keras.layers.GlobalAveragePooling2D()(x), side])
    for width in (128, 32):
        x = keras.layers.Dense(width, activation="relu")(x)
    reference = keras.Model([image, side], keras.layers.Dense(4)(x))
    reference.set_weights(shaped(model, theta))
    rng = np.random.default_rng(3)
    pictures, sides = rng.random((2, 28, 28, 3), "f4"), rng.random((2, 2), "f4")
    ours = model.logits(tf.constant(theta), tf.constant(pictures), tf.constant(sides))
    assert np.allclose(ours, reference([pictures, sides]), atol=1e-4)


@pytest.mark.parametrize("model", [network("mlp", 6, 2, 3), network("cnn", 3, 2, 4)])
def test_first_weights_are_bounded_seeded_and_biases_zero(model):
    first = model.initial(0)
    assert np.array_equal(first, model.initial(0))
    assert not np.array_equal(first, model.initial(1))
    for shape, part in zip(model.shapes, shaped(model, first), strict=True):
        if len(shape) == 1:
            assert not part.any()
        else:
            limit = np.sqrt(6 / (np.prod(shape[:-2]) * (shape[-2] + shape[-1])))
            assert limit / 2 < np.abs(part).max() <= limit
