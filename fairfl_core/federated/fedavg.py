"""FedAvg (McMahan et al. 2017): clients train one epoch, the server averages."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl_core.errors import InputError
from fairfl_core.federated.method import Method, Reply, State, Turn, Worker
from fairfl_core.federated.recipes import Recipe

__all__ = ["FedAvg", "from_recipe"]


@dataclass(frozen=True)
class FedAvg(Method):
    """theta <- sum over c of omega_c theta_c, omega_c = n_c / n (or 1 / K when uniform)."""

    weighting: str = "rows"
    epochs: int = 1

    def __post_init__(self) -> None:
        if self.weighting not in ("rows", "uniform"):
            raise InputError(f'weighting "{self.weighting}" is neither rows nor uniform.')

    def client(self, state: State, turn: Turn, worker: Worker) -> Reply:
        """Train the server's model on the client's rows."""
        theta = state.theta
        for epoch in range(self.epochs):
            theta = worker.epoch(theta, turn.rows, turn.weight, turn.seed + epoch)
        return Reply(theta, len(turn.rows))

    def server(self, state: State, replies: Sequence[Reply]) -> State:
        """Average the clients' models."""
        rows = np.array([reply.rows for reply in replies], float)
        omega = (
            rows / rows.sum() if self.weighting == "rows" else np.full(len(rows), 1 / len(rows))
        )
        mean = sum(w * reply.theta.astype(float) for w, reply in zip(omega, replies, strict=True))
        return State(np.asarray(mean, np.float32), state.memory)


def from_recipe(recipe: Recipe) -> FedAvg:
    """FedAvg as a recipe wants it."""
    return FedAvg(recipe.weighting, recipe.epochs)
