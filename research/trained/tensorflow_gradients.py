"""Penalised epochs and gradients of networks, in TensorFlow's compiled steps."""

import numpy as np
import tensorflow as tf

from fairfl_core.training.data import Federation
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.tensorflow_trainer import TensorFlowTrainer, adam_start, adam_step
from research.trained.gaps import Floats, Gaps, Penalty, Rows, Theta

_FAR = 1e9  # a logit this far below the others does not count


class TensorFlowGradients(TensorFlowTrainer):
    """A TensorFlowTrainer that also knows penalised epochs, and gradients of loss and gaps."""

    def __init__(self, federation: Federation, recipe: Recipe, parallel: int = 1) -> None:
        super().__init__(federation, recipe, parallel)
        fast = recipe.model == "mlp"  # as for the steps of the class above
        self._compiled_penalised_epoch = tf.function(self._penalised_epoch, jit_compile=fast)
        self._compiled_loss_gradient = tf.function(self._loss_gradient, jit_compile=fast)
        self._compiled_gap_gradient = tf.function(self._gap_gradient, jit_compile=fast)

    def penalised_epoch(
        self, theta: Theta, rows: Rows, weight: Theta, seed: int, penalty: Penalty
    ) -> Theta:
        """An `epoch` whose loss is joined by the penalty."""
        gaps = penalty.gaps
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
            tf.constant([penalty.strength, penalty.momentum, penalty.clip], tf.float32),
            tf.constant(-(-len(rows) // self._recipe.batch), tf.int32),
            tf.constant(seed, tf.int32),
        )
        return trained.numpy()

    def loss_gradient(self, theta: Theta, rows: Rows, weight: Theta) -> tuple[float, Floats]:
        """The weighted mean loss over all of `rows` and its gradient."""
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
        self, theta: Theta, rows: Rows, gaps: Gaps, sharpness: float = 1.0, bound: float = np.inf
    ) -> tuple[Floats, Floats]:
        """Signed soft gaps over all of `rows`, and their gradients."""
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
        adam, step = adam_start(theta), tf.constant(0)
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
            theta, adam = adam_step(theta, gradient, adam, self._recipe.learning_rate)
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
