"""FAIR-FATE (Salazar et al. 2023): a momentum of the clients that are fairer than the server."""

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
from research.trained.gaps import favourable_rates_of


@dataclass(frozen=True)
class FairFate(FairMethod):
    """theta <- theta + lambda_t v / (1 - beta_t^t) + (1 - lambda_t) u, from round t = 1.

    u is FedAvg's step; v is a decaying momentum of the steps of those clients whose model is
    fairer than the server's. The server judges that on people it holds: here the clients' pooled
    validation rows, which relaxes privacy.

    Attributes
    ----------
    notion : {"sp", "eop", "eo"}
    start, growth, most : float
        lambda_t = min(start (1 + growth)^t, most): how much fairness counts; most = 0 is FedAvg.
    momentum : float
        beta_0, which decays over the planned rounds.
    rounds : int
        How many are planned, T.
    corrected : bool
        Whether to divide by 1 - beta_t^t, as the authors' code does.
    every : int
        The server holds each so-many-th validation row.
    """

    title: ClassVar[str] = "FAIR-FATE"
    multi_class: ClassVar[bool] = True

    start: float = 0.5
    growth: float = 0.05
    most: float = 1.0
    momentum: float = 0.9
    rounds: int = 15
    corrected: bool = True
    every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.start >= 0 and 0 <= self.most <= 1 and 0 <= self.momentum < 1):
            raise InputError(
                "start must not be below 0, most must lie between 0 and 1, momentum below 1."
            )
        if self.rounds < 1 or self.every < 1:
            raise InputError("rounds and every must be at least 1.")

    def begin(self, theta: NDArray[np.float32], plan: Plan) -> State:
        """No momentum yet."""
        return State(theta, {"velocity": np.zeros(len(theta))})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Train as in FedAvg."""
        return Reply(trainer.epoch(state.theta, local.rows, local.weight, local.seed), len(local))

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Step with the fairer clients, and with all."""
        t = clients.round + 1
        weight = min(self.start * (1 + self.growth) ** t, self.most)
        plain = mean_by_rows(replies)
        if weight == 0:
            return State(plain, state.memory)
        left = self.momentum * max(1 - t / self.rounds, 0)
        beta = left / (1 - self.momentum + left)
        fairer = self._fairer_step(state, replies, clients)
        velocity = beta * state.memory["velocity"] + (1 - beta) * fairer
        step = velocity / (1 - beta**t) if self.corrected else velocity
        plain_step = plain.astype(float) - state.theta
        theta = state.theta + weight * step + (1 - weight) * plain_step
        return State(theta.astype(np.float32), {"velocity": velocity})

    def _fairer_step(
        self, state: State, replies: Sequence[Reply], clients: Clients
    ) -> NDArray[np.float64]:
        """u_F: the mean step of the clients fairer than the server, weighted by how much."""
        thetas = [state.theta, *(reply.theta for reply in replies)]
        tables = [
            clients.counts(theta, held_out=True, every=self.every).sum(axis=0) for theta in thetas
        ]
        phi = np.array([fairness(self.notion, table, clients.plan.favourable) for table in tables])
        width = phi.max() - phi.min()
        phi = (phi - phi.min()) / width if width > 0 else np.zeros_like(phi)
        weight = np.where(phi[1:] > phi[0], phi[1:], 0)
        if not weight.any():
            return np.zeros(len(state.theta))
        steps = np.stack([reply.theta.astype(float) - state.theta for reply in replies])
        mean: NDArray[np.float64] = weight @ steps / weight.sum()
        return mean


def fairness(notion: str, counts: NDArray[np.integer], favourable: int) -> float:
    """phi: the least group's rate over the largest's, the mean over rates.

    A ratio with a rate that is 0 or unknown is 0. Equalized odds of two labels compare TPR and FPR,
    as in the authors' code, which knows no more labels; of more, each label's own rate.
    """
    rates = np.nan_to_num(favourable_rates_of(notion, counts, favourable).rates)
    top, low = rates.max(axis=-2), rates.min(axis=-2)
    ratio: NDArray[np.float64] = np.divide(low, top, out=np.zeros_like(top), where=top > 0)
    return float(ratio.mean())
