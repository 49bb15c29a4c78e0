"""The fair predictor: who gets which answer with what probability, and everything its file says."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.files import read_json, write_json
from fairfl_core._io.names import as_name, check_names, listed, positions
from fairfl_core.data.answers import Answers
from fairfl_core.data.columns import code_names
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.score_columns import columns_by_name, order_columns, paired
from fairfl_core.data.scored import FoldedData, ScoredData, check_scores
from fairfl_core.errors import InputError, about
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind, region_names
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.hashed_draws import fold_draws, row_draw, row_draws, salt_check
from fairfl_core.predictors.metadata import FORMAT, FittedOn, Made, Reached
from fairfl_core.predictors.verify_predictor import fingerprint

__all__ = ["Asked", "People", "Predictor"]

Floats = NDArray[np.float64]
People = ClientCounts | ScoredData | FoldedData


PUBLIC_DRAW = "no secret salt: whoever can choose row ids can choose answers"
SECRET_DRAW = "needs the secret salt that salt_check is the fingerprint of"


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictor(ABC):
    """A lottery that turns what a model says of a person into the answer the person gets.

    Made by `Predictor.from_solution`, `read_predictor` or `FairPostprocessor`. Predictors of all
    regions are used alike: `sample` and `decide` draw answers, `decide_one` that of one person,
    `probabilities` tells the chances, `write` saves it.

    Attributes
    ----------
    clients, groups, labels : tuple of str
        Scores are given in the order of `labels`.
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
        them answers a person is drawn by `fold_of`.
    fitted_on : FittedOn or None
        Of which run of which experiment it is; None where counts or a table were given.
    score_columns : tuple of str or None
        The columns that held the scores of the people it was fitted on, in the order of `labels`;
        None where it was fitted on no table of scores.
    columns : dict or None
        The columns that held their client, group and label, as far as they had names.
    made : Made or None
        Version, date and hash of the counts; None in files of earlier versions.
    salt_check : str or None
        The fingerprint of the secret salt that its draw by row id takes; None for a public draw.
    certificate : dict or None
        What proves that it is optimal on those counts; see `certified_by` and `verify_predictor`.
    needs_scores : bool
        Whether it looks at scores, not only at the model's answer.
    needs_group : bool
        Whether it looks at the group.
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
    policy: Policy = Policy()
    folds: int = 1
    fitted_on: FittedOn | None = None
    score_columns: tuple[str, ...] | None = None
    columns: dict[str, str] | None = None
    made: Made | None = None
    salt_check: str | None = None
    certificate: dict[str, Any] | None = None

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

    @property
    def needs_group(self) -> bool:
        """Whether it looks at the group; else one rule serves all groups of a client."""
        return not self.policy.without_group

    # ---------------------------------------------------------------- where it comes from

    @classmethod
    def from_solution(cls, solution: Solution) -> "Predictor":
        """Take the lottery that a solved program of any region found."""
        from fairfl_core.predictors.kinds import predictor_of

        return predictor_of(solution)

    @classmethod
    def from_json(cls, value: Any) -> "Predictor":
        """Check and take a `fairfl-predictor/1` object of any region."""
        from fairfl_core.predictors.kinds import predictor_from_json

        return predictor_from_json(value)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a `fairfl-predictor/1` file."""
        value = read_json(path)
        with about(path):
            return cls.from_json(value)  # type: ignore[return-value]  # of a subclass: its own

    def with_salt(self, salt: str) -> Self:
        """Return the same predictor, its draw by row id keyed by a secret salt.

        Without one, whoever chooses row ids can choose answers. The salt is not kept, only its
        fingerprint: give it to every `decide`.
        """
        return replace(self, salt_check=salt_check(salt))

    # ---------------------------------------------------------------- answers

    def sample(
        self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike, *, seed: int
    ) -> NDArray[Any]:
        """Draw an answer for every row (the paper's algorithm 1); the same seed, the same draw.

        `seen` is what it looks at: the model's answers, or its scores as it gave them, one column
        a label in the order of `labels`. The group may be None where it is not looked at.
        """
        _, chances, predicted = self._rows(client, group, seen)
        return self.draw(chances, predicted, np.random.default_rng(seed).random(len(predicted)))

    def decide(
        self,
        client: ArrayLike,
        group: ArrayLike | None,
        seen: ArrayLike,
        *,
        row_id: ArrayLike,
        salt: str | None = None,
    ) -> NDArray[Any]:
        """Answer by client and row id: the same person always gets the same answer.

        Parameters
        ----------
        client, group, seen
            As for `sample`.
        row_id : array
            Who each row is, inside the client.
        salt : str, optional
            The secret of a predictor that was made `with_salt`.
        """
        self.check_salt(salt)
        clients, chances, predicted = self._rows(client, group, seen)
        return self.draw(chances, predicted, self._draws(clients, row_id, salt))

    def decide_one(
        self, client: str, group: str | None, seen: Any, *, row_id: Any, salt: str | None = None
    ) -> str:
        """Answer one person as `decide` does, without the cost of columns.

        `seen` is the model's answer, or its scores in the order of `labels`.
        """
        self.check_salt(salt)
        cell = self._place(client, "client"), 0
        if self.needs_group:
            cell = cell[0], self._place(group, "group")
        scores = None
        if self.needs_scores:
            scores = np.asarray(seen, dtype=float).reshape(1, -1)
            check_scores(scores, self.labels)
        model = self._place(seen, "label") if scores is None else int(scores.argmax())
        at = [np.array([place]) for place in (*cell, model)]
        chances = self._chances(at[0], at[1], at[2], scores)[0].tolist()
        draw = row_draw(self.clients[cell[0]], row_id, salt=salt)
        order = [model, *(k for k in range(len(chances)) if k != model)]
        passed = 0.0
        for k in order[:-1]:
            passed += chances[k]
            if draw < passed:
                return self.labels[k]
        return self.labels[order[-1]]

    def probabilities(self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike) -> Floats:
        """How probable each answer is for every row, before any draw: (rows, labels)."""
        return self._rows(client, group, seen)[1]

    def fold_of(
        self, client: ArrayLike, row_id: ArrayLike, *, salt: str | None = None
    ) -> NDArray[np.int64]:
        """Draw which of its fold models answers each client's row id, always the same one."""
        self.check_salt(salt)
        clients = self.position(client, self.clients, "client")
        return fold_draws(self._names(clients), row_id, self.folds, salt=salt)

    def check_salt(self, salt: str | None) -> None:
        """Refuse a salt that is not its own, and none where it has one."""
        if salt is None and self.salt_check is not None:
            raise InputError(
                "this predictor draws by a secret salt; give the salt it was made with."
            )
        if salt is not None and self.salt_check is None:
            raise InputError(
                "this predictor was made without a salt; leave the salt out, or make one that has "
                "it: predictor.with_salt(salt)."
            )
        if salt is not None and salt_check(salt) != self.salt_check:
            raise InputError("this is not the salt that the predictor was made with.")

    @abstractmethod
    def _chances(
        self,
        client: NDArray[np.int64],
        group: NDArray[np.int64],
        predicted: NDArray[np.int64],
        scores: Floats | None,
    ) -> Floats:
        """Each row's answer probabilities; codes and columns are its own, scores the model's."""

    def _rows(
        self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Each row's client as a code, its answer probabilities, and the model's answer."""
        scores = None
        if self.needs_scores:
            scores = np.asarray(seen, dtype=float)
            check_scores(scores, self.labels)
            predicted = scores.argmax(axis=1)
        else:
            predicted = self.position(seen, self.labels, "prediction")
        clients, groups = self._cells(client, group, len(predicted))
        return clients, self._chances(clients, groups, predicted, scores), predicted

    def _cells(
        self, client: ArrayLike, group: ArrayLike | None, rows: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Client and group of so many rows, as codes; the first group where none is looked at."""
        clients = self.position(client, self.clients, "client")
        if not self.needs_group:
            groups = np.zeros(len(clients), np.int64)
        elif group is None:
            raise InputError("this predictor looks at the group; give the group of every row.")
        else:
            groups = self.position(group, self.groups, "group")
        if not len(clients) == len(groups) == rows:
            raise InputError(
                "clients, groups and what the predictor looks at differ in number; give one a row."
            )
        return clients, groups

    def draw(self, chances: Floats, predicted: NDArray[np.int64], draws: Floats) -> NDArray[Any]:
        """Walk each person's cumulative probabilities, the model's own answer first.

        Starting with it gives algorithm 1's distribution and keeps a person's answer for as
        large a part of the unit interval as the lottery allows, so that a small change of
        epsilon changes few people's answers.
        """
        labels = len(self.labels)
        walk = np.array([[j, *(k for k in range(labels) if k != j)] for j in range(labels)])
        steps = np.take_along_axis(chances, walk[predicted], axis=1).cumsum(axis=1)
        passed = draws[:, None] >= steps[:, :-1]  # the last step takes what is left
        return np.array(self.labels, dtype=object)[walk[predicted, passed.sum(axis=1)]]

    def _draws(self, client: NDArray[np.int64], row_id: ArrayLike, salt: str | None) -> Floats:
        """The number in [0, 1) of each client and row id."""
        if np.size(row_id) != len(client):
            raise InputError("the row ids and the rows differ in number; give one id a row.")
        return row_draws(self._names(client), row_id, salt=salt)

    def _names(self, client: NDArray[np.int64]) -> pa.Array:
        return pa.array(self.clients, pa.large_string()).take(pa.array(client))

    @cached_property
    def _position_of(self) -> dict[str, dict[str, int]]:
        """Where each name stands, for one person's answer."""
        fields = {"client": self.clients, "group": self.groups, "label": self.labels}
        return {what: {n: k for k, n in enumerate(names)} for what, names in fields.items()}

    def _place(self, name: Any, what: str) -> int:
        place = self._position_of[what].get(as_name(name))
        if place is None:
            raise InputError(
                f'the {what} "{name}" is not one the predictor was fitted for '
                f"({listed(tuple(self._position_of[what]))})."
            )
        return place

    def pair_scores(
        self, columns: Sequence[str], labels: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Tell which score column is which label's, for people it was not fitted on.

        By the names of the columns it was fitted on, by names that tell the label, or else by
        the order of `labels`, where a person gave them.
        """
        if self.score_columns is not None:
            again = columns_by_name(columns, self.score_columns)
            if again is not None:
                return dict(zip(self.labels, again, strict=True))
        found = order_columns(columns, labels or self.labels, ordered=labels is not None)
        if found is None:
            fitted = ""
            if self.score_columns is not None:
                fitted = f" (it was fitted where column {paired(self.score_columns, self.labels)})"
            raise InputError(
                f"the names of the score columns {listed(columns)} do not tell which of the "
                f"predictor's labels {listed(self.labels)} each is of{fitted}; name the labels in "
                "the order of the columns with --labels, or each column after its label."
            )
        return dict(zip(labels or self.labels, found, strict=True))

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
        found: dict[str, Any] = {
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
            "fitted_on": None if self.fitted_on is None else asdict(self.fitted_on),
            "labels": list(self.labels),
            "favourable": self.favourable,
            "groups": list(self.groups),
        }
        if self.score_columns is not None:
            found["score_columns"] = dict(zip(self.labels, self.score_columns, strict=True))
        if self.columns:
            found["columns"] = self.columns
        return found | {
            "made": None if self.made is None else asdict(self.made),
            "draw": {
                "hash": "fnv1a-splitmix64" if self.salt_check is None else "blake2b",
                "salt_check": self.salt_check,
                "note": PUBLIC_DRAW if self.salt_check is None else SECRET_DRAW,
            },
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
    def _to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form, without its certificate."""

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-predictor/1` form, sealed with its fingerprint where it has a certificate."""
        value = self._to_json()
        if self.certificate is None:
            return value
        value["certificate"] = dict(self.certificate)
        value["certificate"]["fingerprint"] = fingerprint(value)
        return value

    def certified_by(self, program: FairnessProgram, counts: dict[str, Any] | None = None) -> Self:
        """The same with the proof that it is optimal on the people of the program that found it.

        `counts` are these people as `docs/verify_predictor.py` will be given them; by default
        `certificate.evidence_of(program)`. Without change where no certificate can be made (three
        labels by their scores, rates from scores, a confidence overall or of scores).
        """
        from fairfl_core.predictors.certificate import certify, evidence_of  # SciPy starts slowly

        counts = counts or evidence_of(program)
        found = None if counts is None else certify(self._to_json(), counts, program)
        return self if found is None else replace(self, certificate=found)

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-predictor/1` file, whole or not at all."""
        return write_json(path, self.to_json())


@dataclass(frozen=True, eq=False)
class Asked:
    """What a predictor was asked for, in the order of the clients it is judged on.

    Attributes
    ----------
    eps_global : float
    eps_local : ndarray, shape (clients,)
    guarantee : Guarantee or None
    policy : Policy
    """

    eps_global: float
    eps_local: Floats
    guarantee: Guarantee | None = None
    policy: Policy = Policy()

    @classmethod
    def of(cls, predictor: Predictor, clients: tuple[str, ...]) -> "Asked":
        """What a predictor says of itself."""
        local = dict(zip(predictor.clients, predictor.eps_local, strict=True))
        asked = np.array([local[name] for name in clients], float)
        return cls(predictor.eps_global, asked, predictor.guarantee, predictor.policy)

    @classmethod
    def by_policy(
        cls, policy: PolicyFile, predictor: Predictor, clients: tuple[str, ...]
    ) -> "Asked":
        """What a policy asks of a predictor, whatever that was solved for.

        The confidence that the predictor was solved with counts where it is about the same notion,
        as strict limits and floors, and as large a confidence; else people alone must tell.
        """
        limits = policy.limits(clients)
        asked = np.array([limits["eps_local"][name] for name in clients], float)
        own, solved = cls.of(predictor, clients), predictor.guarantee
        is_as_strict = own.eps_global <= policy.eps_global and bool((own.eps_local <= asked).all())
        wanted = policy.guarantee
        is_as_sure = solved is not None and (
            wanted is None
            or (solved.confidence >= wanted.confidence and solved.scope in ("all", wanted.scope))
        )
        is_as_strict &= all(own.policy.keeps(floor) for floor in policy.policy.floors)
        holds = predictor.notion == policy.notion and is_as_strict and is_as_sure
        return cls(policy.eps_global, asked, solved if holds else None, policy.policy)

    @property
    def is_nothing(self) -> bool:
        """Whether no limit of any kind was asked for."""
        return self.eps_global >= 1 and bool((self.eps_local >= 1).all()) and self.policy.is_plain
