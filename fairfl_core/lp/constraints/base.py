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
    "Constraints",
    "Entries",
    "RateConstraints",
    "Stacked",
    "joined",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Entries = tuple[Ints, Ints, Floats]  # row, column, value
OVERALL, NO_EPSILON = -1, -2


@dataclass(frozen=True, eq=False, kw_only=True)
class Constraints(ABC):
    """Rows over the columns of a program; of their limits only the epsilons change.

    Auxiliary columns are at least 0.

    Attributes
    ----------
    scope : ndarray, shape (rows,)
        The client whose epsilon limits a row, `OVERALL` for the overall one, or `NO_EPSILON`.
    limits, moves : ndarray, shape (2, rows)
        Lower and upper limit of each row at an epsilon of 0, and by how many epsilons they move.
    client, about : ndarray, shape (rows,)
        The client (or `OVERALL`) that a row is about, and which of the titles says what of it.
    titles : tuple of str
    auxiliary : int
        How many auxiliary columns there are.
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
    auxiliary: int = 0
    penalty: float = 0.0
    constants_are_feasible: bool = False

    def __len__(self) -> int:
        return len(self.scope)

    @abstractmethod
    def entries(self, columns: RuleTable) -> Entries:
        """What these columns put into the rows."""

    def auxiliary_entries(self) -> Entries:
        """What the auxiliary columns put into the rows."""
        return joined([])

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """What a whole weight on each rule adds to each row, (rows, rules)."""
        row, column, value = self.entries(rules)
        return sparse.csr_array((value, (row, column)), (len(self), len(rules)))

    @property
    def auxiliary_matrix(self) -> sparse.csr_array:
        """What the auxiliary columns add to each row, (rows, auxiliary)."""
        row, column, value = self.auxiliary_entries()
        return sparse.csr_array((value, (row, column)), (len(self), self.auxiliary))

    @property
    def auxiliary_costs(self) -> Floats:
        """What the auxiliary columns cost."""
        return np.full(self.auxiliary, self.penalty)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limit of every row."""
        lower, upper = self.limits + self.moves * self.asked(eps_global, eps_local)
        return lower, upper

    def asked(self, eps_global: float, eps_local: Floats) -> Floats:
        """The epsilon of every row, 0 where it has none."""
        return np.append(eps_local, [0.0, eps_global])[self.scope]  # OVERALL is the last

    def prices(self, duals: Floats) -> Floats:
        """The price of every row's epsilon: d objective / d epsilon, 0 where it has none.

        A dual is d(-objective) / d(bound).
        """
        lower, upper = self.moves
        return np.asarray(upper * np.maximum(-duals, 0.0) - lower * np.maximum(duals, 0.0))

    def cones(self, columns: RuleTable) -> list[Entries]:
        """Second-order cones: of each the rows, the first at least as long as the others.

        An auxiliary column i is written -1 - i, a column of the program as it is. An auxiliary
        column in the first row of one cone may stand in others after it.
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
    level : tuple of ndarray
        Rows, auxiliary columns and what these add there.
    """

    counted: Floats
    place: Ints
    weight: Floats
    level: Entries

    def entries(self, columns: RuleTable) -> Entries:
        """A column adds the people whom its rates count, weighted."""
        row = self.place[:, columns.client, columns.group]
        value = self.weight[:, columns.client, columns.group] * np.tensordot(
            columns.confusion, self.counted, axes=2
        )
        part, column, rate = np.nonzero((row >= 0) & (value != 0))
        return row[part, column, rate], column, value[part, column, rate]

    def auxiliary_entries(self) -> Entries:
        """Each level in its rows."""
        return self.level

    def gains(self, duals: Floats) -> Floats:
        """Return the reduced value of each counted person."""
        dual = np.append(duals, 0.0)[self.place]  # place -1 is the last: nothing
        return np.tensordot((dual * self.weight).sum(axis=0), self.counted, axes=(2, 2))


@dataclass(frozen=True, eq=False, kw_only=True)
class Stacked(Constraints):
    """Several sets of rows, one below the other.

    Attributes
    ----------
    parts : tuple of Constraints
    """

    parts: tuple[Constraints, ...]

    @classmethod
    def of(cls, parts: Sequence[Constraints]) -> "Stacked":
        """Lay them out one below the other."""
        starts = np.cumsum([0, *(len(part.titles) for part in parts)])
        return cls(
            parts=tuple(parts),
            scope=np.concatenate([part.scope for part in parts]),
            limits=np.concatenate([part.limits for part in parts], axis=1),
            moves=np.concatenate([part.moves for part in parts], axis=1),
            client=np.concatenate([part.client for part in parts]),
            about=np.concatenate(
                [start + part.about for start, part in zip(starts, parts, strict=False)]
            ),
            titles=tuple(title for part in parts for title in part.titles),
            auxiliary=sum(part.auxiliary for part in parts),
            constants_are_feasible=all(part.constants_are_feasible for part in parts),
        )

    def places(self, part: Constraints) -> slice:
        """The rows of one of its parts."""
        first = sum(len(one) for one in self.parts[: self.parts.index(part)])
        return slice(first, first + len(part))

    @property
    def _starts(self) -> Ints:
        """The first auxiliary column of each part."""
        return np.cumsum([0, *(part.auxiliary for part in self.parts[:-1])])

    def entries(self, columns: RuleTable) -> Entries:
        """Each part's, in its own rows."""
        parts = []
        for part in self.parts:
            row, column, value = part.entries(columns)
            parts.append((row + self.places(part).start, column, value))
        return joined(parts)

    def auxiliary_entries(self) -> Entries:
        """Each part's, in its own rows and auxiliary columns."""
        parts = []
        for first, part in zip(self._starts, self.parts, strict=True):
            row, column, value = part.auxiliary_entries()
            parts.append((row + self.places(part).start, column + first, value))
        return joined(parts)

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

    def cones(self, columns: RuleTable) -> list[Entries]:
        """Each part's, with its own auxiliary columns."""
        return [
            (row, np.where(column < 0, column - first, column), value)
            for first, part in zip(self._starts, self.parts, strict=True)
            for row, column, value in part.cones(columns)
        ]


def joined(parts: Sequence[Entries]) -> Entries:
    """The entries of several lists."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0)
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, column, value
