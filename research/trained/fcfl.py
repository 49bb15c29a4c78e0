"""FCFL (Cui et al. 2021): the worst client's loss under every client's fairness constraint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.training.method import (
    Clients,
    LocalRound,
    Plan,
    Reply,
    State,
    Trainer,
    mean_by_rows,
)
from research.trained.fair_method import FairMethod
from research.trained.gaps import gradients_of

_COLDEST = 1e-4  # temperatures of the smooth maxima stop falling here


@dataclass(frozen=True)
class FCFL(FairMethod):
    """Gradient steps of one model: first constrained min-max, then towards a Pareto optimum.

    After `warm` rounds of FedAvg (a deep model needs a start at which sharpened scores have a
    slope) a round is one step: every client sends loss, disparity and both gradients over all its
    rows. The disparity is |mean sigmoid(10 z) of group 1 less that of group 0|. Temperatures of
    the smooth maxima fall in the min-max stage only, as in the authors' code.

    Attributes
    ----------
    notion : {"sp", "eop"}
    epsilon : float
        The largest disparity (of sharpened scores) that any client may have.
    rate : float
        The step eta.
    warm, min_max : int
        Rounds of FedAvg, and steps of the first stage; all later ones are of the second.
    sharpness, bound : float
        Of the disparity; see `GradientTrainer.gap_gradient`.
    decay : float
        Weight decay of the first stage.
    """

    title: ClassVar[str] = "FCFL"
    level: ClassVar[str] = "local"
    criterion_title: ClassVar[str] = "error plus local gap (clients weighted by rows)"
    notions: ClassVar[tuple[str, ...]] = ("sp", "eop")
    looks_inside_clients: ClassVar[bool] = True

    epsilon: float = 0.05
    rate: float = 0.1
    warm: int = 10
    min_max: int = 200
    sharpness: float = 10.0
    bound: float = 3.0
    decay: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon < 0 or self.rate <= 0 or min(self.warm, self.min_max) < 0:
            raise InputError("epsilon, warm and min_max must not be below 0, and rate above it.")

    def begin(self, theta: NDArray[np.float32], plan: Plan) -> State:
        """Both smooth maxima begin warm."""
        self.check_two_by_two(plan)
        return State(theta, {"temperature": np.array([0.5, 0.5])})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """A round of FedAvg while warming up, then loss, disparity and their gradients."""
        if local.round < self.warm:
            return Reply(
                trainer.epoch(state.theta, local.rows, local.weight, local.seed), len(local)
            )
        loss, down = gradients_of(trainer).loss_gradient(state.theta, local.rows, local.weight)
        gap, slope = gradients_of(trainer).gap_gradient(
            state.theta, local.rows, self.soft_gaps(local), self.sharpness, self.bound
        )
        sent = {
            "values": np.array([loss, abs(gap[0])]),
            "gradients": np.stack([down, np.sign(gap[0]) * slope[0]]),
        }
        return Reply(state.theta, len(local), sent)

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """One step down both worst cases, or towards a point that is better for all."""
        if clients.round < self.warm:
            return State(mean_by_rows(replies), state.memory)
        values = np.stack([reply.sent["values"] for reply in replies])
        gradients = np.stack([reply.sent["gradients"] for reply in replies])
        temperature = state.memory["temperature"]
        worst = np.stack(
            [
                smooth_max_weights(values[:, which], temperature[which]) @ gradients[:, which]
                for which in range(2)
            ]
        )
        if clients.round < self.warm + self.min_max:
            alpha = min_max_mix(worst @ worst.T, feasible=values[:, 1].max() <= self.epsilon)
            down = alpha * worst[0] + (1 - alpha) * worst[1] + self.decay * state.theta
            flat = 0.1 * np.linalg.norm(worst, axis=1) <= temperature
            temperature = np.where(
                flat & (temperature > _COLDEST), 0.01 * temperature, temperature
            )
        else:
            rows = gradients[:, 0]
            inside = values[:, 1].max() < self.epsilon
            stacked = np.vstack([rows, np.zeros_like(worst[1]) if inside else worst[1]])
            down = pareto_mix(stacked, rows.mean(axis=0)) @ stacked
        memory = {"temperature": temperature}
        return State((state.theta - self.rate * down).astype(np.float32), memory)

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """A model down, two gradients and two values up."""
        _, both_ways = super().numbers(plan)
        return 0, 1.5 * both_ways + 2


def smooth_max_weights(values: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Softmax weights, with which gradients sum to that of a smooth maximum."""
    weights = np.exp((values - values.max()) / temperature)
    normalised: NDArray[np.float64] = weights / weights.sum()
    return normalised


def min_max_mix(products: NDArray[np.float64], *, feasible: bool) -> float:
    """How much of the loss's direction: the authors' two-variable LP in closed form.

    `products` are the inner products of the loss's and the disparity's direction. Inside the
    constraint the loss falls fastest; outside the disparity does, and the worst loss may not rise.
    """
    loss, both, gap = products[0, 0], products[0, 1], products[1, 1]
    if feasible:
        return 1.0 if loss >= both else 0.0
    if both >= 0:
        return 1.0 if both >= gap else 0.0
    return float(-both / (loss - both))


def pareto_mix(rows: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights alpha on the simplex, greatest <mean, step> with no objective rising.

    The step is rows^T alpha. Where rounding leaves no such weights, all goes to the row nearest
    to the mean.
    """
    from scipy.optimize import linprog

    towards = rows @ mean
    scale = max(float(np.abs(rows @ rows.T).max()), 1e-30)
    solved = linprog(
        -towards / scale,
        A_ub=-(rows @ rows.T) / scale,
        b_ub=np.zeros(len(rows)),
        A_eq=np.ones((1, len(rows))),
        b_eq=[1.0],
        bounds=(0, 1),
    )
    if solved.status == 0:
        return np.asarray(solved.x)
    return np.eye(len(rows))[int(towards.argmax())]
