"""The program of regions whose rules look at the model's answer: the paper's, and the kernel."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.budget import MEGABYTE, afford
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.limits import EpsLocal
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import Program
from fairfl_core.lp.regions import AnswerRules, region_kind
from fairfl_core.lp.sharing import Sharing
from fairfl_core.lp.solution import AnswerSolution, Solution

if TYPE_CHECKING:
    from fairfl_core.lp.optimism import Sample

__all__ = ["FairnessProgram"]

Floats = NDArray[np.float64]


class FairnessProgram(Program):
    """The program of a region whose rules look at the model's answer: counts suffice.

    Parameters
    ----------
    counts : ClientCounts
        What the lottery is fitted on.
    notion, region : str
        Names from `fairness.notions.notion_names` and `solving.regions.region_names`.
    guarantee : Guarantee, optional
        Ask that the limits hold on unseen people with a confidence.
    people, rates
        Whom the counts were estimated on, and how, where they are not plain counts of labels.
    policy : Policy, optional
        What is asked beyond the epsilons.
    """

    def __init__(
        self,
        counts: ClientCounts,
        notion: str = "eo",
        region: str = "simplex",
        *,
        guarantee: Guarantee | None = None,
        people: ClientCounts | ScoredData | None = None,
        rates: str = "labels",
        policy: Policy = Policy(),
    ) -> None:
        super().__init__(
            counts,
            notion,
            region,
            people=people,
            rates=rates,
            guarantee=guarantee,
            policy=policy,
        )
        self.rules = self._answer_rules()
        self._check_size()
        self._columns = self.rules.columns(self._seen)
        self._rebuild()

    def _answer_rules(self) -> AnswerRules:
        rules = region_kind(self.region).answer_rules(self.counts.labels)
        return rules if self.guarantee is None else rules.with_constants()

    def _check_size(self) -> None:
        """Refuse a program whose columns would not fit into memory."""
        clients, groups, labels, _ = self.counts.table.shape
        columns = clients * groups * len(self.rules.block)
        # Each column holds a confusion matrix of floats; ten copies at the worst moment (measured).
        afford(
            10 * 8 * columns * labels**2 / MEGABYTE,
            f"a program of {clients:,} clients, {groups} groups and {labels} labels with "
            f"{len(self.rules.block):,} rules a group",
            "choose the paper's region, another notion, or join labels, groups or clients",
        )

    @property
    def _seen(self) -> NDArray[Any]:
        """People by client, group, label and what the rules see of them."""
        return self.counts.table

    def _rebuild(self) -> None:
        self._sharing = (
            Sharing.across_groups(self._columns, len(self.counts.groups))
            if self.policy.without_group
            else Sharing.apart(self._columns)
        )
        self._solver = self._solver_of(self._sharing)

    def solve(self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0) -> AnswerSolution:
        """Return the optimum within these tolerances; see `Program.solve`."""
        return cast(AnswerSolution, super().solve(eps_global, eps_local))

    def _all_columns(self) -> Sharing:
        return self._sharing

    def _listed_columns(self) -> Sharing:
        return self._sharing

    def _solve(self, eps_global: float, local: Floats) -> AnswerSolution:
        with self._lock:
            values, duals = self._solver.solve(eps_global, local)
        # Where nobody speaks a guarantee is kept by constants, and none by the model's answer.
        beta = self._sharing.settled(
            values[self._rows.auxiliary :], fall_back=self.guarantee is None
        )
        figures = self._figures(self._columns, beta, duals, eps_global, local)
        shape = (len(self.counts.clients), len(self.counts.groups), -1)
        return self._solution(figures | {"rules": self.rules, "beta": beta.reshape(shape)})

    def expected_counts(self, solution: Solution, people: "Sample") -> Floats:
        """Expected people by client, group, label and answer under its solution."""
        assert isinstance(people, ClientCounts | ScoredData)
        lottery = self.rules.lottery(cast(AnswerSolution, solution).beta)
        return np.einsum("cayj,cajk->cayk", self._seen_of(people), lottery)

    def _seen_of(self, people: ClientCounts | ScoredData) -> Floats:
        """Other people by client, group, label and what the rules see of them."""
        counts = people.counts if isinstance(people, ScoredData) else people
        return np.asarray(counts.table, float)

    def _solution(self, found: dict[str, Any]) -> AnswerSolution:
        return AnswerSolution(**found)
