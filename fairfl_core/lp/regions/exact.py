"""The exact region: every cut of the recalibrated score."""

from typing import TYPE_CHECKING

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.rate_estimates import counts_by, measured
from fairfl_core.lp.regions.base import FittedOn, RegionKind, RegionRules, register_region

if TYPE_CHECKING:
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Policy

__all__ = ["Exact"]


@register_region
class Exact(RegionKind):
    """Rules argmax over y of theta_y r_y + b_y: of two labels all of them, of more those found.

    Simplex and kernel are within it.
    """

    name = "exact"
    title = "exact (cuts of the recalibrated score)"
    meaning = (
        "The lottery may look at the model's scores, recalibrated. Two labels: the most accuracy "
        "that cuts of them allow on the fitted people. More labels: the best lottery found; that "
        "none has over 0.01 points more is proved only with rates from scores, if these are right."
    )
    needs_scores = True
    default_rates = "shrunk"

    def rules(
        self,
        people: "FittedOn",
        rates: str,
        guarantee: "Guarantee | None",
        policy: "Policy",
    ) -> RegionRules:
        """Return its rules on these people; scores are recalibrated on them, unless they are.

        Two labels: the corners of every cell. More: those that column generation starts with.
        Without the group the scores are taken as they are, in bins.
        """
        from fairfl_core.lp.exact.column_generation import first_rules
        from fairfl_core.lp.exact.histograms import ScoreHistogram

        if isinstance(people, ClientCounts):
            raise InputError(
                "the exact region looks at scores, which counts do not hold; give the table of "
                "scores."
            )
        if policy.without_group:
            return _in_bins(people, rates, guarantee)
        scored: ScoredData | None = None
        if isinstance(people, ScoredData):
            scored = people.calibrated
            points = measured(scored, rates)
        elif isinstance(people, ScoreHistogram):
            points = people.measured()
        else:
            points = people
        found = points.listed() if len(points.counts.labels) == 2 else first_rules(points)
        return RegionRules(
            counts=points.counts,
            people=points.counts if scored is None else scored,
            rates=points.rates,
            rules=found.rules,
            table=found.table,
            calibration=scored.calibration if scored else None,
            measured=points,
        )


def _in_bins(people: "FittedOn", rates: str, guarantee: "Guarantee | None") -> RegionRules:
    """Rules that see the bin of a score: one chance for every bin of a client.

    With a guarantee mixtures of cuts at the edges of the bins: what is uncertain of a cut is one
    share, of every bin on its own another one.
    """
    from fairfl_core.lp.exact import bins

    if not isinstance(people, ScoredData):
        raise InputError(
            "without the group the exact region needs everybody's scores, which a histogram does "
            "not hold; give the table of scores."
        )
    score_bins = bins.ScoreBins.of(people, bins.BINS)
    make = bins.BinRules.free if guarantee is None else bins.BinRules.cuts
    rules = make(people.labels, score_bins)
    return RegionRules(
        counts=counts_by(people, rates),
        people=people,
        rates=rates,
        rules=rules,
        table=rules.table(score_bins.counted(people, rates)),
    )
