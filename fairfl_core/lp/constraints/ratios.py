"""Rows that hold ratios up: no group's rate below rho times the highest (four fifths is 0.8)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, Entries, RateConstraints
from fairfl_core.lp.constraints.gaps import scope_name
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["RatioConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RatioConstraints(RateConstraints):
    """rho t <= rate_a <= t for every group a, with an auxiliary level t a scope and rate.

    Attributes
    ----------
    notion, place, weight
        See `RateConstraints`.
    client, rate : ndarray, shape (rows,)
        A row's client (or `OVERALL`) and rate.
    level : ndarray, shape (rows,)
        Its auxiliary column t.
    rho : ndarray, shape (rows,)
        What is taken of t: 1 in an upper row, rho in a lower one.
    upper : ndarray, shape (rows,)
        Whether the rate lies below what is taken of t, or above.
    """

    notion: Notion
    client: Ints
    rate: Ints
    level: Ints
    rho: Floats
    upper: NDArray[np.bool_]
    place: Ints
    weight: Floats

    @classmethod
    def of(
        cls,
        notion: Notion,
        people: Floats,
        rho_global: float | None,
        rho_local: float | None,
        *,
        favourable: str,
        leave_out: float = 0.0,
    ) -> "RatioConstraints":
        """Lay the rows out; `people` (clients, groups, rates) are those behind each rate.

        Shares of answers whatever the label (`sp`) are compared for the favourable answer alone,
        and so are those of two answers given the label (`eo-full`): the other's is 1 less.
        Groups of less than a share `leave_out` of all people are not compared.
        """
        clients, groups, rates = people.shape
        scoped = np.concatenate([people.sum(axis=0)[None], people])
        large = people[..., 0].sum(axis=0) >= leave_out * people[..., 0].sum()
        meant = [one.label is not None or one.answer == favourable for one in notion.rates]
        there = (scoped > 0) & large[:, None] & np.array(meant)
        rho = np.array([rho_global] + [rho_local] * clients, float)  # None is NaN: nothing asked
        compared = (there.sum(axis=1) > 1) & ~np.isnan(rho)[:, None]
        level_of = np.full(compared.shape, -1)
        level_of[compared] = np.arange(int(compared.sum()))
        scope, group, rate = np.nonzero(there & compared[:, None])
        half = len(scope)
        at = np.full((2, *scoped.shape), -1)
        at[0, scope, group, rate], at[1, scope, group, rate] = (
            np.arange(half),
            half + np.arange(half),
        )
        weight = np.divide(1.0, scoped, out=np.zeros_like(scoped), where=scoped > 0)
        shape = (clients, groups, rates)
        place = np.concatenate([np.stack([np.broadcast_to(one[0], shape), one[1:]]) for one in at])
        weights = np.tile(np.stack([np.broadcast_to(weight[0], shape), weight[1:]]), (2, 1, 1, 1))
        return cls(
            notion=notion,
            client=np.tile(scope - 1, 2),
            rate=np.tile(rate, 2),
            level=np.tile(level_of[scope, rate], 2),
            rho=np.append(np.ones(half), rho[scope]),
            upper=np.arange(2 * half) < half,
            place=place,
            weight=weights,
        )

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """A ratio has no epsilon."""
        return np.full(len(self.client), NO_EPSILON)

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """As many as there are levels t."""
        return int(self.level.max(initial=-1)) + 1

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """What is taken of each level is taken off its rows."""
        return np.arange(len(self.level)), self.level, -self.rho

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Upper rows are at most 0, lower rows at least."""
        return np.where(self.upper, -np.inf, 0.0), np.where(self.upper, 0.0, np.inf)

    def prices(self, duals: Floats) -> Floats:
        """No epsilon, no price of one."""
        return np.zeros(len(duals))

    def names(self, counts: ClientCounts) -> list[str]:
        """Scope and rate."""
        return [
            f"{scope_name(client, counts)}: ratio of {self.notion.rates[rate]}"
            for client, rate in zip(self.client, self.rate, strict=True)
        ]
