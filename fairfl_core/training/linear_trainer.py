"""Logistic regression in numpy: a model small enough to be trained without TensorFlow.

The same steps as `TensorFlowTrainer` (Adam, re-created each round; batches in the order given), computed in
double precision. For federations whose machines have nothing but numpy, and for tests of them.
"""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.data import Federation
from fairfl_core.training.parameters import parameter_shapes
from fairfl_core.training.recipes import Recipe

__all__ = ["Adam", "LinearTrainer", "shares"]

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
        adam, values = Adam(theta, self._recipe.learning_rate), theta.astype(np.float64)
        for batch in self._batches(len(rows)):
            _, slope = self._loss(values, rows[batch], shares(weight[batch]))
            values = adam.step(values, slope)
        return values.astype(np.float32)

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

    def _back(self, rows: NDArray[np.int32], by_logit: Floats) -> Floats:
        kernel = self._inputs[rows].T @ by_logit
        return np.concatenate([kernel.ravel(), by_logit.sum(axis=0)])


def shares(weight: NDArray[np.float32]) -> Floats:
    """Divide the weights of some rows by their sum."""
    exact = weight.astype(np.float64)
    return exact / exact.sum()


class Adam:
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
