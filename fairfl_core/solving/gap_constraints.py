"""The rows of a fairness program that hold the gaps down, whatever its columns are."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion
from fairfl_core.people.counts import ClientCounts
from fairfl_core.solving.columns import Columns

__all__ = ["Constraints", "Entries", "GapConstraints", "Sharpener", "row_names"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Entries = tuple[Ints, Ints, Floats]  # row, column, value


Sharpener = Callable[[Floats, Floats, float], Entries]
"""(auxiliary values, weights beta, eps_global) -> new rows `<= 0`: row, column, value.

Columns are numbered from the auxiliary ones on; no row means that nothing is broken.
"""


class Constraints(ABC):
    """Rows over the columns of a program; only their limits depend on the epsilons.

    Rows with a limit, and so with a price, come first; `definitions` follow, rows that say what
    an auxiliary column is. Auxiliary columns are at least 0 and cost nothing.

    Attributes
    ----------
    scope : ndarray, shape (limits,)
        The client of a row with a limit, or -1 for one over all clients.
    rate : ndarray, shape (limits,)
        Which of the notion's rates it compares.
    definitions, auxiliary : int
        How many rows without a limit, and how many auxiliary columns there are.
    """

    scope: Ints
    rate: Ints
    definitions: int = 0
    auxiliary: int = 0

    def __len__(self) -> int:
        return len(self.scope) + self.definitions

    @abstractmethod
    def entries(self, columns: Columns) -> Entries:
        """What these columns put into the rows."""

    def auxiliary_entries(self, columns: Columns) -> Entries:
        """What the auxiliary columns put into the rows."""
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0)

    @abstractmethod
    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limit of every row."""

    def sharpener(self, columns: Columns) -> "Sharpener | None":
        """What finds rows that the last optimum still lacks, where rows alone say too little."""
        return None

    @abstractmethod
    def prices(self, duals: Floats) -> Floats:
        """The price of every limit: d objective / d epsilon. A dual is d(-objective)/d(bound)."""


@dataclass(frozen=True, eq=False)
class GapConstraints(Constraints):
    """Every gap, global and local, as it is measured.

    With two groups a gap is one row, -eps <= rate_0 - rate_1 <= eps. With more it is one row a
    group with an auxiliary level t: 0 <= rate_a - t <= eps. Global rows come first. A rate that
    fewer than two groups have is not compared and has no row.

    Attributes
    ----------
    notion : Notion
    scope, rate
        See `Constraints`.
    level : ndarray, shape (limits,)
        The auxiliary column t of each row; empty for two groups.
    place : ndarray, shape (2, clients, groups, rates)
        The global and the local row that a cell's rate stands in; -1 where there is none.
    weight : ndarray, shape (2, clients, groups, rates)
        What one person whom the rate counts adds to that row.
    """

    notion: Notion
    scope: Ints
    rate: Ints
    level: Ints
    place: Ints
    weight: Floats

    @classmethod
    def of(cls, notion: Notion, people: Floats) -> "GapConstraints":
        """Lay the rows out; `people` (clients, groups, rates) are those behind each rate."""
        clients, groups, rates = people.shape
        scoped = np.concatenate([people.sum(axis=0)[None], people])  # scope + 1 comes first
        there = scoped > 0
        scope, rate = np.nonzero(there.sum(axis=1) > 1)
        at = np.full(scoped.shape, -1)
        if groups == 2:
            at[scope, :, rate] = np.arange(len(scope))[:, None]
            sign, level = np.array([1.0, -1.0])[:, None], np.zeros(0, np.int64)
        else:
            level, group = np.nonzero(there[scope, :, rate])
            scope, rate = scope[level], rate[level]
            at[scope, group, rate] = np.arange(len(level))
            sign = np.ones((groups, 1))
        share = np.divide(sign, scoped, out=np.zeros_like(scoped), where=there & (at >= 0))
        shape = (clients, groups, rates)
        place, weight = (
            np.stack([np.broadcast_to(part[0], shape), part[1:]]) for part in (at, share)
        )
        return cls(notion, scope - 1, rate, level, place, weight)

    def entries(self, columns: Columns) -> Entries:
        """A cell's rate stands in its local row, and with its share of people in the global."""
        row = self.place[:, columns.client, columns.group]
        value = self.weight[:, columns.client, columns.group] * self.notion.answered(
            columns.confusion
        )
        side, column, rate = np.nonzero((row >= 0) & (value != 0))
        return row[side, column, rate], column, value[side, column, rate]

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """As many as there are levels t."""
        return int(self.level.max(initial=-1)) + 1

    def auxiliary_entries(self, columns: Columns) -> Entries:
        """Each level is taken off its rows."""
        return np.arange(len(self.level)), self.level, np.full(len(self.level), -1.0)

    def multipliers(self, duals: Floats) -> Floats:
        """What each counted person is worth at these duals: shape (clients, groups, rates)."""
        worth = np.append(duals, 0.0)[self.place]  # place -1 is the last: nothing
        return np.asarray((worth * self.weight).sum(axis=0))

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Both sides move with epsilon for two groups, the upper one for levels."""
        upper = np.append(eps_local, eps_global)[self.scope]  # scope -1 is the last: global
        return np.zeros_like(upper) if self.level.size else -upper, upper

    def prices(self, duals: Floats) -> Floats:
        """Two groups: both bounds move. Levels: only the upper one, the dual's negative part."""
        return np.maximum(-duals, 0.0) if self.level.size else np.abs(duals)


def row_names(rows: Constraints, counts: ClientCounts, notion: Notion) -> list[str]:
    """What each row bounds, for a person."""
    return [
        ("global" if client < 0 else f"local {counts.clients[client]}") + f": {notion.rates[rate]}"
        for client, rate in zip(rows.scope, rows.rate, strict=True)
    ]
