"""The exact region: every cut of the recalibrated score."""

from typing import TYPE_CHECKING

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.lp.regions import RegionKind, register_region

if TYPE_CHECKING:
    from fairfl_core.data.scored import ScoredData
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Policy
    from fairfl_core.lp.program import Program

__all__ = ["Exact"]


@register_region
class Exact(RegionKind):
    """Every rule argmax over y of theta_y r_y + b_y; contains simplex and kernel."""

    name = "exact"
    title = "exact (cuts of the recalibrated score)"
    meaning = (
        "The lottery may look at the model's scores, recalibrated. Two labels: the most accuracy "
        "that cuts of them allow on the fitted people; more labels: the best found."
    )
    needs_scores = True
    default_rates = "shrunk"

    def program(
        self,
        people: "ScoredData | ClientCounts",
        notion: str,
        rates: str,
        guarantee: "Guarantee | None",
        policy: "Policy",
    ) -> "Program":
        """Recalibrate the scores on these people, unless they are, and build the program.

        Without the group the scores are taken as they are, in bins.
        """
        from fairfl_core.lp.exact.bin_program import BinProgram
        from fairfl_core.lp.exact.program import ExactProgram

        if isinstance(people, ClientCounts):
            raise InputError(
                "the exact region looks at scores, which counts do not hold; give the table of "
                "scores."
            )
        if policy.without_group:
            return BinProgram(people, notion, rates=rates, guarantee=guarantee, policy=policy)
        return ExactProgram(
            people.calibrated, notion, rates=rates, guarantee=guarantee, policy=policy
        )
