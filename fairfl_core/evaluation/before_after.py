"""Shares of people before and after the lottery, over everyone and in each client."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.intervals import normal_quantile, wilson

Floats = NDArray[np.float64]
Counted = tuple[Floats, Floats]  # people a share counts, and people it is a share of
_NOBODY = 1e-9  # expected people: what a lottery never answers is only nearly none in sums
LEVEL = 0.95  # of all intervals
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
