"""Models as pure functions of one parameter vector: logits(theta, x, side).

`theta` is the paper's theta, all weights end to end in one vector, so that what a server does
with models is arithmetic on vectors. `side` holds the group and the client as one-hots when the
score R(x, a, c) may see them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from fairfl_core.training.parameters import (
    FILTERS,
    HIDDEN,
    cnn_shapes,
    dense_shapes,
    first_parameters,
    size_of,
)

__all__ = ["Model", "cnn", "mlp"]

Forward = Callable[[list[tf.Tensor], tf.Tensor, tf.Tensor], tf.Tensor]


@dataclass(frozen=True)
class Model:
    """A network: the shapes of its weights (kernel, bias, kernel, bias, ...) and its forward pass."""

    shapes: tuple[tuple[int, ...], ...]
    forward: Forward

    @property
    def size(self) -> int:
        """Number of parameters, p."""
        return size_of(self.shapes)

    def initial(self, seed: int) -> NDArray[np.float32]:
        """Glorot-uniform kernels and zero biases, from numpy so that they are the same everywhere."""
        return first_parameters(self.shapes, seed)

    def logits(self, theta: tf.Tensor, x: tf.Tensor, side: tf.Tensor) -> tf.Tensor:
        """Scores before the softmax, shape (rows, labels)."""
        pieces = tf.split(theta, [int(np.prod(shape)) for shape in self.shapes])
        weights = [
            tf.reshape(piece, shape) for piece, shape in zip(pieces, self.shapes, strict=True)
        ]
        return self.forward(weights, x, side)


def mlp(features: int, side: int, labels: int, hidden: Sequence[int] = HIDDEN) -> Model:
    """Two hidden layers of 64 and 32 nodes with ReLU."""
    return Model(
        dense_shapes((features + side, *hidden, labels)),
        lambda weights, x, side_inputs: _dense(weights, tf.concat([x, side_inputs], axis=1)),
    )


def cnn(channels: int, side: int, labels: int, filters: Sequence[int] = FILTERS) -> Model:
    """Three 3 x 3 convolutions, two poolings, global average pooling, dense 128 and 32.

    The side inputs join where the picture has become a vector.
    """
    convolutions = len(filters)

    def forward(weights: list[tf.Tensor], x: tf.Tensor, side_inputs: tf.Tensor) -> tf.Tensor:
        for layer in range(convolutions):
            kernel, bias = weights[2 * layer : 2 * layer + 2]
            x = tf.nn.conv2d(x, kernel, 1, "VALID")
            if layer < convolutions - 1:  # a maximum commutes with bias and ReLU: pool first
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
            x = tf.nn.relu(tf.nn.bias_add(x, bias))
        vector = tf.concat([tf.reduce_mean(x, axis=[1, 2]), side_inputs], axis=1)
        return _dense(weights[2 * convolutions :], vector)

    return Model(cnn_shapes(channels, side, labels, filters), forward)


def _dense(weights: list[tf.Tensor], x: tf.Tensor) -> tf.Tensor:
    """Dense layers with ReLU between them, none after the last."""
    for at in range(0, len(weights), 2):
        x = tf.matmul(x, weights[at]) + weights[at + 1]
        if at + 2 < len(weights):
            x = tf.nn.relu(x)
    return x
