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
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def initial(self, seed: int) -> NDArray[np.float32]:
        """Glorot-uniform kernels and zero biases, from numpy so that they are the same everywhere."""
        rng = np.random.default_rng([seed, 3])
        parts = []
        for shape in self.shapes:
            if len(shape) == 1:
                parts.append(np.zeros(shape))
                continue
            field = int(np.prod(shape[:-2]))
            limit = np.sqrt(6 / (field * (shape[-2] + shape[-1])))
            parts.append(rng.uniform(-limit, limit, shape).ravel())
        return np.concatenate(parts).astype(np.float32)

    def logits(self, theta: tf.Tensor, x: tf.Tensor, side: tf.Tensor) -> tf.Tensor:
        """Scores before the softmax, shape (rows, labels)."""
        pieces = tf.split(theta, [int(np.prod(shape)) for shape in self.shapes])
        weights = [
            tf.reshape(piece, shape) for piece, shape in zip(pieces, self.shapes, strict=True)
        ]
        return self.forward(weights, x, side)


def mlp(features: int, side: int, labels: int, hidden: Sequence[int] = (64, 32)) -> Model:
    """Two hidden layers of 64 and 32 nodes with ReLU."""
    return Model(
        _dense_shapes((features + side, *hidden, labels)),
        lambda weights, x, side_inputs: _dense(weights, tf.concat([x, side_inputs], axis=1)),
    )


def cnn(channels: int, side: int, labels: int, filters: Sequence[int] = (32, 64, 128)) -> Model:
    """Three 3 x 3 convolutions, two poolings, global average pooling, dense 128 and 32.

    The side inputs join where the picture has become a vector.
    """
    widths = (channels, *filters)
    kernels = [(3, 3, a, b) for a, b in zip(widths[:-1], widths[1:], strict=True)]
    shapes = [shape for kernel in kernels for shape in (kernel, kernel[-1:])]
    head = _dense_shapes((filters[-1] + side, 128, 32, labels))
    convolutions = len(kernels)

    def forward(weights: list[tf.Tensor], x: tf.Tensor, side_inputs: tf.Tensor) -> tf.Tensor:
        for layer in range(convolutions):
            kernel, bias = weights[2 * layer : 2 * layer + 2]
            x = tf.nn.conv2d(x, kernel, 1, "VALID")
            if layer < convolutions - 1:  # a maximum commutes with bias and ReLU: pool first
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
            x = tf.nn.relu(tf.nn.bias_add(x, bias))
        vector = tf.concat([tf.reduce_mean(x, axis=[1, 2]), side_inputs], axis=1)
        return _dense(weights[2 * convolutions :], vector)

    return Model((*shapes, *head), forward)


def _dense_shapes(widths: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    pairs = zip(widths[:-1], widths[1:], strict=True)
    return tuple(shape for a, b in pairs for shape in ((a, b), (b,)))


def _dense(weights: list[tf.Tensor], x: tf.Tensor) -> tf.Tensor:
    """Dense layers with ReLU between them, none after the last."""
    for at in range(0, len(weights), 2):
        x = tf.matmul(x, weights[at]) + weights[at + 1]
        if at + 2 < len(weights):
            x = tf.nn.relu(x)
    return x
