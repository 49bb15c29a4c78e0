"""Rules of the exact region: what a person is answered, given the scores."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.rule_table import RuleTable

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

    def table(self, confusion: Floats, kept: Floats, groups: int) -> RuleTable:
        """Return the rules by what they do to their cells' people, of whom `kept` keep theirs."""
        cell = self.client * groups + self.group
        return RuleTable(
            client=self.client,
            group=self.group,
            block=cell,
            span=np.ones(len(self), np.int64),
            confusion=confusion,
            kept=kept,
            keeps=(self.answers == np.arange(self.answers.shape[1])).all(axis=1),
            known=self.known,
        )

    def answer(self, rule: Ints, scores: Floats, predicted: Ints) -> Ints:
        """Each person's answer by the rule whose position `rule` gives for them."""
        value = self.b[rule]
        for y, k in self._weighed:
            value[:, k] += scores[:, y] * self.weights[:, y, k][rule]
        mapped = self.answers[rule, predicted]
        return np.where(mapped >= 0, mapped, value.argmax(axis=1))

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
