"""Impact ratios as auditors publish them: how often each group is selected, beside the highest.

A group's impact ratio is its selection rate (the favourable answer) divided by that of the group
selected most often. Below four fifths is a reason to look closer, no more: screening, not
compliance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.evaluation.before_after import BeforeAfter, with_overall
from fairfl_core.evaluation.evaluation import Evaluation, records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FOUR_FIFTHS", "ImpactRatios", "impact_ratios_of"]

Floats = NDArray[np.float64]
FOUR_FIFTHS = 0.8


@dataclass(frozen=True, eq=False)
class ImpactRatios:
    """Selection rates and impact ratios of every group, overall and in each client.

    Attributes
    ----------
    scopes : tuple of (str or None)
        Overall (None), then the clients.
    groups : tuple of str
    rates : BeforeAfter
        Selection rates, shape (scopes, groups); means over runs.
    left_out : tuple of str
        Groups too small to be compared: they are named and have no ratio.
    """

    scopes: tuple[str | None, ...]
    groups: tuple[str, ...]
    rates: BeforeAfter
    left_out: tuple[str, ...]

    def ratio(self, *, after: bool = True) -> Floats:
        """Each group's rate by the highest of the groups compared: (scopes, groups).

        NaN for a group left out, or without people; 1 for all where nobody is selected.
        """
        rate = (self.rates.after if after else self.rates.before).share
        compared = np.array([name not in self.left_out for name in self.groups])
        rate = np.where(compared, rate, np.nan)
        highest = np.fmax.reduce(rate, axis=1, keepdims=True)
        none = np.where(np.isnan(rate), np.nan, 1.0)
        return np.where(highest > 0, rate / np.where(highest > 0, highest, 1.0), none)

    def table(self) -> "pd.DataFrame":
        """One row a client (None: overall) and group: people, rates with limits, ratios."""
        import pandas as pd

        scope, group = np.indices((len(self.scopes), len(self.groups))).reshape(2, -1)
        names = {
            "client": np.array(self.scopes, object)[scope],
            "group": np.array(self.groups, object)[group],
        }
        after, before = self.rates.after, self.rates.before
        figures = {
            "n": after.n.round(),
            "selection_rate_before": before.share,
            "selection_rate": after.share,
            "selection_rate_low": after.low,
            "selection_rate_high": after.high,
            "impact_ratio_before": self.ratio(after=False),
            "impact_ratio": self.ratio(),
        }
        columns = {name: pd.Series(values, dtype=object) for name, values in names.items()}
        return pd.DataFrame(columns | {name: part.ravel() for name, part in figures.items()})

    def to_json(self) -> dict[str, Any]:
        """The form that evaluations carry."""
        return {"left_out": list(self.left_out), "groups": records(self.table())}


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
    first = evaluations[0]
    favourable = first.counts.labels.index(first.counts.favourable)

    def counted(one: Evaluation) -> tuple[Floats, Floats]:
        people = with_overall(one.counts.n_label.sum(axis=2))
        return with_overall(one.confusion[..., favourable].sum(axis=2)), people

    share = first.counts.n_label.sum(axis=(0, 2)) / first.counts.n
    small = [
        name for name, part in zip(first.counts.groups, share, strict=True) if part < leave_out
    ]
    rates = BeforeAfter.of(
        [counted(one.before) for one in evaluations], [counted(one) for one in evaluations]
    )
    return ImpactRatios((None, *first.counts.clients), first.counts.groups, rates, tuple(small))
