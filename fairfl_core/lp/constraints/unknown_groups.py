"""Rows that hold gaps down whatever groups the people without one have."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, OVERALL, Constraints, Entries, joined
from fairfl_core.lp.rules import RuleTable

__all__ = ["UnknownGroupConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
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
    place, rate : ndarray, shape (scopes,)
        The client of each scope that is compared, or `OVERALL`; one entry a scope and rate.
    people : ndarray, shape (scopes, groups)
        P, all that A is a share of.
    lacking : tuple of ndarray
        Scope, client, answer of the model and number of those who lack a group, one entry each.
    """

    notion: Notion
    place: Ints
    rate: Ints
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
        # Those who may join: of a scope's own client, or of all.
        mine = (scope[:, None] == 0) | (np.arange(len(many)) == scope[:, None] - 1)
        at, who, answer = np.nonzero(mine[..., None] & (many[:, rate].swapaxes(0, 1) > 0))
        lacking = at, who, answer, many[who, rate[at], answer]
        groups = behind.shape[1]
        a, b = np.array(list(permutations(range(groups), 2))).T
        # Rows of upper bounds, of lower ones, of those who may join, and of two groups.
        there, none, joining = (
            behind.ravel() > 0,
            np.full(behind.size, np.inf),
            2 * len(at) * groups,
        )
        both = ((behind[:, a] > 0) & (behind[:, b] > 0)).ravel()
        head = np.full(2 * behind.size + joining, NO_EPSILON)
        bound = np.where(there, 0.0, np.inf)
        upper = [bound, none, np.zeros(joining), np.where(both, 0.0, np.inf)]
        lower = [-none, -bound, np.full(joining + len(both), -np.inf)]
        moves = np.append(0.0 * head, 1.0 * both)
        whose = np.repeat(np.arange(len(scope)), groups)
        every = np.concatenate(
            [
                whose,
                whose,
                np.tile(np.repeat(at, groups), 2),
                np.repeat(np.arange(len(scope)), len(a)),
            ]
        )
        return cls(
            notion=notion,
            place=scope - 1,
            rate=rate,
            people=behind,
            lacking=lacking,
            scope=np.append(head, np.repeat(scope - 1, len(a))),
            limits=np.stack([np.concatenate(lower), np.concatenate(upper)]),
            moves=np.stack([0.0 * moves, moves]),
            client=scope[every] - 1,
            about=rate[every],
            titles=tuple(map(str, notion.rates)),
            auxiliary=2 * behind.size + joining,
        )

    # ---------------------------------------------------------------- where rows and columns are

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(permutations(range(self.people.shape[1]), 2))

    def _bound(self, side: int) -> Ints:
        """The row of each rate's bound, and its auxiliary column t or u: (scopes, groups)."""
        return side * self.people.size + np.arange(self.people.size).reshape(self.people.shape)

    def _kind(self, side: int) -> Ints:
        """The row and auxiliary column of each kind of further people and group: (kinds, groups)."""
        shape = len(self.lacking[0]), self.people.shape[1]
        many = shape[0] * shape[1]
        return 2 * self.people.size + side * many + np.arange(many).reshape(shape)

    @property
    def _pair_rows(self) -> Ints:
        return np.arange(self.auxiliary, len(self)).reshape(len(self.place), -1)

    # ---------------------------------------------------------------- what stands in them

    @property
    def _whole(self) -> Floats:
        """Everybody who may be behind a rate, by which its rows are scaled."""
        joining = np.bincount(self.lacking[0], self.lacking[3], minlength=len(self.place))
        return np.asarray(self.people + joining[:, None])

    def entries(self, columns: RuleTable) -> Entries:
        """A column adds the people whom its rates count, and its share of each kind's answers."""
        assert columns.response is not None
        answered = self.notion.answered(columns.confusion)  # (columns, rates)
        rows_of: list[list[int]] = [[] for _ in range(int(columns.client.max()) + 1)]
        overall = np.flatnonzero(self.place == OVERALL)
        for number, client in enumerate(self.place):
            if client != OVERALL and client < len(rows_of):
                rows_of[client].append(number)
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

    def auxiliary_entries(self) -> Entries:
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
