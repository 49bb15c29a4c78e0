"""One limit on people: the gap, how sure it is, who stands behind it, and the rule for chance.

The rule, on every page and in every file: a gap is *above* its limit beyond chance when the lower
end of its interval is, the interval widened so that all gaps judged together are covered at once
(Bonferroni). It is *told* when its people suffice for an interval of about +- the limit; where
they do not, nothing can be said either way. A gap is *within chance* when the lower end of its
own 95 % interval is zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from fairfl_core.evaluation.evaluation import LEVEL, Evaluation
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.fairness.intervals import gap_interval
from fairfl_core.fairness.notions import Rate, number_or_none

__all__ = ["CHANCE", "Finding", "PeopleBehind", "findings_of", "within_chance"]

CHANCE = 0.0005  # a lower end below this is none, at the three decimals that gaps are shown with
_SLACK = 5e-4  # a gap shown with three decimals equals its limit up to this
Floats = NDArray[np.float64]


def within_chance(low: ArrayLike) -> NDArray[np.bool_]:
    """Whether gaps cannot be told from none, by the lower ends of their own 95 % intervals."""
    return np.less(low, CHANCE)


@dataclass(frozen=True)
class PeopleBehind:
    """The people behind a gap: the two groups that lie farthest apart in its worst rate."""

    rate: Rate
    lower_group: str
    lower_n: int
    lower_rate: float
    higher_group: str
    higher_n: int
    higher_rate: float

    def __str__(self) -> str:
        whom = "" if self.rate.label is None else f" with “{self.rate.label}”"
        return (
            f"{self.lower_n:,} {self.lower_group} and {self.higher_n:,} {self.higher_group}{whom}"
        )


@dataclass(frozen=True)
class Finding:
    """One limit on unseen people: overall (`client` None) or inside a client.

    Attributes
    ----------
    gap, before : float
        The gap of the fair answers and of the model's own, mean over runs.
    low, high : float
        Its own 95 % interval.
    floor : float
        The lower end of the interval that covers all of a verdict's gaps at once.
    eps : float
        What was asked.
    width : float
        Half of the interval of the difference of the two groups behind the gap.
    n : int
        People of the client (or all).
    behind : PeopleBehind
        Who stands behind the gap.
    needed : int
        People of the smaller group behind it that an interval of +- eps would take.
    """

    client: str | None
    gap: float
    before: float
    low: float
    high: float
    floor: float
    eps: float
    width: float
    n: int
    behind: PeopleBehind
    needed: int

    @property
    def above(self) -> bool:
        """Whether the limit is broken beyond chance."""
        return self.floor > self.eps + _SLACK

    @property
    def told(self) -> bool:
        """Whether its people suffice for an interval of about +- the limit."""
        return self.width <= max(self.eps, CHANCE)

    @property
    def worse(self) -> bool:
        """Whether the gap is larger than the model's own."""
        return self.gap > self.before + CHANCE

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        rate = self.behind.rate
        return {
            "client": self.client,
            "gap": self.gap,
            "gap_before": number_or_none(self.before),
            "interval": [self.low, self.high],
            "eps": self.eps,
            "n": self.n,
            "label": rate.label,
            "answer": rate.answer,
            "behind": {
                self.behind.lower_group: self.behind.lower_n,
                self.behind.higher_group: self.behind.higher_n,
            },
            "needed": self.needed,
            "worse_than_before": self.worse,
        }


def findings_of(
    evaluations: Sequence[Evaluation], level: float, eps: Floats, *, overall: bool
) -> list[Finding]:
    """One finding for each scope that has a limit and a gap."""
    tables = [_Scope.of(one, overall=overall) for one in evaluations]
    before = [_Scope.of(one.before, overall=overall) for one in evaluations]
    own, joint = (
        [gap_interval(table.rate, table.people, each) for table in tables]
        for each in (LEVEL, level)
    )
    with np.errstate(invalid="ignore"):
        low, high = (run_mean([limit[side] for limit in own]) for side in (0, 1))
        floor = run_mean([limit[0] for limit in joint])
        gap, was = (run_mean([part.gap for part in parts]) for parts in (tables, before))
        rate = run_mean([table.rate_or_nan for table in tables])
        people = run_mean([table.people for table in tables])
    counts = evaluations[0].counts
    n = run_mean(
        [[e.counts.n] if overall else e.counts.n_client.astype(float) for e in evaluations]
    )
    found = []
    for place in np.flatnonzero((eps < 1) & ~np.isnan(gap)):
        behind, smaller = _behind(rate[place], people[place], evaluations[0])
        width = _half_width(behind)
        needed = int(np.ceil(smaller * (width / max(float(eps[place]), 0.01)) ** 2))
        found.append(
            Finding(
                client=None if overall else counts.clients[place],
                gap=float(gap[place]),
                before=float(was[place]),
                low=float(low[place]),
                high=float(high[place]),
                floor=float(floor[place]),
                eps=float(eps[place]),
                width=width,
                n=round(float(n[place])),
                behind=behind,
                needed=max(needed, 1),
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class _Scope:
    """Rates and people of every scope of an evaluation: (scopes, groups, rates)."""

    rate: Floats
    people: Floats
    gap: Floats

    @classmethod
    def of(cls, one: Evaluation, *, overall: bool) -> "_Scope":
        answered, people = one.answered, one.people
        gap = one.gaps.local
        if overall:
            answered, people = answered.sum(axis=0)[None], people.sum(axis=0)[None]
            gap = np.array([one.gaps.overall])
        rate = np.divide(answered, people, out=np.zeros_like(people), where=people > 0)
        return cls(rate, people, gap)

    @property
    def rate_or_nan(self) -> Floats:
        return np.where(self.people > 0, self.rate, np.nan)


def _half_width(behind: PeopleBehind) -> float:
    """Half of the 95 % interval of the two groups' difference, around Wilson's middles."""
    z = float(ndtri(1 - (1 - LEVEL) / 2))
    variance = 0.0
    for rate, n in (
        (behind.lower_rate, behind.lower_n),
        (behind.higher_rate, behind.higher_n),
    ):
        middle = (n * rate + z**2 / 2) / (n + z**2)
        variance += middle * (1 - middle) / (n + z**2)
    return float(z * np.sqrt(variance))


def _behind(rate: Floats, people: Floats, one: Evaluation) -> tuple[PeopleBehind, float]:
    """The two groups that lie farthest apart in the worst rate, and the smaller one's people."""
    spread = np.nanmax(rate, axis=0, initial=-np.inf) - np.nanmin(rate, axis=0, initial=np.inf)
    compared = (~np.isnan(rate)).sum(axis=0) > 1
    worst = int(np.where(compared, spread, -np.inf).argmax())
    column = rate[:, worst]
    low, high = int(np.nanargmin(column)), int(np.nanargmax(column))
    if low == high:  # equal rates: any two groups
        low, high = np.flatnonzero(~np.isnan(column))[:2]
    groups = one.counts.groups
    behind = PeopleBehind(
        rate=one.notion.rates[worst],
        lower_group=groups[low],
        lower_n=round(float(people[low, worst])),
        lower_rate=float(column[low]),
        higher_group=groups[high],
        higher_n=round(float(people[high, worst])),
        higher_rate=float(column[high]),
    )
    return behind, float(min(people[low, worst], people[high, worst]))
