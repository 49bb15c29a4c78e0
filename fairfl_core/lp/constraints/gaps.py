"""Rows that hold gaps down: overall and inside clients, between groups or groups of groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, OVERALL, Entries, RateConstraints
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["GapConstraints", "Merged", "scope_name"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Groups seen more coarsely: several of them are one.

    Attributes
    ----------
    name : str
        Such as "race" where groups are crossed of sex and race.
    code : ndarray, shape (groups,)
        The coarse group of each group.
    names : tuple of str
        The coarse groups.
    """

    name: str
    code: Ints
    names: tuple[str, ...]

    def pooled(self, people: Floats) -> Floats:
        """People (clients, groups, rates) by coarse group."""
        member = np.arange(len(self.names))[:, None] == self.code
        return np.einsum("ga,car->cgr", member, people)


@dataclass(frozen=True, eq=False)
class GapConstraints(RateConstraints):
    """Every gap, global and local, as it is measured.

    With two groups a gap is one row, -eps <= rate_0 - rate_1 <= eps. With more it is one row a
    group with an auxiliary level t: 0 <= rate_a - t <= eps. Global rows come first. A rate that
    fewer than two groups have is not compared and has no row.

    Attributes
    ----------
    notion, place, weight
        See `RateConstraints`; the first part is global, the second local.
    client : ndarray, shape (rows,)
        A row's client, or `OVERALL`.
    rate : ndarray, shape (rows,)
        Which of the notion's rates it compares.
    level : ndarray, shape (rows,)
        The auxiliary column t of each row; empty for two groups.
    eps : float or None
        A limit of its own, where it is not one of the two epsilons.
    grouping : str
        What its groups are called, where they are not the counts' own.
    """

    notion: Notion
    client: Ints
    rate: Ints
    level: Ints
    place: Ints
    weight: Floats
    eps: float | None = None
    grouping: str = ""

    @classmethod
    def of(
        cls,
        notion: Notion,
        people: Floats,
        *,
        merged: Merged | None = None,
        overall: bool = True,
        inside: bool = True,
        eps: float | None = None,
    ) -> "GapConstraints":
        """Lay the rows out.

        Parameters
        ----------
        notion : Notion
        people : ndarray, shape (clients, groups, rates)
            Those behind each rate.
        merged : Merged, optional
            Compare coarser groups; a coarse group's rate pools its groups' people.
        overall, inside : bool
            Which gaps are meant.
        eps : float, optional
            A limit of its own.
        """
        whom = people if merged is None else merged.pooled(people)
        groups = whom.shape[1]
        scoped = np.concatenate([whom.sum(axis=0)[None], whom])  # scope + 1 comes first
        there = scoped > 0
        meant = np.full(len(scoped), inside)
        meant[0] = overall
        scope, rate = np.nonzero((there.sum(axis=1) > 1) & meant[:, None])
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
        own = np.arange(groups) if merged is None else merged.code
        place, weight = (
            np.stack([np.broadcast_to(part[0], part[1:].shape), part[1:]])[:, :, own]
            for part in (at, share)
        )
        name = "" if merged is None else merged.name
        return cls(notion, scope - 1, rate, level, place, weight, eps, name)

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """Whose epsilon limits a row; none where it has a limit of its own."""
        return self.client if self.eps is None else np.full(len(self.client), NO_EPSILON)

    @property
    def constants_are_feasible(self) -> bool:
        """Between two groups; levels of more groups are no differences."""
        return not self.level.size

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """As many as there are levels t."""
        return int(self.level.max(initial=-1)) + 1

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """Each level is taken off its rows."""
        return np.arange(len(self.level)), self.level, np.full(len(self.level), -1.0)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Both sides move with epsilon for two groups, the upper one for levels."""
        asked = np.append(eps_local, eps_global)  # OVERALL is -1, the last
        upper = asked[self.client] if self.eps is None else np.full(len(self.client), self.eps)
        return np.zeros_like(upper) if self.level.size else -upper, upper

    def prices(self, duals: Floats) -> Floats:
        """Two groups: both bounds move. Levels: only the upper one, the dual's negative part."""
        if self.eps is not None:
            return np.zeros(len(duals))
        return np.maximum(-duals, 0.0) if self.level.size else np.abs(duals)

    def names(self, counts: ClientCounts) -> list[str]:
        """Scope, grouping and rate."""
        between = f" between groups of {self.grouping}" if self.grouping else ""
        return [
            f"{scope_name(client, counts)}: {self.notion.rates[rate]}{between}"
            for client, rate in zip(self.client, self.rate, strict=True)
        ]


def scope_name(client: int, counts: ClientCounts) -> str:
    """What a scope is called in a list of binding rows."""
    return "global" if client == OVERALL else f"local {counts.clients[client]}"
