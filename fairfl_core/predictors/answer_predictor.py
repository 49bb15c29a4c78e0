"""The fair predictor: a lottery that turns the model's answer into the one a person gets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import nested_numbers
from fairfl_core.data.answers import Answers
from fairfl_core.errors import InputError
from fairfl_core.lp.regions import AnswerRules
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.metadata import heading_of, read_heading
from fairfl_core.predictors.predictor import People, Predictor

__all__ = ["FairPredictor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class FairPredictor(Predictor):
    """Who gets which answer, with what probability.

    Attributes
    ----------
    lottery : ndarray, shape (clients, groups, labels, labels)
        ``lottery[c, a, j, k]`` = Pr(answer k | the model says j) for group a of client c. For
        the simplex that is beta_0 [j = k] + beta_k (paper, equation (8) and algorithm 1).
    """

    lottery: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        labels = len(self.labels)
        shape = (len(self.clients), len(self.groups), labels, labels)
        lottery = np.array(self.lottery, dtype=float)
        if lottery.shape != shape:
            raise InputError(f"the lottery has the shape {lottery.shape}; it needs {shape}.")
        if not (np.isfinite(lottery).all() and (lottery >= 0).all()):
            raise InputError(
                "the lottery holds something that is not a probability; fit the predictor again."
            )
        if not np.allclose(lottery.sum(axis=3), 1.0, rtol=0, atol=1e-6):
            c, a, j = np.argwhere(np.abs(lottery.sum(axis=3) - 1) > 1e-6)[0]
            raise InputError(
                f'the probabilities of client "{self.clients[c]}", group "{self.groups[a]}", '
                f'prediction "{self.labels[j]}" do not sum to one; fit the predictor again.'
            )
        if not (self.needs_group or np.allclose(lottery, lottery[:, :1], rtol=0, atol=1e-9)):
            c = int(np.abs(lottery - lottery[:, :1]).max(axis=(1, 2, 3)).argmax())
            raise InputError(
                f'the groups of client "{self.clients[c]}" have lotteries of their own, though '
                '"policy" says "without_group"; fit the predictor again.'
            )
        lottery.setflags(write=False)
        object.__setattr__(self, "lottery", lottery)

    # ---------------------------------------------------------------- where it comes from

    @classmethod
    def from_solution(cls, solution: Solution) -> "FairPredictor":
        """Take the lottery that a solved program found."""
        assert isinstance(solution.rules, AnswerRules)
        return cls(lottery=solution.rules.lottery(solution.beta), **heading_of(solution))

    # ---------------------------------------------------------------- using it

    @property
    def attention(self) -> Floats:
        """What is left when the constant part is taken out: 1 - sum_k min_j Pr(k | j)."""
        return np.asarray(1 - self.lottery.min(axis=2).sum(axis=2))

    def _chances(
        self, client: Ints, group: Ints, predicted: Ints, scores: Floats | None
    ) -> Floats:
        return np.asarray(self.lottery[client, group, predicted])

    def answers_to(self, people: People) -> Answers:
        """What these people are answered, in expectation."""
        return people.under_lottery(self.lottery_for(people))

    def lottery_for(self, counts: People) -> Floats:
        """The lottery in the order of other people's clients, groups and labels."""
        client, group, label = self.places(counts.clients, counts.groups, counts.labels)
        return self.lottery[np.ix_(client, group, label, label)]

    # ---------------------------------------------------------------- JSON

    def _to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form: ``lottery[group][prediction][answer]`` for each client."""
        return self.heading() | {
            "clients": [
                {"name": name, "lottery": lottery.tolist()}
                for name, lottery in zip(self.clients, self.lottery, strict=True)
            ],
        }

    @classmethod
    def from_json(cls, value: Any) -> "FairPredictor":
        """Check and take a `fairfl-predictor/1` object."""
        fields, entries = read_heading(value, "lottery", set())
        clients, groups, labels = (fields[key] for key in ("clients", "groups", "labels"))
        axes = (("group", groups), ("prediction", labels), ("answer", labels))
        lottery = [
            nested_numbers(entry, axes, f'client "{name}", lottery')
            for name, entry in zip(clients, entries, strict=True)
        ]
        shape = (len(clients), len(groups), len(labels), len(labels))
        return cls(lottery=np.array(lottery, dtype=float).reshape(shape), **fields)
