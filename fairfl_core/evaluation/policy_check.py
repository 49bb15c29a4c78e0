"""What a policy asks beyond its gaps, judged on people: floors, ratios, precision, capacity.

The rule for chance is that of the limits (see `limit_check`): each share has an interval, and all
of a verdict's hold at once. What is asked is *broken* where the whole interval lies on the wrong
side, and *kept* where the interval passes it by at most a margin of 0.02 (of gaps between other
groupings: the margin of any gap). Otherwise its people are too few to tell.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.before_after import run_mean, with_overall
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.limit_check import LEAST_MARGIN, SLACK, Check, margin
from fairfl_core.fairness.intervals import (
    at_once,
    clopper_pearson,
    gap_interval,
    normal_quantile,
)
from fairfl_core.fairness.notions import Notion, Rate
from fairfl_core.lp.constraints.gaps import Merged
from fairfl_core.lp.policy import Policy

Floats = NDArray[np.float64]
Interval = tuple[Floats, Floats]


@dataclass(frozen=True)
class PolicyCheck(Check):
    """One thing that a policy asks, on unseen people.

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
    at_least : bool
        Whether it is to be at least the bound, or at most.
    margin : float
        How far the interval may pass the bound for it to be kept.
    n : int
        The people behind it.
    is_promised : bool
        Whether a confidence that a predictor is solved with is about it, too.
    noisy : bool
        Whether the counts carry noise: then nothing can be told.
    """

    what: str
    client: str | None
    group: str | None
    value: float
    low: float
    high: float
    bound: float
    at_least: bool
    margin: float
    n: int
    is_promised: bool
    noisy: bool

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


@dataclass(frozen=True, eq=False)
class Asked:
    """One thing that a policy asks in several places.

    Attributes
    ----------
    kind : dict
        The fields of `PolicyCheck` that all places share.
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

    def checks(self, level: float, *, noisy: bool) -> Iterator[PolicyCheck]:
        """Check every place that has a value, by intervals of this level."""
        parts = (self.value, self.n, *self.interval(level))
        mean, people, low, high = (run_mean(part).ravel().tolist() for part in parts)
        for k in np.flatnonzero(self.is_there).tolist():
            client, group = self.places[k]
            yield PolicyCheck(
                client=client,
                group=group,
                value=mean[k],
                low=low[k],
                high=high[k],
                n=round(people[k]),
                noisy=noisy,
                **self.kind,
            )


def asked_of(runs: Sequence[Evaluation], policy: Policy) -> list[Asked]:
    """All that a policy asks of these answers beyond the two epsilons."""
    return [one for part in (_floors, _ratios, _shares, _limits) for one in part(runs, policy)]


def _rate(part: Floats, whole: Floats) -> Floats:
    rate = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 1e-9)
    return np.clip(rate, 0.0, 1.0)


def _limits_of(rate: Floats, n: Floats, level: float) -> Interval:
    """Exact limits of shares; NaN where nobody is behind one."""
    limits = clopper_pearson(np.nan_to_num(rate), n, normal_quantile(1 - (1 - level) / 2))
    low, high = (np.where(np.isnan(rate), np.nan, part) for part in limits)
    return low, high


def _floors(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Asked]:
    """Recognitions, and how they changed, in every client and group with people of the label."""
    counts = runs[0].counts
    places = [(client, group) for client in counts.clients for group in counts.groups]
    for floor in policy.floors:
        y = counts.labels.index(floor.label)
        people = np.stack([one.counts.n_label[:, :, y].astype(float) for one in runs])
        recognition = Notion("", counts.labels, (Rate(floor.label, floor.label),))
        n = np.stack([_effective(one, recognition)[..., 0] for one in runs])
        after, before = (
            np.stack([part.confusion[:, :, y, y] for part in parts])
            for parts in ([one.answers for one in runs], [one.own for one in runs])
        )
        asked: dict[str, Any] = {"at_least": True, "margin": LEAST_MARGIN, "is_promised": True}
        if floor.keeps is None:
            rate = _rate(after, people)
            asked |= {"what": f"“{floor.label}” recognised", "bound": floor.rate}
            yield Asked(asked, places, rate, people, partial(_limits_of, rate, n))
            continue
        both = np.stack([one.answers.both_right[:, :, y] for one in runs])
        gained, lost = _rate(after - both, people), _rate(before - both, people)
        asked |= {"what": f"change of “{floor.label}” recognised", "bound": -floor.keeps}
        interval = partial(_change_limits, gained, lost, n)
        yield Asked(asked, places, gained - lost, people, interval)


def _change_limits(gained: Floats, lost: Floats, n: Floats, level: float) -> Interval:
    """Limits of a difference of two shares of the same people: each has half of the error."""
    more, fewer = (_limits_of(part, n, at_once(level, 2)) for part in (gained, lost))
    return more[0] - fewer[1], more[1] - fewer[0]


def _effective(one: Evaluation, notion: Notion) -> Floats:
    """As many unweighted people as would tell as much of each rate: (clients, groups, rates)."""
    people, weighting = notion.people(one.counts.n_label), one.counts.weighting
    return people if weighting is None else weighting.effective(people, notion.given)


def _scopes(inside: bool, clients: tuple[str, ...]) -> tuple[slice, list[tuple[str | None, None]]]:
    """Which of everyone and the clients are meant, and their names."""
    named = [(client, None) for client in clients]
    return (slice(1, None), [*named]) if inside else (slice(1), [(None, None)])


def _ratios(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Asked]:
    """The lowest group's rate by the highest one's: overall, and in every client."""
    counts, rates = runs[0].counts, runs[0].notion.rates
    answered, people = (
        np.stack([with_overall(getattr(one, name)) for one in runs])
        for name in ("answered", "people")
    )
    n = np.stack([np.concatenate([one.effective_overall[None], one.effective]) for one in runs])
    large = counts.n_label.sum(axis=(0, 2)) >= policy.ratio_leave_out * counts.n
    rate = np.where(large[:, None], _rate(answered, people), np.nan)
    compared = (~np.isnan(rate)).sum(axis=2, keepdims=True) > 1
    rate = np.where(compared, rate, np.nan)
    for rho, inside in ((policy.ratio_global, False), (policy.ratio_local, True)):
        chosen, places = _scopes(inside, counts.clients)
        for r, one in enumerate(rates):
            if rho is None or (one.label is None and one.answer != counts.favourable):
                continue
            at = (slice(None), chosen, slice(None), r)
            asked: dict[str, Any] = {"what": f"ratio of {one}", "bound": rho, "at_least": True}
            asked |= {"margin": LEAST_MARGIN, "is_promised": False}
            value, behind = _ratio(rate[at], rate[at]), people[at].sum(axis=-1)
            interval = partial(_ratio_limits, rate[at], n[at])
            yield Asked(asked, places, value, behind, interval)


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


def _shares(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Asked]:
    """How precise an answer is, and how many are answered favourably."""
    counts = runs[0].counts
    capacities = ((policy.capacity_global, False), (policy.capacity_local, True))
    wanted: list[tuple[str, bool, float, str, bool]] = [
        (f"precision of “{one.label}”", True, one.rate, one.label, one.scope == "local")
        for one in policy.precision
    ] + [
        (f"answered “{counts.favourable}”", False, share, counts.favourable, inside)
        for share, inside in capacities
        if share is not None
    ]
    confusion = np.stack([with_overall(one.confusion.sum(axis=1)) for one in runs])
    for what, is_precision, bound, label, inside in wanted:
        y = counts.labels.index(label)
        answered = confusion[..., y].sum(axis=-1)
        right, everyone = confusion[..., y, y], confusion.sum(axis=(2, 3))
        part, whole = (right, answered) if is_precision else (answered, everyone)
        chosen, places = _scopes(inside, counts.clients)
        rate, n = _rate(part, whole)[:, chosen], whole[:, chosen]
        asked: dict[str, Any] = {"what": what, "bound": bound, "at_least": is_precision}
        asked |= {"margin": LEAST_MARGIN, "is_promised": False}
        yield Asked(asked, places, rate, n, partial(_limits_of, rate, n))


def _limits(runs: Sequence[Evaluation], policy: Policy) -> Iterator[Asked]:
    """Gaps between the groups of other groupings."""
    counts = runs[0].counts
    for limit in policy.limits:
        merged = Merged(limit.grouping, *counts.coarsen(limit.grouping))
        inside = limit.scope == "local"
        chosen, places = _scopes(inside, counts.clients)
        answered, people, n = (
            np.stack([with_overall(merged.pooled(getattr(one, name))) for one in runs])[:, chosen]
            for name in ("answered", "people", "effective")
        )
        rate = _rate(answered, people)
        most = np.where(np.isnan(rate), -np.inf, rate).max(axis=2)
        least = np.where(np.isnan(rate), np.inf, rate).min(axis=2)
        compared = (people > 0).sum(axis=2) > 1
        gap = np.where(compared, most - least, -np.inf).max(axis=-1)
        gap = np.where(np.isneginf(gap), np.nan, gap)
        asked: dict[str, Any] = {
            "what": f"gap between groups of {limit.grouping}",
            "bound": limit.eps,
        }
        asked |= {"at_least": False, "margin": margin(limit.eps), "is_promised": False}
        behind = people.sum(axis=2).max(axis=-1)
        interval = partial(gap_interval, np.nan_to_num(rate), n)
        yield Asked(asked, places, gap, behind, interval)
