"""Rows that hold gaps down whatever groups the people without one have."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, OVERALL, Constraints, Entries, joined
from fairfl_core.lp.constraints.gaps import scope_name
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["UnknownGroupConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnknownGroupConstraints(Constraints):
    """The largest gap over all groups that people may have is at most epsilon: still an LP.

    A group's rate with any part of m_j further people, of whom a share q_j is counted, is at most
    t where (A + sum of z_j q_j) / (P + sum of z_j) <= t for all 0 <= z_j <= m_j, that is where

    ::

        A - P t + sum over j of m_j s_j <= 0,    s_j >= q_j - t,    s_j >= 0

    and at least u by the same from below. Then t_a - u_b <= epsilon for every two groups a, b.
    A and q_j are linear in the weights of rules; t, u and s are auxiliary columns. Where nobody
    lacks a group t and u are the rate.

    Attributes
    ----------
    notion : Notion
    client : ndarray, shape (scopes,)
        The client of each scope that is compared, or `OVERALL`; one entry a scope and rate.
    rate : ndarray, shape (scopes,)
    there : ndarray, shape (scopes, groups)
        Which groups have people behind the rate.
    people : ndarray, shape (scopes, groups)
        P, all that A is a share of.
    lacking : tuple of ndarray
        Scope, client, answer of the model and number of those who lack a group, one entry each.
    """

    notion: Notion
    client: Ints
    rate: Ints
    there: NDArray[np.bool_]
    people: Floats
    lacking: tuple[Ints, Ints, Ints, Floats]

    @classmethod
    def of(cls, notion: Notion, counts: ClientCounts) -> "UnknownGroupConstraints":
        """Lay the rows out; the counts hold people who lack a group."""
        assert counts.missing is not None and counts.missing.table is not None
        people = notion.people(counts.n_label)
        many = np.einsum("cyj,ry->crj", np.asarray(counts.missing.table, float), notion.given)
        scoped = np.concatenate([people.sum(axis=0)[None], people])
        scope, rate = np.nonzero((scoped > 0).sum(axis=1) > 1)
        behind = scoped[scope, :, rate]
        parts, clients, answers = [], [], []
        for place, (one, r) in enumerate(zip(scope, rate, strict=True)):
            mine = many[:, r] > 0
            if one > 0:
                mine &= (np.arange(len(many)) == one - 1)[:, None]
            c, j = np.nonzero(mine)
            parts.append(np.full(len(c), place))
            clients.append(c)
            answers.append(j)
        at, who, answer = (
            np.concatenate(each).astype(np.int64) for each in (parts, clients, answers)
        )
        lacking = at, who, answer, many[who, rate[at], answer]
        return cls(notion, scope - 1, rate, behind > 0, behind, lacking)

    # ---------------------------------------------------------------- where rows and columns are

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(permutations(range(self.there.shape[1]), 2))

    @property
    def _rates(self) -> int:
        """Rates with a bound on each side: scopes times groups."""
        return self.there.size

    @property
    def _joining(self) -> int:
        """Kinds of further people of every group, on one side."""
        return len(self.lacking[0]) * self.there.shape[1]

    def _bound(self, side: int) -> Ints:
        """The row of each rate's bound, and its auxiliary column t or u: (scopes, groups)."""
        return side * self._rates + np.arange(self._rates).reshape(self.there.shape)

    def _kind(self, side: int) -> Ints:
        """The row of each kind of further people and group: (kinds, groups)."""
        first = 2 * self._rates + side * self._joining
        return first + np.arange(self._joining).reshape(-1, self.there.shape[1])

    @property
    def _pair_rows(self) -> Ints:
        first = 2 * (self._rates + self._joining)
        return first + np.arange(len(self.client) * len(self._pairs)).reshape(len(self.client), -1)

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """Only rows between two groups have an epsilon."""
        head = np.full(2 * (self._rates + self._joining), NO_EPSILON)
        return np.concatenate([head, np.repeat(self.client, len(self._pairs))])

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """T and u of every rate, s of every kind of further people, on both sides."""
        return 2 * (self._rates + self._joining)

    # ---------------------------------------------------------------- what stands in them

    @property
    def _whole(self) -> Floats:
        """Everybody who may be behind a rate, by which its rows are scaled."""
        joining = np.bincount(self.lacking[0], self.lacking[3], minlength=len(self.client))
        return np.asarray(self.people + joining[:, None])

    def entries(self, columns: RuleTable) -> Entries:
        """A column adds the people whom its rates count, and its share of each kind's answers."""
        assert columns.response is not None
        answered = self.notion.answered(columns.confusion)  # (columns, rates)
        rows_of: list[list[int]] = [[] for _ in range(int(columns.client.max()) + 1)]
        overall = np.flatnonzero(self.client == OVERALL)
        for place, client in enumerate(self.client):
            if client != OVERALL and client < len(rows_of):
                rows_of[client].append(place)
        most = max(map(len, rows_of), default=0) + len(overall)
        table = np.full((len(rows_of), most), -1)
        for client, places in enumerate(rows_of):
            table[client, : len(places) + len(overall)] = [*places, *overall]
        scope = table[columns.client]  # (columns, scopes)
        column, which = np.nonzero(scope >= 0)
        at = scope[column, which]
        value = answered[column, self.rate[at]] / self._whole[at, columns.group[column]]
        parts = []
        for side in (0, 1):
            row = self._bound(side)[at, columns.group[column]]
            parts.append((row[value != 0], column[value != 0], value[value != 0]))
        # Kinds of further people: the columns of their client and each group.
        kinds, client, answer, _ = self.lacking
        order = np.argsort(columns.client, kind="stable")
        starts = np.searchsorted(columns.client[order], np.arange(int(client.max(initial=0)) + 2))
        length = (starts[1:] - starts[:-1])[client]
        kind = np.repeat(np.arange(len(kinds)), length)
        offset = np.arange(len(kind)) - np.repeat(np.cumsum(length) - length, length)
        of = order[starts[client][kind] + offset]
        share = np.einsum(
            "pk,pk->p",
            columns.response[of, answer[kind]],
            self.notion.asked[self.rate[kinds[kind]]],
        )
        there = share != 0
        for side, sign in ((0, 1.0), (1, -1.0)):
            row = self._kind(side)[kind, columns.group[of]]
            parts.append((row[there], of[there], sign * share[there]))
        return joined(parts)

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """t, u and s in the rows of rates, of kinds, and of two groups."""
        kinds, _, _, many = self.lacking
        parts = []
        for side, sign in ((0, 1.0), (1, -1.0)):
            level, joins = self._bound(side), self._kind(side)
            whole = self._whole
            parts.append((level.ravel(), level.ravel(), (-self.people / whole).ravel()))
            row = level[kinds]
            share = sign * many[:, None] / whole[kinds]
            parts.append((row.ravel(), joins.ravel(), share.ravel()))
            parts.append((joins.ravel(), joins.ravel(), np.full(joins.size, -1.0)))
            parts.append((joins.ravel(), row.ravel(), np.full(joins.size, -sign)))
        for place, (a, b) in enumerate(self._pairs):
            row = self._pair_rows[:, place]
            parts.append((row, self._bound(0)[:, a], np.ones(len(row))))
            parts.append((row, self._bound(1)[:, b], -np.ones(len(row))))
        return joined(parts)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Upper bounds of rates at most 0, lower ones at least; two groups at most epsilon apart."""
        asked = np.append(eps_local, eps_global)[self.client]  # OVERALL is -1, the last
        both = np.stack([self.there[:, a] & self.there[:, b] for a, b in self._pairs], axis=1)
        apart = np.where(both, asked[:, None], np.inf).ravel()
        least = np.where(self.there, 0.0, -np.inf).ravel()
        kinds = np.zeros(2 * self._joining)
        high = np.where(self.there, 0.0, np.inf).ravel()
        lower = [np.full(len(high), -np.inf), least, np.full(len(kinds) + len(apart), -np.inf)]
        return np.concatenate(lower), np.concatenate(
            [high, np.full(len(least), np.inf), kinds, apart]
        )

    def prices(self, duals: Floats) -> Floats:
        """Of rows between two groups, whose upper bound moves."""
        return np.where(self.scope == NO_EPSILON, 0.0, np.maximum(-duals, 0.0))

    def names(self, counts: ClientCounts) -> list[str]:
        """Scope and rate; rows of bounds are the gap's own."""
        names = [
            f"{scope_name(client, counts)}: {self.notion.rates[rate]}"
            for client, rate in zip(self.client, self.rate, strict=True)
        ]
        groups = self.there.shape[1]
        of_rates = [name for name in names for _ in range(groups)]
        of_kinds = [names[place] for place in self.lacking[0] for _ in range(groups)]
        return [*of_rates * 2, *of_kinds * 2, *(name for name in names for _ in self._pairs)]
