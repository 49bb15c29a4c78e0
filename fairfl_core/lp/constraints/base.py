"""Rows of the linear program: what every kind has in common, and several kinds as one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.rules import RuleTable

__all__ = [
    "NO_EPSILON",
    "OVERALL",
    "Cone",
    "Constraints",
    "Entries",
    "RateConstraints",
    "Stacked",
    "assembled",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Entries = tuple[Ints, Ints, Floats]  # row, column, value
Cone = tuple[sparse.csr_array, sparse.csr_array]  # over auxiliary columns, and over rules
OVERALL, NO_EPSILON = -1, -2


@dataclass(frozen=True, eq=False, kw_only=True)
class Constraints(ABC):
    """Rows over the columns of a program; of their limits only the epsilons change.

    Attributes
    ----------
    scope : ndarray, shape (rows,)
        The client whose epsilon limits a row, `OVERALL` for the overall one, or `NO_EPSILON`.
    limits, moves : ndarray, shape (2, rows)
        Lower and upper limit of each row at an epsilon of 0, and by how many epsilons they move.
    client, about : ndarray, shape (rows,)
        The client (or `OVERALL`) that a row is about, and which of the titles says what of it.
    titles : tuple of str
    auxiliary : csr_array, shape (rows, auxiliary columns)
        What auxiliary columns, which are at least 0, add to each row.
    penalty : float
        What each of them costs.
    constants_are_feasible : bool
        Whether every row is |x| <= a limit, and x is 0 where everybody gets one answer.
    """

    scope: Ints
    limits: Floats
    moves: Floats
    client: Ints
    about: Ints
    titles: tuple[str, ...]
    auxiliary: sparse.csr_array
    penalty: float = 0.0
    constants_are_feasible: bool = False

    def __len__(self) -> int:
        return len(self.scope)

    @abstractmethod
    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """Return what a whole weight on each rule adds to each row, (rows, rules)."""

    @property
    def auxiliary_costs(self) -> Floats:
        """What the auxiliary columns cost."""
        return np.full(self.auxiliary.shape[1], self.penalty)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limit of every row."""
        lower, upper = self.limits + self.moves * self.asked(eps_global, eps_local)
        return lower, upper

    def upper_limits(self, eps_global: float, eps_local: Floats) -> tuple[Ints, Floats, Floats]:
        """Write finite limits as upper ones: sign times row is at most the limit, in that order."""
        lower, upper = self.bounds(eps_global, eps_local)
        high, low = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
        sign = np.append(np.ones(len(high)), -np.ones(len(low)))
        return np.append(high, low), sign, np.append(upper[high], -lower[low])

    def asked(self, eps_global: float, eps_local: Floats) -> Floats:
        """The epsilon of every row, 0 where it has none."""
        return np.append(eps_local, [0.0, eps_global])[self.scope]  # OVERALL is the last

    def prices(self, duals: Floats) -> Floats:
        """The price of every row's epsilon: d objective / d epsilon, 0 where it has none.

        A dual is d(-objective) / d(bound).
        """
        lower, upper = self.moves
        return np.asarray(upper * np.maximum(-duals, 0.0) - lower * np.maximum(duals, 0.0))

    def cones(self, rules: RuleTable) -> list[Cone]:
        """Second-order cones: of each the rows, the first at least as long as the others.

        The bound of one cone, an auxiliary column in its first row, may stand in others after it.
        """
        return []

    def gains(self, duals: Floats) -> Floats:
        """What answering k to a person of a cell with label y adds through the rows.

        Shape (clients, groups, labels, answers), at these duals.
        """
        raise NotImplementedError

    def names(self, counts: ClientCounts) -> list[str]:
        """What each row bounds, for a person."""
        scopes = {client: f"local {name}" for client, name in enumerate(counts.clients)}
        scopes[OVERALL] = "global"
        pairs = zip(self.client.tolist(), self.about.tolist(), strict=True)
        return [f"{scopes[client]}: {self.titles[about]}" for client, about in pairs]


@dataclass(frozen=True, eq=False, kw_only=True)
class RateConstraints(Constraints):
    """Rows that are sums of rates: a person whom a rate counts adds a weight to some rows.

    Attributes
    ----------
    counted : ndarray, shape (labels, answers, rates)
        How much a person with a label and an answer counts in each rate.
    place : ndarray, shape (parts, clients, groups, rates)
        The row of a cell's rate, part by part; -1 where there is none.
    weight : ndarray, shape (parts, clients, groups, rates)
        What one person whom the rate counts adds to that row.
    """

    counted: Floats
    place: Ints
    weight: Floats

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """A rule adds the people whom its rates count, weighted."""
        people = np.tensordot(rules.confusion, self.counted, axes=2)
        return self._placed(rules, self.weight[:, rules.client, rules.group] * people)

    def _placed(self, rules: RuleTable, value: Floats) -> sparse.csr_array:
        """The matrix of these values, (parts, rules, rates)."""
        row = self.place[:, rules.client, rules.group]
        part, rule, rate = np.nonzero((row >= 0) & (value != 0))
        entries = row[part, rule, rate], rule, value[part, rule, rate]
        return assembled([entries], (len(self), len(rules)))

    def gains(self, duals: Floats) -> Floats:
        """Return the reduced value of each counted person."""
        dual = np.append(duals, 0.0)[self.place]  # place -1 is the last: nothing
        return np.tensordot((dual * self.weight).sum(axis=0), self.counted, axes=(2, 2))


@dataclass(frozen=True, eq=False, kw_only=True)
class Stacked(Constraints):
    """All that is asked: several sets of rows, one below the other.

    Attributes
    ----------
    parts : tuple of Constraints
    """

    parts: tuple[Constraints, ...]

    @classmethod
    def of(cls, parts: Sequence[Constraints]) -> "Stacked":
        """Lay them out one below the other."""
        starts = np.cumsum([0, *(len(part.titles) for part in parts)])
        about = [start + part.about for start, part in zip(starts, parts, strict=False)]
        return cls(
            parts=tuple(parts),
            scope=np.concatenate([part.scope for part in parts]),
            limits=np.concatenate([part.limits for part in parts], axis=1),
            moves=np.concatenate([part.moves for part in parts], axis=1),
            client=np.concatenate([part.client for part in parts]),
            about=np.concatenate(about),
            titles=tuple(title for part in parts for title in part.titles),
            auxiliary=sparse.block_diag([part.auxiliary for part in parts], format="csr"),
            constants_are_feasible=all(part.constants_are_feasible for part in parts),
        )

    def places(self, part: Constraints) -> slice:
        """The rows of one of its parts."""
        first = sum(len(one) for one in self.parts[: self.parts.index(part)])
        return slice(first, first + len(part))

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """Each part's, in its own rows."""
        return sparse.vstack([part.matrix(rules) for part in self.parts], format="csr")

    @property
    def auxiliary_costs(self) -> Floats:
        """Each part's."""
        return np.concatenate([part.auxiliary_costs for part in self.parts])

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Each part's."""
        bounds = [part.bounds(eps_global, eps_local) for part in self.parts]
        lower, upper = (np.concatenate(each) for each in zip(*bounds, strict=True))
        return lower, upper

    def gains(self, duals: Floats) -> Floats:
        """All parts' together."""
        return np.asarray(sum(part.gains(duals[self.places(part)]) for part in self.parts))

    def names(self, counts: ClientCounts) -> list[str]:
        """Each part's."""
        return [name for part in self.parts for name in part.names(counts)]

    def cones(self, rules: RuleTable) -> list[Cone]:
        """Those of the margins, which come first."""
        found = self.parts[0].cones(rules)
        for auxiliary, _ in found:
            auxiliary.resize(auxiliary.shape[0], self.auxiliary.shape[1])
        return found


def assembled(parts: Sequence[Entries], shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix of several lists of entries; of none at all zeros."""
    if not parts:
        return sparse.csr_array(shape)
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sparse.csr_array((value, (row, column)), shape)
