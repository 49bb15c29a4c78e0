"""One limit on people: the gap, how sure it is, who stands behind it, and the rule for chance.

The rule, on every page and in every file. Each gap has an interval; all intervals of a verdict
hold at once with 95 % (Bonferroni). A limit is *broken* beyond chance when the lower end lies above
it, and *kept* when the upper end lies within the limit and a margin: a fifth of the limit, at least
0.02. Otherwise its people are too few to tell. A gap is *within chance* when the lower end of its
own 95 % interval is zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.numbers import members
from fairfl_core.evaluation.before_after import run_mean
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.intervals import gap_interval, normal_quantile
from fairfl_core.fairness.notions import Rate, number_or_none

CHANCE = 0.0005  # a lower end below this is none, at the three decimals that gaps are shown with
SLACK = 5e-4  # a gap shown with three decimals equals its limit up to this
_SHARE, LEAST_MARGIN = 0.2, 0.02  # a margin: so much of the limit, and at least so much
Floats = NDArray[np.float64]


def margin(eps: float) -> float:
    """How far above a limit the upper end of its gap's interval may lie for it to be kept."""
    return max(_SHARE * eps, LEAST_MARGIN)


def within_chance(low: ArrayLike) -> NDArray[np.bool_]:
    """Whether gaps cannot be distinguished from none, by the lower ends of their own 95 % intervals."""
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
        lower = members(self.lower_n, self.lower_group)
        return f"{lower} and {members(self.higher_n, self.higher_group)}{whom}"


class Check(ABC):
    """One thing that is asked, on unseen people: a limit on a gap, or what a policy asks besides."""

    is_promised: bool  # whether a confidence that a predictor is solved with is about it, too
    noisy: bool  # whether its counts carry noise, which no interval contains: nothing can be told

    @property
    @abstractmethod
    def is_broken(self) -> bool:
        """Whether it is broken beyond chance."""

    @property
    @abstractmethod
    def is_kept(self) -> bool:
        """Whether its people show that it is kept, up to the margin."""

    @property
    def is_conclusive(self) -> bool:
        """Whether its people suffice to tell, one way or the other."""
        return self.is_broken or self.is_kept

    @property
    def state(self) -> str:
        """Broken, kept, or that it cannot be told."""
        return "broken" if self.is_broken else "kept" if self.is_kept else "cannot be told"

    @property
    @abstractmethod
    def title(self) -> str:
        """What is asked, and where."""

    @abstractmethod
    def sentence(self) -> str:
        """The figures, what is asked, and its state; names are plain text."""


@dataclass(frozen=True)
class LimitCheck(Check):
    """One limit on unseen people: overall (`client` None) or inside a client.

    Attributes
    ----------
    gap, before : float
        The gap of the fair answers and of the model's own, mean over runs.
    low, high : float
        The gap's interval; those of all limits judged together hold at once with 95 %.
    eps : float
        What was asked.
    n : int
        People of the client (or all).
    behind : PeopleBehind
        Who stands behind the gap.
    needed : int
        About how many people of the smaller group behind it could tell whether it is kept.
    """

    client: str | None
    gap: float
    before: float
    low: float
    high: float
    eps: float
    n: int
    behind: PeopleBehind
    needed: int
    is_promised: bool = True
    noisy: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether the limit is broken beyond chance."""
        return not self.noisy and self.low > self.eps + SLACK

    @property
    def is_kept(self) -> bool:
        """Whether its people show that the gap is within the limit and its margin."""
        return not self.noisy and self.high <= self.eps + margin(self.eps) + 1e-9

    @property
    def title(self) -> str:
        """What is asked, and where."""
        return "limit overall" if self.client is None else f"limit in {self.client}"

    def sentence(self) -> str:
        """The figures, what is asked, and its state; names are plain text."""
        return (
            f"{self.title}: gap {self.gap:.3f}, between {self.low:.3f} and {self.high:.3f}, where "
            f"{self.eps:g} is allowed: {self.state} ({self.behind})."
        )

    @property
    def is_worse(self) -> bool:
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
            "worse_than_before": self.is_worse,
        }


def check_limits(
    evaluations: Sequence[Evaluation], level: float, eps: Floats, *, overall: bool
) -> list[LimitCheck]:
    """Check the limit of each scope that has one and a gap, by intervals of this level."""
    after, before = (
        _Scopes.of(runs, overall=overall)
        for runs in (evaluations, [e.before for e in evaluations])
    )
    low, high = gap_interval(after.rate, after.effective, level)
    low, high = (
        run_mean(part) for part in _with_unknown(low, high, after.gap, evaluations, overall)
    )
    gap, was = run_mean(after.gap), run_mean(before.gap)
    counts = evaluations[0].counts
    n = run_mean(
        [[e.counts.n] if overall else e.counts.n_client.astype(float) for e in evaluations]
    )
    places = np.flatnonzero((eps < 1) & ~np.isnan(gap))
    people = run_mean(after.people)[places]
    behind, smaller = _behind(run_mean(after.rate_or_nan)[places], people, evaluations[0])
    needed = _needed(behind, smaller, gap[places], eps[places], level)
    return [
        LimitCheck(
            client=None if overall else counts.clients[place],
            gap=float(gap[place]),
            before=float(was[place]),
            low=float(low[place]),
            high=float(high[place]),
            eps=float(eps[place]),
            n=round(float(n[place])),
            behind=behind[k],
            needed=needed[k],
            noisy=counts.has_noise,
        )
        for k, place in enumerate(places)
    ]


def _with_unknown(
    low: Floats, high: Floats, gap: Floats, evaluations: Sequence[Evaluation], overall: bool
) -> tuple[Floats, Floats]:
    """Intervals, wider by what gaps could be if rows without a group had one."""
    if evaluations[0].unknown is None:
        return low, high
    bounds = [one.unknown for one in evaluations]
    local = np.stack([[*one[0]] for one in bounds if one])
    both = np.array([one[1] for one in bounds if one])[..., None] if overall else local
    least, most = both[:, 0], both[:, 1]
    return np.clip(low - (gap - least), 0, 1), np.clip(high + (most - gap), 0, 1)


@dataclass(frozen=True, eq=False)
class _Scopes:
    """Rates and people of every run and scope: (runs, scopes, groups, rates); their gaps.

    `effective` are those people, or as many unweighted ones as would tell as much.
    """

    rate: Floats
    people: Floats
    effective: Floats
    gap: Floats

    @classmethod
    def of(cls, runs: Sequence[Evaluation], *, overall: bool) -> "_Scopes":
        answered, people, effective = (
            np.stack([getattr(one, name) for one in runs])
            for name in ("answered", "people", "effective")
        )
        gap = np.stack([[one.gaps.overall] if overall else one.gaps.local for one in runs])
        if overall:
            answered, people = (part.sum(axis=1, keepdims=True) for part in (answered, people))
            effective = np.stack([one.effective_overall[None] for one in runs])
        rate = np.divide(answered, people, out=np.zeros_like(people), where=people > 0)
        return cls(rate, people, effective, gap)

    @property
    def rate_or_nan(self) -> Floats:
        return np.where(self.people > 0, self.rate, np.nan)


def _needed(
    behind: Sequence[PeopleBehind], smaller: Floats, gap: Floats, eps: Floats, level: float
) -> list[int]:
    """People of the smaller group with whom each interval would end within limit and margin.

    A gap beyond that is taken to be just on the limit: more people would tell which it is.
    """
    z = normal_quantile(1 - (1 - level) / 2)
    rate = np.array([(one.lower_rate, one.higher_rate) for one in behind]).reshape(-1, 2)
    n = np.array([(one.lower_n, one.higher_n) for one in behind], float).reshape(-1, 2)
    middle = (n * rate + z**2 / 2) / (n + z**2)
    width = z * np.sqrt((middle * (1 - middle) / np.maximum(n, 1.0)).sum(axis=1))
    margins = np.array([margin(float(one)) for one in eps])
    room = np.maximum(eps + margins - gap, margins)
    return [max(int(number), 1) for number in np.ceil(smaller * (width / room) ** 2)]


def _behind(rate: Floats, people: Floats, one: Evaluation) -> tuple[list[PeopleBehind], Floats]:
    """The two groups of each scope that lie farthest apart in its worst rate, the smaller's people.

    Both arrays are of shape (scopes, groups, rates); a rate nobody is behind is NaN.
    """
    there = ~np.isnan(rate)
    top, bottom = np.where(there, rate, -np.inf), np.where(there, rate, np.inf)
    spread = np.where(there.sum(axis=1) > 1, top.max(axis=1) - bottom.min(axis=1), -np.inf)
    worst, scope = spread.argmax(axis=1), np.arange(len(rate))
    low, high = bottom[scope, :, worst].argmin(axis=1), top[scope, :, worst].argmax(axis=1)
    # Equal rates: any two groups, the first two that have one.
    first = np.argsort(~there[scope, :, worst], axis=1, kind="stable")
    low, high = (np.where(low == high, first[:, k], each) for k, each in enumerate((low, high)))
    groups, rates = one.counts.groups, one.notion.rates
    n = [people[scope, group, worst] for group in (low, high)]
    columns = (worst, low, n[0], rate[scope, low, worst], high, n[1], rate[scope, high, worst])
    behind = [
        PeopleBehind(
            rate=rates[r],
            lower_group=groups[lower],
            lower_n=round(lower_n),
            lower_rate=lower_rate,
            higher_group=groups[higher],
            higher_n=round(higher_n),
            higher_rate=higher_rate,
        )
        for r, lower, lower_n, lower_rate, higher, higher_n, higher_rate in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]
    return behind, np.minimum(*n)
