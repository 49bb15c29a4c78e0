"""The fair predictor: a lottery that turns the model's answer into the one a person gets."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.columns import code_names
from fairfl_core._io.json_files import check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import check_names, listed, positions
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import notion_names, number_or_none
from fairfl_core.people.answers import Answers
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.folded import FoldedPeople
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.row_uniforms import row_draws
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.limits import check_epsilon
from fairfl_core.solving.policy import NOTHING_MORE, Policy
from fairfl_core.solving.regions import region_kind, region_names
from fairfl_core.solving.solution import AnswerSolution, Solution

__all__ = [
    "FORMAT",
    "FairPredictor",
    "People",
    "Predictor",
    "Reached",
    "heading_of",
    "read_heading",
]

FORMAT = "fairfl-predictor/1"
_KEYS = {
    "format",
    "notion",
    "region",
    "epsilon",
    "reached",
    "labels",
    "favourable",
    "groups",
    "clients",
}
Floats = NDArray[np.float64]
People = ClientCounts | ScoredPeople | FoldedPeople


@dataclass(frozen=True, eq=False)
class Reached:
    """What the lottery does on the counts it was fitted on; gaps are None where undefined."""

    n: float
    accuracy: float
    model_accuracy: float
    gap_global: float | None
    gap_local: tuple[float | None, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictor(ABC):
    """What predictors of every region share: whom they know, what was asked and reached.

    Attributes
    ----------
    clients, groups, labels : tuple of str
    favourable, notion, region : str
    eps_global, eps_local
        What was asked when it was fitted.
    reached : Reached
        What it does on the counts it was fitted on.
    guarantee : Guarantee or None
        With what confidence its limits were to hold beyond those.
    policy : Policy
        What else was asked of it.
    folds : int
        Of how many fold models it is a mixture (cross-fitting); 1 for a single model. Which of
        them answers a person is drawn by `row_uniforms.fold_draws`.
    needs_scores : bool
        Whether it looks at scores, not only at the model's answer.
    """

    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    notion: str
    region: str
    eps_global: float
    eps_local: tuple[float, ...]
    reached: Reached
    guarantee: Guarantee | None = None
    policy: Policy = NOTHING_MORE
    folds: int = 1

    needs_scores: ClassVar[bool] = False

    @classmethod
    def _regions(cls) -> tuple[str, ...]:
        """The regions whose predictors look at what this one looks at."""
        return tuple(
            name for name in region_names() if region_kind(name).needs_scores == cls.needs_scores
        )

    def __post_init__(self) -> None:
        for field in ("clients", "groups", "labels"):
            check_names(getattr(self, field), field)
        for name, known, kind in (
            (self.notion, notion_names(), "notion"),
            (self.region, self._regions(), "region"),
            (self.favourable, self.labels, "favourable label"),
        ):
            if name not in known:
                raise InputError(f'there is no {kind} "{name}"; it is one of {listed(known)}.')

    def draw(self, chances: Floats, said: NDArray[np.int64], draws: Floats) -> NDArray[Any]:
        """Walk each person's cumulative probabilities, the model's own answer first.

        Starting with it gives algorithm 1's distribution and keeps a person's answer for as
        large a part of the unit interval as the lottery allows, so that a small change of
        epsilon changes few people's answers.
        """
        labels = len(self.labels)
        walk = np.array([[j, *(k for k in range(labels) if k != j)] for j in range(labels)])
        steps = np.take_along_axis(chances, walk[said], axis=1).cumsum(axis=1)
        passed = draws[:, None] >= steps[:, :-1]  # the last step takes what is left
        return np.array(self.labels, dtype=object)[walk[said, passed.sum(axis=1)]]

    def luck(self, client: NDArray[np.int64], row_id: ArrayLike) -> Floats:
        """The number in [0, 1) of each client and row id."""
        if np.size(row_id) != len(client):
            raise InputError("the row ids and the rows differ in number; give one id a row.")
        return row_draws(np.array(self.clients)[client], row_id)

    @staticmethod
    def position(values: ArrayLike, names: tuple[str, ...], what: str) -> NDArray[np.int64]:
        """Where each row's name stands among those the predictor was fitted for."""
        header = getattr(values, "name", None)
        column = code_names(values, what if header is None else str(header))
        place = np.asarray(column.among(names), np.int64)
        if (place < 0).any():
            row = int(np.argmax(place < 0))
            unknown = column.names[column.codes[row]]
            raise InputError(
                f'data row {row + 1}: the {what} "{unknown}" is not one the predictor '
                f"was fitted for ({listed(names)}); fit it with that {what}, or leave the row out."
            )
        return place

    def places(
        self, clients: tuple[str, ...], groups: tuple[str, ...], labels: tuple[str, ...]
    ) -> tuple[NDArray[np.int64], ...]:
        """Where other counts' clients, groups and labels stand among its own."""
        parts = []
        for what, mine, theirs in (
            ("client", self.clients, clients),
            ("group", self.groups, groups),
            ("label", self.labels, labels),
        ):
            place = positions(theirs, mine)
            if (place < 0).any():
                unknown = theirs[int(np.argmax(place < 0))]
                raise InputError(
                    f'the {what} "{unknown}" of the counts is not one the predictor was fitted '
                    f"for ({listed(mine)}); fit it on counts that hold it."
                )
            parts.append(place)
        if len(labels) < len(self.labels):
            missing = next(label for label in self.labels if label not in labels)
            raise InputError(
                f'the counts lack the label "{missing}" that the predictor may answer; '
                "count them with all its labels (--labels)."
            )
        return tuple(parts)

    def heading(self) -> dict[str, Any]:
        """What the `fairfl-predictor/1` forms of all regions begin with."""
        by_client = dict(zip(self.clients, self.eps_local, strict=True))
        gap = dict(zip(self.clients, self.reached.gap_local, strict=True))
        return {
            "format": FORMAT,
            "notion": self.notion,
            "region": self.region,
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "policy": None if self.policy.is_plain else self.policy.to_json(),
            "epsilon": {"global": self.eps_global, "local": by_client},
            "reached": {
                "n": self.reached.n,
                "accuracy": self.reached.accuracy,
                "model_accuracy": self.reached.model_accuracy,
                "gap": {"global": self.reached.gap_global, "local": gap},
            },
            "folds": self.folds,
            "labels": list(self.labels),
            "favourable": self.favourable,
            "groups": list(self.groups),
        }

    @abstractmethod
    def answers_to(self, people: People) -> Answers:
        """What these people are answered, in expectation."""

    @property
    @abstractmethod
    def attention(self) -> Floats:
        """How much of each cell's lottery looks at the model: (clients, groups), 0 to 1.

        The rest gives everybody one answer, whatever the model says; see `Solution.attention`.
        """

    def attention_to(self, people: People) -> Floats:
        """The same in the order of other people's clients and groups."""
        client, group, _ = self.places(people.clients, people.groups, people.labels)
        return self.attention[np.ix_(client, group)]

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form."""

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-predictor/1` file, whole or not at all."""
        return write_json(path, self.to_json())


def heading_of(solution: Solution, folds: int) -> dict[str, Any]:
    """The shared fields of a predictor from what a program found."""
    counts = solution.counts
    return {
        "clients": counts.clients,
        "groups": counts.groups,
        "labels": counts.labels,
        "favourable": counts.favourable,
        "notion": solution.notion.name,
        "region": solution.region,
        "guarantee": solution.guarantee,
        "policy": solution.policy,
        "folds": folds,
        "eps_global": solution.eps_global,
        "eps_local": tuple(solution.eps_local.tolist()),
        "reached": Reached(
            round(counts.n, 6),
            solution.accuracy,
            solution.model_accuracy,
            number_or_none(solution.gaps.overall),
            tuple(number_or_none(gap) for gap in solution.gaps.local),
        ),
    }


def read_heading(value: Any, lists: str, more: set[str]) -> tuple[dict[str, Any], list[Any]]:
    """The shared fields from JSON, and what each client holds under the key `lists`."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl solve`.')
    newer = {"guarantee", "policy", "folds"}  # files of earlier versions lack them
    check_keys(value, _KEYS | more | newer, newer, "the file")
    folds = value.get("folds", 1)
    if not isinstance(folds, int) or isinstance(folds, bool) or folds < 1:
        raise InputError('"folds" must be a whole number of fold models, 1 or more.')
    labels, groups = (_names(value[key], f'"{key}"') for key in ("labels", "groups"))
    if not isinstance(value["clients"], list):
        raise InputError(f'"clients" must be a list of objects with "name" and "{lists}".')
    entries = [
        _object(entry, {"name", lists}, f"clients[{place}]")
        for place, entry in enumerate(value["clients"])
    ]
    clients = _names([entry["name"] for entry in entries], '"clients"')
    for names, field in ((clients, "clients"), (groups, "groups"), (labels, "labels")):
        check_names(names, field)
    epsilon = _by_scope(value["epsilon"], clients, '"epsilon"')
    fields = {
        "clients": clients,
        "groups": groups,
        "labels": labels,
        "favourable": str(value["favourable"]),
        "notion": str(value["notion"]),
        "region": str(value["region"]),
        "eps_global": check_epsilon(epsilon["global"], "epsilon global"),
        "eps_local": tuple(
            check_epsilon(epsilon["local"][name], f'epsilon of "{name}"') for name in clients
        ),
        "reached": _reached(value["reached"], clients),
        "guarantee": Guarantee.from_json(value.get("guarantee")),
        "policy": Policy.from_json(value.get("policy")),
        "folds": folds,
    }
    return fields, [entry[lists] for entry in entries]


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
        lottery.setflags(write=False)
        object.__setattr__(self, "lottery", lottery)

    # ---------------------------------------------------------------- where it comes from

    @classmethod
    def from_solution(cls, solution: AnswerSolution, folds: int = 1) -> "FairPredictor":
        """Take the lottery that a solved program found, for so many fold models."""
        return cls(lottery=solution.rules.lottery(solution.beta), **heading_of(solution, folds))

    # ---------------------------------------------------------------- using it

    @property
    def attention(self) -> Floats:
        """What is left when the constant part is taken out: 1 - sum_k min_j Pr(k | j)."""
        return np.asarray(1 - self.lottery.min(axis=2).sum(axis=2))

    def sample(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike, *, seed: int
    ) -> NDArray[Any]:
        """Draw an answer for every row (the paper's algorithm 1); the same seed, the same draw."""
        codes = self._codes(client, group, prediction)
        draws = np.random.default_rng(seed).random(len(codes[0]))
        return self.draw(self.lottery[codes], codes[2], draws)

    def decide(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike, *, row_id: ArrayLike
    ) -> NDArray[Any]:
        """Answer by client and row id: the same person always gets the same answer."""
        codes = self._codes(client, group, prediction)
        return self.draw(self.lottery[codes], codes[2], self.luck(codes[0], row_id))

    def _codes(
        self, client: ArrayLike, group: ArrayLike, prediction: ArrayLike
    ) -> tuple[NDArray[np.int64], ...]:
        found = (
            self.position(client, self.clients, "client"),
            self.position(group, self.groups, "group"),
            self.position(prediction, self.labels, "prediction"),
        )
        if len({len(codes) for codes in found}) > 1:
            raise InputError("clients, groups and predictions differ in number; give one a row.")
        return found

    def answers_to(self, people: People) -> Answers:
        """What these people are answered, in expectation."""
        return people.under_lottery(self.lottery_for(people))

    def lottery_for(self, counts: People) -> Floats:
        """The lottery in the order of other people's clients, groups and labels."""
        client, group, label = self.places(counts.clients, counts.groups, counts.labels)
        return self.lottery[np.ix_(client, group, label, label)]

    # ---------------------------------------------------------------- JSON

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form: lottery[group][prediction][answer] for each client."""
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

    @classmethod
    def read(cls, path: str | Path) -> "FairPredictor":
        """Read a `fairfl-predictor/1` file."""
        value = read_json(path)
        try:
            return cls.from_json(value)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


# -------------------------------------------------------------------- JSON pieces


def _object(value: Any, keys: set[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object; fit the predictor again.")
    check_keys(value, keys, set(), where)
    return value


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where} must be a list of names (strings).")
    return tuple(value)


def _by_scope(value: Any, clients: tuple[str, ...], where: str) -> dict[str, Any]:
    """An object with "global" and, for every client, "local"."""
    scopes = _object(value, {"global", "local"}, where)
    _object(scopes["local"], set(clients), f'{where}, "local"')
    return scopes


def _reached(value: Any, clients: tuple[str, ...]) -> Reached:
    part = _object(value, {"n", "accuracy", "model_accuracy", "gap"}, '"reached"')
    gap = _by_scope(part["gap"], clients, '"reached", "gap"')

    def number(given: Any, name: str) -> float:
        return nested_numbers(given, (), f'"reached", "{name}"')[0]

    def or_none(given: Any) -> float | None:
        return None if given is None else number(given, "gap")

    return Reached(
        number(part["n"], "n"),
        number(part["accuracy"], "accuracy"),
        number(part["model_accuracy"], "model_accuracy"),
        or_none(gap["global"]),
        tuple(or_none(gap["local"][name]) for name in clients),
    )
