"""What the fair methods ask of a trainer beside FedAvg's epochs: penalties and gradients."""

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.linear_trainer import Adam, LinearTrainer, shares
from fairfl_core.training.method import Trainer
from fairfl_core.training.training import Prepared
from research.trained.gaps import Gaps, Penalty

if TYPE_CHECKING:
    from fairfl_core.training.trainers import LocalTrainer

__all__ = ["GradientTrainer", "LinearGradients", "gradients_of", "with_gradients"]

Floats = NDArray[np.float64]
Theta = NDArray[np.float32]
Rows = NDArray[np.int32]


class GradientTrainer(Trainer, Protocol):
    """A trainer with penalised epochs and gradients."""

    def penalised_epoch(
        self, theta: Theta, rows: Rows, weight: Theta, seed: int, penalty: Penalty
    ) -> Theta:
        """Train once through `rows` as `epoch` does, on the weighted loss and the penalty."""
        ...

    def loss_gradient(self, theta: Theta, rows: Rows, weight: Theta) -> tuple[float, Floats]:
        """The weighted mean loss over all of `rows` and its gradient; images as they are."""
        ...

    def gap_gradient(
        self, theta: Theta, rows: Rows, gaps: Gaps, sharpness: float = 1.0, bound: float = np.inf
    ) -> tuple[Floats, Floats]:
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
        ...


def gradients_of(trainer: Trainer) -> GradientTrainer:
    """The same trainer, which has to be one of `with_gradients`."""
    return cast(GradientTrainer, trainer)


def with_gradients(prepared: Prepared) -> Prepared:
    """The same people with a trainer that any method of research can use."""
    federation, recipe = prepared.federation, prepared.recipe
    trainer: LocalTrainer
    if recipe.model == "linear":
        trainer = LinearGradients(federation, recipe)
    else:
        from research.trained.tensorflow_gradients import TensorFlowGradients

        trainer = TensorFlowGradients(federation, recipe, prepared.trainer.parallel)
    return replace(prepared, trainer=trainer)


class LinearGradients(LinearTrainer):
    """`TensorFlowGradients` for the linear model, in numpy."""

    def penalised_epoch(
        self, theta: Theta, rows: Rows, weight: Theta, seed: int, penalty: Penalty
    ) -> Theta:
        """An `epoch` whose loss is joined by the penalty."""
        gaps, momentum = penalty.gaps, penalty.momentum
        adam, values = Adam(theta, self._recipe.learning_rate), theta.astype(np.float64)
        weights = gaps.mean_weights
        means = (weights * self.scores(theta, rows)[:, gaps.label].T).sum(axis=2)
        member = np.stack([weights[0] > 0, weights[1] > 0])  # (side, gap, row)
        for batch in self._batches(len(rows)):
            _, slope = self._loss(values, rows[batch], shares(weight[batch]))
            scores = self._softmax(values, rows[batch])
            now, present = member[:, :, batch], member[:, :, batch].sum(axis=2)
            batch_means = (now * scores[:, gaps.label].T).sum(axis=2) / np.maximum(present, 1)
            moved = np.where(present > 0, momentum * means + (1 - momentum) * batch_means, means)
            for gap, label in enumerate(gaps.label):
                sides = now[1, gap] / max(present[1, gap], 1)
                sides = sides - now[0, gap] / max(present[0, gap], 1)
                pull = 2 * penalty.strength * (moved[1, gap] - moved[0, gap]) * (1 - momentum)
                slope = slope + pull * self._score_slope(rows[batch], scores, label, sides)
            means = moved
            slope = slope * min(1.0, penalty.clip / max(float(np.linalg.norm(slope)), 1e-12))
            values = adam.step(values, slope)
        return values.astype(np.float32)

    def loss_gradient(self, theta: Theta, rows: Rows, weight: Theta) -> tuple[float, Floats]:
        """The weighted mean loss over `rows` and its gradient."""
        return self._loss(theta.astype(np.float64), rows, shares(weight))

    def gap_gradient(
        self, theta: Theta, rows: Rows, gaps: Gaps, sharpness: float = 1.0, bound: float = np.inf
    ) -> tuple[Floats, Floats]:
        """Signed soft gaps over `rows`, and their gradients."""
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

    def _score_slope(self, rows: Rows, scores: Floats, label: int, pull: Floats) -> Floats:
        """The gradient of the sum over rows of `pull` times the score of `label`."""
        one = np.eye(scores.shape[1])[label]
        own = scores[:, label]
        return self._back(rows, (pull * own)[:, None] * (one - scores))
