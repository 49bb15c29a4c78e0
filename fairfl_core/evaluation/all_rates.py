"""Every rate in view: what a setting does to rates and notions that it was not asked about.

Of each label, one against the rest: how often it is answered (selection rate), to those who have it
(true-positive rate) and to those who have not (false-positive rate), and how often it is right when
it is answered (precision); F1, the harmonic mean of recognition and precision, which is shown and
never optimised, as it is not linear; and the accuracy. With two labels the favourable one says it
all.

A group's impact ratio, as auditors publish it, is its selection rate divided by that of the group
selected most often. Below four fifths is a reason to look closer, no more: screening, not compliance.
Where groups cross several columns, each column is compared on its own, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import concat_columns, long_table, records, to_frame
from fairfl_core.errors import InputError
from fairfl_core.evaluation.before_after import (
    SHOWN,
    BeforeAfter,
    Counted,
    Shares,
    assessable,
    run_mean,
    with_overall,
)
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.fairness.notions import Notion, notion_names, number_or_none

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
_EQUAL = 0.01  # shares of a label closer than this are as good as equal
_SOMEBODY = 0.5  # where fewer people are to expect an answer, nobody is reported to get it
MENDS, BREAKS, UNCHANGED, UNTOLD = "mends", "breaks", "unchanged", "not sure yet"


@dataclass(frozen=True)
class Measure:
    """A rate of one label against the rest, or, without a label, of all answers."""

    name: str
    label: str | None


MEASURES = ("selection rate", "true-positive rate", "false-positive rate", "precision", "F1")
ACCURACY = "accuracy"


@dataclass(frozen=True)
class NotionGap:
    """A notion's gap before and after, in one scope; means over runs.

    Attributes
    ----------
    client : str or None
        None for the overall gap.
    notion : str
    before, after : float
    before_limits, limits : tuple of float
        95 % limits of each.
    change_low, change_high : float
        95 % limits of after less before (MOVER; both taken as independent, which errs wide).
    """

    client: str | None
    notion: str
    before: float
    after: float
    before_limits: tuple[float, float]
    limits: tuple[float, float]
    change_low: float
    change_high: float
    noisy: bool = False

    @property
    def word(self) -> str:
        """What the setting does to the notion; it mends or breaks where that is beyond chance."""
        if abs(self.after - self.before) < SHOWN:
            return UNCHANGED
        if self.noisy:  # which no interval contains
            return UNTOLD
        if self.change_high < 0:
            return MENDS
        return BREAKS if self.change_low > 0 else UNTOLD

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "client": self.client,
            "notion": self.notion,
            "gap_before": number_or_none(self.before),
            "gap_before_interval": [number_or_none(end) for end in self.before_limits],
            "gap": number_or_none(self.after),
            "gap_interval": [number_or_none(end) for end in self.limits],
            "word": self.word,
        }


@dataclass(frozen=True, eq=False)
class BaseRates:
    """How many people of each group have a label: (scopes, groups, labels), mean over runs."""

    scopes: tuple[str | None, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    shares: Shares

    def sentence(self, client: str | None = None) -> str:
        """Why not all rates can be equal, with these people's numbers; names are plain text."""
        share = self.shares.share[self.scopes.index(client)]  # (groups, labels)
        there = ~np.isnan(share).any(axis=1)
        where = "" if client is None else f" in {client}"
        if there.sum() < 2:
            return f"There are no two groups{where} whose rates could be compared."
        spread = np.where(there[:, None], share, np.nan)
        label = int((np.nanmax(spread, axis=0) - np.nanmin(spread, axis=0)).argmax())
        low, high = int(np.nanargmin(spread[:, label])), int(np.nanargmax(spread[:, label]))
        n = self.shares.n[self.scopes.index(client)]
        name = f"“{self.labels[label]}”"
        if share[high, label] - share[low, label] < _EQUAL:
            return (
                f"Groups{where} hardly differ in how many truly are {name} "
                f"({100 * share[high, label]:.1f} % at most, {100 * share[low, label]:.1f} % at "
                "least), so all these rates could be nearly equal at once."
            )
        shares = " and ".join(
            f"{100 * share[a, label]:.1f} % of {self.groups[a]} (n = {n[a, label]:,.0f})"
            for a in (high, low)
        )
        return (
            f"Not all of these can be equal{where}: {shares} truly are {name}. With such a "
            "difference, equal recognition means unequal selection rates (unless answers say "
            "nothing of the truth) and unequal precision (unless they never err)."
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row a client (None: overall), group and label: the group's people, and the share."""
        axes = {"client": self.scopes, "group": self.groups, "label": self.labels}
        figures = {name: getattr(self.shares, name) for name in ("n", "share", "low", "high")}
        return long_table(axes, figures)


@dataclass(frozen=True, eq=False)
class AllRates:
    """Every rate of every group, overall and in each client, before and after; means over runs.

    Attributes
    ----------
    scopes : tuple of (str or None)
        Overall (None), then the clients.
    groups : tuple of str
    measures : tuple of Measure
        By label, the favourable one first; accuracy last.
    rates : BeforeAfter
        Shape (scopes, groups, measures). A precision has other people behind it before and after:
        those who are so answered.
    assessable : ndarray of bool, shape (scopes, groups)
        False for a crossed group with too few people to be judged there.
    notions : tuple of NotionGap
        Every notion there is, overall and in each client.
    base : BaseRates
    """

    scopes: tuple[str | None, ...]
    groups: tuple[str, ...]
    measures: tuple[Measure, ...]
    rates: BeforeAfter
    assessable: NDArray[np.bool_]
    notions: tuple[NotionGap, ...]
    base: BaseRates

    def table(self) -> "pd.DataFrame":
        """`columns` as a table."""
        return to_frame(self.columns())

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row a client (None: overall), label, rate and group: before and after, with limits."""
        before, after = self.rates.before, self.rates.after
        figures = {
            "n_before": before.n.round(),
            "before": before.share,
            "before_low": before.low,
            "before_high": before.high,
            "n": after.n.round(),
            "after": after.share,
            "after_low": after.low,
            "after_high": after.high,
        }
        whole = np.repeat(self.assessable[:, None], len(self.measures), axis=1)
        table = long_table(
            {"client": self.scopes, "measure": self.measures, "group": self.groups},
            {name: part.swapaxes(1, 2) for name, part in figures.items()} | {"assessable": whole},
        )
        client, measures = table.pop("client"), table.pop("measure")
        label, rate = (
            np.array([getattr(one, name) for one in measures], object)
            for name in ("label", "name")
        )
        return {"client": client, "label": label, "rate": rate} | table

    def notions_of(self, client: str | None = None) -> tuple[NotionGap, ...]:
        """Every notion's gap in a client, or overall."""
        return tuple(one for one in self.notions if one.client == client)

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {
            "rates": records(self.columns()),
            "notions": [one.to_json() for one in self.notions],
            "base_rates": records(self.base.columns()),
            "why_not_all": self.base.sentence(),
        }


def all_rates_of(evaluations: Sequence[Evaluation]) -> AllRates:
    """Every rate of answers that were judged; several runs of one setting are averaged."""
    counts = evaluations[0].counts
    first = counts.labels.index(counts.favourable)
    others = [y for y in range(len(counts.labels)) if y != first]
    labels = [first, *(others if len(counts.labels) > 2 else [])]
    measures = [Measure(name, counts.labels[y]) for y in labels for name in MEASURES]
    names = evaluations[0].scopes, counts.groups
    have = [with_overall(one.counts.n_label) for one in evaluations]
    everyone = [np.broadcast_to(part.sum(axis=2, keepdims=True), part.shape) for part in have]
    return AllRates(
        *names,
        measures=(*measures, Measure(ACCURACY, None)),
        rates=BeforeAfter.of(
            [
                _counted(one.own.confusion, n, labels)
                for one, n in zip(evaluations, have, strict=True)
            ],
            [_counted(one.confusion, n, labels) for one, n in zip(evaluations, have, strict=True)],
        ),
        assessable=assessable(counts, run_mean([part.sum(axis=2) for part in have])),
        notions=tuple(gap for name in notion_names() for gap in _notion(name, evaluations)),
        base=BaseRates(*names, counts.labels, Shares.of(list(zip(have, everyone, strict=True)))),
    )


def _counted(confusion: Floats, have: Floats, labels: Sequence[int]) -> Counted:
    """People each rate counts and people it is a share of: (scopes, groups, measures)."""
    table = with_overall(confusion)  # (scopes, groups, label, answer)
    everyone, get = have.sum(axis=2), table.sum(axis=2)
    some = np.where(get < _SOMEBODY, 0.0, get)
    right = np.einsum("sayy->say", table)
    parts: list[Counted] = []
    for y in labels:
        parts += [
            (get[..., y], everyone),
            (right[..., y], have[..., y]),
            (get[..., y] - right[..., y], everyone - have[..., y]),
            (right[..., y], some[..., y]),
            # F1 = right / mean of those who have it and those who get it.
            (right[..., y], (have[..., y] + get[..., y]) / 2),
        ]
    parts.append((right.sum(axis=2), everyone))
    return np.stack([part for part, _ in parts], axis=2), np.stack([n for _, n in parts], axis=2)


def _notion(name: str, evaluations: Sequence[Evaluation]) -> list[NotionGap]:
    """A notion's gaps before and after, overall and in each client."""
    notion = Notion.of(name, evaluations[0].counts.labels, evaluations[0].counts.favourable)
    after = [replace(one, notion=notion) for one in evaluations]
    (was, was_low, was_high), (now, low, high) = (
        run_mean([(one.scoped.gap, *one.gap_limits) for one in runs])
        for runs in ([one.before for one in after], after)
    )
    least = (now - was) - np.hypot(now - low, was_high - was)
    most = (now - was) + np.hypot(high - now, was - was_low)
    return [
        NotionGap(
            client=client,
            notion=name,
            before=float(was[s]),
            after=float(now[s]),
            before_limits=(float(was_low[s]), float(was_high[s])),
            limits=(float(low[s]), float(high[s])),
            change_low=float(least[s]),
            change_high=float(most[s]),
            noisy=evaluations[0].counts.has_noise,
        )
        for s, client in enumerate(evaluations[0].scopes)
    ]


# ------------------------------------------------------------------- impact ratios

FOUR_FIFTHS = 0.8


@dataclass(frozen=True, eq=False)
class Comparison:
    """Groups that are compared with each other: the crossing, or those of one of its columns.

    Attributes
    ----------
    grouping : str or None
        The columns, like ``"race"`` or ``"sex*race"``; None where groups come from one column.
    groups : tuple of str
    rates : BeforeAfter
        Selection rates, shape (scopes, groups); means over runs.
    assessable : ndarray of bool, shape (scopes, groups)
        False for a group of a crossing with too few people to be judged there.
    left_out : tuple of str
        Groups that are too small a share of all people: they are named and have no ratio.
    """

    grouping: str | None
    groups: tuple[str, ...]
    rates: BeforeAfter
    assessable: NDArray[np.bool_]
    left_out: tuple[str, ...]

    def ratio(self, *, after: bool = True) -> Floats:
        """Each group's rate by the highest of the groups compared: (scopes, groups).

        NaN for a group left out, not assessable or without people; 1 for all where nobody is
        selected.
        """
        rate = (self.rates.after if after else self.rates.before).share
        compared = self.assessable & [name not in self.left_out for name in self.groups]
        rate = np.where(compared, rate, np.nan)
        highest = np.fmax.reduce(rate, axis=1, keepdims=True)
        none = np.where(np.isnan(rate), np.nan, 1.0)
        return np.where(highest > 0, rate / np.where(highest > 0, highest, 1.0), none)

    def columns(self, scopes: tuple[str | None, ...]) -> dict[str, NDArray[Any]]:
        """One row a client (None: overall) and group: people, rates with limits, ratios."""
        after, before = self.rates.after, self.rates.before
        shape = self.assessable.shape
        figures = {
            "n": after.n.round(),
            "assessable": self.assessable,
            "left_out": np.broadcast_to([name in self.left_out for name in self.groups], shape),
            "selection_rate_before": before.share,
            "selection_rate": after.share,
            "selection_rate_low": after.low,
            "selection_rate_high": after.high,
            "impact_ratio_before": self.ratio(after=False),
            "impact_ratio": self.ratio(),
        }
        grouping = {"grouping": np.full(self.assessable.size, self.grouping, object)}
        return grouping | long_table({"client": scopes, "group": self.groups}, figures)


@dataclass(frozen=True, eq=False)
class ImpactRatios:
    """Selection rates and impact ratios of every group, overall and in each client.

    Attributes
    ----------
    scopes : tuple of (str or None)
        Overall (None), then the clients.
    comparisons : tuple of Comparison
        The groups of the counts first; where they are crossed, those of each column after them.
    """

    scopes: tuple[str | None, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def groups(self) -> Comparison:
        """The comparison of the counts' own groups."""
        return self.comparisons[0]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Every group that is too small a share of all people to be compared."""
        return tuple(name for one in self.comparisons for name in one.left_out)

    def table(self) -> "pd.DataFrame":
        """`columns` as a table."""
        return to_frame(self.columns())

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every comparison, one row a client (None: overall) and group."""
        return concat_columns([one.columns(self.scopes) for one in self.comparisons])

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {"left_out": list(self.left_out), "groups": records(self.columns())}


def impact_ratios_of(evaluations: Sequence[Evaluation], *, leave_out: float = 0.0) -> ImpactRatios:
    """The impact ratios of one setting; several runs are averaged.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        One a run.
    leave_out : float
        Groups of a smaller share of all people are named, and not compared.
    """
    if not 0 <= leave_out < 1:
        raise InputError(f"groups below a share of {leave_out} are to be left out; give 0 to 1.")
    counts = evaluations[0].counts
    columns = counts.grouping.columns if counts.grouping else ()
    crossing = "*".join(columns) or None
    comparisons = [
        _compare(evaluations, crossing, np.arange(len(counts.groups)), counts.groups, leave_out)
    ]
    if len(columns) > 1:
        comparisons += [
            _compare(evaluations, column, *counts.coarsen(column), leave_out) for column in columns
        ]
    return ImpactRatios((None, *counts.clients), tuple(comparisons))


def _compare(
    evaluations: Sequence[Evaluation],
    grouping: str | None,
    codes: NDArray[np.int64],
    names: tuple[str, ...],
    leave_out: float,
) -> Comparison:
    """Groups pooled by `codes`, compared with each other."""
    counts = evaluations[0].counts
    favourable = counts.labels.index(counts.favourable)
    member = np.eye(len(names))[codes]  # (groups, pooled groups)

    def counted(one: Evaluation) -> Counted:
        selected = one.confusion[..., favourable].sum(axis=2)
        return with_overall(selected @ member), with_overall(
            one.counts.n_label.sum(axis=2) @ member
        )

    share = (counts.n_label.sum(axis=(0, 2)) @ member) / counts.n
    rates = BeforeAfter.of(
        [counted(one.before) for one in evaluations], [counted(one) for one in evaluations]
    )
    return Comparison(
        grouping,
        names,
        rates,
        assessable(counts, rates.after.n),
        tuple(name for name, part in zip(names, share, strict=True) if part < leave_out),
    )
