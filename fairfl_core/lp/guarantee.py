"""What one may ask of a limit beyond the fitted people: that it holds with a confidence."""

from dataclasses import dataclass
from typing import Any

from fairfl_core._io.files import check_keys
from fairfl_core.errors import InputError

__all__ = ["PROOFS", "SCOPES", "Guarantee"]

SCOPES = ("each", "all")
PROOFS = ("measured", "proved")


@dataclass(frozen=True)
class Guarantee:
    """Limits that hold on unseen people with a confidence.

    Attributes
    ----------
    confidence : float
        Inside (0.5, 1): 0.95 asks that a limit fails in at most one of twenty samples of people.
    scope : {"all", "each"}
        ``all``: all limits at once; ``each``: every client's limit on its own, and the overall
        one, so that of 40 clients about 2 may be above theirs at 95 %.
    proof : {"measured", "proved"}
        ``measured``: exact binomial limits at Scheffe's constant; overall, also what lotteries gain
        by adapting to every client's people, found by cross-validation. No theorem covers a lottery
        chosen on the same people; that they hold is shown by resampling (docs/holding.md) and
        simulation (benchmarks/README.md). ``proved``: Clopper-Pearson for rules of answers,
        Dvoretzky-Kiefer-Wolfowitz for cuts of a score, widths added; dearer.

    The overall limit is promised for people who come from the clients in the proportions of the
    sample. A floor at a rate is promised where the sample has people of its label; what is kept of the
    model's own rate, in every client and group.
    """

    confidence: float = 0.95
    scope: str = "all"
    proof: str = "measured"

    def __post_init__(self) -> None:
        number = isinstance(self.confidence, int | float) and not isinstance(self.confidence, bool)
        if not (number and 0.5 < self.confidence < 1):
            raise InputError(
                f"the confidence is {self.confidence}; it lies between 0.5 and 1, both excluded: "
                "choose one such as 0.95."
            )
        for value, known, what in (
            (self.scope, SCOPES, "scope of a confidence"),
            (self.proof, PROOFS, "proof of a confidence"),
        ):
            if value not in known:
                raise InputError(f'there is no {what} "{value}"; choose {" or ".join(known)}.')
        object.__setattr__(self, "confidence", float(self.confidence))

    def promise(self, clients: int, limit: float) -> str:
        """Say what is promised, as a clause; `limit` is the largest of so many clients' limits.

        With no client the limit is the overall one.
        """
        sure = f"{100 * self.confidence:g} % confidence"
        how = "proved" if self.proof == "proved" else "by measured margins"
        if not clients:
            return (
                f"with {sure} the overall gap is at most {limit:g} ({how}) of people who come from "
                "the clients in the same proportions"
            )
        if clients == 1:
            return f"with {sure} the client's gap is at most {limit:g} ({how})"
        if self.scope == "all":
            return f"with {sure} no client's gap exceeds {limit:g} (all limits at once, {how})"
        above = (1 - self.confidence) * clients
        if above >= 1:
            may = f"about {above:.0f} may be above it"
        else:
            may = f"one or more may be above it in up to {100 * above:.0f} % of cases"
        return (
            f"each client's limit (at most {limit:g}) is kept with {sure} ({how}): "
            f"of {clients:,} clients {may}"
        )

    def to_json(self) -> dict[str, Any]:
        """The form that solutions and predictors carry."""
        return {"confidence": self.confidence, "scope": self.scope, "proof": self.proof}

    @classmethod
    def from_json(cls, value: Any) -> "Guarantee | None":
        """Check and take that form; null is none."""
        if value is None:
            return None
        if not isinstance(value, dict):
            raise InputError(
                '"guarantee" must be null or an object with confidence, scope and proof.'
            )
        check_keys(value, {"confidence", "scope", "proof"}, set(), '"guarantee"')
        return cls(value["confidence"], value["scope"], value["proof"])
