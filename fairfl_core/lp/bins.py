"""Bins of a score, for rules that may look at the score but not at the group.

With the group each cell has its own cuts of the score. Without it one rule serves all groups of a
client, and the corners of one cell say nothing about the others. So people are parted into a
few bins of their score (as the model gave it: our recalibration looks at the group), and the
chance p[client, bin] of the second of two labels is free in [0, 1].

Bins lie inside the model's answers, so that keeping the model's answer is one of the rules, and
every lottery of the kernel among those of the bins.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import ClientCounts, count_people
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.rate_estimates import pull
from fairfl_core.lp.rules import AnswerRules

if TYPE_CHECKING:
    from fairfl_core.lp.rules import RuleShare
from fairfl_core.lp.solution import Solution

__all__ = ["BINS", "BinRules", "ScoreBins"]

BINS = 10  # of each of the model's answers
_ALIKE = 1e-9  # neighbouring bins whose chances differ by less are described as one
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
                cut = cut[cut < score.max()]  # nobody is above the largest score
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
        return pull(table, pooled)


@dataclass(frozen=True, eq=False)
class BinRules(AnswerRules):
    """Rules that see the bin of a person's score; see `AnswerRules`.

    Attributes
    ----------
    bins : ScoreBins
    """

    bins: ScoreBins

    needs_scores: ClassVar[bool] = True

    @property
    def own(self) -> Ints:
        """The model's answer in each bin."""
        return np.repeat(np.arange(2), self.bins.bins)

    @classmethod
    def free(cls, labels: tuple[str, ...], bins: ScoreBins) -> "BinRules":
        """Either answer in every bin, bin by bin: any p[client, bin]."""
        many = bins.bins
        place, answer = np.divmod(np.arange(4 * many), 2)
        response = np.zeros((4 * many, 2 * many, 2))
        response[np.arange(4 * many), place, answer] = 1.0
        return cls(
            labels=labels,
            response=response,
            block=place,
            keeps=answer == place // many,
            names=(),  # a bin has another name in every client: see `lottery_of`
            bins=bins,
        )

    @classmethod
    def cuts(cls, labels: tuple[str, ...], bins: ScoreBins) -> "BinRules":
        """The second label above an edge between bins, or below it; constants among them.

        For a guarantee: what is uncertain of a cut is one share, of a bin on its own two.
        """
        many = bins.bins
        above = np.arange(2 * many) >= np.arange(2 * many + 1)[:, None]  # (edges, bins)
        second = np.concatenate([above, ~above[1:-1]])
        return cls(
            labels=labels,
            response=np.stack([~second, second], axis=2).astype(float),
            block=np.zeros(len(second), np.int64),
            keeps=(second == (np.arange(2 * many) >= many)).all(axis=1),
            names=(),
            bins=bins,
        )

    # ---------------------------------------------------------------- what a solution of them says

    def chances(self, beta: Floats) -> Floats:
        """p[client, bin]: the chance of the second label, whatever the group."""
        return np.asarray(self.lottery(beta)[:, 0, :, 1])

    def seen(self, people: ClientCounts | ScoredData) -> Floats:
        """Count people by client, group, label and bin."""
        assert isinstance(people, ScoredData)
        return self.bins.counted(people, "labels")

    def attention(self, found: "Solution") -> Floats:
        """Return how far the chance of the second label goes apart over a client's bins."""
        spread = self.bins.spread(self.chances(found.beta))
        return np.repeat(spread[:, None], found.beta.shape[1], axis=1)

    def lottery_of(self, found: "Solution", client: int, group: int) -> list["RuleShare"]:
        """Return where the second label is answered, and how often there; the likeliest first."""
        from fairfl_core.lp.rules import RuleShare

        there = np.flatnonzero(self.bins.there[client])
        chance = self.chances(found.beta)[client, there]
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
        nobody = RuleShare(f"“{self.labels[0]}” for everybody", 1.0)
        return sorted(shares, key=lambda one: -one.share) or [nobody]

    def _where(self, low: float, high: float) -> str:
        label = f"“{self.labels[1]}”"
        if np.isinf(low) and np.isinf(high):
            return f"{label} for everybody"
        parts = [f"above {low:.3f}"] if np.isfinite(low) else []
        parts += [f"up to {high:.3f}"] if np.isfinite(high) else []
        return f"{label} where its score is {' and '.join(parts)}"

    def remarks(self, found: "Solution") -> list[str]:
        """Say where rates come from, how finely scores count, and where a better one is worse."""
        bins = self.bins.there.sum(axis=1)
        words = [
            f"Rates from {found.rates}; scores are looked at in {int(bins.max())} bins a client "
            "at most."
        ]
        turned = int(self.turns(found.beta).sum())
        if turned:
            words.append(
                f"In {turned} of {len(bins)} clients a higher score can mean a lower chance of "
                f"“{self.labels[1]}”: where the group is not known, bins of the score stand in "
                "for it."
            )
        return words

    def turns(self, beta: Floats) -> NDArray[np.bool_]:
        """Clients in which the chance of the second label falls somewhere as its score grows."""
        # Bins that a client does not have are as high as what comes before them.
        known = np.where(self.bins.there, self.chances(beta), 0.0)
        highest = np.maximum.accumulate(known, axis=1)
        return np.asarray((self.bins.there & (known < highest - _ALIKE)).any(axis=1))

    def to_json(self, found: "Solution") -> dict[str, Any]:
        """Return its rates and how many bins each client has."""
        bins = self.bins.there.sum(axis=1).tolist()
        named = dict(zip(found.counts.clients, bins, strict=True))
        return {"rates": found.rates, "bins": named}
