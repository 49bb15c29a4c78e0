"""Bins of a score, for rules that may look at the score but not at the group.

With the group each cell has its own cuts of the score. Without it one rule serves all groups of a
client, and the corners of one cell say nothing about the others. So people are told apart by a
few bins of their score (as the model gave it: our recalibration looks at the group), and the
chance p[client, bin] of the second of two labels is free in [0, 1].

Bins lie inside the model's answers, so that keeping the model's answer is one of the rules, and
every lottery of the kernel among those of the bins.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import count_people
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS
from fairfl_core.lp.regions import AnswerRules

__all__ = ["BINS", "BinRules", "ScoreBins"]

BINS = 10  # of each of the model's answers
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """Each client's bins of the second label's score, inside each of the model's two answers.

    Attributes
    ----------
    edges : ndarray, shape (clients, 2, bins - 1)
        Rising; infinite at the end where a client has fewer bins. Of the people whom the model
        answers j, bin i holds the scores above edge i - 1 and up to edge i.
    """

    edges: Floats

    @classmethod
    def of(cls, people: ScoredData, bins: int = BINS) -> "ScoreBins":
        """Bins of equally many people of a client, all groups together, or fewer of them."""
        if len(people.labels) != 2:
            raise InputError(
                f"without the group the exact region serves two labels, but there are "
                f"{len(people.labels)}; choose --region kernel or simplex."
            )
        if people.calibration is not None:
            raise InputError(
                "without the group scores are looked at as the model gave them, for a "
                "recalibration looks at the group; give the model's own scores."
            )
        edges = np.full((len(people.clients), 2, bins - 1), np.inf)
        shares = np.arange(1, bins) / bins
        part = people.client * 2 + people.predicted
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(2 * len(people.clients) + 1))
        for place, (low, high) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            score = people.scores[order[low:high], 1]
            if len(score):
                cut = np.unique(np.quantile(score, shares, method="midpoint"))
                cut = cut[cut < score.max()]  # nobody stands above the largest score
                edges[place // 2, place % 2, : len(cut)] = cut
        return cls(edges)

    @property
    def bins(self) -> int:
        """How many bins each of the model's answers has at most."""
        return self.edges.shape[2] + 1

    @property
    def there(self) -> NDArray[np.bool_]:
        """Bins that a client has, shape (clients, 2 bins)."""
        clients = len(self.edges)
        there = np.ones((clients, 2, self.bins), bool)
        there[:, :, 1:] = np.isfinite(self.edges)
        return there.reshape(clients, -1)

    def places(self, client: Ints, predicted: Ints, score: Floats) -> Ints:
        """The bin of each person, by client, the model's answer and the second label's score."""
        above = (self.edges[client, predicted] < score[:, None]).sum(axis=1)
        return np.asarray(predicted * self.bins + above, np.int64)

    def spread(self, chance: Floats) -> Floats:
        """How far chances (clients, 2 bins) go apart over the bins that each client has."""
        there = self.there
        highest = np.where(there, chance, 0.0).max(axis=1)
        return np.asarray(highest - np.where(there, chance, 1.0).min(axis=1))

    def counted(self, people: ScoredData, rates: str) -> Floats:
        """People by client, group, label and bin, under a choice of rates.

        As `rate_estimates.counted` does by the model's answer: bins of one answer add up to it.
        """
        shape = (len(people.clients), len(people.groups), 2, 2 * self.bins)
        place = self.places(people.client, people.predicted, people.scores[:, 1])
        whose = (people.client, people.group)
        if rates == "scores":
            likely = people.scores_by(Calibration.fit(people))
            by_label = [count_people(*whose, y, place, shape, likely[:, y]) for y in (0, 1)]
            return np.asarray(sum(by_label), float)
        table = count_people(*whose, people.label, place, shape).astype(float)
        return self._shrunk(people, table) if rates == "shrunk" else table

    def _shrunk(self, people: ScoredData, table: Floats) -> Floats:
        """Pull each cell's spread over its bins to that of its group over all clients."""
        pooled = np.zeros_like(table)
        for a, y, predicted in np.ndindex(table.shape[1], 2, 2):
            mine = (people.group == a) & (people.label == y) & (people.predicted == predicted)
            score = np.sort(people.scores[mine, 1])
            below = np.searchsorted(
                score, self.edges[:, predicted], side="right"
            )  # (clients, edges)
            ends = np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, len(score))))
            first = predicted * self.bins
            pooled[:, a, y, first : first + self.bins] = np.diff(ends, axis=1)
        total = pooled.sum(axis=3, keepdims=True)
        share = np.divide(pooled, total, out=np.zeros_like(pooled), where=total > 0)
        own = table.sum(axis=3, keepdims=True)
        return np.asarray(own * (table + PSEUDO_ROWS * share) / (own + PSEUDO_ROWS))


@dataclass(frozen=True, eq=False)
class BinRules(AnswerRules):
    """Rules that see the bin of a person's score; see `AnswerRules`.

    Attributes
    ----------
    bins : int
        How many each of the model's answers has.
    """

    bins: int

    @property
    def own(self) -> Ints:
        """The model's answer in each bin."""
        return np.repeat(np.arange(2), self.bins)

    @classmethod
    def free(cls, labels: tuple[str, ...], bins: int) -> "BinRules":
        """Either answer in every bin, bin by bin: any p[client, bin]."""
        place, answer = np.divmod(np.arange(4 * bins), 2)
        response = np.zeros((4 * bins, 2 * bins, 2))
        response[np.arange(4 * bins), place, answer] = 1.0
        keeps = answer == place // bins
        return cls(
            name="exact",
            labels=labels,
            response=response,
            block=place,
            keeps=keeps,
            names=(),  # a bin has another name in every client: see `BinSolution.lottery_of`
            bins=bins,
        )

    @classmethod
    def cuts(cls, labels: tuple[str, ...], bins: int) -> "BinRules":
        """The second label above an edge between bins, or below it; constants among them.

        For a guarantee: what is uncertain of a cut is one share, of a bin on its own two.
        """
        above = np.arange(2 * bins) >= np.arange(2 * bins + 1)[:, None]  # (edges, bins)
        second = np.concatenate([above, ~above[1:-1]])
        return cls(
            name="exact",
            labels=labels,
            response=np.stack([~second, second], axis=2).astype(float),
            block=np.zeros(len(second), np.int64),
            keeps=(second == (np.arange(2 * bins) >= bins)).all(axis=1),
            names=(),
            bins=bins,
        )
