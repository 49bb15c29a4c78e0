"""The work a client can do: one compiled epoch, reused over all clients and rounds.

The data are tensors from the start; a call passes row numbers. Every call has the same shapes
(short clients are padded with rows of weight zero), so TensorFlow compiles once.
"""

from contextlib import suppress

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from fairfl_core.federated.data import TRAINING, Federation
from fairfl_core.federated.models import Model, cnn, mlp
from fairfl_core.federated.recipes import Recipe

__all__ = ["Work", "prepare_tensorflow"]

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-7  # Adam's usual constants, as in Keras


def prepare_tensorflow(threads: int) -> None:
    """Ask for the same answer every time, and start TensorFlow.

    Threads can only be set before the first operation; later calls leave them as they are.
    """
    tf.config.experimental.enable_op_determinism()
    with suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.zeros(())


class Work:
    """A federation's data as tensors, and the two things done with them: an epoch, and scores."""

    def __init__(self, federation: Federation, recipe: Recipe) -> None:
        people = federation.people
        self._recipe = recipe
        self._widths = (
            len(people.groups) if recipe.group_input else 0,
            len(people.clients) if recipe.client_input else 0,
        )
        self._poses = 8 if recipe.augment else 1
        self._inputs = tf.constant(_poses(people.inputs) if recipe.augment else people.inputs)
        self._label = tf.constant(people.label.astype(np.int32))
        self._group = tf.constant(people.group.astype(np.int32))
        self._client = tf.constant(people.client.astype(np.int32))
        self._shift, self._scale = _pixel_scale(federation)
        self._steps = max(-(-len(rows) // recipe.batch) for rows in federation.training_rows())
        self.model = self._build(len(people.labels))
        fast = recipe.model == "mlp"  # XLA makes the MLP faster and the CNN slower
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
        batch = self._recipe.batch
        steps = -(-len(rows) // batch)
        shape = (self._steps, batch)
        order, weights = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        order.flat[: len(rows)] = rows
        weights.flat[: len(rows)] = weight
        trained = self._compiled_epoch(
            tf.constant(theta),
            tf.constant(order),
            tf.constant(weights),
            tf.constant(steps, tf.int32),
            tf.constant(seed, tf.int32),
        )
        return trained.numpy()

    def scores(self, theta: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Scores of `rows`, shape (rows, labels), each row summing to 1."""
        padded = np.resize(rows, -(-len(rows) // self._chunk) * self._chunk)
        theta_tensor = tf.constant(theta)
        logits = [
            self._compiled_logits(theta_tensor, tf.constant(part)).numpy()
            for part in padded.reshape(-1, self._chunk)
        ]
        values = np.concatenate(logits)[: len(rows)].astype(np.float64)
        values = np.exp(values - values.max(axis=1, keepdims=True))
        return values / values.sum(axis=1, keepdims=True)

    def _build(self, labels: int) -> Model:
        make = {"mlp": mlp, "cnn": cnn}[self._recipe.model]
        return make(int(self._inputs.shape[-1]), sum(self._widths), labels)

    def _epoch(
        self, theta: tf.Tensor, order: tf.Tensor, weight: tf.Tensor, steps: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:  # fmt: skip
        momentum, square = tf.zeros_like(theta), tf.zeros_like(theta)
        power1, power2 = tf.constant(1.0), tf.constant(1.0)
        step = tf.constant(0)
        while step < steps:
            rows, row_weight = order[step], weight[step]
            if self._recipe.augment:
                chance = tf.random.stateless_uniform([3, rows.shape[0]], tf.stack([seed, step]))
                x, side = self._gathered(rows, tf.cast(chance[2] * self._poses, tf.int32))
                x = _toned(x, chance)
            else:
                x, side = self._gathered(rows, 0)
            with tf.GradientTape() as tape:
                tape.watch(theta)
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    tf.gather(self._label, rows), self.model.logits(theta, x, side)
                )
                mean = tf.reduce_sum(loss * row_weight) / tf.reduce_sum(row_weight)
            gradient = tape.gradient(mean, theta)
            power1, power2 = power1 * _BETA1, power2 * _BETA2
            momentum += (gradient - momentum) * (1 - _BETA1)
            square += (tf.square(gradient) - square) * (1 - _BETA2)
            rate = self._recipe.learning_rate * tf.sqrt(1 - power2) / (1 - power1)
            theta -= rate * momentum / (tf.sqrt(square) + _EPSILON)
            step += 1
        return theta

    def _logits(self, theta: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        return self.model.logits(theta, *self._gathered(rows, 0))

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


def _pixel_scale(federation: Federation) -> tuple[tf.Tensor, tf.Tensor]:
    """Shift and scale of bytes, one for each colour, from the training rows (features: none)."""
    inputs = federation.people.inputs
    if inputs.dtype != np.uint8:
        return tf.constant(0.0), tf.constant(1.0)
    known = inputs[federation.split == TRAINING].reshape(-1, inputs.shape[-1])
    spread = np.maximum(known.std(axis=0), 1.0)
    return tf.constant(known.mean(axis=0), tf.float32), tf.constant(1 / spread, tf.float32)


def _poses(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
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
