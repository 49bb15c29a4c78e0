"""FairFed (Ezzeldin et al. 2023): clients weighed by how far their gap is from the global one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.method import (
    Clients,
    LocalRound,
    Memory,
    Plan,
    Reply,
    State,
    Trainer,
    weighted_mean,
)
from research.trained.cell_weights import RULES
from research.trained.fair_method import FairMethod, check_choice
from research.trained.fedfb import cell_errors, favourable_last
from research.trained.gaps import rates_of
from research.trained.reweighing import cell_factors

_VARIANTS = ("published", "exponential")
_DEBIASINGS = ("reweighing", "fairbatch", "none")


@dataclass(frozen=True)
class FairFed(FairMethod):
    """omega_c falls with Delta_c = |F - F_c|, and clients debias their own training.

    The weighing alone cannot remove a bias that all clients share: local debiasing is part of the
    method. Clients without one of the groups are compared by accuracy instead.

    Attributes
    ----------
    notion : {"sp", "eop"}
    beta : float
        How much Delta_c counts; 0 leaves the weights at n_c / n.
    variant : {"published", "exponential"}
        Published: omega_c <- omega_c - beta (Delta_c - mean Delta), accumulating, cut off at 0.
        Exponential (the preprint): omega_c = n_c / n exp(-beta Delta_c), without memory.
    debiasing : {"reweighing", "fairbatch", "none"}
        What clients do: `reweighing` of their own rows, or FairBatch's weights of cells.
    strength : float
        The power of reweighing's weights, or FairBatch's step alpha.
    """

    title: ClassVar[str] = "FairFed"
    notions: ClassVar[tuple[str, ...]] = ("sp", "eop")

    beta: float = 1.0
    variant: str = "published"
    debiasing: str = "reweighing"
    strength: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("variant", self.variant, _VARIANTS)
        check_choice("debiasing", self.debiasing, _DEBIASINGS)
        self.check_not_below_0("beta", "strength")

    def begin(self, theta: NDArray[np.float32], plan: Plan) -> State:
        """Clients weighed by rows: by shares, as with counts beta would have no effect."""
        self.check_two_by_two(plan)
        return State(theta, {"omega": plan.rows / plan.rows.sum()})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Train with the client's own debiasing."""
        counts, favourable = local.plan.counts[local.client], local.plan.favourable
        memory: Memory = {}
        factors = np.ones(counts.shape)
        if self.debiasing == "reweighing":
            factors = cell_factors(self.notion, counts, favourable, self.strength)
        elif self.debiasing == "fairbatch":
            n = favourable_last(counts, favourable)
            cells = local.memory.get("cells", RULES[self.notion].start(n))
            factors = favourable_last(RULES[self.notion].factors(cells, n), favourable)
        theta = trainer.epoch(state.theta, local.rows, local.weighted(factors), local.seed)
        if self.debiasing == "fairbatch":
            errors = favourable_last(_errors(theta, local, trainer), favourable)
            rule = RULES[self.notion]
            memory = {"cells": rule.moved(cells, errors, n, self.strength, local.round + 1)}
        return Reply(theta, len(local), memory=memory)

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Weigh clients by the gap of the model they started from, and average."""
        plan = clients.plan
        counts = clients.counts(state.theta)
        share = plan.rows / plan.rows.sum()
        overall = share @ shares_of_gap(self.notion, counts, plan.favourable)
        local = rates_of(self.notion, counts, plan.favourable).signed
        right = np.einsum("cayy->c", counts) / plan.rows
        delta = np.where(
            np.isnan(local), np.abs(share @ right - right), np.abs(overall - np.nan_to_num(local))
        )
        if self.variant == "exponential":
            omega = share * np.exp(-self.beta * delta)
        else:
            omega = np.maximum(state.memory["omega"] - self.beta * (delta - delta.mean()), 0)
            omega = omega if omega.any() else share
        return State(weighted_mean(replies, omega), {"omega": omega})

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """As FedAvg; counts once; accuracy, gap, share of the gap up, two means down a round."""
        _, a_round = super().numbers(plan)
        return plan.counts[0].size, a_round + 6


def shares_of_gap(
    notion: str, counts: NDArray[np.integer], favourable: int
) -> NDArray[np.float64]:
    """m_c, whose mean by rows is the pooled signed gap, from n[client, group, label, answer]."""
    rates = rates_of(notion, counts, favourable)
    answered, people = rates.answered[..., 0], rates.people[..., 0]
    rows = counts.sum(axis=(1, 2, 3))
    by_group: NDArray[np.float64] = answered / np.maximum(people.sum(axis=0), 1)
    share: NDArray[np.float64] = (by_group[:, 0] - by_group[:, 1]) * rows.sum() / rows
    return share


def _errors(
    theta: NDArray[np.float32], local: LocalRound, trainer: Trainer
) -> NDArray[np.float64]:
    """Wrong answers of the client's cells under a model."""
    shape = (*local.plan.counts.shape[1:], local.plan.counts.shape[2])
    answer = trainer.scores(theta, local.rows).argmax(axis=1)
    cell = np.ravel_multi_index((local.group, local.label, answer), shape)
    return cell_errors(np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape))
