"""Rows that bound shares of answers: how precise an answer is, how many may be given it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.constraints.base import NO_EPSILON, OVERALL, Constraints, Entries
from fairfl_core.lp.constraints.gaps import scope_name
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["ShareConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShareConstraints(Constraints):
    """Weighted sums of a scope's people by label and answer, each within a limit.

    ::

        precision of y at least r:   sum over labels z of ([z = y] - r) Pr(label z, answer y) >= 0
        capacity s:                  Pr(answer favourable) <= s

    Attributes
    ----------
    weight : ndarray, shape (kinds, labels, answers)
        What a person adds, by label and answer.
    place : ndarray, shape (kinds, clients)
        The row that a client's people stand in; -1 for none.
    share : ndarray, shape (kinds, clients)
        Which share of the row's scope one person is.
    client : ndarray, shape (rows,)
        A row's client, or `OVERALL`.
    lower, upper : ndarray, shape (rows,)
    what : tuple of str
        What each row bounds, for a person.
    groups : int
    """

    weight: Floats
    place: Ints
    share: Floats
    client: Ints
    lower: Floats
    upper: Floats
    what: tuple[str, ...]
    groups: int

    @classmethod
    def of(cls, policy: Policy, counts: ClientCounts) -> "ShareConstraints":
        """Lay out a row for each precision and capacity, overall or in every client."""
        size = len(counts.labels)
        favourable = np.zeros((size, size))
        favourable[:, counts.labels.index(counts.favourable)] = 1.0
        answered = f"share answered “{counts.favourable}”"
        kinds = [
            (scope == "local", favourable, (-np.inf, share), answered)
            for scope, share in (
                ("global", policy.capacity_global),
                ("local", policy.capacity_local),
            )
            if share is not None
        ]
        for floor in policy.precision:
            label = counts.labels.index(floor.label)
            weight = np.zeros((size, size))
            weight[:, label] = -floor.rate
            weight[label, label] += 1.0
            limits = (0.0, np.inf)
            kinds.append((floor.scope == "local", weight, limits, f"precision of “{floor.label}”"))
        n = np.asarray(counts.n_client, float)
        there = np.flatnonzero(n > 0)
        places: list[Ints] = []
        shares: list[Floats] = []
        clients: list[Ints] = []
        limits_of: list[tuple[float, float]] = []
        what: list[str] = []
        for inside, _, limits, name in kinds:
            scopes = there if inside else np.array([OVERALL])
            first = sum(len(one) for one in clients)
            place = np.full(len(n), -1)
            place[there] = first + (np.arange(len(there)) if inside else 0)
            places.append(place)
            shares.append(1 / np.where(n > 0, n if inside else counts.n, 1.0))
            clients.append(scopes)
            limits_of += [limits] * len(scopes)
            what += [name] * len(scopes)
        lower, upper = np.array(limits_of).T
        return cls(
            weight=np.stack([weight for _, weight, _, _ in kinds]),
            place=np.stack(places),
            share=np.stack(shares),
            client=np.concatenate(clients),
            lower=lower,
            upper=upper,
            what=tuple(what),
            groups=len(counts.groups),
        )

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """A share has no epsilon."""
        return np.full(len(self.client), NO_EPSILON)

    def entries(self, columns: RuleTable) -> Entries:
        """A column adds its people, weighted."""
        value = np.einsum("pyk,qyk->qp", columns.confusion, self.weight, optimize=True)
        value *= self.share[:, columns.client]
        row = self.place[:, columns.client]
        kind, column = np.nonzero((row >= 0) & (value != 0))
        return row[kind, column], column, value[kind, column]

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """They do not move with an epsilon."""
        return self.lower, self.upper

    def prices(self, duals: Floats) -> Floats:
        """No epsilon, no price of one."""
        return np.zeros(len(duals))

    def gains(self, duals: Floats) -> Floats:
        """What answering k to a person with label y adds, whatever the group."""
        worth = np.append(duals, 0.0)[self.place] * self.share  # place -1 is the last: nothing
        gain = np.einsum("qc,qyk->cyk", worth, self.weight)
        return np.repeat(gain[:, None], self.groups, axis=1)

    def names(self, counts: ClientCounts) -> list[str]:
        """Scope and what is bounded."""
        return [
            f"{scope_name(client, counts)}: {what}"
            for client, what in zip(self.client, self.what, strict=True)
        ]
