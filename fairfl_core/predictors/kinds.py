"""The predictors of all regions: of the model's answers, of its scores, and of bins of a score.

Made from a solution, or read from a file.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers
from fairfl_core._io.names import listed
from fairfl_core.data.answers import Answers, BetweenCuts, Ranks
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.bins import BinRules, ScoreBins
from fairfl_core.lp.rate_estimates import RATES
from fairfl_core.lp.regions import AnswerRules, region_kind, region_names
from fairfl_core.lp.rules import ScoreRules
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.metadata import heading_of, read_heading
from fairfl_core.predictors.predictor import People, Predictor

__all__ = [
    "BinPredictor",
    "FairPredictor",
    "ScorePredictor",
    "predictor_from_json",
    "predictor_of",
    "read_predictor",
]

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

    @classmethod
    def from_solution(cls, solution: Solution) -> "FairPredictor":
        """Take the lottery that a solved program found."""
        assert isinstance(solution.rules, AnswerRules)
        return cls(lottery=solution.rules.lottery(solution.beta), **heading_of(solution))

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


@dataclass(frozen=True, eq=False, kw_only=True)
class ScorePredictor(Predictor):
    """Who gets which answer, with what probability, given the model's scores.

    Attributes
    ----------
    rules : ScoreRules
        The rules of all cells.
    beta : ndarray, shape (rules,)
        The probability of each in its cell.
    calibration : Calibration, optional
        What the model's scores go through before a rule looks at them.
    rates : str
        Where its rates came from when it was fitted.
    """

    rules: ScoreRules
    beta: Floats
    calibration: Calibration | None
    rates: str

    needs_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rates not in RATES:
            raise InputError(f'there are no rates by "{self.rates}"; they are {listed(RATES)}.')
        if not self.needs_group:
            raise InputError(
                'each group has rules of its own, though "policy" says "without_group"; fit the '
                "predictor again."
            )
        beta = np.array(self.beta, dtype=float)
        total = np.zeros((len(self.clients), len(self.groups)))
        np.add.at(total, (self.rules.client, self.rules.group), beta)
        wrong = ~(np.abs(total - 1) <= 1e-6)
        if not (beta >= 0).all() or wrong.any():
            c, a = np.argwhere(wrong)[0] if wrong.any() else (0, 0)
            raise InputError(
                f'the probabilities of the rules of client "{self.clients[c]}", group '
                f'"{self.groups[a]}" do not sum to one; fit the predictor again.'
            )
        beta.setflags(write=False)
        object.__setattr__(self, "beta", beta)

    @classmethod
    def from_solution(cls, solution: Solution) -> "ScorePredictor":
        """Take the rules that a solved program found."""
        assert isinstance(solution.rules, ScoreRules)
        return cls(
            rules=solution.rules,
            beta=solution.beta,
            calibration=solution.calibration,
            rates=solution.rates,
            **heading_of(solution),
        )

    @property
    def attention(self) -> Floats:
        """The weight of each cell's rules that are no constant answer."""
        looks = np.isnan(self.rules.known).any(axis=1)
        total = np.zeros((len(self.clients), len(self.groups)))
        np.add.at(total, (self.rules.client, self.rules.group), self.beta * looks)
        return total

    def _chances(
        self, client: Ints, group: Ints, predicted: Ints, scores: Floats | None
    ) -> Floats:
        assert scores is not None
        if self.calibration is not None:
            scores = self.calibration.apply(client, group, scores)
        return self.chances(client, group, scores, predicted)

    def chances(self, client: Ints, group: Ints, scores: Floats, predicted: Ints) -> Floats:
        """Each person's answer probabilities; codes, labels and scores as the rules see them."""
        cell = client * len(self.groups) + group
        found = np.zeros(scores.shape)
        rule, weight = self._by_cell
        for turn in range(rule.shape[1]):
            rows = np.flatnonzero(weight[cell, turn] > 0)  # few cells mix many rules
            place = cell[rows]
            answer = self.rules.answer(rule[place, turn], scores[rows], predicted[rows])
            found[rows, answer] += weight[place, turn]
        return found

    @cached_property
    def _by_cell(self) -> tuple[Ints, Floats]:
        """Positions and weights of each cell's rules, side by side, padded with weight zero."""
        cell = self.rules.client * len(self.groups) + self.rules.group
        order = np.argsort(cell, kind="stable")
        cells = len(self.clients) * len(self.groups)
        number = np.bincount(cell, minlength=cells)
        turn = np.arange(len(cell)) - (np.cumsum(number) - number)[cell[order]]
        rule = np.zeros((cells, int(number.max())), np.int64)
        weight = np.zeros(rule.shape)
        rule[cell[order], turn] = order
        weight[cell[order], turn] = self.beta[order]
        return rule, weight

    def answers_to(self, people: People) -> Answers:
        """What these people are answered, in expectation; counts hold no scores."""
        return people.under_chances(self.chances_of, self.between_cuts)

    @cached_property
    def _cuts(self) -> "tuple[Floats, Ints, Floats, NDArray[np.bool_], Floats] | None":
        """Two labels: Pr(second | predicted) from rules of answers, and the cuts of every cell.

        Chances as (cells, predicted); of the cuts their cell, place, direction and weight. None where
        some rule is neither.
        """
        rules = self.rules
        cuts = (rules.answers < 0).all(axis=1)
        plain = np.zeros((len(rules), 2, 2))
        plain[:, 1, 1] = rules.weights[:, 1, 1]
        shaped = len(self.labels) == 2 and (rules.weights == plain).all()
        sign = rules.weights[:, 1, 1]
        if not shaped or (cuts & ((np.abs(sign) != 1) | (rules.b[:, 1] != 0))).any():
            return None
        cell = rules.client * len(self.groups) + rules.group
        base = np.zeros((len(self.clients) * len(self.groups), 2))
        for predicted in (0, 1):
            second = np.where(cuts, 0.0, self.beta * (rules.answers[:, predicted] == 1))
            base[:, predicted] = np.bincount(cell, second, minlength=len(base))
        at = (rules.b[:, 0] * sign)[cuts]
        return base, cell[cuts], at, sign[cuts] > 0, self.beta[cuts]

    def _steps(self, ranks: Ranks) -> "tuple[Ints, Floats] | None":
        """Where the chance of the second label changes, cuts only, and by how much."""
        if self._cuts is None:
            return None
        _, cell, at, above, weight = self._cuts
        place = ranks.places(cell, at, above)
        # Above a cut: from its place on. Below: from the cell's start, and not from its place on.
        begin = np.where(above, place, ranks.starts[cell])
        end = np.where(above, ranks.starts[cell + 1], place)
        return np.concatenate([begin, end]), np.concatenate([weight, -weight])

    def _same_names(self, people: ScoredData) -> bool:
        mine = (self.clients, self.groups, self.labels)
        return (people.clients, people.groups, people.labels) == mine

    def between_cuts(self, people: ScoredData) -> BetweenCuts | None:
        """Two labels: where, in the people's order by score, the chances of the second one change.

        None where some rule is no cut.
        """
        if not self._same_names(people) or self._cuts is None:
            return None
        ranks = people.ranks_by(self._checked_calibration(people))
        steps = self._steps(ranks)
        assert steps is not None
        place = np.unique(np.concatenate([ranks.starts, steps[0]]))
        change = np.bincount(np.searchsorted(place, steps[0]), steps[1], minlength=len(place))
        second = self._cuts[0][ranks.cells_at(place[:-1])] + np.cumsum(change)[:-1, None]
        return BetweenCuts(ranks, place, np.clip(second, 0.0, 1.0))

    def _checked_calibration(self, people: ScoredData) -> Calibration | None:
        if people.calibration not in (None, self.calibration):
            raise InputError(
                "these scores were recalibrated by another calibration than the predictor's; "
                "give the model's own scores."
            )
        return self.calibration

    def chances_of(self, people: ScoredData) -> Floats:
        """Answer probabilities of these people, in the order of their labels."""
        calibration = self._checked_calibration(people)
        between = self.between_cuts(people)
        if between is not None:
            second = between.of_people()
            return np.stack([1 - second, second], axis=1)
        if self._same_names(people):
            scores = people.scores_by(calibration)
            return self.chances(people.client, people.group, scores, people.predicted)
        client, group, label = self.places(people.clients, people.groups, people.labels)
        clients, groups = client[people.client], group[people.group]
        scores = np.empty(people.scores.shape)
        scores[:, label] = people.scores
        if self.calibration is not None and people.calibration is None:
            scores = self.calibration.apply(clients, groups, scores)
        return self.chances(clients, groups, scores, label[people.predicted])[:, label]

    def _to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form: rules[group] for each client.

        A rule has its ``probability`` and either ``answers``, what each answer of the model is
        turned into, or ``b`` with ``theta`` (or, for eo-full, the matrix ``weights``).
        """
        rules: list[list[list[dict[str, Any]]]] = [[[] for _ in self.groups] for _ in self.clients]
        for place, probability in enumerate(self.beta):
            one = {"probability": float(probability)} | self._rule_json(place)
            rules[self.rules.client[place]][self.rules.group[place]].append(one)
        return self.heading() | {
            "rates": self.rates,
            "calibration": None if self.calibration is None else self.calibration.to_json(),
            "clients": [
                {"name": name, "rules": its} for name, its in zip(self.clients, rules, strict=True)
            ],
        }

    def _rule_json(self, place: int) -> dict[str, Any]:
        answers, weights = self.rules.answers[place], self.rules.weights[place]
        if answers[0] >= 0:
            return {"answers": [self.labels[k] for k in answers]}
        b = {"b": self.rules.b[place].tolist()}
        if (weights == np.diag(weights.diagonal())).all():
            return {"theta": weights.diagonal().tolist()} | b
        return {"weights": weights.tolist()} | b

    @classmethod
    def from_json(cls, value: Any) -> "ScorePredictor":
        """Check and take a `fairfl-predictor/1` object of the exact region."""
        fields, entries = read_heading(value, "rules", {"rates", "calibration"})
        clients, groups, labels = (fields[key] for key in ("clients", "groups", "labels"))
        found: list[ScoreRules] = []
        beta: list[float] = []
        for c, (name, entry) in enumerate(zip(clients, entries, strict=True)):
            where = f'client "{name}", rules'
            if not isinstance(entry, list) or len(entry) != len(groups):
                raise InputError(f"{where}: needs a list with one entry per group.")
            for a, rules in enumerate(entry):
                if not isinstance(rules, list) or not rules:
                    raise InputError(f'{where}, group "{groups[a]}": needs a list of rules.')
                for rule in rules:
                    probability, one = _rule(rule, c, a, labels, f'{where}, group "{groups[a]}"')
                    beta.append(probability)
                    found.append(one)
        calibration = value["calibration"]
        return cls(
            rules=ScoreRules.join(found),
            beta=np.array(beta),
            calibration=None
            if calibration is None
            else Calibration.from_json(calibration, clients, groups, labels),
            rates=str(value["rates"]),
            **fields,
        )


def _rule(
    value: Any, client: int, group: int, labels: tuple[str, ...], where: str
) -> tuple[float, ScoreRules]:
    """A probability and one rule from JSON."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: a rule must be an object; fit the predictor again.")
    kinds = [kind for kind in ("answers", "theta", "weights") if kind in value]
    if len(kinds) != 1:
        raise InputError(f'{where}: a rule has either "answers", "theta" or "weights"; give one.')
    kind = kinds[0]
    check_keys(
        value, {"probability", kind} | ({"b"} if kind != "answers" else set()), set(), where
    )
    probability = nested_numbers(value["probability"], (), f'{where}, "probability"')[0]
    cell = np.array([client]), np.array([group])
    if kind == "answers":
        given = value["answers"]
        whole = isinstance(given, list) and len(given) == len(labels)
        if not whole or any(name not in labels for name in given):
            raise InputError(
                f'{where}, "answers": needs one of the labels for each answer of the model.'
            )
        answers = np.array([[labels.index(name) for name in given]])
        return probability, ScoreRules.of_answers(*cell, answers)
    size = len(labels)
    b = np.array(nested_numbers(value["b"], (("label", labels),), f'{where}, "b"'), float)
    axes = (("label", labels),) if kind == "theta" else (("label", labels), ("answer", labels))
    numbers = np.array(nested_numbers(value[kind], axes, f'{where}, "{kind}"'), float)
    weights = np.diag(numbers) if kind == "theta" else numbers.reshape(size, size)
    return probability, ScoreRules.of_scores(*cell, weights[None], b[None])


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


# -------------------------------------------------------------------- which of them


def predictor_of(solution: Solution) -> Predictor:
    """The predictor that a solved program of any region found."""
    if not solution.needs_scores:
        return FairPredictor.from_solution(solution)
    if solution.policy.without_group:
        return BinPredictor.from_solution(solution)
    return ScorePredictor.from_solution(solution)


def read_predictor(path: str | Path) -> Predictor:
    """Read a `fairfl-predictor/1` file of any region."""
    return Predictor.read(path)


def predictor_from_json(value: Any) -> Predictor:
    """Check and take a `fairfl-predictor/1` object of any region."""
    return _kind(value if isinstance(value, dict) else {}).from_json(value)


def _kind(value: dict[str, Any]) -> type[FairPredictor | ScorePredictor | BinPredictor]:
    """Which predictor a file holds, by what it looks at."""
    region, policy = value.get("region"), value.get("policy")
    if not (region in region_names() and region_kind(str(region)).needs_scores):
        return FairPredictor
    blind = isinstance(policy, dict) and policy.get("without_group") is True
    return BinPredictor if blind else ScorePredictor
