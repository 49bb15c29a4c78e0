"""Rows that hold gaps down whatever groups the people without one have."""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, Constraints, Entries, assembled
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
        rows = cls(
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
            auxiliary=sparse.csr_array((len(every), 0)),
        )
        return replace(rows, auxiliary=rows._auxiliary())

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
        first = 2 * self.people.size + 2 * len(self.lacking[0]) * self.people.shape[1]
        return np.arange(first, len(self)).reshape(len(self.place), -1)

    # ---------------------------------------------------------------- what stands in them

    @property
    def _whole(self) -> Floats:
        """Everybody who may be behind a rate, by which its rows are scaled."""
        joining = np.bincount(self.lacking[0], self.lacking[3], minlength=len(self.place))
        return np.asarray(self.people + joining[:, None])

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """A rule adds the people whom its rates count, and its share of each kind's answers."""
        assert rules.response is not None
        answered = self.notion.answered(rules.confusion)  # (rules, rates)
        # The rules of each client, and in the last row (at `OVERALL`) all.
        many, clients = len(rules), 1 + max(int(rules.client.max()), int(self.place.max()))
        where = np.append(rules.client, np.full(many, clients)), np.tile(np.arange(many), 2)
        of_client = sparse.csr_array((np.ones(2 * many), where), (clients + 1, many))
        at, rule = of_client[self.place].nonzero()
        value = answered[rule, self.rate[at]] / self._whole[at, rules.group[rule]]
        parts = [(self._bound(side)[at, rules.group[rule]], rule, value) for side in (0, 1)]
        kinds, client, answer, _ = self.lacking
        kind, rule = of_client[client].nonzero()
        asked = self.notion.asked[self.rate[kinds[kind]]]
        share = np.einsum("pk,pk->p", rules.response[rule, answer[kind]], asked)
        for side, sign in ((0, 1.0), (1, -1.0)):
            parts.append((self._kind(side)[kind, rules.group[rule]], rule, sign * share))
        found = assembled(parts, (len(self), len(rules)))
        found.eliminate_zeros()
        return found

    def _auxiliary(self) -> sparse.csr_array:
        """t, u and s in the rows of rates, of kinds, and of two groups."""
        kinds, _, _, many = self.lacking
        parts: list[Entries] = []
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
        return assembled(parts, (len(self), int(self._pair_rows[0, 0])))
