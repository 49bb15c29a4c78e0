"""FedAvg (McMahan et al. 2017): clients train one epoch, the server averages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl_core.errors import InputError
from fairfl_core.training.method import (
    Clients,
    LocalRound,
    Method,
    Reply,
    State,
    Trainer,
    weighted_mean,
)

__all__ = ["FedAvg"]


@dataclass(frozen=True)
class FedAvg(Method):
    """theta <- sum over c of omega_c theta_c, omega_c = n_c / n (or 1 / K when uniform).

    Attributes
    ----------
    weighting : {"rows", "uniform"}
        How the server weighs clients.
    epochs : int
        Local epochs a round.
    """

    title: ClassVar[str] = "FedAvg"

    weighting: str = "rows"
    epochs: int = 1

    def __post_init__(self) -> None:
        if self.weighting not in ("rows", "uniform"):
            raise InputError(f'weighting "{self.weighting}" is neither rows nor uniform.')
        if self.epochs < 1:
            raise InputError(f"epochs must be at least 1, not {self.epochs}.")

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Train the server's model on the client's rows."""
        theta = state.theta
        for epoch in range(self.epochs):
            theta = trainer.epoch(theta, local.rows, local.weight, local.seed + epoch)
        return Reply(theta, len(local))

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Average the clients' models."""
        rows = np.array([reply.rows for reply in replies], float)
        by_rows = self.weighting == "rows"
        return State(weighted_mean(replies, rows if by_rows else np.ones(len(rows))), state.memory)
