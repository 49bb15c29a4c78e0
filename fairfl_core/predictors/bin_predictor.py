"""The fair predictor of the exact region where the group is not known: a chance a bin of score."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core._io.names import listed
from fairfl_core.data.answers import Answers
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.exact.bins import BinRules, ScoreBins
from fairfl_core.lp.rate_estimates import RATES
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.metadata import heading_of, read_heading
from fairfl_core.predictors.predictor import People, Predictor

__all__ = ["BinPredictor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_EDGES = 10_000  # of a client and answer; ten are usual


@dataclass(frozen=True, eq=False, kw_only=True)
class BinPredictor(Predictor):
    """Who gets the second of two labels, with what probability, by the score alone.

    Attributes
    ----------
    bins : ScoreBins
        Each client's bins of the second label's score, as the model gave it.
    chance : ndarray, shape (clients, 2 bins)
        p[client, bin]: the chance of the second label.
    rates : str
        Where its rates came from when it was fitted.
    """

    bins: ScoreBins
    chance: Floats
    rates: str

    needs_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rates not in RATES:
            raise InputError(f'there are no rates by "{self.rates}"; they are {listed(RATES)}.')
        if self.needs_group or len(self.labels) != 2:
            raise InputError(
                'bins of a score serve two labels and a "policy" with "without_group"; fit the '
                "predictor again."
            )
        chance = np.array(self.chance, dtype=float)
        shape = (len(self.clients), 2 * self.bins.bins)
        if chance.shape != shape or len(self.bins.edges) != shape[0]:
            raise InputError(f"the chances have the shape {chance.shape}; they need {shape}.")
        if not ((chance >= 0) & (chance <= 1)).all():
            raise InputError(
                "a bin holds something that is not a probability; fit the predictor again."
            )
        chance.setflags(write=False)
        object.__setattr__(self, "chance", chance)

    @classmethod
    def from_solution(cls, solution: Solution) -> "BinPredictor":
        """Take the chances that a solved program found."""
        rules = solution.rules
        assert isinstance(rules, BinRules)
        return cls(
            bins=rules.bins,
            chance=np.clip(rules.chances(solution.beta), 0.0, 1.0),
            rates=solution.rates,
            **heading_of(solution),
        )

    # ---------------------------------------------------------------- using it

    @property
    def attention(self) -> Floats:
        """How far the chance of the second label goes apart over a client's bins."""
        return np.repeat(self.bins.spread(self.chance)[:, None], len(self.groups), axis=1)

    def _chances(
        self, client: Ints, group: Ints, predicted: Ints, scores: Floats | None
    ) -> Floats:
        assert scores is not None
        second = self.chance[client, self.bins.places(client, predicted, scores[:, 1])]
        return np.stack([1 - second, second], axis=1)

    def answers_to(self, people: People) -> Answers:
        """What these people are answered, in expectation; counts hold no scores."""
        return people.under_chances(self.chances_of)

    def chances_of(self, people: ScoredData) -> Floats:
        """Answer probabilities of these people, in the order of their labels."""
        if people.calibration is not None:
            raise InputError(
                "these scores were recalibrated, which looks at the group; give the model's own "
                "scores."
            )
        client, group, label = self.places(people.clients, people.groups, people.labels)
        scores = np.empty(people.scores.shape)
        scores[:, label] = people.scores
        whose = client[people.client], group[people.group], label[people.predicted]
        return self._chances(*whose, scores)[:, label]

    # ---------------------------------------------------------------- JSON

    def _to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form: bins[answer of the model] for each client.

        Of the people whom the model gives that answer: rising ``edges`` of the score of the
        second label, and between them the ``chances`` of that label. A score on an edge belongs
        to the bin below it.
        """
        clients = []
        chance = self.chance.reshape(len(self.clients), 2, -1)
        for name, edges, chances in zip(self.clients, self.bins.edges, chance, strict=True):
            bins = []
            for predicted in (0, 1):
                there = edges[predicted][np.isfinite(edges[predicted])].tolist()
                its = chances[predicted][: len(there) + 1].tolist()
                bins.append({"edges": there, "chances": its})
            clients.append({"name": name, "bins": bins})
        return self.heading() | {"rates": self.rates, "clients": clients}

    @classmethod
    def from_json(cls, value: Any) -> "BinPredictor":
        """Check and take a `fairfl-predictor/1` object of bins."""
        fields, entries = read_heading(value, "bins", {"rates"})
        parts = []
        for name, entry in zip(fields["clients"], entries, strict=True):
            where = f'client "{name}", bins'
            if not isinstance(entry, list) or len(entry) != 2:
                raise InputError(f"{where}: needs a list with one entry per answer of the model.")
            parts += [_bins(part, where) for part in entry]
        most = max(len(edges) for edges, _ in parts)
        edges = np.full((len(parts), most), np.inf)
        # Bins that a client does not have: nobody falls into them.
        chance = np.tile(np.arange(len(parts))[:, None] % 2, most + 1).astype(float)
        for place, (its_edges, its_chances) in enumerate(parts):
            edges[place, : len(its_edges)] = its_edges
            chance[place, : len(its_chances)] = its_chances
        clients = len(entries)
        return cls(
            bins=ScoreBins(edges.reshape(clients, 2, most)),
            chance=chance.reshape(clients, -1),
            rates=str(value["rates"]),
            **fields,
        )


def _bins(value: Any, where: str) -> tuple[list[float], list[float]]:
    """Edges and chances of the people whom a model gives one answer, from JSON."""
    if not isinstance(value, dict):
        raise InputError(f'{where}: needs objects with "edges" and "chances".')
    check_keys(value, {"edges", "chances"}, set(), where)
    if not isinstance(value["edges"], list) or len(value["edges"]) > _MOST_EDGES:
        raise InputError(f'{where}, "edges": must be a list of {_MOST_EDGES:,} numbers at most.')
    names = [str(place + 1) for place in range(len(value["edges"]) + 1)]
    edges = nested_numbers(value["edges"], (("edge", names[:-1]),), f"{where}, edges")
    chances = nested_numbers(value["chances"], (("bin", names),), f"{where}, chances")
    if not all(low < high for low, high in zip(edges[:-1], edges[1:], strict=True)):
        raise InputError(f'{where}, "edges": do not rise; fit the predictor again.')
    return edges, chances
