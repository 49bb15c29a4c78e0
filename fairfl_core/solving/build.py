"""From people to a program: any region, any choice of rates, by one call."""

from fairfl_core.people.calibration import Calibration
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.solving.exact.program import ExactProgram
from fairfl_core.solving.program import FairnessProgram
from fairfl_core.solving.rate_estimates import counted

__all__ = ["default_rates", "program_for"]


def default_rates(region: str) -> str:
    """The rates that delivered best on unseen people: see docs/rates.md."""
    return "shrunk" if region == "exact" else "labels"


def program_for(
    people: ScoredPeople, notion: str, region: str, rates: str | None = None
) -> FairnessProgram | ExactProgram:
    """Build the program of a region on people with scores.

    Parameters
    ----------
    people : ScoredPeople
        Those to fit on. Where scores are looked at they are recalibrated on these people first,
        unless they are already: by the exact region always, by others for rates from scores.
    notion, region : str
        Names from `notions.NOTIONS` and `regions.EVERY_REGION`.
    rates : {"labels", "scores", "shrunk"}, optional
        Where rates come from (see `rates`). Default: `default_rates`.
    """
    rates = rates or default_rates(region)
    if people.calibration is None and (region == "exact" or rates == "scores"):
        people = people.recalibrated(Calibration.fit(people))
    if region == "exact":
        return ExactProgram(people, notion, rates=rates)
    return FairnessProgram(counted(people, rates), notion, region)
