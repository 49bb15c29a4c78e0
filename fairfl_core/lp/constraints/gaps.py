"""Rows of rates: gaps held down, ratios held up, and shares of answers within a limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import NO_EPSILON, OVERALL, RateConstraints
from fairfl_core.lp.policy import Policy

__all__ = ["Merged", "gap_constraints", "ratio_constraints", "share_constraints"]

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


def gap_constraints(
    notion: Notion,
    people: Floats,
    *,
    merged: Merged | None = None,
    overall: bool = True,
    inside: bool = True,
    eps: float | None = None,
) -> RateConstraints:
    """Lay out every gap, global and local, as it is measured.

    With two groups a gap is one row, -eps <= rate_0 - rate_1 <= eps. With more it is one row a
    group with an auxiliary level t: 0 <= rate_a - t <= eps. Global rows come first. A rate that
    fewer than two groups have is not compared and has no row.

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
        A limit of its own, where it is not one of the two epsilons.
    """
    whom = people if merged is None else merged.pooled(people)
    groups = whom.shape[1]
    scoped = _scoped(whom)
    there = scoped > 0
    meant = np.full(len(scoped), inside)
    meant[0] = overall
    scope, rate = np.nonzero((there.sum(axis=1) > 1) & meant[:, None])
    at = np.full(scoped.shape, -1)
    if groups == 2:
        at[scope, :, rate] = np.arange(len(scope))[:, None]
        sign, sides = np.array([1.0, -1.0])[:, None], np.array([[-1.0], [1.0]])
        levels = sparse.csr_array((len(scope), 0))
    else:
        number, group = np.nonzero(there[scope, :, rate])
        rows, shape = np.arange(len(number)), (len(number), len(scope))
        levels = sparse.csr_array((-np.ones(len(number)), (rows, number)), shape)
        scope, rate = scope[number], rate[number]
        at[scope, group, rate] = rows
        sign, sides = np.ones((groups, 1)), np.array([[0.0], [1.0]])
    share = np.divide(sign, scoped, out=np.zeros_like(scoped), where=there & (at >= 0))
    own = np.arange(groups) if merged is None else merged.code
    moves = sides * np.ones(len(scope))
    between = "" if merged is None else f" between groups of {merged.name}"
    return RateConstraints(
        scope=scope - 1 if eps is None else np.full(len(scope), NO_EPSILON),
        limits=0.0 * moves if eps is None else eps * moves,
        moves=moves if eps is None else 0.0 * moves,
        client=scope - 1,
        about=rate,
        titles=tuple(f"{one}{between}" for one in notion.rates),
        auxiliary=levels,
        constants_are_feasible=groups == 2,
        counted=notion.counted,
        place=_by_cell(at)[:, :, own],
        weight=_by_cell(share)[:, :, own],
    )


def ratio_constraints(
    notion: Notion, people: Floats, policy: Policy, favourable: str
) -> RateConstraints:
    """Lay out rho t <= rate_a <= t for every group a, with an auxiliary level t a scope and rate.

    Shares of answers whatever the label (`sp`) are compared for the favourable answer alone,
    and so are those of two answers given the label (`eo-full`): the other's is 1 less.
    Groups of less than a share `ratio_leave_out` of all people are not compared.
    """
    scoped = _scoped(people)
    large = people[..., 0].sum(axis=0) >= policy.ratio_leave_out * people[..., 0].sum()
    meant = [one.label is not None or one.answer == favourable for one in notion.rates]
    there = (scoped > 0) & large[:, None] & np.array(meant)
    rho = np.array([policy.ratio_global] + [policy.ratio_local] * len(people), float)  # None: NaN
    compared = (there.sum(axis=1) > 1) & ~np.isnan(rho)[:, None]
    level_of = np.full(compared.shape, -1)
    level_of[compared] = np.arange(int(compared.sum()))
    scope, group, rate = np.nonzero(there & compared[:, None])
    half = len(scope)
    at = np.full(scoped.shape, -1)
    at[scope, group, rate] = np.arange(half)
    below = _by_cell(at)
    weight = np.divide(1.0, scoped, out=np.zeros_like(scoped), where=scoped > 0)
    none, nothing = np.full(half, np.inf), np.zeros(half)
    limits = np.stack([np.append(-none, nothing), np.append(nothing, none)])
    where = np.arange(2 * half), np.tile(level_of[scope, rate], 2)
    levels = -np.append(np.ones(half), rho[scope]), where
    return RateConstraints(
        scope=np.full(2 * half, NO_EPSILON),
        limits=limits,
        moves=np.zeros_like(limits),
        client=np.tile(scope - 1, 2),
        about=np.tile(rate, 2),
        titles=tuple(f"ratio of {one}" for one in notion.rates),
        auxiliary=sparse.csr_array(levels, (2 * half, int(compared.sum()))),
        counted=notion.counted,
        place=np.concatenate([below, np.where(below >= 0, half + below, -1)]),
        weight=np.tile(_by_cell(weight), (2, 1, 1, 1)),
    )


def share_constraints(policy: Policy, counts: ClientCounts) -> Iterator[RateConstraints]:
    """Lay out the rows of each precision and capacity, overall or in every client.

    ::

        precision of y at least r:   sum over labels z of ([z = y] - r) Pr(label z, answer y) >= 0
        capacity s:                  Pr(answer favourable) <= s
    """
    size = len(counts.labels)
    for inside, most in ((False, policy.capacity_global), (True, policy.capacity_local)):
        if most is not None:
            counted = np.zeros((size, size))
            counted[:, counts.labels.index(counts.favourable)] = 1.0
            what = f"share answered “{counts.favourable}”"
            yield _of_everybody(counts, counted, (-np.inf, most), what, inside=inside)
    for floor in policy.precision:
        label, counted = counts.labels.index(floor.label), np.zeros((size, size))
        counted[:, label] = -floor.rate
        counted[label, label] += 1.0
        what, inside = f"precision of “{floor.label}”", floor.scope == "local"
        yield _of_everybody(counts, counted, (0.0, np.inf), what, inside=inside)


def _of_everybody(
    counts: ClientCounts, counted: Floats, limit: tuple[float, float], what: str, *, inside: bool
) -> RateConstraints:
    """Rows of the share of people who are counted, by label and answer: one, or one a client."""
    n = np.asarray(counts.n_client, float)
    client = np.flatnonzero(n > 0) if inside else np.array([OVERALL])
    place = np.full(len(n), -1)
    place[n > 0] = np.arange(len(client)) if inside else 0
    share = 1 / np.where(n > 0, n if inside else counts.n, 1.0)
    by_cell = (1, len(n), len(counts.groups), 1)
    return RateConstraints(
        scope=np.full(len(client), NO_EPSILON),
        limits=np.repeat(np.array(limit)[:, None], len(client), axis=1),
        moves=np.zeros((2, len(client))),
        client=client,
        about=np.zeros(len(client), np.int64),
        titles=(what,),
        auxiliary=sparse.csr_array((len(client), 0)),
        counted=counted[..., None],
        place=np.broadcast_to(place[:, None, None], by_cell),
        weight=np.broadcast_to(share[:, None, None], by_cell),
    )


def _scoped(people: Floats) -> Floats:
    """People of each scope, all clients first: (1 + clients, groups, rates)."""
    return np.concatenate([people.sum(axis=0)[None], people])


def _by_cell(scoped: NDArray[Any]) -> NDArray[Any]:
    """What a cell has overall, and what inside its client, from (1 + clients, groups, rates)."""
    return np.stack([np.broadcast_to(scoped[0], scoped[1:].shape), scoped[1:]])
