"""FairBatch's weights of (group, label) cells, and how losses move them.

Losses, counts and weights are tables [group, label] with the favourable label second. A rule is
three functions of them: where weights start, what they make of a row, where they go next.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

Table = NDArray[np.float64]


class CellRule(ABC):
    """How cells are weighed for one notion."""

    @abstractmethod
    def start(self, n: Table) -> Table:
        """Weights under which every row counts the same."""

    @abstractmethod
    def factors(self, weights: Table, n: Table) -> Table:
        """How much a row of each cell counts; 1 for all at the start."""

    @abstractmethod
    def moved(self, weights: Table, losses: Table, n: Table, alpha: float, t: int) -> Table:
        """The weights of the next round (t from 1), from the losses summed over each cell."""


class _Parity(CellRule):
    """Statistical parity: lambda[a, 0] + lambda[a, 1] = 2 n_a / n for every group a."""

    def start(self, n: Table) -> Table:
        return np.repeat(n.sum(axis=1, keepdims=True), 2, axis=1) / n.sum()

    def factors(self, weights: Table, n: Table) -> Table:
        return _where(weights * n.sum(), n.sum(axis=1, keepdims=True))

    def moved(self, weights: Table, losses: Table, n: Table, alpha: float, t: int) -> Table:
        gaps = parity_gap(losses, n)
        step = np.concatenate([[-gaps[1:].sum()], gaps[1:]]) * alpha / np.sqrt(t)
        bound = 2 * n.sum(axis=1) / n.sum()
        unfavourable = np.clip(weights[:, 0] + step, 0, bound)
        return np.stack([unfavourable, bound - unfavourable], axis=1)


class _Opportunity(CellRule):
    """Equal opportunity: only rows of the favourable label are weighed, mu_0 + mu_1 = n_1 / n."""

    def start(self, n: Table) -> Table:
        _two_groups(n)
        return n / n.sum()

    def factors(self, weights: Table, n: Table) -> Table:
        return _where(weights * n.sum(), n)

    def moved(self, weights: Table, losses: Table, n: Table, alpha: float, t: int) -> Table:
        step = alpha * np.sign(_differences(losses, n)) * [0, 1]
        return _shifted(weights, step, n)


class _Odds(_Opportunity):
    """Equalized odds: the same for each label, the steps together alpha long."""

    def moved(self, weights: Table, losses: Table, n: Table, alpha: float, t: int) -> Table:
        differences = _differences(losses, n)
        length = float(np.linalg.norm(differences))
        return _shifted(weights, alpha * differences / max(length, 1e-12), n)


RULES: dict[str, CellRule] = {"sp": _Parity(), "eop": _Opportunity(), "eo": _Odds()}


def parity_gap(losses: Table, n: Table) -> NDArray[np.float64]:
    """f_a: with 0-1 losses P(answer 1 | a) - P(answer 1 | 0), for each group a.

    0 for a group without people, and for all when the first group has none.
    """
    size = n.sum(axis=1)
    risen = _where(losses[:, 0] - losses[:, 1] - n[:, 0], size, 0.0)
    return np.where((size > 0) & (size[0] > 0), risen - risen[0], 0.0)


def _differences(losses: Table, n: Table) -> NDArray[np.float64]:
    """Mean loss of the second group less that of the first, by label; 0 where one has nobody."""
    mean = _where(losses, n, 0.0)
    return np.where((n > 0).all(axis=0), mean[1] - mean[0], 0.0)


def _shifted(weights: Table, step: NDArray[np.float64], n: Table) -> Table:
    bound = n.sum(axis=0) / n.sum()
    second = np.clip(weights[1] + step, 0, bound)
    return np.stack([bound - second, second])


def _where(part: Table, whole: Table, otherwise: float = 1.0) -> Table:
    """Part over whole; `otherwise` where there is no whole."""
    shape = np.broadcast_shapes(part.shape, whole.shape)
    return np.divide(part, whole, out=np.full(shape, otherwise), where=whole > 0)


def _two_groups(n: Table) -> None:
    if len(n) != 2:
        raise InputError(f"weights of cells for this notion are of two groups; here are {len(n)}.")
