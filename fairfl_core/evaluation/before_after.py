"""Shares of people before and after the lottery, over everyone and in each client; how gaps closed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.intervals import normal_quantile, wilson
from fairfl_core.fairness.notions import Rate

if TYPE_CHECKING:
    from fairfl_core.evaluation.evaluation import Evaluation

Floats = NDArray[np.float64]
Counted = tuple[Floats, Floats]  # people a share counts, and people it is a share of
_NOBODY = 1e-9  # expected people: what a lottery never answers is only nearly none in sums
LEVEL = 0.95  # of all intervals
SHOWN = 0.0005  # half of what a percentage with one decimal shows: a smaller change is none
Z = normal_quantile(1 - (1 - LEVEL) / 2)


def with_overall(by_client: NDArray[Any]) -> Floats:
    """Counts of everyone before those of each client, along the first axis."""
    return np.concatenate([by_client.sum(axis=0)[None], by_client]).astype(float)


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares with the people behind them and their 95 % limits (Wilson), mean over runs.

    A run in which nobody is behind a share has none; NaN (and n = 0) where no run has one. All
    arrays are alike in shape, (scopes, groups, ...).
    """

    share: Floats
    n: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, runs: Sequence[Counted]) -> "Shares":
        """From the counts of each run."""
        found = []
        for counted, people in runs:
            there = people > _NOBODY
            share = np.divide(counted, people, out=np.zeros_like(people), where=there).clip(0, 1)
            parts = (share, people, *wilson(share, people, Z))
            found.append([np.where(there, part, np.nan) for part in parts])
        share, n, low, high = run_mean(found)
        return cls(share, np.nan_to_num(n), low, high)


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """The same shares of the model's own answers and of the lottery's."""

    before: Shares
    after: Shares

    @classmethod
    def of(cls, before: Sequence[Counted], after: Sequence[Counted]) -> "BeforeAfter":
        """From the counts of each run."""
        return cls(Shares.of(before), Shares.of(after))

    @property
    def change(self) -> Floats:
        """After less before."""
        return self.after.share - self.before.share


# ------------------------------------------------------------------- means over runs


def run_mean(values: Sequence[Any] | Floats) -> Floats:
    """The mean over the runs (first axis) that have a value; NaN where none has."""
    stacked = np.array(values, float)
    there = ~np.isnan(stacked)
    total = np.where(there, stacked, 0.0).sum(axis=0)
    return np.divide(
        total, there.sum(axis=0), out=np.full(total.shape, np.nan), where=there.any(axis=0)
    )


# ------------------------------------------------------------------- crossed groups

FEWEST = 30  # people of a crossed group below which its rates say nothing
NOT_ASSESSABLE = "not assessable"


def assessable(counts: ClientCounts, people: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each of these groups can be judged.

    Crossing cuts people into ever smaller groups: one with fewer than 30 people is reported as not
    assessable. Groups of one column are all judged; their intervals say how little that may be.

    Parameters
    ----------
    counts : ClientCounts
        Know whether their groups are crossed.
    people : ndarray
        People of each group, in any shape; a mean over runs.
    """
    crossed = counts.grouping is not None and len(counts.grouping.columns) > 1
    return (people >= FEWEST) if crossed else np.ones(people.shape, bool)


# ------------------------------------------------------------------- how a gap was closed

# With b_a and f_a a group's rate before and after, the gap is max_a b - min_a b before and
# max_a f - min_a f after. What was closed splits without rest:
#
#     closed  =  (min_a f - min_a b)  +  (max_a b - max_a f)
#             =   raised              +   lowered
#
# *raised* is how far the lowest rate came up, *lowered* how far the highest came down, whichever
# groups these are: so it also holds for more than two groups, and where groups change places. Either
# may be negative: where all groups fall, *lowered* is more than was closed. As shares, a negative part
# counts for nothing: who was lowered from above to below the lowest rate was lowered.
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


def closed_gaps(evaluations: Sequence["Evaluation"]) -> tuple[ClosedGap, ...]:
    """Every gap of a compared rate that was closed, overall and in each client, largest first.

    Gaps are the means over runs of each run's own; groups are named by their mean rates.
    """
    first = evaluations[0]
    sides = [[one.before.scoped for one in evaluations], [one.scoped for one in evaluations]]
    (low, high), (low_after, high_after) = (
        run_mean([_ends(one.answered, one.people) for one in side]) for side in sides
    )
    rates = BeforeAfter.of(*([(one.answered, one.people) for one in side] for side in sides))
    parts = (rates.before.n, rates.before.share, rates.after.share)
    by_group = np.stack(parts, axis=-1).swapaxes(1, 2)  # (scopes, rates, groups, 3)
    found = []
    for scope, r in np.argwhere(np.nan_to_num((high - low) - (high_after - low_after)) > SHOWN):
        groups = [
            GroupRate(name, round(n), before, after)
            for name, (n, before, after) in zip(
                first.counts.groups, by_group[scope, r].tolist(), strict=True
            )
            if before == before
        ]
        bottom, top, bottom_after, top_after = (
            float(part[scope, r]) for part in (low, high, low_after, high_after)
        )
        found.append(
            ClosedGap(
                client=first.scopes[scope],
                rate=first.notion.rates[r],
                before=top - bottom,
                after=top_after - bottom_after,
                raised=bottom_after - bottom,
                lowered=top - top_after,
                lower=min(groups, key=lambda one: one.before),
                # Of groups that were equal on average, the last is called the higher: two are named.
                higher=max(reversed(groups), key=lambda one: one.before),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.client is not None, -one.closed)))


def _ends(answered: Floats, people: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest rate over groups, (scopes, rates); NaN where fewer than two have one."""
    there = people > 0
    rate = np.divide(answered, people, out=np.zeros_like(people), where=there)
    compared = there.sum(axis=1) > 1
    low, high = (
        rate.min(axis=1, where=there, initial=np.inf),
        rate.max(axis=1, where=there, initial=-np.inf),
    )
    return np.where(compared, low, np.nan), np.where(compared, high, np.nan)


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
