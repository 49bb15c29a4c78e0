"""Train and score networks with TensorFlow: compiled steps, reused over all clients and rounds.

The data are tensors from the start; a call passes row numbers. Every call has the same shapes
(short clients are padded with rows of weight zero), so TensorFlow compiles each step once, when
a method first asks for it.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from fairfl_core.training.data import TRAINING, Federation, moments_of, scaler_of
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.trainers import (
    Shapes,
    first_parameters,
    parallel_map,
    parameter_shapes,
    size_of,
)

__all__ = [
    "Model",
    "TensorFlowTrainer",
    "adam_start",
    "adam_step",
    "poses_of",
    "prepare_tensorflow",
]

_LEAST = 1024  # rows in the smallest chunk
# a compiled step stays on the thread that calls it, instead of sharing one helper with all others
_IN_SEQUENCE = "--xla_cpu_enable_concurrency_optimized_scheduler=false"
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-7  # Adam's usual constants, as in Keras


def prepare_tensorflow(threads: int, parallel: int) -> None:
    """Ask for the same answer every time, and start TensorFlow.

    Threads, and how many calls are answered at once, can only be set before the first operation;
    later calls leave them as they are.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _IN_SEQUENCE not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_IN_SEQUENCE}".strip()
    tf.config.experimental.enable_op_determinism()
    with suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(max(threads, parallel))
    tf.zeros(())


@dataclass(frozen=True)
class Model:
    """A network as a pure function of one parameter vector: logits(theta, x, side).

    `theta` is the paper's theta, all weights end to end, so that what a server does with models is
    arithmetic on vectors; `shapes` are those of its parts (kernel, bias, kernel, bias, ...). `side`
    holds the group and the client as one-hots when the score R(x, a, c) may see them.
    """

    shapes: Shapes

    @property
    def size(self) -> int:
        """Number of parameters, p."""
        return size_of(self.shapes)

    def initial(self, seed: int) -> NDArray[np.float32]:
        """The parameters that training starts from."""
        return first_parameters(self.shapes, seed)

    def logits(self, theta: tf.Tensor, x: tf.Tensor, side: tf.Tensor) -> tf.Tensor:
        """Scores before the softmax, shape (rows, labels).

        Convolutions (3 x 3, two poolings, a global average) come first, where there are any; the
        side inputs join where the picture has become a vector; then dense layers with ReLU between.
        """
        pieces = tf.split(theta, [int(np.prod(shape)) for shape in self.shapes])
        weights = [
            tf.reshape(piece, shape) for piece, shape in zip(pieces, self.shapes, strict=True)
        ]
        convolutions = sum(len(shape) == 4 for shape in self.shapes)
        for layer in range(convolutions):
            x = tf.nn.conv2d(x, weights[2 * layer], 1, "VALID")
            if layer < convolutions - 1:  # a maximum commutes with bias and ReLU: pool first
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
            x = tf.nn.relu(tf.nn.bias_add(x, weights[2 * layer + 1]))
        x = tf.reduce_mean(x, axis=[1, 2]) if convolutions else x
        x = tf.concat([x, side], axis=1)
        for at in range(2 * convolutions, len(weights), 2):
            x = tf.matmul(x, weights[at]) + weights[at + 1]
            if at + 2 < len(weights):
                x = tf.nn.relu(x)
        return x


class TensorFlowTrainer:
    """A federation's data as tensors, and what is done with them: epochs and scores.

    `parallel` clients may be trained at a time: calls keep no state, and may come from several threads.
    """

    def __init__(self, federation: Federation, recipe: Recipe, parallel: int = 1) -> None:
        people = federation.people
        self.parallel = parallel
        self._recipe = recipe
        self._widths = (
            len(people.groups) if recipe.group_input else 0,
            len(people.clients) if recipe.client_input else 0,
        )
        self._poses = 8 if recipe.augment else 1
        self._inputs = tf.constant(poses_of(people.inputs) if recipe.augment else people.inputs)
        self._label = tf.constant(people.label.astype(np.int32))
        self._group = tf.constant(people.group.astype(np.int32))
        self._client = tf.constant(people.client.astype(np.int32))
        self._shift, self._scale = _pixel_scale(federation)
        self._steps = max(
            -(-len(rows) // recipe.batch) for rows in federation.client_rows(TRAINING)
        )
        self._labels = len(people.labels)
        inputs = int(self._inputs.shape[-1])
        self.shapes = parameter_shapes(recipe.model, inputs, sum(self._widths), self._labels)
        self.model = Model(self.shapes)
        fast = recipe.model != "cnn"  # XLA makes the MLP faster and the CNN slower
        self._compiled_epoch = tf.function(self._epoch, jit_compile=fast)
        self._compiled_logits = tf.function(self._logits, jit_compile=fast)
        self._chunk = 8192 if fast else 512

    def epoch(
        self,
        theta: NDArray[np.float32],
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
        seed: int,
    ) -> NDArray[np.float32]:
        """Train `theta` on `rows` once, in that order, with a fresh Adam.

        Parameters
        ----------
        theta : ndarray
            The parameters to start from.
        rows : ndarray of int
            Row numbers in the order they are seen, `batch` at a time.
        weight : ndarray of float
            How much each of `rows` counts in the loss of its step.
        seed : int
            For the changes to images.
        """
        trained = self._compiled_epoch(
            tf.constant(theta),
            tf.constant(self._in_batches(rows)),
            tf.constant(self._in_batches(weight)),
            tf.constant(-(-len(rows) // self._recipe.batch), tf.int32),
            tf.constant(seed, tf.int32),
        )
        return trained.numpy()

    def scores(self, theta: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Scores of `rows`, shape (rows, labels), each row summing to 1."""
        if not len(rows):
            return np.empty((0, self._labels))
        theta_tensor, parts = tf.constant(theta), self._in_chunks(rows)
        logits = parallel_map(
            lambda place: self._compiled_logits(theta_tensor, tf.constant(parts[place])).numpy(),
            [self._chunk] * len(parts),
            self.parallel,
        )
        values = np.concatenate(logits)[: len(rows)].astype(np.float64)
        values = np.exp(values - values.max(axis=1, keepdims=True))
        return values / values.sum(axis=1, keepdims=True)

    def _in_batches(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value a row, in steps of a batch; zeros fill what no row fills."""
        batches = np.zeros((self._steps, self._recipe.batch), values.dtype)
        batches.flat[: len(values)] = values
        return batches

    def _in_chunks(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value a row, in chunks (of few rows: the next power of two); zeros fill the last."""
        size = min(self._chunk, max(_LEAST, 1 << (len(values) - 1).bit_length()))
        chunks = np.zeros((-(-len(values) // size), size), values.dtype)
        chunks.flat[: len(values)] = values
        return chunks

    def _epoch(
        self,
        theta: tf.Tensor,
        order: tf.Tensor,
        weight: tf.Tensor,
        steps: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        adam, step = adam_start(theta), tf.constant(0)
        while step < steps:
            rows, row_weight = order[step], weight[step]
            x, side = self._batch(rows, seed, step)
            with tf.GradientTape() as tape:
                tape.watch(theta)
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    tf.gather(self._label, rows), self.model.logits(theta, x, side)
                )
                mean = tf.reduce_sum(loss * row_weight) / tf.reduce_sum(row_weight)
            gradient = tape.gradient(mean, theta)
            theta, adam = adam_step(theta, gradient, adam, self._recipe.learning_rate)
            step += 1
        return theta

    def _logits(self, theta: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        return self.model.logits(theta, *self._gathered(rows, 0))

    def _batch(
        self, rows: tf.Tensor, seed: tf.Tensor, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Inputs of a training step, images changed by chance where the recipe says so."""
        if not self._recipe.augment:
            return self._gathered(rows, 0)
        chance = tf.random.stateless_uniform([3, rows.shape[0]], tf.stack([seed, step]))
        x, side = self._gathered(rows, tf.cast(chance[2] * self._poses, tf.int32))
        return _toned(x, chance), side

    def _gathered(self, rows: tf.Tensor, pose: tf.Tensor | int) -> tuple[tf.Tensor, tf.Tensor]:
        """Inputs x of some rows, and their group and client as one-hots beside them."""
        x = tf.gather(self._inputs, rows * self._poses + pose)
        x = (tf.cast(x, tf.float32) - self._shift) * self._scale
        codes = (self._group, self._client)
        hots = [
            tf.one_hot(tf.gather(code, rows), width)
            for code, width in zip(codes, self._widths, strict=True)
            if width
        ]
        return x, tf.concat(hots, axis=1) if hots else tf.zeros([tf.shape(rows)[0], 0])


# -------------------------------------------------------------------- pictures


def _pixel_scale(federation: Federation) -> tuple[tf.Tensor, tf.Tensor]:
    """Shift and scale of bytes, one for each colour, from the training rows (features: none)."""
    inputs = federation.people.inputs
    if inputs.dtype != np.uint8:
        return tf.constant(0.0), tf.constant(1.0)
    known = inputs[federation.split == TRAINING].reshape(-1, inputs.shape[-1])
    scaler = scaler_of(moments_of(known), least=1.0)
    return tf.constant(scaler.shift, tf.float32), tf.constant(1 / scaler.spread, tf.float32)


def poses_of(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The eight ways to hold a square picture (mirrored, turned), those of one row in sequence."""
    ways = [images, images[:, ::-1], images[:, :, ::-1], images[:, ::-1, ::-1]]
    ways += [way.transpose(0, 2, 1, 3) for way in ways]
    return np.stack(ways, axis=1).reshape(-1, *images.shape[1:])


def _toned(x: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Change contrast by up to a tenth, and brightness by up to half a standard deviation.

    Pixels are standardised here, and half their deviation is nearly a tenth of the full range:
    the authors' own amounts. They crop besides; a lesion has no upright position, so ours is
    mirrored and turned instead.
    """
    chance = chance[:, :, None, None, None]
    return x * (0.9 + 0.2 * chance[0]) + chance[1] - 0.5


# -------------------------------------------------------------------- Adam


def adam_start(theta: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """First and second moment of the gradient, and the powers of beta_1 and beta_2."""
    return tf.zeros_like(theta), tf.zeros_like(theta), tf.constant(1.0), tf.constant(1.0)


def adam_step(
    theta: tf.Tensor, gradient: tf.Tensor, adam: tuple[tf.Tensor, ...], learning_rate: float
) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
    """The parameters after one step down the gradient, and what Adam remembers of it."""
    momentum, square, power1, power2 = adam
    power1, power2 = power1 * _BETA1, power2 * _BETA2
    momentum += (gradient - momentum) * (1 - _BETA1)
    square += (tf.square(gradient) - square) * (1 - _BETA2)
    rate = learning_rate * tf.sqrt(1 - power2) / (1 - power1)
    theta -= rate * momentum / (tf.sqrt(square) + _EPSILON)
    return theta, (momentum, square, power1, power2)
