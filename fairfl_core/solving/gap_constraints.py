"""The rows of a fairness program that hold the gaps down, whatever its columns are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion
from fairfl_core.people.counts import ClientCounts

__all__ = ["GapRows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GapRows:
    """Which rows there are, and what one counted person of a cell adds to each.

    With two groups a gap is one row, -eps <= rate_0 - rate_1 <= eps. With more it is one row a
    group with an auxiliary level t: 0 <= rate_a - t <= eps. Global rows come first. A rate that
    fewer than two groups have is not compared and has no row.

    Attributes
    ----------
    scope : ndarray, shape (rows,)
        A row's client, or -1 for a global row.
    rate : ndarray, shape (rows,)
    level : ndarray, shape (rows,)
        The level column t of each row; empty with two groups.
    place : ndarray, shape (2, clients, groups, rates)
        The global and the local row that a cell's rate stands in; -1 where there is none.
    weight : ndarray, shape (2, clients, groups, rates)
        What one person whom the rate counts adds to that row.
    """

    scope: Ints
    rate: Ints
    level: Ints
    place: Ints
    weight: Floats

    @classmethod
    def of(cls, people: Floats) -> "GapRows":
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
        return cls(scope - 1, rate, level, place, weight)

    @property
    def levels(self) -> int:
        """How many level columns there are."""
        return int(self.level.max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.scope)

    def entries(self, client: Ints, group: Ints, answered: Floats) -> tuple[Ints, Ints, Floats]:
        """Row, column and value of what columns of these cells put into the rows.

        `answered`, shape (columns, rates), are the people each rate counts under the column.
        """
        row = self.place[:, client, group]
        value = self.weight[:, client, group] * answered
        side, column, rate = np.nonzero((row >= 0) & (value != 0))
        return row[side, column, rate], column, value[side, column, rate]

    def multipliers(self, duals: Floats) -> Floats:
        """What each counted person is worth at these duals: shape (clients, groups, rates)."""
        worth = np.append(duals, 0.0)[self.place]  # place -1 is the last: nothing
        return np.asarray((worth * self.weight).sum(axis=0))

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limit of every row."""
        upper = np.append(eps_local, eps_global)[self.scope]  # scope -1 is the last: global
        return np.zeros_like(upper) if self.level.size else -upper, upper

    def prices(self, duals: Floats) -> Floats:
        """The price of every row: d objective / d epsilon.

        A row's dual is d(-objective)/d(bound). Two groups: both bounds move with epsilon.
        Levels: only the upper one does, and its dual is the negative part.
        """
        return np.maximum(-duals, 0.0) if self.level.size else np.abs(duals)

    def by_scope(self, prices: Floats, clients: int) -> Floats:
        """Prices added up: the global one first, then each client's."""
        return np.bincount(self.scope + 1, prices, minlength=clients + 1).astype(float)

    def names(self, counts: ClientCounts, notion: Notion) -> list[str]:
        """What each row bounds, for a person."""
        return [
            ("global" if where < 0 else f"local {counts.clients[where]}")
            + f": {notion.rates[which]}"
            for where, which in zip(self.scope, self.rate, strict=True)
        ]
