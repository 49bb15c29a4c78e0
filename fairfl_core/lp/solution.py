"""The optimum of a program of any region within one choice of limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import notebook_html, to_frame
from fairfl_core._io.numbers import count, epsilon, percent
from fairfl_core._io.numbers import gap as gap_text
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import Gaps, NotAssessable, Notion, gaps, number_or_none
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.rules import AnswerRules, RuleShare, ScoreRules
from fairfl_core.lp.utility import Achieved

if TYPE_CHECKING:
    import pandas as pd

    from fairfl_core.lp.optimism import Sample
    from fairfl_core.lp.rules import AnswerRules, ScoreRules

__all__ = ["FORMAT", "Bound", "Solution"]

FORMAT = "fairfl-solution/1"
_HARDLY = 0.1
_FEW = 100  # people of a client
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """A utility that no lottery of the region exceeds, if `certified`.

    It is certified for two labels (all corners are in the program) and for rates from scores
    (over all rules whatever, if the scores are right). Otherwise pricing trusts the scores while
    measuring counts labels, and `upper` only says what the scores still promise.
    """

    upper: float
    certified: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """The optimum of a `FairnessProgram` within given limits.

    All figures are about the counts the program was built from (the fitted people).

    Attributes
    ----------
    status : str
        Always "optimal": anything else is raised as `InfeasibleError` or `SolveError`.
    region : str
        The region's name.
    eps_global, eps_local
        What was asked: the paper's epsilon_0, and epsilon_c of each client.
    guarantee : Guarantee or None
        With what confidence the limits were to hold beyond the fitted people.
    policy : Policy
        What else was asked.
    utility : Achieved
        What was made as large as can be; prices are in its unit per unit of epsilon.
    accuracy, model_accuracy : float
        Of the fair lottery, in expectation, and of the model's own answers.
    gaps : Gaps
        What was reached, in expectation over the lottery.
    price_global : float
        The overall price d utility / d epsilon_0: the constraint's dual. At a kink (epsilon 0 is
        always one, as a gap may open to either side) it is the most that a little more
        tolerance could buy, not what it surely buys.
    price_local : ndarray, shape (clients,)
        The same of each client's limit: d utility / d epsilon_c.
    binding : tuple of str
        The constraints with a price.
    rules : AnswerRules or ScoreRules
        What its lotteries mix.
    beta : ndarray, shape (clients, groups, rules), or (rules,) for rules of scores
        The weight of each rule; of rules of scores only those with a weight are kept.
    duals : ndarray
        d cost / d limit of each of the constraints' rows, in the unit of the program's objective:
        see `FairnessProgram.linear_program`.
    calibration : Calibration or None
        What scores must go through before a rule looks at them.
    mode : {"labels", "scores", "hybrid"} or None
        Exact region: how rules are found: by what is counted, by the scores where rates come from
        them, or priced as if the scores were right and measured by the rates chosen.
    bound : Bound or None
    rounds, bytes_per_client : int or None
        How often clients were asked for rules, and what one of them sent and received, at most.
    """

    status: str
    counts: ClientCounts
    notion: Notion
    region: str
    rates: str
    guarantee: Guarantee | None
    policy: Policy
    utility: Achieved
    eps_global: float
    eps_local: Floats
    accuracy: float
    gaps: Gaps
    price_global: float
    price_local: Floats
    binding: tuple[str, ...]
    not_assessable: tuple[NotAssessable, ...]
    rules: AnswerRules | ScoreRules
    beta: Floats
    duals: Floats
    calibration: Calibration | None = None
    mode: str | None = None
    bound: Bound | None = None
    rounds: int | None = None
    bytes_per_client: int | None = None

    @property
    def needs_scores(self) -> bool:
        """Whether its rules look at scores."""
        return self.rules.needs_scores

    @property
    def model_accuracy(self) -> float:
        """Accuracy of the model's own answers on the same counts."""
        return self.counts.model_accuracy

    def lottery_of(self, client: int, group: int) -> list[RuleShare]:
        """Return the rules that a cell mixes and their shares, largest first."""
        return self.rules.lottery_of(self, client, group)

    def expected_counts(self, people: "Sample") -> Floats:
        """Return expected people by client, group, label and answer."""
        return self.rules.expected_counts(self, people)

    @property
    def attention(self) -> Floats:
        """How much of each cell's lottery looks at the model: (clients, groups), 0 to 1.

        The rest gives everybody one answer, whatever the model says.
        """
        return self.rules.attention(self)

    @property
    def blind(self) -> tuple[str, ...]:
        """Clients in which some group's lottery hardly looks at the model: fewer than 1 in 10."""
        hardly = self.attention.min(axis=1) < _HARDLY
        return tuple(name for name, one in zip(self.counts.clients, hardly, strict=True) if one)

    def remarks(self) -> list[str]:
        """Return what a person should know of how it was found, in sentences."""
        return [*self.rules.remarks(self), *self.certainty_remarks()]

    def certainty_remarks(self) -> list[str]:
        """Return where certainty was bought with constant answers."""
        if self.guarantee is None or not self.blind:
            return []
        names = self.blind
        small = [
            name
            for name, n in zip(self.counts.clients, self.counts.n_client, strict=True)
            if name in names and n < _FEW
        ]
        whom = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        few = f"; {len(small)} of them have under {_FEW} people" if small else ""
        return [
            f"In {len(names)} of {len(self.counts.clients)} clients certainty is bought with a "
            f"constant answer, as too few people stand behind their rates ({whom}{few})."
        ]

    # ---------------------------------------------------------------- tables, notebooks

    def to_frame(self) -> "pd.DataFrame":
        """One row a client: people, gap allowed, the model's own, reached, and the limit's price."""
        return to_frame(self._client_columns())

    def _client_columns(self) -> dict[str, Any]:
        return {
            "client": self.counts.clients,
            "n": self.counts.n_client,
            "eps_local": self.eps_local,
            "gap_before": self._model_gaps.local,
            "gap": self.gaps.local,
            "price": self.price_local,
        }

    def metrics(self) -> dict[str, float]:
        """The figures of all clients by name, for a logger such as MLflow; undefined ones left out."""
        found = {
            "accuracy": self.accuracy,
            "accuracy_before": self.model_accuracy,
            "eps_global": self.eps_global,
            "gap_global": self.gaps.overall,
            "gap_global_before": self._model_gaps.overall,
            "gap_local_mean": self.gaps.local_mean,
            "gap_local_worst": self.gaps.local_worst,
            "price_global": self.price_global,
        }
        return {name: float(value) for name, value in found.items() if value == value}

    def plot(self) -> Any:
        """Draw each client's gap before and after, and what was asked: a Plotly figure."""
        from fairfl_core.explore.charts import client_gaps

        return client_gaps(self._client_columns(), None, self.counts.groups)

    @cached_property
    def _model_gaps(self) -> Gaps:
        """Gaps of the model's own answers on the same counts."""
        table = np.asarray(self.counts.table, float)
        people = self.notion.people(self.counts.n_label)
        return gaps(self.notion.answered(table), people)

    def _repr_html_(self) -> str:
        gap, local = self.gaps, self.gaps.local
        return notebook_html(
            f"Solution: {self.notion.name}, region {self.region}",
            [
                f"{percent(self.accuracy)} right, {percent(self.model_accuracy)} by the model. "
                f"Overall gap {gap_text(gap.overall)}, asked {epsilon(self.eps_global)}.",
                *self.remarks(),
            ],
            ["client", "people", "gap allowed", "gap before", "gap reached", "price"],
            (
                [
                    name,
                    count(self.counts.n_client[c]),
                    epsilon(self.eps_local[c]),
                    gap_text(self._model_gaps.local[c]),
                    gap_text(local[c]),
                    f"{self.price_local[c]:.3f}",
                ]
                for c, name in enumerate(self.counts.clients)
            ),
            len(self.counts.clients),
        )

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form."""
        clients, worst = self.counts.clients, self.gaps.worst
        return {
            "format": FORMAT,
            "status": self.status,
            "notion": self.notion.name,
            "region": self.region,
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "policy": None if self.policy.is_plain else self.policy.to_json(),
            "utility": self.utility.to_json(),
            "epsilon": {"global": self.eps_global, "local": _by(clients, self.eps_local)},
            "n": round(self.counts.n, 6),  # estimated counts add up but for rounding
            "accuracy": self.accuracy,
            "model_accuracy": self.model_accuracy,
            "gap": {
                "global": number_or_none(self.gaps.overall),
                "local": _by(clients, self.gaps.local),
                "local_mean": number_or_none(self.gaps.local_mean),
                "local_left_out": int(np.isnan(self.gaps.local).sum()),
                "local_worst": None
                if worst is None
                else {"client": clients[worst], "gap": float(self.gaps.local[worst])},
            },
            "price": {"global": self.price_global, "local": _by(clients, self.price_local)},
            "binding": list(self.binding),
            "not_assessable": [vars(cell) for cell in self.not_assessable],
            **self.rules.to_json(self),
        }


def _by(clients: Sequence[str], values: Floats) -> dict[str, float | None]:
    return {name: number_or_none(value) for name, value in zip(clients, values, strict=True)}
