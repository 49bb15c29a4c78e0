"""Which people to see next: the fewest more that settle what is *not sure yet*, cell by cell.

A limit is settled where the upper end of its gap's interval lies within the limit and its margin
(`checks`). The width of a difference of two rates is about z sqrt(v_a / n_a + v_b / n_b), so the
least total puts people where the spread is: n_a : n_b = sqrt(v_a) : sqrt(v_b) (Neyman), and leaves a
group alone that has enough; how many, the intervals themselves decide. New people's rates differ by
chance from those seen now: z is raised by the quantile of 0.8, so that four times in five each limit
is settled where the rates are what they look like.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.evaluation.before_after import LEVEL
from fairfl_core.evaluation.checks import LimitCheck
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.intervals import at_once, gap_interval, normal_quantile

__all__ = ["Plan", "PlannedCell", "Scope", "plan_people", "unsettled_scopes"]

Floats = NDArray[np.float64]
_STEPS, _MOST = 25, 1e12
_POWER = 0.8
_ROUND = 10  # people are planned in tens


@dataclass(frozen=True)
class PlannedCell:
    """How many more people of one client (None: of any), group and label (None: of any)."""

    client: str | None
    group: str
    label: str | None
    have: int
    more: int


@dataclass(frozen=True, eq=False)
class Scope:
    """One limit that is not settled: rates and people by group and rate, and what is asked.

    The rates are as counted where their gap is within the limit, else just on it: more people would
    tell which it is.
    """

    limit: LimitCheck
    rate: Floats
    people: Floats
    level: float

    @property
    def target(self) -> float:
        """Where the upper end of the interval has to lie."""
        return self.limit.eps + self.limit.margin

    def is_settled(self, people: Floats) -> bool:
        """Whether so many people would tell that the limit is kept."""
        return bool(gap_interval(self.rate, people, self.level)[1] <= self.target)

    def least(self, shared: bool) -> Floats:
        """The fewest people, (groups, rates), that settle it; `shared` by all rates of a group."""
        found = self.people.copy()
        middle = (self.people * self.rate + 1) / (self.people + 2)  # never surely 0 or 1
        spread = np.sqrt(middle * (1 - middle))
        for pair in map(np.array, combinations(range(len(found)), 2)):
            there = (self.people[pair] > 0).all(axis=0)
            if there.any():
                part = np.ix_(pair, np.flatnonzero(there))
                found[part] = self._pair(self.rate[part], found[part], spread[part])
        if shared:
            found = np.where(found > 0, found.max(axis=1, keepdims=True), found)
        return found

    def _pair(self, rate: Floats, have: Floats, spread: Floats) -> Floats:
        """The fewest people of two groups, (2, rates): as the spreads are, and none fewer than now."""
        level = at_once(self.level, _pairs(self.people))  # of one difference of all

        def people(size: Floats) -> Floats:
            return have + np.ceil(np.maximum(size * spread - have, 0.0) / _ROUND) * _ROUND

        def fits(size: Floats) -> NDArray[np.bool_]:
            _, high = gap_interval(rate.T[..., None], people(size).T[..., None], level)
            return np.asarray(high <= self.target)

        low, high = np.zeros(rate.shape[1]), (have / spread).min(axis=0)
        while not fits(high).all():
            low, high = np.where(fits(high), low, high), np.where(fits(high), high, 2 * high)
            if high.max() > _MOST:
                raise InputError("no number of people settles this limit; ask for a wider one.")
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = np.where(fits(middle), low, middle), np.where(fits(middle), middle, high)
        return people(high)


@dataclass(frozen=True, eq=False)
class Plan:
    """The people to see next.

    Attributes
    ----------
    cells : tuple of PlannedCell
        Most people first.
    cost : tuple of (LimitCheck, int)
        People that each limit takes, cheapest first: summed up, the curve of what is settled.
    people : float
        Those there are.
    """

    cells: tuple[PlannedCell, ...]
    cost: tuple[tuple[LimitCheck, int], ...]
    people: float

    @property
    def total(self) -> int:
        """All people more."""
        return sum(cell.more for cell in self.cells)

    @property
    def times(self) -> float:
        """How many times the people there would be then."""
        return (self.people + self.total) / self.people

    @property
    def curve(self) -> list[tuple[int, int]]:
        """People more, and how many limits they settle, from none to all."""
        total, found = 0, [(0, 0)]
        for number, (_, more) in enumerate(self.cost, 1):
            total += more
            found.append((total, number))
        return found

    def to_json(self) -> dict[str, Any]:
        """What `fairfl plan --json` prints."""
        return {
            "total": self.total,
            "times": self.times,
            "cells": [vars(cell) for cell in self.cells],
            "limits": [{"client": one.client, "eps": one.eps, "more": n} for one, n in self.cost],
            "curve": [list(point) for point in self.curve],
        }


def unsettled_scopes(evaluation: Evaluation) -> list[Scope]:
    """The limits whose people are too few to tell: inside clients first, the overall one last."""
    verdict, asked = evaluation.verdict, evaluation.asked
    if verdict is None or asked is None:
        raise InputError("no limit was asked for, so there is nothing to plan for.")
    if verdict.noisy:
        raise InputError(
            "the counts carry noise, which more people do not settle; plan on counts without noise."
        )
    limits = int((np.append(asked.eps_local, asked.eps_global) < 1).sum())
    level = at_once(LEVEL, limits + len(verdict.besides))
    found = []
    for one in sorted(verdict.inconclusive, key=lambda one: one.client is None):
        place = evaluation.scopes.index(one.client)
        rate, people = evaluation.scoped.rate[place], evaluation.scoped.people[place]
        pairs = _pairs(people)
        z = normal_quantile(1 - (1 - level) / (2 * pairs)) + normal_quantile(_POWER)
        planned = 1 - 2 * pairs * (1 - NormalDist().cdf(z))
        found.append(Scope(one, _within(rate, people, one.eps), people, planned))
    return found


def _pairs(people: Floats) -> int:
    """How many differences an interval of a gap is made of."""
    compared = (people > 0).sum(axis=0)
    return max(int((compared * (compared - 1) // 2).sum()), 1)


def _within(rate: Floats, people: Floats, eps: float) -> Floats:
    """Rates drawn together, where their spread is wider than the limit."""
    there = people > 0
    top = np.where(there, rate, -np.inf).max(axis=0)
    bottom = np.where(there, rate, np.inf).min(axis=0)
    middle, spread = (top + bottom) / 2, np.maximum(top - bottom, 1e-12)
    found = middle + (rate - middle) * np.minimum(1.0, eps / spread)
    return np.where(there, found, rate)


def plan_people(evaluation: Evaluation) -> Plan:
    """Plan the fewest more people that settle every limit that is *not sure yet*.

    Parameters
    ----------
    evaluation : Evaluation
        Of a predictor on people it was not fitted on.
    """
    counts, notion = evaluation.counts, evaluation.notion
    shared = all(rate.label is None for rate in notion.rates)
    more: dict[tuple[str | None, str, str | None], list[int]] = {}
    anywhere = np.zeros_like(evaluation.people[0])
    cost = []
    for scope in unsettled_scopes(evaluation):
        if scope.limit.client is None:  # what clients get counts overall, too
            credited = replace(scope, people=scope.people + anywhere)
            added = credited.least(shared) - credited.people
        else:
            added = scope.least(shared) - scope.people
            anywhere += added
        total = 0
        for (group, rate), n in np.ndenumerate(added):
            if n <= 0 or (shared and rate):
                continue
            key = (scope.limit.client, counts.groups[group], notion.rates[rate].label)
            have = round(float(scope.people[group, rate]))
            before = more.get(key, [have, 0])[1]
            more[key] = [have, max(before, int(n))]
            total += max(int(n) - before, 0)
        cost.append((scope.limit, total))
    cells = [PlannedCell(*key, *value) for key, value in more.items()]
    return Plan(
        tuple(sorted(cells, key=lambda cell: -cell.more)),
        tuple(sorted(cost, key=lambda one: one[1])),
        float(counts.n),
    )
