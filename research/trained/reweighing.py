"""Reweighing (Abay et al. 2020): rows weighed so that group and label are independent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.method import (
    Clients,
    LocalRound,
    Plan,
    Reply,
    State,
    Trainer,
    mean_by_rows,
)
from research.trained.fair_method import FairMethod, check_choice

_MOST = 10.0  # a handful of people in a cell must not outweigh a client


@dataclass(frozen=True)
class Reweighing(FairMethod):
    """FedAvg on the loss weighted by w(a, y) = P(a) P(y) / P(a, y) (Kamiran and Calders).

    For equal opportunity (our variant; the authors have statistical parity only) rows of the
    favourable label weigh the same in sum in each group; other rows weigh 1.

    Attributes
    ----------
    notion : {"sp", "eop"}
    scope : {"local", "global"}
        Whose probabilities: the client's own, or those of all (four counts a client, once).
    strength : float
        The power of the weights: 1 is the method, 0 is FedAvg, in between and beyond is a sweep.
    """

    title: ClassVar[str] = "Reweighing"
    level: ClassVar[str] = "local or global"
    approach: ClassVar[str] = "pre-processing"
    multi_class: ClassVar[bool] = True
    notions: ClassVar[tuple[str, ...]] = ("sp", "eop")

    scope: str = "local"
    strength: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("scope", self.scope, ("local", "global"))
        self.check_not_below_0("strength")

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Train on the weighted loss."""
        plan = local.plan
        counts = plan.counts[local.client] if self.scope == "local" else plan.counts.sum(axis=0)
        factors = cell_factors(self.notion, counts, plan.favourable, self.strength)
        theta = trainer.epoch(state.theta, local.rows, local.weighted(factors), local.seed)
        return Reply(theta, len(local))

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Average the clients' models by rows."""
        return State(mean_by_rows(replies))

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """As FedAvg; the global scope sends a table of counts once, and receives one of weights."""
        _, a_round = super().numbers(plan)
        return 2 * plan.counts[0].size if self.scope == "global" else 0, a_round


def cell_factors(
    notion: str, counts: NDArray[np.integer], favourable: int, strength: float = 1.0
) -> NDArray[np.float64]:
    """Row weights by group and label from n[group, label], to a power, of mean 1.

    An empty cell has weight 1; none is above 10.
    """
    n = np.asarray(counts, float)
    by_notion = {"sp": _independent, "eop": _even_among_favourable}
    wanted = by_notion[notion](n, favourable)
    factors = np.ones_like(n)
    np.divide(wanted, n, out=factors, where=n > 0)
    factors = np.minimum(np.where(n > 0, factors, 1.0) ** strength, _MOST)
    normalised: NDArray[np.float64] = factors * n.sum() / max((factors * n).sum(), 1e-12)
    return np.where(n > 0, normalised, 1.0)


def _independent(n: NDArray[np.float64], favourable: int) -> NDArray[np.float64]:
    """P(a) P(y), in rows."""
    wanted: NDArray[np.float64] = np.outer(n.sum(axis=1), n.sum(axis=0)) / max(n.sum(), 1)
    return wanted


def _even_among_favourable(n: NDArray[np.float64], favourable: int) -> NDArray[np.float64]:
    """As many rows of the favourable label in each group that has any; others as they are."""
    wanted = n.copy()
    present = n[:, favourable] > 0
    wanted[present, favourable] = n[:, favourable].sum() / max(present.sum(), 1)
    return wanted
