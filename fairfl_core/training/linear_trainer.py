"""Logistic regression in numpy: a model small enough to be trained without TensorFlow.

The same steps as `TensorFlowTrainer` (Adam, re-created each round; batches in the order given), computed in
double precision. For federations whose machines have nothing but numpy, and for tests of them.
"""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.data import Federation
from fairfl_core.training.gaps import Gaps
from fairfl_core.training.parameters import parameter_shapes
from fairfl_core.training.recipes import Recipe

__all__ = ["LinearTrainer"]

Floats = NDArray[np.float64]
Theta = NDArray[np.float32]
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-7


class LinearTrainer:
    """Scores are the softmax of linear functions of features, group and client."""

    parallel = 1  # numpy's steps are so short that threads would wait for Python's lock

    def __init__(self, federation: Federation, recipe: Recipe) -> None:
        people = federation.people
        hots = [
            np.eye(len(names))[codes]
            for codes, names, seen in (
                (people.group, people.groups, recipe.group_input),
                (people.client, people.clients, recipe.client_input),
            )
            if seen
        ]
        inputs = people.inputs.reshape(len(people), -1)
        self._inputs: Floats = np.concatenate([inputs, *hots], axis=1).astype(np.float64)
        self._hot = np.eye(len(people.labels))[people.label]
        self._recipe = recipe
        side = sum(hot.shape[1] for hot in hots)
        self.shapes = parameter_shapes("linear", inputs.shape[1], side, len(people.labels))

    def epoch(
        self, theta: Theta, rows: NDArray[np.int32], weight: NDArray[np.float32], seed: int
    ) -> Theta:
        """Train `theta` on `rows` once, in that order, with a fresh Adam."""
        adam, values = _Adam(theta, self._recipe.learning_rate), theta.astype(np.float64)
        for batch in self._batches(len(rows)):
            _, slope = self._loss(values, rows[batch], _shares(weight[batch]))
            values = adam.step(values, slope)
        return values.astype(np.float32)

    def penalised_epoch(
        self,
        theta: Theta,
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
        seed: int,
        *,
        gaps: Gaps,
        strength: float,
        momentum: float,
        clip: float = np.inf,
    ) -> Theta:
        """An `epoch` whose loss is joined by squared gaps with running means; see `TensorFlowTrainer`."""
        adam, values = _Adam(theta, self._recipe.learning_rate), theta.astype(np.float64)
        weights = gaps.mean_weights
        means = (weights * self.scores(theta, rows)[:, gaps.label].T).sum(axis=2)
        member = np.stack([weights[0] > 0, weights[1] > 0])  # (side, gap, row)
        for batch in self._batches(len(rows)):
            _, slope = self._loss(values, rows[batch], _shares(weight[batch]))
            scores = self._softmax(values, rows[batch])
            now, present = member[:, :, batch], member[:, :, batch].sum(axis=2)
            batch_means = (now * scores[:, gaps.label].T).sum(axis=2) / np.maximum(present, 1)
            moved = np.where(present > 0, momentum * means + (1 - momentum) * batch_means, means)
            for gap, label in enumerate(gaps.label):
                sides = now[1, gap] / max(present[1, gap], 1)
                sides = sides - now[0, gap] / max(present[0, gap], 1)
                pull = 2 * strength * (moved[1, gap] - moved[0, gap]) * (1 - momentum)
                slope = slope + pull * self._score_slope(rows[batch], scores, label, sides)
            means = moved
            slope = slope * min(1.0, clip / max(float(np.linalg.norm(slope)), 1e-12))
            values = adam.step(values, slope)
        return values.astype(np.float32)

    def loss_gradient(
        self, theta: Theta, rows: NDArray[np.int32], weight: NDArray[np.float32]
    ) -> tuple[float, Floats]:
        """The weighted mean loss over `rows` and its gradient."""
        return self._loss(theta.astype(np.float64), rows, _shares(weight))

    def gap_gradient(
        self,
        theta: Theta,
        rows: NDArray[np.int32],
        gaps: Gaps,
        *,
        sharpness: float = 1.0,
        bound: float = np.inf,
    ) -> tuple[Floats, Floats]:
        """Signed soft gaps over `rows`, and their gradients; see `TensorFlowTrainer.gap_gradient`."""
        values, slopes = np.zeros(len(gaps)), np.zeros((len(gaps), len(theta)))
        scores = self._softmax(theta.astype(np.float64), rows)
        for place, (label, u) in enumerate(zip(gaps.label, gaps.coefficients, strict=True)):
            own = np.clip(scores[:, label], 1e-300, 1.0)
            odds = np.log(own) - np.log(np.maximum(1 - own, 1e-300))
            soft = 1 / (1 + np.exp(-sharpness * np.clip(odds, -bound, bound)))
            values[place] = (u * soft).sum()
            # d soft / d odds, over d score / d odds = score (1 - score)
            rise = sharpness * soft * (1 - soft) * (np.abs(odds) < bound)
            pull = u * rise / np.maximum(own * (1 - own), 1e-300)
            slopes[place] = self._score_slope(rows, scores, label, pull)
        return values, slopes

    def scores(self, theta: Theta, rows: NDArray[np.int32]) -> Floats:
        """Scores of `rows`, shape (rows, labels), each row summing to 1."""
        return self._softmax(theta.astype(np.float64), rows)

    # ---------------------------------------------------------------- arithmetic

    def _batches(self, rows: int) -> list[slice]:
        size = self._recipe.batch
        return [slice(start, start + size) for start in range(0, rows, size)]

    def _softmax(self, theta: Floats, rows: NDArray[np.int32]) -> Floats:
        kernel, bias = self._parts(theta)
        logits = self._inputs[rows] @ kernel + bias
        power = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(power / power.sum(axis=1, keepdims=True))

    def _parts(self, theta: Floats) -> tuple[Floats, Floats]:
        width = int(np.prod(self.shapes[0]))
        return theta[:width].reshape(self.shapes[0]), theta[width:]

    def _loss(self, theta: Floats, rows: NDArray[np.int32], share: Floats) -> tuple[float, Floats]:
        scores, hot = self._softmax(theta, rows), self._hot[rows]
        loss = -np.log(np.maximum((scores * hot).sum(axis=1), 1e-300))
        return float(loss @ share), self._back(rows, share[:, None] * (scores - hot))

    def _score_slope(
        self, rows: NDArray[np.int32], scores: Floats, label: int, pull: Floats
    ) -> Floats:
        """The gradient of the sum over rows of `pull` times the score of `label`."""
        one = np.eye(scores.shape[1])[label]
        own = scores[:, label]
        return self._back(rows, (pull * own)[:, None] * (one - scores))

    def _back(self, rows: NDArray[np.int32], by_logit: Floats) -> Floats:
        kernel = self._inputs[rows].T @ by_logit
        return np.concatenate([kernel.ravel(), by_logit.sum(axis=0)])


def _shares(weight: NDArray[np.float32]) -> Floats:
    exact = weight.astype(np.float64)
    return exact / exact.sum()


class _Adam:
    """Adam with its usual constants, begun afresh."""

    def __init__(self, theta: Theta, learning_rate: float) -> None:
        self._momentum, self._square = np.zeros(len(theta)), np.zeros(len(theta))
        self._power1 = self._power2 = 1.0
        self._rate = learning_rate

    def step(self, theta: Floats, slope: Floats) -> Floats:
        """The parameters after one step down the slope."""
        self._power1, self._power2 = self._power1 * _BETA1, self._power2 * _BETA2
        self._momentum += (slope - self._momentum) * (1 - _BETA1)
        self._square += (np.square(slope) - self._square) * (1 - _BETA2)
        rate = self._rate * np.sqrt(1 - self._power2) / (1 - self._power1)
        return np.asarray(theta - rate * self._momentum / (np.sqrt(self._square) + _EPSILON))
