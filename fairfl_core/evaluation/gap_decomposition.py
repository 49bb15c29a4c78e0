"""How a gap was closed: by raising the lower rate, or by lowering the higher one.

With b_a and f_a a group's rate before and after, the gap is max_a b - min_a b before and
max_a f - min_a f after. What was closed splits without rest:

    closed  =  (min_a f - min_a b)  +  (max_a b - max_a f)
            =   raised              +   lowered

*raised* is how far the lowest rate came up, *lowered* how far the highest came down, whichever
groups these are: so it also holds for more than two groups, and where groups change places. Either
may be negative: where all groups fall, *lowered* is more than was closed. As shares, a negative part
counts for nothing: who was lowered from above to below the lowest rate was lowered.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.alarms import SHOWN
from fairfl_core.evaluation.before_after import BeforeAfter, run_mean
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.notions import Rate

Floats = NDArray[np.float64]
_NONE = 0.005  # a smaller share is not reported
_WORDS = (
    *((0.2, "a little"), (0.29, "a quarter"), (0.42, "a third")),
    *((0.58, "half"), (0.71, "two thirds")),
)


@dataclass(frozen=True)
class GroupRate:
    """One group's rate before and after, with the people behind it."""

    group: str
    n: int
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.group} ({self._moved()}, n = {self.n:,})"

    def _moved(self) -> str:
        """Write both rates with one decimal, or with as many as tell them apart."""
        for digits in (1, 2, 3):
            was, now = (f"{100 * rate:.{digits}f} %" for rate in (self.before, self.after))
            if was != now:
                return f"{was} → {now}"
        return f"{100 * self.after:.1f} %"


@dataclass(frozen=True)
class ClosedGap:
    """A gap of one compared rate that is smaller than before; means over runs.

    Attributes
    ----------
    client : str or None
        None for the overall gap.
    rate : Rate
    before, after : float
        The gap, before and after.
    raised, lowered : float
        How far the lowest rate came up and the highest came down; they add up to what was closed.
    lower, higher : GroupRate
        Who was lowest and who was highest before.
    """

    client: str | None
    rate: Rate
    before: float
    after: float
    raised: float
    lowered: float
    lower: GroupRate
    higher: GroupRate

    @property
    def closed(self) -> float:
        """How much smaller the gap is."""
        return self.before - self.after

    @property
    def share_lowered(self) -> float:
        """The share that came from lowering, between 0 and 1; the rest came from raising."""
        up, down = max(self.raised, 0.0), max(self.lowered, 0.0)
        return down / (up + down)

    @property
    def crossed(self) -> bool:
        """Whether who was lowest now lies above who was highest."""
        return self.lower.after > self.higher.after + SHOWN

    def sentence(self) -> str:
        """How the gap was closed, in one sentence; names are plain text."""
        where = "Overall" if self.client is None else self.client
        verb = _verb(self.rate)
        text = f"{where}, {_named(self.rate)}: the gap went from {self.before:.3f} to {self.after:.3f}"
        down = self.share_lowered
        parts = []
        if down >= _NONE:
            parts.append(f"{_in_words(down)} of that by {verb} fewer {self.higher}")
        if down <= 1 - _NONE:
            parts.append(f"{_in_words(1 - down)} of that by {verb} more {self.lower}")
        if down > 1 - _NONE and self.lower.after < self.lower.before - SHOWN:
            parts.append(f"and fewer {self.lower} too")
        if down < _NONE and self.higher.after > self.higher.before + SHOWN:
            parts.append(f"and more {self.higher} too")
        return f"{text}, {', '.join(parts)}."

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "client": self.client,
            "label": self.rate.label,
            "answer": self.rate.answer,
            "gap_before": self.before,
            "gap": self.after,
            "raised": self.raised,
            "lowered": self.lowered,
            "share_raised": 1 - self.share_lowered,
            "share_lowered": self.share_lowered,
            "lower": asdict(self.lower),
            "higher": asdict(self.higher),
            "crossed": self.crossed,
            "sentence": self.sentence(),
        }


def closed_gaps(evaluations: Sequence[Evaluation]) -> tuple[ClosedGap, ...]:
    """Every gap of a compared rate that was closed, overall and in each client, largest first.

    Gaps are the means over runs of each run's own; groups are named by their mean rates.
    """
    first = evaluations[0]
    people = [one.scoped.people for one in evaluations]
    sides = [
        [one.before.scoped.answered for one in evaluations],
        [one.scoped.answered for one in evaluations],
    ]
    rates = BeforeAfter.of(*(list(zip(side, people, strict=True)) for side in sides))
    (low, high), (low_after, high_after) = (_ends(side, people) for side in sides)
    found = np.nan_to_num((high - low) - (high_after - low_after)) > SHOWN
    names, compared = first.scopes, first.notion.rates
    farthest = _farthest(rates, found, first.counts.groups)
    figures = zip(
        *(part[found].tolist() for part in (low, high, low_after, high_after)), strict=True
    )
    gaps = [
        ClosedGap(
            client=names[scope],
            rate=compared[r],
            before=top - bottom,
            after=top_after - bottom_after,
            raised=bottom_after - bottom,
            lowered=top - top_after,
            lower=lower,
            higher=higher,
        )
        for (scope, r), (bottom, top, bottom_after, top_after), (lower, higher) in zip(
            np.argwhere(found).tolist(), figures, farthest, strict=True
        )
    ]
    return tuple(sorted(gaps, key=lambda one: (one.client is not None, -one.closed)))


def _ends(counted: Sequence[Floats], people: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The lowest and the highest rate over groups, mean over runs: (scopes, rates).

    NaN for runs in which fewer than two groups have people behind the rate.
    """
    lows, highs = [], []
    for part, whole in zip(counted, people, strict=True):
        there = whole > 0
        rate = np.divide(part, whole, out=np.zeros_like(whole), where=there)
        compared = there.sum(axis=1) > 1
        lows.append(np.where(compared, rate.min(axis=1, where=there, initial=np.inf), np.nan))
        highs.append(np.where(compared, rate.max(axis=1, where=there, initial=-np.inf), np.nan))
    return run_mean(lows), run_mean(highs)


def _farthest(
    rates: BeforeAfter, chosen: NDArray[np.bool_], groups: tuple[str, ...]
) -> list[tuple[GroupRate, GroupRate]]:
    """The groups that were lowest and highest before, for the chosen (scopes, rates)."""
    n, before, after = (
        np.moveaxis(part, 1, 2)[chosen]  # (chosen, groups)
        for part in (rates.before.n, rates.before.share, rates.after.share)
    )
    there = ~np.isnan(before)
    low = np.where(there, before, np.inf).argmin(axis=1)
    # Of groups that were equal on average, the last is called the higher: two are named.
    high = before.shape[1] - 1 - np.where(there, before, -np.inf)[:, ::-1].argmax(axis=1)
    rows = np.arange(len(low))
    ends = []
    for end in (low, high):
        parts = zip(*(part[rows, end].tolist() for part in (n, before, after)), strict=True)
        ends.append(
            [
                GroupRate(groups[a], round(people), was, now)
                for a, (people, was, now) in zip(end.tolist(), parts, strict=True)
            ]
        )
    return list(zip(*ends, strict=True))


def _named(rate: Rate) -> str:
    if rate.label is None:
        return f"answered “{rate.answer}”"
    if rate.label == rate.answer:
        return f"“{rate.label}” recognised"
    return f"“{rate.label}” answered “{rate.answer}”"


def _verb(rate: Rate) -> str:
    """What is done to fewer or more of a group."""
    return "recognising" if rate.label == rate.answer else f"answering “{rate.answer}” to"


def _in_words(share: float) -> str:
    if share > 1 - _NONE:
        return "all"
    if share >= 0.8:
        return "most"
    return next((word for most, word in _WORDS if share < most), "three quarters")
