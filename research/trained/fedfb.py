"""FedFB (Zeng, Chen and Lee 2021): FairBatch lifted to federated learning."""

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
    weighted_mean,
)
from research.trained.cell_weights import RULES
from research.trained.fair_method import FairMethod, check_choice


@dataclass(frozen=True)
class FedFB(FairMethod):
    """The server weighs (group, label) cells until a proxy of the global gap is zero.

    Attributes
    ----------
    notion : {"sp", "eop", "eo"}
        Equal opportunity and equalized odds after declearn; with means of losses, as sums favour
        the larger group.
    alpha : float
        The step of the weights; 0 is FedAvg.
    proxy : {"loss", "errors"}
        What the gap is read from: cross-entropy as published, or hard errors, with which the
        proxy of statistical parity is the gap itself.
    """

    title: ClassVar[str] = "FedFB"

    alpha: float = 0.1
    proxy: str = "loss"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("proxy", self.proxy, ("loss", "errors"))
        self.check_not_below_0("alpha")

    def begin(self, theta: NDArray[np.float32], plan: Plan) -> State:
        """Cells weighed so that every row counts the same."""
        return State(theta, {"cells": RULES[self.notion].start(self._counts(plan))})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Train on the loss weighted by cell."""
        factors = self._factors(state, local.plan)
        theta = trainer.epoch(state.theta, local.rows, local.weighted(factors), local.seed)
        return Reply(theta, len(local))

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Average by the weight that each client's rows have, then move the weights of cells."""
        plan = clients.plan
        omega = np.einsum("cay,ay->c", plan.counts, self._factors(state, plan))
        theta = weighted_mean(replies, omega)
        if self.proxy == "errors":
            losses = cell_errors(clients.counts(theta)).sum(axis=0)
        else:
            losses = clients.cell_losses(theta).sum(axis=0)
        cells = RULES[self.notion].moved(
            state.memory["cells"],
            favourable_last(losses, plan.favourable),
            self._counts(plan),
            self.alpha,
            clients.round + 1,
        )
        return State(theta, {"cells": cells})

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """As FedAvg, and a table of losses up and one of weights down each round."""
        _, a_round = super().numbers(plan)
        return plan.counts[0].size, a_round + 2 * plan.counts[0].size

    def _counts(self, plan: Plan) -> NDArray[np.float64]:
        if plan.counts.shape[2] != 2:
            raise InputError(f"{self.title} answers with two labels, not {plan.counts.shape[2]}.")
        return favourable_last(plan.counts.sum(axis=0), plan.favourable)

    def _factors(self, state: State, plan: Plan) -> NDArray[np.float64]:
        factors = RULES[self.notion].factors(state.memory["cells"], self._counts(plan))
        return favourable_last(factors, plan.favourable)


def favourable_last(table: NDArray[np.number], favourable: int) -> NDArray[np.float64]:
    """A table [group, label] of two labels, turned so that the favourable one is second, or back."""
    turned = np.asarray(table, float)
    return turned if favourable == 1 else turned[:, ::-1]


def cell_errors(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Wrong answers of each cell, from n[..., label, answer]."""
    return np.asarray(counts.sum(axis=-1) - np.einsum("...yy->...y", counts), float)
