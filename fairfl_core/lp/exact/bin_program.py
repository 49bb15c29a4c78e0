"""The exact region where the group is not known: one chance for every bin of a client's score."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.answer_program import FairnessProgram
from fairfl_core.lp.exact.bins import BINS, BinRules, ScoreBins
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.limits import EpsLocal
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.rate_estimates import counts_by
from fairfl_core.lp.solution import AnswerSolution, RuleShare

__all__ = ["BinProgram", "BinSolution"]

Floats = NDArray[np.float64]
_ALIKE = 1e-9  # neighbouring bins whose chances differ by less are told as one


@dataclass(frozen=True, eq=False, kw_only=True)
class BinSolution(AnswerSolution):
    """The optimum of a `BinProgram`.

    Attributes
    ----------
    bins : ScoreBins
    """

    bins: ScoreBins

    needs_scores: ClassVar[bool] = True

    @property
    def chances(self) -> Floats:
        """p[client, bin]: the chance of the second label, whatever the group."""
        return np.asarray(self.rules.lottery(self.beta)[:, 0, :, 1])

    @property
    def attention(self) -> Floats:
        """How far the chance of the second label goes apart over a client's bins."""
        spread = self.bins.spread(self.chances)
        return np.repeat(spread[:, None], len(self.counts.groups), axis=1)

    def lottery_of(self, client: int, group: int) -> list[RuleShare]:
        """Where the second label is answered, and how often there; the likeliest first."""
        there = np.flatnonzero(self.bins.there[client])
        chance = self.chances[client, there]
        # The model's two answers meet where both labels' scores are equal.
        low, high = (edges[np.isfinite(edges)] for edges in self.bins.edges[client])
        edge = np.concatenate([[-np.inf], low, [0.5], high, [np.inf]])
        starts = np.flatnonzero(np.abs(np.diff(chance, prepend=np.inf)) > _ALIKE)
        runs = zip(starts, np.append(starts[1:], len(there)), strict=True)
        shares = [
            RuleShare(self._where(edge[start], edge[end]), float(chance[start]))
            for start, end in runs
            if chance[start] > 0
        ]
        nobody = RuleShare(f"“{self.counts.labels[0]}” for everybody", 1.0)
        return sorted(shares, key=lambda one: -one.share) or [nobody]

    def _where(self, low: float, high: float) -> str:
        label = f"“{self.counts.labels[1]}”"
        if np.isinf(low) and np.isinf(high):
            return f"{label} for everybody"
        parts = [f"above {low:.3f}"] if np.isfinite(low) else []
        parts += [f"up to {high:.3f}"] if np.isfinite(high) else []
        return f"{label} where its score is {' and '.join(parts)}"

    def remarks(self) -> list[str]:
        """Where its rates come from, how finely it looks, and where a better score is worse."""
        bins = self.bins.there.sum(axis=1)
        said = [
            f"Rates from {self.rates}; scores are looked at in {int(bins.max())} bins a client at "
            "most."
        ]
        turned = int(self.turns.sum())
        if turned:
            said.append(
                f"In {turned} of {len(bins)} clients a higher score can mean a lower chance of "
                f"“{self.counts.labels[1]}”: where the group is not known, bins of the score "
                "stand in for it."
            )
        return [*said, *super().remarks()]

    @property
    def turns(self) -> NDArray[np.bool_]:
        """Clients in which the chance of the second label falls somewhere as its score grows."""
        # Bins that a client does not have are as high as what comes before them.
        known = np.where(self.bins.there, self.chances, 0.0)
        highest = np.maximum.accumulate(known, axis=1)
        return np.asarray((self.bins.there & (known < highest - _ALIKE)).any(axis=1))

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form, with its rates and how many bins each client has."""
        bins = self.bins.there.sum(axis=1).tolist()
        named = dict(zip(self.counts.clients, bins, strict=True))
        return super().to_json() | {"rates": self.rates, "bins": named}


class BinProgram(FairnessProgram):
    """Maximise accuracy over p[client, bin], the chance of the second of two labels.

    ::

        maximise   sum over c, b of  p_cb (n1_cb - n0_cb) / n
        subject to the limits on rates measured by group,   0 <= p_cb <= 1

    With a guarantee p is a mixture of cuts at the edges of the bins: what is uncertain of a cut
    is one share, of every bin on its own another one.

    Parameters
    ----------
    people : ScoredData
        Whom it is fitted on, with their scores as the model gave them; two labels.
    notion : str
        A name from `fairness.notions.notion_names`.
    rates : {"labels", "scores", "shrunk"}
        Where rates come from; see `rate_estimates`.
    policy : Policy
        What is asked beyond the epsilons; not to look at the group, to begin with.
    guarantee : Guarantee, optional
        Ask that the limits hold on unseen people with a confidence.
    bins : int
        How many bins the score has inside each of the model's answers, at most.
    """

    needs_scores = True

    def __init__(
        self,
        people: ScoredData,
        notion: str = "eo",
        *,
        rates: str = "labels",
        policy: Policy,
        guarantee: Guarantee | None = None,
        bins: int = BINS,
    ) -> None:
        self.bins = ScoreBins.of(people, bins)
        self._table = self.bins.counted(people, rates)
        super().__init__(
            counts_by(people, rates),
            notion,
            "exact",
            people=people,
            rates=rates,
            guarantee=guarantee,
            policy=policy,
        )

    def _answer_rules(self) -> BinRules:
        kind = BinRules.free if self.guarantee is None else BinRules.cuts
        return kind(self.counts.labels, self.bins.bins)

    @property
    def _seen(self) -> Floats:
        return self._table

    def _seen_of(self, people: ClientCounts | ScoredData) -> Floats:
        assert isinstance(people, ScoredData)
        return self.bins.counted(people, "labels")

    def _rebuild(self) -> None:
        if not self.policy.without_group:
            raise InputError(
                "the bins of a score serve all groups of a client; for rules of their own build "
                "the program anew (build_program)."
            )
        super()._rebuild()

    def solve(self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0) -> BinSolution:
        """Return the optimum within these tolerances; see `Program.solve`."""
        return cast(BinSolution, super().solve(eps_global, eps_local))

    def _solution(self, found: dict[str, Any]) -> BinSolution:
        return BinSolution(**found, bins=self.bins)
