"""Rules of the exact region: what a person is answered, given the scores."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.rate_estimates import Measured
from fairfl_core.lp.utility import ACCURACY

if TYPE_CHECKING:
    from fairfl_core.lp.optimism import Sample
    from fairfl_core.lp.solution import RuleShare, Solution


__all__ = ["ScoreRules"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreRules:
    """Rules, each of one cell (client, group).

    A rule of scores answers argmax over k of sum_y r_y W[y, k] + b_k, of equal ones the first;
    for `sp`, `eop` and `eo` W = diag(theta). With two labels it is a cut: theta = (0, 1),
    b = (t, 0) answers the second label where its score is above t, and theta = (0, -1),
    b = (-t, 0) where it is below. A rule of answers turns the model's answer j into
    `answers[j]`: the model's own answer, the constants, and all others of the `kernel`.

    Attributes
    ----------
    client, group : ndarray, shape (rules,)
        The cell each belongs to, as codes.
    weights : ndarray, shape (rules, labels, labels)
        W; zeros for a rule of answers.
    b : ndarray, shape (rules, labels)
    answers : ndarray, shape (rules, labels)
        -1 for a rule of scores.
    """

    client: Ints
    group: Ints
    weights: Floats
    b: Floats
    answers: Ints

    needs_scores: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.client)

    @classmethod
    def of_answers(cls, client: Ints, group: Ints, answers: Ints) -> "ScoreRules":
        """Rules that look at the model's answer only."""
        rules, labels = answers.shape
        blank = np.zeros((rules, labels, labels))
        return cls(client, group, blank, np.zeros((rules, labels)), answers)

    @classmethod
    def of_scores(cls, client: Ints, group: Ints, weights: Floats, b: Floats) -> "ScoreRules":
        """Rules that look at the scores only."""
        return cls(client, group, weights, b, np.full(b.shape, -1))

    @classmethod
    def cuts(cls, client: Ints, group: Ints, at: Floats, above: NDArray[np.bool_]) -> "ScoreRules":
        """Two labels: the second one where its score is above (or else below) the cut."""
        sign = np.where(above, 1.0, -1.0)
        weights = np.zeros((len(at), 2, 2))
        weights[:, 1, 1] = sign
        return cls.of_scores(client, group, weights, np.stack([sign * at, 0 * at], axis=1))

    def take(self, chosen: NDArray[Any]) -> "ScoreRules":
        """Some of the rules."""
        return ScoreRules(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def join(cls, parts: Sequence["ScoreRules"]) -> "ScoreRules":
        """All rules of several lists."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )

    def answer(self, rule: Ints, scores: Floats, predicted: Ints) -> Ints:
        """Each person's answer by the rule whose position `rule` gives for them."""
        mapped = self.answers[rule, predicted]
        return np.where(mapped >= 0, mapped, self.values(rule, scores).argmax(axis=1))

    def values(self, rule: Ints, scores: Floats) -> Floats:
        """What speaks for each answer to each person: sum_y r_y W[y, k] + b_k."""
        value = self.b[rule]
        for y, k in self._weighed:
            value[:, k] += scores[:, y] * self.weights[:, y, k][rule]
        return value

    @cached_property
    def _weighed(self) -> list[tuple[int, int]]:
        """Labels and answers that some rule has a weight for: most rules are diagonal."""
        return [(int(y), int(k)) for y, k in np.argwhere(self.weights.any(axis=0))]

    @property
    def known(self) -> Floats:
        """The share answered k by a constant rule, (rules, labels); NaN for all others."""
        constant = (self.answers >= 0).all(axis=1) & (self.answers == self.answers[:, :1]).all(
            axis=1
        )
        given = np.eye(self.answers.shape[1])[np.maximum(self.answers[:, 0], 0)]
        return np.where(constant[:, None], given, np.nan)

    def sentence(self, rule: int, labels: tuple[str, ...]) -> str:
        """What a rule does, for a person."""
        answers, b = self.answers[rule], self.b[rule]
        if answers[0] >= 0:
            if (answers == np.arange(len(labels))).all():
                return "model's answer"
            if (answers == answers[0]).all():
                return f"always {labels[answers[0]]}"
            turned = [(j, k) for j, k in enumerate(answers) if j != k]
            return ", ".join(f"{labels[j]} to {labels[k]}" for j, k in turned)
        theta = self.weights[rule].diagonal()
        if len(labels) == 2 and theta[0] == 0 and abs(theta[1]) == 1 and b[1] == 0:
            where = "above" if theta[1] > 0 else "below"
            return f"{labels[1]} where its score is {where} {abs(b[0] * theta[1]):.3f}"
        return "the largest of " + ", ".join(
            f"{label} {round(slope, 2) + 0.0:.2f} r {round(shift, 2) + 0.0:+.2f}"
            for label, slope, shift in zip(labels, theta, b, strict=True)
        )

    # ---------------------------------------------------------------- what a solution of them says

    def expected_counts(self, found: "Solution", people: "Sample") -> Floats:
        """Return expected people by client, group, label and answer."""
        if isinstance(people, ScoredData):
            owner, amount = people.cell, np.eye(len(people.labels))[people.label]
            scores = people.scores_by(found.calibration)
        else:
            assert isinstance(people, Measured)
            owner, amount, scores = people.cell, people.amount, people.scores
        shape = found.counts.table.shape
        cell = self.client * shape[1] + self.group
        by_cell = np.argsort(cell, kind="stable")
        often = np.bincount(cell, minlength=shape[0] * shape[1])
        # Every point with each rule of its cell.
        point = np.repeat(np.arange(len(owner)), often[owner])
        first = np.cumsum(often[owner]) - often[owner]
        start = (np.cumsum(often) - often)[owner[point]]
        rule = by_cell[start + np.arange(len(point)) - first[point]]
        answer = self.answer(rule, scores[point], people.predicted[point])
        expected = np.zeros((len(often), *shape[2:]))
        weight = found.beta[rule, None] * amount[point]
        where: tuple[Any, ...] = (owner[point], slice(None), answer)
        np.add.at(expected, where, weight)
        return expected.reshape(shape)

    def attention(self, found: "Solution") -> Floats:
        """Return how much of each cell's lottery looks at the model: what is no constant answer."""
        looks = np.isnan(self.known).any(axis=1)
        total = np.zeros(found.counts.table.shape[:2])
        np.add.at(total, (self.client, self.group), found.beta * looks)
        return total

    def lottery_of(self, found: "Solution", client: int, group: int) -> list["RuleShare"]:
        """Return the rules that a cell mixes and their shares, largest first."""
        from fairfl_core.lp.solution import RuleShare

        mine = np.flatnonzero((self.client == client) & (self.group == group))
        mine = mine[np.argsort(-found.beta[mine], kind="stable")]
        labels = found.counts.labels
        return [
            RuleShare(self.sentence(int(rule), labels), float(found.beta[rule])) for rule in mine
        ]

    def remarks(self, found: "Solution") -> list[str]:
        """Say where rates come from, and what no lottery can exceed."""
        assert found.bound is not None and found.rounds is not None
        share = found.policy.utility == ACCURACY
        bound = f"{found.bound.upper:.2%}" if share else f"a utility of {found.bound.upper:.4g}"
        limit = (
            f"no lottery of such rules can exceed {bound}"
            if found.bound.certified
            else f"the scores promise up to {bound}, which is not certain"
        )
        rounds = f"{found.rounds} round{'s' * (found.rounds != 1)}"
        sent = f"{rounds}, {found.bytes_per_client:,} bytes"
        return [f"Rates from {found.rates}; {limit} ({sent} a client)."]

    def to_json(self, found: "Solution") -> dict[str, Any]:
        """Return how its rules were found, and what bounds them."""
        assert found.bound is not None
        return {
            "rates": found.rates,
            "mode": found.mode,
            "bound": {"upper": found.bound.upper, "certified": found.bound.certified},
            "rounds": found.rounds,
            "bytes_per_client": found.bytes_per_client,
        }
