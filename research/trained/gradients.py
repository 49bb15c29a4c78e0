"""What the fair methods ask of a trainer beside FedAvg's epochs: penalties and gradients."""

from dataclasses import replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.method import Trainer
from fairfl_core.training.training import Prepared
from research.trained.gaps import Gaps, Penalty

__all__ = ["GradientTrainer", "gradients_of", "with_gradients"]

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
    from research.trained.tensorflow_gradients import TensorFlowGradients

    federation, parallel = prepared.federation, prepared.trainer.parallel
    trainer = TensorFlowGradients(federation, prepared.recipe, parallel)
    return replace(prepared, trainer=trainer)
