"""Rows of the linear program: what every kind has in common, and several kinds as one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.rule_table import RuleTable

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


class Constraints(ABC):
    """Rows over the columns of a program; of their limits only the epsilons change.

    Auxiliary columns are at least 0.

    Attributes
    ----------
    scope : ndarray, shape (rows,)
        The client whose epsilon limits a row, `OVERALL` for the overall one, or `NO_EPSILON`.
    auxiliary : int
        How many auxiliary columns there are.
    penalty : float
        What each of them costs.
    """

    scope: Ints
    auxiliary: int = 0
    penalty: float = 0.0

    def __len__(self) -> int:
        return len(self.scope)

    @property
    def constants_are_feasible(self) -> bool:
        """Whether every row is |x| <= a limit, and x is 0 where everybody gets one answer."""
        return False

    @abstractmethod
    def entries(self, columns: RuleTable) -> Entries:
        """What these columns put into the rows."""

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """What the auxiliary columns put into the rows."""
        return joined([])

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """What a whole weight on each rule adds to each row, (rows, rules)."""
        row, column, value = self.entries(rules)
        return sparse.csr_array((value, (row, column)), (len(self), len(rules)))

    def auxiliary_matrix(self, rules: RuleTable) -> sparse.csr_array:
        """What the auxiliary columns add to each row, (rows, auxiliary)."""
        row, column, value = self.auxiliary_entries(rules)
        return sparse.csr_array((value, (row, column)), (len(self), self.auxiliary))

    def auxiliary_costs(self) -> Floats:
        """What the auxiliary columns cost."""
        return np.full(self.auxiliary, self.penalty)

    @abstractmethod
    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limit of every row."""

    @abstractmethod
    def prices(self, duals: Floats) -> Floats:
        """The price of every row's epsilon: d objective / d epsilon, 0 where it has none.

        A dual is d(-objective) / d(bound).
        """

    def cones(self, columns: RuleTable) -> list[Entries]:
        """Second-order cones: of each the rows, the first at least as long as the others.

        An auxiliary column i is written -1 - i, a column of the program as it is.
        """
        return []

    def gains(self, duals: Floats) -> Floats:
        """What answering k to a person of a cell with label y adds through the rows.

        Shape (clients, groups, labels, answers), at these duals.
        """
        raise NotImplementedError

    @abstractmethod
    def names(self, counts: ClientCounts) -> list[str]:
        """What each row bounds, for a person."""


class RateConstraints(Constraints):
    """Rows that are sums of rates: a person whom a rate counts adds a weight to some rows.

    Attributes
    ----------
    notion : Notion
        The rates.
    place : ndarray, shape (parts, clients, groups, rates)
        The row of a cell's rate, part by part; -1 where there is none.
    weight : ndarray, shape (parts, clients, groups, rates)
        What one person whom the rate counts adds to that row.
    """

    notion: Notion
    place: Ints
    weight: Floats

    def entries(self, columns: RuleTable) -> Entries:
        """A column adds the people whom its rates count, weighted."""
        row = self.place[:, columns.client, columns.group]
        value = self.weight[:, columns.client, columns.group] * self.notion.answered(
            columns.confusion
        )
        part, column, rate = np.nonzero((row >= 0) & (value != 0))
        return row[part, column, rate], column, value[part, column, rate]

    def gains(self, duals: Floats) -> Floats:
        """Return the reduced value of each counted person."""
        dual = np.append(duals, 0.0)[self.place]  # place -1 is the last: nothing
        by_rate = (dual * self.weight).sum(axis=0)
        return np.einsum(
            "car,ry,rk->cayk", by_rate, self.notion.given, self.notion.asked, optimize=True
        )


class Stacked(Constraints):
    """Several sets of rows, one below the other."""

    def __init__(self, parts: Sequence[Constraints]) -> None:
        self.parts = tuple(parts)
        self.scope = np.concatenate([part.scope for part in parts])
        self.auxiliary = sum(part.auxiliary for part in parts)

    @property
    def constants_are_feasible(self) -> bool:
        """If all parts do."""
        return all(part.constants_are_feasible for part in self.parts)

    def places(self, part: Constraints) -> slice:
        """The rows of one of its parts."""
        first = sum(len(one) for one in self.parts[: self.parts.index(part)])
        return slice(first, first + len(part))

    def entries(self, columns: RuleTable) -> Entries:
        """Each part's, in its own rows."""
        parts = []
        for part in self.parts:
            row, column, value = part.entries(columns)
            parts.append((row + self.places(part).start, column, value))
        return joined(parts)

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """Each part's, in its own rows and auxiliary columns."""
        parts, first = [], 0
        for part in self.parts:
            row, column, value = part.auxiliary_entries(columns)
            parts.append((row + self.places(part).start, column + first, value))
            first += part.auxiliary
        return joined(parts)

    def auxiliary_costs(self) -> Floats:
        """Each part's."""
        return np.concatenate([part.auxiliary_costs() for part in self.parts])

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Each part's."""
        lower, upper = zip(
            *(part.bounds(eps_global, eps_local) for part in self.parts), strict=True
        )
        return np.concatenate(lower), np.concatenate(upper)

    def prices(self, duals: Floats) -> Floats:
        """Each part's."""
        return np.concatenate([part.prices(duals[self.places(part)]) for part in self.parts])

    def gains(self, duals: Floats) -> Floats:
        """All parts' together."""
        return np.asarray(sum(part.gains(duals[self.places(part)]) for part in self.parts))

    def names(self, counts: ClientCounts) -> list[str]:
        """Each part's."""
        return [name for part in self.parts for name in part.names(counts)]

    def cones(self, columns: RuleTable) -> list[Entries]:
        """Each part's, with its own auxiliary columns."""
        starts = np.cumsum([0, *(part.auxiliary for part in self.parts)])
        return [
            (row, np.where(column < 0, column - first, column), value)
            for first, part in zip(starts, self.parts, strict=False)
            for row, column, value in part.cones(columns)
        ]


def joined(parts: Sequence[Entries]) -> Entries:
    """The entries of several lists."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0)
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, column, value
