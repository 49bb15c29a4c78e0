"""From people to a program: any region, any choice of rates, by one call."""

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import Program
from fairfl_core.lp.rate_estimates import check_rates
from fairfl_core.lp.regions import region_kind, region_names

__all__ = ["build_program", "default_rates", "default_region", "default_region_sentence"]


def default_region(notion: str, labels: int, *, scores: bool) -> str:
    """The region where none is asked for, by what is at hand: see docs/rates.md.

    Of two labels with scores: exact, whose gaps on unseen people are those of the simplex within
    what seeds differ by, or within the limit, at more accuracy. Else the simplex, which has the
    smallest gaps on unseen people; the kernel for a notion that the simplex cannot serve.

    Parameters
    ----------
    notion : str
    labels : int
        How many there are.
    scores : bool
        Whether people's scores are at hand, or histograms of them; else counts.
    """
    if scores and labels == 2:
        return "exact"
    names = tuple(map(str, range(labels)))
    return region_names(scores=False, notion=Notion.of(notion, names, names[-1]))[0]


def default_region_sentence(region: str) -> str:
    """Say which region was taken where none was asked for."""
    return (
        f"Region {region}, as none was asked for: exact where scores of two labels are given, "
        "else the simplex, or the kernel where the notion needs it."
    )


def default_rates(region: str, guarantee: Guarantee | None = None, folds: int = 1) -> str:
    """The rates that a region is best fed.

    Counted labels where a guarantee is about them, and where cross-fitting gives people enough.
    """
    if guarantee is not None or folds > 1:
        return "labels"
    return region_kind(region).default_rates


def build_program(
    people: ScoredData | ClientCounts,
    notion: str = "eo",
    region: str | None = None,
    *,
    rates: str | None = None,
    guarantee: Guarantee | None = None,
    policy: Policy = Policy(),
) -> Program:
    """Build the program of a region on people.

    Parameters
    ----------
    people : ScoredData or ClientCounts
        Those to fit on. Where scores are looked at they are recalibrated on these people first,
        unless they are already: by the exact region always, by others for rates from scores.
    notion, region : str
        Names from `fairness.notions.notion_names` and `solving.regions.region_names`. Default
        region: `default_region`.
    rates : {"labels", "scores", "shrunk"}, optional
        Where rates come from (see `rate_estimates`). Default: `default_rates`.
    guarantee : Guarantee, optional
        Ask that the limits hold on unseen people with a confidence.
    policy : Policy, optional
        What is asked beyond the epsilons: floors, ratios, groupings, a utility.
    """
    if region is None:
        has_scores = isinstance(people, ScoredData)
        region = default_region(notion, len(people.labels), scores=has_scores)
    rates = check_rates(rates or default_rates(region, guarantee, people.folds))
    return region_kind(region).program(people, notion, rates, guarantee, policy)
