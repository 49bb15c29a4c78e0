"""Where the rates come from: counted labels, recalibrated scores, or labels shrunk to the pool.

The program sees people only through how many of each cell and label get each answer. Counting
labels is exact on the people it is fitted on and over-fits small cells; a calibrated score says
for every person how likely each label is, so that E[1(answer = y) r_y] / E[r_y] estimates a rate
from every row; shrinking lets a small cell borrow from its group in the other clients. The choice
is independent of the region.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts, count_people, table_shape
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.lp.rules import RuleTable

__all__ = [
    "PSEUDO_ROWS",
    "RATES",
    "Measured",
    "check_rates",
    "counted",
    "counts_by",
    "measured",
    "pull",
    "rate_names",
    "shrink",
]

RATES = ("labels", "scores", "shrunk")
PSEUDO_ROWS = 100  # m: how many rows the pooled rate counts for
_NUMBER = 8  # bytes of a number sent
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measured:
    """Points that rules of scores are measured on.

    Attributes
    ----------
    cell : ndarray, shape (points,)
        Client times the number of groups, plus group.
    scores : ndarray, shape (points, labels)
    predicted : ndarray, shape (points,)
        The model's own answer.
    amount : ndarray, shape (points, labels)
        How many people of each label are at the point: 0 or 1 where labels are counted, the
        score itself where it is trusted, any number for a bin of a histogram.
    counts : ClientCounts
        The same by the model's answer, n[client, group, label, prediction].
    rates : str
        One of `RATES`. With ``shrunk`` a rule is to be measured in its cell and, for
        `PSEUDO_ROWS` rows, on the whole group.
    bytes_once : int, optional
        What a client sent if that was all it sends: pricing needs no more rounds.
    """

    cell: Ints
    scores: Floats
    predicted: Ints
    amount: Floats
    counts: ClientCounts
    rates: str
    bytes_once: int | None = None

    @cached_property
    def listed(self) -> "RuleTable":
        """The rules of two labels: the corners of every cell."""
        from fairfl_core.lp.hull import hull_rules

        return hull_rules(self)

    def bytes_sent(self, rounds: int, rates: int) -> int:
        """Return what a client sends and receives: its corners once, or duals and tables by round."""
        if self.bytes_once is not None:
            return self.bytes_once
        clients, groups, labels = self.counts.table.shape[:3]
        if labels == 2:
            return int(_NUMBER * 2 * np.bincount(self.listed.client).max())
        tables = labels**2 * (clients if self.rates == "shrunk" else 1)
        return int(_NUMBER * groups * (labels**2 + rounds * (tables + rates + 1)))


def check_rates(rates: str) -> str:
    """The name of a choice of rates, or a sentence that lists those there are."""
    if rates not in RATES:
        raise InputError(f'there are no rates by "{rates}"; choose one of {", ".join(RATES)}.')
    return rates


def rate_names(*, scores: bool = True) -> tuple[str, ...]:
    """The choices of rates there are; without scores, those that counts suffice for."""
    return RATES if scores else tuple(name for name in RATES if name != "scores")


def counts_by(people: ScoredData | ClientCounts, rates: str) -> ClientCounts:
    """The table n[client, group, label, prediction] under a choice of rates, of any people.

    Rates from scores recalibrate the scores on these people first, unless they are already.
    """
    if isinstance(people, ScoredData):
        if rates == "scores":
            people = people.calibrated
        return counted(people, rates)
    if rates == "scores":
        raise InputError(
            "rates from scores need the table of scores, which counts do not hold; give the table "
            "with --client, --group, --label and --scores."
        )
    return shrink(people) if rates == "shrunk" else people


def measured(people: ScoredData, rates: str = "labels") -> Measured:
    """The points of these people under a choice of rates; kept with them."""
    known = _measured.setdefault(people, {})
    if rates not in known:
        known[rates] = _measure(people, rates)
    return known[rates]


_measured: "WeakKeyDictionary[ScoredData, dict[str, Measured]]" = WeakKeyDictionary()


def _measure(people: ScoredData, rates: str) -> Measured:
    counts = counted(people, rates)
    amount = people.scores if rates == "scores" else np.eye(len(people.labels))[people.label]
    return Measured(people.cell, people.scores, people.predicted, amount, counts, rates)


def counted(people: ScoredData, rates: str = "labels") -> ClientCounts:
    """The table n[client, group, label, prediction] under a choice of rates.

    Counts from scores or shrunk are reals, so they say that they are `noisy`.
    """
    if rates == "labels":
        return people.counts
    if rates == "shrunk":
        return shrink(people.counts)
    check_rates(rates)
    if people.calibration is None:
        raise InputError(
            "rates from scores need recalibrated scores: a model that is wrong about how sure it "
            "is promises fairness that it does not keep; recalibrate first "
            "(people.recalibrated(Calibration.fit(people)))."
        )
    shape = table_shape(people.clients, people.groups, people.labels)
    table = sum(
        count_people(people.client, people.group, y, people.predicted, shape, people.scores[:, y])
        for y in range(len(people.labels))
    )
    return _reals(people.counts, np.asarray(table))


def shrink(counts: ClientCounts, rows: float = PSEUDO_ROWS) -> ClientCounts:
    """Pull Pr(prediction | label) of each cell to that of its group over all clients.

    n[c,a,y,j] becomes n[c,a,y,.] (n[c,a,y,j] + m q[a,y,j]) / (n[c,a,y,.] + m), where q are the
    pooled shares and m the number of pseudo-rows: how many people there are stays.
    """
    table = np.asarray(counts.table, float)
    return _reals(counts, pull(table, table.sum(axis=0), rows))


def pull(own: Floats, pooled: Floats, rows: float = PSEUDO_ROWS) -> Floats:
    """Pull people by answer (the last axis) to the pooled shares of answers."""
    people, total = own.sum(axis=-1, keepdims=True), pooled.sum(axis=-1, keepdims=True)
    share = np.divide(pooled, total, out=np.zeros_like(pooled), where=total > 0)
    return np.asarray(people * (own + rows * share) / (people + rows))


def _reals(counts: ClientCounts, table: Floats) -> ClientCounts:
    return replace(counts, table=table, noisy=True, estimated=not counts.has_noise)
