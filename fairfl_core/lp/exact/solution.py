"""What the exact region finds: rules of the scores, their weights, and what bounds them."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.calibration import Calibration
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.solution import RuleShare, Solution
from fairfl_core.lp.utility import ACCURACY

__all__ = ["Bound", "ExactSolution"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """An accuracy that no lottery of the region exceeds, if `certified`.

    It is certified for two labels (all corners are in the program) and for rates from scores
    (over all rules whatever, if the scores are right). Otherwise pricing trusts the scores while
    measuring counts labels, and `upper` only says what the scores still promise.
    """

    upper: float
    certified: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactSolution(Solution):
    """The optimum of an `ExactProgram`. All figures are by its choice of rates.

    Attributes
    ----------
    rules : ScoreRules
        The rules of the lotteries, those with a weight only.
    beta : ndarray, shape (rules,)
        The weight of each in its cell.
    calibration : Calibration, optional
        What scores must go through before a rule looks at them.
    mode : str
        How rules were found: see `ExactProgram`.
    bound : Bound
    rounds : int
        How often clients were asked for rules.
    bytes_per_client : int
        What one client sent and received for it, at most: see `ExactProgram`.
    """

    rules: ScoreRules
    beta: Floats
    calibration: Calibration | None
    mode: str
    bound: Bound
    rounds: int
    bytes_per_client: int

    needs_scores: ClassVar[bool] = True

    @property
    def attention(self) -> Floats:
        """How much of each cell's lottery looks at the model: what is no constant answer."""
        looks = np.isnan(self.rules.known).any(axis=1)
        shape = self.counts.table.shape[:2]
        total = np.zeros(shape)
        np.add.at(total, (self.rules.client, self.rules.group), self.beta * looks)
        return total

    def lottery_of(self, client: int, group: int) -> list[RuleShare]:
        """The rules that a cell mixes and their shares, largest first."""
        mine = np.flatnonzero((self.rules.client == client) & (self.rules.group == group))
        mine = mine[np.argsort(-self.beta[mine], kind="stable")]
        labels = self.counts.labels
        return [
            RuleShare(self.rules.sentence(int(rule), labels), float(self.beta[rule]))
            for rule in mine
        ]

    def remarks(self) -> list[str]:
        """Where its rates come from, and what no lottery can exceed."""
        share = self.policy.utility == ACCURACY
        bound = f"{self.bound.upper:.2%}" if share else f"a utility of {self.bound.upper:.4g}"
        limit = (
            f"no lottery of such rules can exceed {bound}"
            if self.bound.certified
            else f"the scores promise up to {bound}, which is not certain"
        )
        sent = f"{self.rounds} round{'s' * (self.rounds != 1)}, {self.bytes_per_client:,} bytes"
        return [f"Rates from {self.rates}; {limit} ({sent} a client).", *super().remarks()]

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form, with what the exact region adds."""
        return super().to_json() | {
            "rates": self.rates,
            "mode": self.mode,
            "bound": {"upper": self.bound.upper, "certified": self.bound.certified},
            "rounds": self.rounds,
            "bytes_per_client": self.bytes_per_client,
        }
