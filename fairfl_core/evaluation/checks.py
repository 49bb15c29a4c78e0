"""All that is asked, judged on people: gaps, floors, ratios, precision, capacity; and the rule for chance.

The rule, on every page and in every file. Each gap or share has an interval; all intervals of a
verdict hold at once with 95 % (Bonferroni). What is asked is *broken* beyond chance when its whole
interval lies on the wrong side, and *kept* when the interval passes the limit by at most a margin:
of a gap a fifth of the limit, and of anything at least 0.02. Otherwise its people are too few to
tell. A gap is *within chance* when the lower end of its own 95 % interval is zero.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.numbers import members
from fairfl_core.evaluation.before_after import run_mean, with_overall
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.intervals import (
    at_once,
    clopper_pearson,
    gap_interval,
    normal_quantile,
)
from fairfl_core.fairness.notions import Notion, Rate, number_or_none, spread
from fairfl_core.lp.constraints.gaps import Merged
from fairfl_core.lp.policy import Policy

CHANCE = 0.0005  # a lower end below this is none, at the three decimals that gaps are shown with
SLACK = 5e-4  # a gap shown with three decimals equals its limit up to this
_SHARE, LEAST_MARGIN = 0.2, 0.02  # a margin: so much of the limit, and at least so much
Floats = NDArray[np.float64]
Interval = tuple[Floats, Floats]


def margin(eps: float) -> float:
    """How far above a limit the upper end of its gap's interval may lie for it to be kept."""
    return max(_SHARE * eps, LEAST_MARGIN)


def within_chance(low: ArrayLike) -> NDArray[np.bool_]:
    """Whether gaps cannot be distinguished from none, by the lower ends of their own 95 % intervals."""
    return np.less(low, CHANCE)


@dataclass(frozen=True)
class Check:
    """One thing that is asked, on unseen people.

    Attributes
    ----------
    what : str
        What is measured, in words.
    client, group : str or None
        Where; None for all of them.
    value, low, high : float
        What it is, mean over runs, and its interval, which holds at once with all of a verdict.
    bound : float
        What was asked.
    margin : float
        How far the interval may pass the bound for it to be kept.
    n : int
        People of the client (or all) whom it is about.
    at_least : bool
        Whether it is to be at least the bound, or at most.
    is_promised : bool
        Whether a confidence that a predictor is solved with is about it, too.
    noisy : bool
        Whether the counts carry noise, which no interval contains: then nothing can be told.
    """

    what: str
    client: str | None
    value: float
    low: float
    high: float
    bound: float
    margin: float
    n: int
    group: str | None = None
    at_least: bool = False
    is_promised: bool = False
    noisy: bool = False

    @property
    def excess(self) -> float:
        """How far the interval passes the bound; below 0 where it does not."""
        return self.bound - self.low if self.at_least else self.high - self.bound

    @property
    def is_broken(self) -> bool:
        """Whether it is broken beyond chance."""
        beyond = self.bound - self.high if self.at_least else self.low - self.bound
        return not self.noisy and beyond > SLACK

    @property
    def is_kept(self) -> bool:
        """Whether its people show that it is kept, up to the margin."""
        return not self.noisy and self.excess <= self.margin + 1e-9

    @property
    def is_conclusive(self) -> bool:
        """Whether its people suffice to tell, one way or the other."""
        return self.is_broken or self.is_kept

    @property
    def state(self) -> str:
        """Broken, kept, or that it cannot be told."""
        return "broken" if self.is_broken else "kept" if self.is_kept else "cannot be told"

    @property
    def where(self) -> str:
        """Client and group, as far as it is about one."""
        return ", ".join(filter(None, (self.client or "Overall", self.group)))

    @property
    def title(self) -> str:
        """What is asked, and where."""
        return f"{self.what}, {self.where}"

    def sentence(self) -> str:
        """The figures, what is asked, and its state; names are plain text."""
        return f"{self.describe()}: {self.state} (n = {self.n:,})."

    def describe(self) -> str:
        """The figures in a clause; names are plain text."""
        side = "least" if self.at_least else "most"
        return (
            f"{self.where}: {self.what} {self.value:.3f}, between {self.low:.3f} and "
            f"{self.high:.3f}, where at {side} {self.bound:g} is asked"
        )

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "what": self.what,
            "client": self.client,
            "group": self.group,
            "value": self.value,
            "interval": [self.low, self.high],
            "at_least" if self.at_least else "at_most": self.bound,
            "n": self.n,
            "state": self.state,
        }


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


@dataclass(frozen=True, kw_only=True)
class LimitCheck(Check):
    """The limit of a gap: overall (`client` None) or inside a client.

    Attributes
    ----------
    before : float
        The gap of the model's own answers, mean over runs.
    behind : PeopleBehind
        Who stands behind the gap.
    needed : int
        About how many people of the smaller group behind it could tell whether it is kept.
    """

    before: float
    behind: PeopleBehind
    needed: int
    is_promised: bool = True

    @property
    def gap(self) -> float:
        """The gap of the fair answers, mean over runs."""
        return self.value

    @property
    def eps(self) -> float:
        """What was asked."""
        return self.bound

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
        behind = self.behind
        return {
            "client": self.client,
            "gap": self.gap,
            "gap_before": number_or_none(self.before),
            "interval": [self.low, self.high],
            "eps": self.eps,
            "n": self.n,
            "label": behind.rate.label,
            "answer": behind.rate.answer,
            "behind": {
                behind.lower_group: behind.lower_n,
                behind.higher_group: behind.higher_n,
            },
            "needed": self.needed,
            "worse_than_before": self.is_worse,
        }


# -------------------------------------------------------------------- the limits of gaps


def check_limits(runs: Sequence[Evaluation], level: float, eps: Floats) -> list[LimitCheck]:
    """Check each limit below 1 where there is a gap, by intervals of this level.

    `eps` has the overall limit first, then each client's.
    """
    counts, scopes = runs[0].counts, runs[0].scopes
    gap, rate, people, effective = (
        np.stack([getattr(one.scoped, name) for one in runs])
        for name in ("gap", "rate", "people", "effective")
    )
    low, high = gap_interval(rate, effective, level)
    unknown = [one.unknown for one in runs if one.unknown is not None]
    if unknown:  # what gaps could be if rows without a group had one
        least, most = np.stack(unknown, axis=1)
        low, high = np.clip(low - (gap - least), 0, 1), np.clip(high + (most - gap), 0, 1)
    before = run_mean([one.before.scoped.gap for one in runs])
    n = run_mean([[one.counts.n, *one.counts.n_client] for one in runs])
    low, high, gap = run_mean(low), run_mean(high), run_mean(gap)
    rate, people = run_mean(np.where(people > 0, rate, np.nan)), run_mean(people)
    z = normal_quantile(1 - (1 - level) / 2)
    found = []
    for at in np.flatnonzero((eps < 1) & ~np.isnan(gap)).tolist():
        behind, smaller = _behind(rate[at], people[at], runs[0])
        bound = float(eps[at])
        found.append(
            LimitCheck(
                what="gap",
                client=scopes[at],
                value=float(gap[at]),
                before=float(before[at]),
                low=float(low[at]),
                high=float(high[at]),
                bound=bound,
                margin=margin(bound),
                n=round(n[at]),
                behind=behind,
                needed=_needed(behind, smaller, float(gap[at]), bound, z),
                noisy=counts.has_noise,
            )
        )
    return found


def _needed(behind: PeopleBehind, smaller: float, gap: float, eps: float, z: float) -> int:
    """People of the smaller group with whom an interval would end within limit and margin.

    A gap beyond that is taken to be just on the limit: more people would tell which it is.
    """
    n = np.array([behind.lower_n, behind.higher_n], float)
    rate = np.array([behind.lower_rate, behind.higher_rate])
    middle = (n * rate + z**2 / 2) / (n + z**2)
    width = z * np.sqrt((middle * (1 - middle) / np.maximum(n, 1.0)).sum())
    room = max(eps + margin(eps) - gap, margin(eps))
    return max(int(np.ceil(smaller * (width / room) ** 2)), 1)


def _behind(rate: Floats, people: Floats, one: Evaluation) -> tuple[PeopleBehind, float]:
    """The two groups that lie farthest apart in their worst rate, and the smaller's people.

    Both arrays are of shape (groups, rates); a rate nobody is behind is NaN.
    """
    there = ~np.isnan(rate)
    top, bottom = np.where(there, rate, -np.inf), np.where(there, rate, np.inf)
    spread = np.where(there.sum(axis=0) > 1, top.max(axis=0) - bottom.min(axis=0), -np.inf)
    r = int(spread.argmax())
    low, high = int(bottom[:, r].argmin()), int(top[:, r].argmax())
    if low == high:  # equal rates: any two groups, the first two that have one
        low, high = np.flatnonzero(there[:, r])[:2].tolist()
    ends = [(one.counts.groups[a], round(people[a, r]), float(rate[a, r])) for a in (low, high)]
    return PeopleBehind(one.notion.rates[r], *ends[0], *ends[1]), float(
        people[[low, high], r].min()
    )


# -------------------------------------------------------------------- what a policy asks besides


@dataclass(frozen=True, eq=False)
class Besides:
    """One thing that a policy asks in several places.

    Attributes
    ----------
    kind : dict
        The fields of `Check` that all places share.
    places : sequence of (client or None, group or None)
    value, n : ndarray, shape (runs, places)
        NaN where there is nothing to judge.
    interval : callable
        Returns the limits of `value` at a level, each of its shape.
    """

    kind: dict[str, Any]
    places: Sequence[tuple[str | None, str | None]]
    value: Floats
    n: Floats
    interval: Callable[[float], Interval]

    @property
    def is_there(self) -> NDArray[np.bool_]:
        """Where there is something to judge."""
        return np.asarray(~np.isnan(run_mean(self.value).ravel()))

    def checks(self, level: float, *, noisy: bool) -> Iterator[Check]:
        """Check every place that has a value, by intervals of this level."""
        parts = (self.value, self.n, *self.interval(level))
        mean, people, low, high = (run_mean(part).ravel().tolist() for part in parts)
        for k in np.flatnonzero(self.is_there).tolist():
            client, group = self.places[k]
            yield Check(
                client=client,
                group=group,
                value=mean[k],
                low=low[k],
                high=high[k],
                n=round(people[k]),
                noisy=noisy,
                **self.kind,
            )


def asked_besides(runs: Sequence[Evaluation], policy: Policy) -> list[Besides]:
    """All that a policy asks of these answers beyond the two epsilons."""
    return [one for part in (_floors, _ratios, _shares, _limits) for one in part(runs, policy)]


def _kind(what: str, bound: float, **more: Any) -> dict[str, Any]:
    return {"what": what, "bound": bound, "at_least": True, "margin": LEAST_MARGIN} | more


def _scopes(one: Evaluation, inside: bool) -> tuple[slice, list[tuple[str | None, None]]]:
    """Which of everyone and the clients are meant, and their names."""
    chosen = slice(1, None) if inside else slice(1)
    return chosen, [(client, None) for client in one.scopes[chosen]]


def _rate(part: Floats, whole: Floats) -> Floats:
    rate = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 1e-9)
    return np.clip(rate, 0.0, 1.0)


def _limits_of(rate: Floats, n: Floats, level: float) -> Interval:
    """Exact limits of shares; NaN where nobody is behind one."""
    limits = clopper_pearson(np.nan_to_num(rate), n, normal_quantile(1 - (1 - level) / 2))
    low, high = (np.where(np.isnan(rate), np.nan, part) for part in limits)
    return low, high


def _floors(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Besides]:
    """Recognitions, and how they changed, in every client and group with people of the label."""
    counts = runs[0].counts
    places = [(client, group) for client in counts.clients for group in counts.groups]
    for floor in policy.floors:
        y, name = counts.labels.index(floor.label), f"“{floor.label}” recognised"
        recognition = Notion("", counts.labels, (Rate(floor.label, floor.label),))
        judged = [replace(one, notion=recognition) for one in runs]
        people, n, after, before = (
            np.stack(part)[..., 0]
            for part in (
                [one.people for one in judged],
                [one.effective for one in judged],
                [one.answered for one in judged],
                [one.before.answered for one in judged],
            )
        )
        if floor.keeps is None:
            rate, asked = _rate(after, people), _kind(name, floor.rate, is_promised=True)
            yield Besides(asked, places, rate, people, partial(_limits_of, rate, n))
            continue
        both = np.stack([one.answers.both_right[:, :, y] for one in runs])
        gained, lost = _rate(after - both, people), _rate(before - both, people)
        asked = _kind(f"change of {name}", -floor.keeps, is_promised=True)
        interval = partial(_change_limits, gained, lost, n)
        yield Besides(asked, places, gained - lost, people, interval)


def _change_limits(gained: Floats, lost: Floats, n: Floats, level: float) -> Interval:
    """Limits of a difference of two shares of the same people: each has half of the error."""
    more, fewer = (_limits_of(part, n, at_once(level, 2)) for part in (gained, lost))
    return more[0] - fewer[1], more[1] - fewer[0]


def _ratios(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Besides]:
    """The lowest group's rate by the highest one's: overall, and in every client."""
    counts, rates = runs[0].counts, runs[0].notion.rates
    answered, people, n = (
        np.stack([getattr(one.scoped, name) for one in runs])
        for name in ("answered", "people", "effective")
    )
    large = counts.n_label.sum(axis=(0, 2)) >= policy.ratio_leave_out * counts.n
    rate = np.where(large[:, None], _rate(answered, people), np.nan)
    compared = (~np.isnan(rate)).sum(axis=2, keepdims=True) > 1
    rate = np.where(compared, rate, np.nan)
    for rho, inside in ((policy.ratio_global, False), (policy.ratio_local, True)):
        chosen, places = _scopes(runs[0], inside)
        for r, one in enumerate(rates):
            if rho is None or (one.label is None and one.answer != counts.favourable):
                continue
            at = (slice(None), chosen, slice(None), r)
            value, behind = _ratio(rate[at], rate[at]), people[at].sum(axis=-1)
            interval = partial(_ratio_limits, rate[at], n[at])
            yield Besides(_kind(f"ratio of {one}", rho), places, value, behind, interval)


def _ratio(lowest: Floats, highest: Floats) -> Floats:
    """The least of some by the largest of others, over groups; 1 where all are none."""
    nobody = np.isnan(lowest).all(axis=-1)
    least = np.where(np.isnan(lowest), np.inf, lowest).min(axis=-1)
    most = np.where(np.isnan(highest), 0.0, highest).max(axis=-1)
    ratio = np.divide(least, most, out=np.ones(least.shape), where=(most > 0) & ~nobody)
    return np.where(nobody, np.nan, np.minimum(ratio, 1.0))


def _ratio_limits(rate: Floats, n: Floats, level: float) -> Interval:
    """Limits of a ratio of the lowest to the highest: those of all groups hold at once."""
    low, high = _limits_of(rate, n, at_once(level, rate.shape[-1]))
    return _ratio(low, high), _ratio(high, low)


def _shares(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Besides]:
    """How precise an answer is, and how many are answered favourably."""
    counts = runs[0].counts
    confusion = np.stack([with_overall(one.confusion.sum(axis=1)) for one in runs])
    everyone, answered = confusion.sum(axis=(2, 3)), confusion.sum(axis=2)
    for one in policy.precision:
        y, (chosen, places) = (
            counts.labels.index(one.label),
            _scopes(runs[0], one.scope == "local"),
        )
        rate, n = _rate(confusion[..., y, y], answered[..., y])[:, chosen], answered[:, chosen, y]
        asked = _kind(f"precision of “{one.label}”", one.rate)
        yield Besides(asked, places, rate, n, partial(_limits_of, rate, n))
    y = counts.labels.index(counts.favourable)
    for most, inside in ((policy.capacity_global, False), (policy.capacity_local, True)):
        if most is not None:
            chosen, places = _scopes(runs[0], inside)
            rate, n = _rate(answered[..., y], everyone)[:, chosen], everyone[:, chosen]
            asked = _kind(f"answered “{counts.favourable}”", most, at_least=False)
            yield Besides(asked, places, rate, n, partial(_limits_of, rate, n))


def _limits(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Besides]:
    """Gaps between the groups of other groupings."""
    counts = runs[0].counts
    for limit in policy.limits:
        merged = Merged(limit.grouping, *counts.coarsen(limit.grouping))
        chosen, places = _scopes(runs[0], limit.scope == "local")
        answered, people, n = (
            np.stack([merged.pooled(getattr(one.scoped, name)) for one in runs])
            for name in ("answered", "people", "effective")
        )
        gap = spread(answered, people)[:, chosen]
        rate = np.nan_to_num(_rate(answered, people))[:, chosen]
        what, eps = f"gap between groups of {limit.grouping}", limit.eps
        asked = _kind(what, eps, at_least=False, margin=margin(eps))
        behind = people.sum(axis=2).max(axis=-1)[:, chosen]
        yield Besides(asked, places, gap, behind, partial(gap_interval, rate, n[:, chosen]))
