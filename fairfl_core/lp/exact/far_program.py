"""The exact region when the people are elsewhere: rules and tables travel, rows do not.

With two labels every client lists its corners once. With more the program sends what each answer
is worth, and every client replies with the rule that would help it most: duals out, one rule's
table back.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.exact.hull import hull_rules
from fairfl_core.lp.exact.pricing import Candidates, Pricing, by_scores
from fairfl_core.lp.exact.program import ExactProgram
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.rate_estimates import Measured, measured
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["FarExactProgram", "FarPrices", "columns_of", "corners_of", "priced"]

Floats = NDArray[np.float64]
# gain (clients, groups, labels, labels), whether it differs by the wrong label -> as the scores
# price it, and as the counts refine it
FarPrices = Callable[[Floats, bool], tuple[Candidates, Candidates]]


class FarExactProgram(ExactProgram):
    """An `ExactProgram` whose clients are asked by messages; rates are counted labels.

    Parameters
    ----------
    counts : ClientCounts
        What the clients counted of the people it is fitted on.
    notion : str
    corners : tuple of ScoreRules and RuleTable, optional
        Two labels: what the clients listed.
    prices : callable, optional
        More labels: asks the clients for a rule; see `FarPrices`.
    sent : callable
        How many bytes a client has sent and received so far, at most.
    """

    def __init__(
        self,
        counts: ClientCounts,
        notion: str,
        *,
        corners: tuple[ScoreRules, RuleTable] | None = None,
        prices: FarPrices | None = None,
        sent: Callable[[], int] = lambda: 0,
        guarantee: Guarantee | None = None,
        policy: Policy = Policy(),
    ) -> None:
        self._corners, self._prices, self._sent = corners, prices, sent
        labels = len(counts.labels)
        nobody = Measured(
            cell=np.empty(0, np.int64),
            scores=np.empty((0, labels)),
            predicted=np.empty(0, np.int64),
            amount=np.empty((0, labels)),
            counts=counts,
            rates="labels",
        )
        super().__init__(nobody, notion, guarantee=guarantee, policy=policy)

    def _list_rules(self) -> tuple[ScoreRules, RuleTable]:
        assert self._corners is not None
        return self._corners

    def _score_pricing(self, full: bool) -> list[Pricing]:
        assert self._prices is not None
        ask = self._prices
        known: dict[bytes, tuple[Candidates, Candidates]] = {}

        def once(gain: Floats) -> tuple[Candidates, Candidates]:
            key = gain.tobytes()
            if key not in known:
                known.clear()
                known[key] = ask(gain, full)
            return known[key]

        return [lambda gain: once(gain)[0], lambda gain: once(gain)[1]]

    def _bytes(self, rounds: int) -> int:
        return self._sent()


def corners_of(people: ScoredData) -> tuple[ScoreRules, RuleTable]:
    """What a client with two labels lists of its people."""
    return hull_rules(measured(people))


def priced(people: ScoredData, gain: Floats, *, full: bool) -> tuple[Candidates, Candidates]:
    """What a client replies at this gain: a rule a group, plain and refined."""
    points = measured(people)
    plain, refined = (by_scores(points, full=full, refine=refine) for refine in (False, True))
    return plain(gain), refined(gain)


def columns_of(rules: ScoreRules, confusion: Floats, kept: Floats, groups: int) -> RuleTable:
    """The columns of rules that clients measured: all else follows from the rules."""
    labels = confusion.shape[1]
    return RuleTable(
        client=rules.client,
        group=rules.group,
        block=rules.client * groups + rules.group,
        span=np.ones(len(rules), np.int64),
        confusion=confusion,
        kept=kept,
        keeps=(rules.answers == np.arange(labels)).all(axis=1),
        known=rules.known,
    )
