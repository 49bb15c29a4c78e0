"""Train and score networks with TensorFlow: compiled steps, reused over all clients and rounds.

The data are tensors from the start; a call passes row numbers. Every call has the same shapes
(short clients are padded with rows of weight zero), so TensorFlow compiles each step once, when
a method first asks for it.
"""

import os
from contextlib import suppress
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from fairfl_core.training.data import TRAINING, Federation
from fairfl_core.training.gaps import Gaps
from fairfl_core.training.models import Model, cnn, mlp, pixel_scale, poses_of, toned
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.trainers import parallel_map

__all__ = ["TensorFlowTrainer", "prepare_tensorflow"]

_LEAST = 1024  # rows in the smallest chunk
_FAR = 1e9  # a logit this far below the others does not count
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


class TensorFlowTrainer:
    """A federation's data as tensors, and what is done with them: epochs, gradients, scores.

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
        self._shift, self._scale = pixel_scale(federation)
        self._steps = max(
            -(-len(rows) // recipe.batch) for rows in federation.client_rows(TRAINING)
        )
        self._labels = len(people.labels)
        self.model = self._build()
        self.shapes = self.model.shapes
        fast = recipe.model == "mlp"  # XLA makes the MLP faster and the CNN slower
        self._compiled_epoch = tf.function(self._epoch, jit_compile=fast)
        self._compiled_penalised_epoch = tf.function(self._penalised_epoch, jit_compile=fast)
        self._compiled_loss_gradient = tf.function(self._loss_gradient, jit_compile=fast)
        self._compiled_gap_gradient = tf.function(self._gap_gradient, jit_compile=fast)
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

    def penalised_epoch(
        self,
        theta: NDArray[np.float32],
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
        seed: int,
        *,
        gaps: Gaps,
        strength: float,
        momentum: float,
        clip: float = np.inf,
    ) -> NDArray[np.float32]:
        """An `epoch` whose loss is the mean loss plus `strength` times the sum of squared gaps.

        A gap on a batch is noise for the most part, and its square is the noise's variance. So the
        two means behind a gap run along: they start as those of all `rows`, and each batch moves
        them by ``1 - momentum``. A batch without rows of a group leaves its mean as it is.

        Parameters
        ----------
        theta, rows, weight, seed
            As for `epoch`.
        gaps : Gaps
            What is compared; its rows stand in the order of `rows`.
        strength : float
            How much the penalty counts beside the loss.
        momentum : float
            0 takes each batch by itself, 0.9 looks back over about ten.
        clip : float
            The longest gradient that is taken as it is; a longer one is shortened to it.
        """
        weights = gaps.mean_weights
        means = (weights * self.scores(theta, rows)[:, gaps.label].T).sum(axis=2)
        sides = np.sign(weights[1] - weights[0]).astype(np.float32)
        trained = self._compiled_penalised_epoch(
            tf.constant(theta),
            tf.constant(self._in_batches(rows)),
            tf.constant(self._in_batches(weight)),
            tf.constant(np.stack([self._in_batches(side) for side in sides], axis=1)),
            tf.constant(gaps.label),
            tf.constant(means, tf.float32),
            tf.constant([strength, momentum, clip], tf.float32),
            tf.constant(-(-len(rows) // self._recipe.batch), tf.int32),
            tf.constant(seed, tf.int32),
        )
        return trained.numpy()

    def loss_gradient(
        self,
        theta: NDArray[np.float32],
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
    ) -> tuple[float, NDArray[np.float64]]:
        """The mean loss over all of `rows`, weighted, and its gradient; images as they are."""
        loss, gradient = 0.0, np.zeros(self.model.size)
        share = (weight / weight.sum(dtype=float)).astype(np.float32)
        for part, part_share in zip(self._in_chunks(rows), self._in_chunks(share), strict=True):
            value, slope = self._compiled_loss_gradient(
                tf.constant(theta), tf.constant(part), tf.constant(part_share)
            )
            loss += float(value)
            gradient += slope.numpy()
        return loss, gradient

    def gap_gradient(
        self,
        theta: NDArray[np.float32],
        rows: NDArray[np.int32],
        gaps: Gaps,
        *,
        sharpness: float = 1.0,
        bound: float = np.inf,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Signed soft gaps over all of `rows`, and their gradients.

        Parameters
        ----------
        theta : ndarray
        rows : ndarray of int
        gaps : Gaps
            What is compared; its rows stand in the order of `rows`.
        sharpness : float
            The score is the sigmoid of so many times its log-odds: 1 is the score itself, 10
            (FCFL) is near the hard decision.
        bound : float
            Log-odds beyond it are cut off, so that sharpened scores keep a slope.

        Returns
        -------
        values : ndarray, shape (gaps,)
            Second group less first; 0 where a group has no rows.
        gradients : ndarray, shape (gaps, p)
        """
        values, gradients = np.zeros(len(gaps)), np.zeros((len(gaps), self.model.size))
        parts = list(self._in_chunks(rows))
        for place, (label, u) in enumerate(zip(gaps.label, gaps.coefficients, strict=True)):
            for part, part_u in zip(parts, self._in_chunks(u), strict=True):
                value, slope = self._compiled_gap_gradient(
                    tf.constant(theta),
                    tf.constant(part),
                    tf.constant(part_u, tf.float32),
                    tf.constant(label, tf.int32),
                    tf.constant([sharpness, bound], tf.float32),
                )
                values[place] += float(value)
                gradients[place] += slope.numpy()
        return values, gradients

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

    def _build(self) -> Model:
        make = {"mlp": mlp, "cnn": cnn}[self._recipe.model]
        return make(int(self._inputs.shape[-1]), sum(self._widths), self._labels)

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
        adam, step = _adam_start(theta), tf.constant(0)
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
            theta, adam = _adam_step(theta, gradient, adam, self._recipe.learning_rate)
            step += 1
        return theta

    def _penalised_epoch(
        self,
        theta: tf.Tensor,
        order: tf.Tensor,
        weight: tf.Tensor,
        sides: tf.Tensor,
        label: tf.Tensor,
        means: tf.Tensor,
        knobs: tf.Tensor,
        steps: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        strength, keep, clip = knobs[0], knobs[1], knobs[2]
        adam, step = _adam_start(theta), tf.constant(0)
        while step < steps:
            rows, row_weight = order[step], weight[step]
            x, side = self._batch(rows, seed, step)
            members = tf.stack([tf.nn.relu(-sides[step]), tf.nn.relu(sides[step])])
            present = tf.reduce_sum(members, axis=2)  # (2, gaps)
            with tf.GradientTape() as tape:
                tape.watch(theta)
                logits = self.model.logits(theta, x, side)
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    tf.gather(self._label, rows), logits
                )
                mean = tf.reduce_sum(loss * row_weight) / tf.reduce_sum(row_weight)
                scores = tf.transpose(tf.gather(tf.nn.softmax(logits), label, axis=1))
                batch_means = tf.reduce_sum(members * scores, axis=2) / tf.maximum(present, 1.0)
                moved = keep * means + (1 - keep) * batch_means
                moved = tf.where(present > 0, moved, means)
                penalty = tf.reduce_sum(tf.square(moved[1] - moved[0]))
                objective = mean + strength * penalty
            gradient = tape.gradient(objective, theta)
            gradient *= tf.minimum(1.0, clip / tf.maximum(tf.norm(gradient), 1e-12))
            means = moved
            theta, adam = _adam_step(theta, gradient, adam, self._recipe.learning_rate)
            step += 1
        return theta

    def _loss_gradient(
        self, theta: tf.Tensor, rows: tf.Tensor, share: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(theta)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                tf.gather(self._label, rows), self._logits(theta, rows)
            )
            mean = tf.reduce_sum(loss * share)
        return mean, tape.gradient(mean, theta)

    def _gap_gradient(
        self,
        theta: tf.Tensor,
        rows: tf.Tensor,
        u: tf.Tensor,
        label: tf.Tensor,
        knobs: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        sharpness, bound = knobs[0], knobs[1]
        with tf.GradientTape() as tape:
            tape.watch(theta)
            logits = self._logits(theta, rows)
            chosen = tf.one_hot(label, self._labels)
            own = tf.reduce_sum(logits * chosen, axis=1)
            odds = own - tf.reduce_logsumexp(logits - chosen * _FAR, axis=1)
            odds = tf.clip_by_value(odds, -bound, bound)
            gap = tf.reduce_sum(u * tf.sigmoid(sharpness * odds))
        return gap, tape.gradient(gap, theta)

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
        return toned(x, chance), side

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


def _adam_start(theta: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """First and second moment of the gradient, and the powers of beta_1 and beta_2."""
    return tf.zeros_like(theta), tf.zeros_like(theta), tf.constant(1.0), tf.constant(1.0)


def _adam_step(
    theta: tf.Tensor, gradient: tf.Tensor, adam: tuple[tf.Tensor, ...], learning_rate: float
) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
    momentum, square, power1, power2 = adam
    power1, power2 = power1 * _BETA1, power2 * _BETA2
    momentum += (gradient - momentum) * (1 - _BETA1)
    square += (tf.square(gradient) - square) * (1 - _BETA2)
    rate = learning_rate * tf.sqrt(1 - power2) / (1 - power1)
    theta -= rate * momentum / (tf.sqrt(square) + _EPSILON)
    return theta, (momentum, square, power1, power2)
