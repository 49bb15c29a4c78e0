"""Impact ratios as auditors publish them: how often each group is selected, beside the highest.

A group's impact ratio is its selection rate (the favourable answer) divided by that of the group
selected most often. Below four fifths is a reason to look closer, no more: screening, not
compliance. Where groups cross several columns, each column is compared on its own, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import concat_columns, records, to_frame
from fairfl_core.errors import InputError
from fairfl_core.evaluation.assessable import assessable
from fairfl_core.evaluation.before_after import BeforeAfter, Counted, with_overall
from fairfl_core.evaluation.evaluation import Evaluation

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FOUR_FIFTHS", "Comparison", "ImpactRatios", "impact_ratios_of"]

Floats = NDArray[np.float64]
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
        scope, group = np.indices((len(scopes), len(self.groups))).reshape(2, -1)
        names = {
            "grouping": np.full(len(scope), self.grouping, object),
            "client": np.array(scopes, object)[scope],
            "group": np.array(self.groups, object)[group],
        }
        after, before = self.rates.after, self.rates.before
        left_out = np.array([name in self.left_out for name in self.groups])
        figures = {
            "n": after.n.round(),
            "assessable": self.assessable,
            "left_out": np.broadcast_to(left_out, self.assessable.shape),
            "selection_rate_before": before.share,
            "selection_rate": after.share,
            "selection_rate_low": after.low,
            "selection_rate_high": after.high,
            "impact_ratio_before": self.ratio(after=False),
            "impact_ratio": self.ratio(),
        }
        return names | {name: part.ravel() for name, part in figures.items()}


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
