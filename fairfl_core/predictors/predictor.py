"""What predictors of every region share, whatever they look at."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core._io.json_files import write_json
from fairfl_core._io.names import check_names, listed, positions
from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.folded import FoldedData
from fairfl_core.data.score_columns import columns_by_name, order_columns, paired
from fairfl_core.data.scored import ScoredData
from fairfl_core.data.tables.columns import code_names
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.regions import region_kind, region_names
from fairfl_core.predictors.hashed_draws import row_draws
from fairfl_core.predictors.metadata import FORMAT, FittedOn, Reached

__all__ = ["People", "Predictor"]

Floats = NDArray[np.float64]
People = ClientCounts | ScoredData | FoldedData


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
    fitted_on : FittedOn or None
        Of which run of which experiment it is; None where counts or a table were given.
    score_columns : tuple of str or None
        The columns that held the scores of the people it was fitted on, in the order of `labels`;
        None where it was fitted on no table of scores.
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
        self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike, *, row_id: ArrayLike
    ) -> NDArray[Any]:
        """Answer by client and row id: the same person always gets the same answer."""
        clients, chances, predicted = self._rows(client, group, seen)
        return self.draw(chances, predicted, self.luck(clients, row_id))

    def probabilities(self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike) -> Floats:
        """How probable each answer is for every row, before any draw: (rows, labels)."""
        return self._rows(client, group, seen)[1]

    @abstractmethod
    def _rows(
        self, client: ArrayLike, group: ArrayLike | None, seen: ArrayLike
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Each row's client as a code, its answer probabilities, and the model's answer."""

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

    def luck(self, client: NDArray[np.int64], row_id: ArrayLike) -> Floats:
        """The number in [0, 1) of each client and row id."""
        if np.size(row_id) != len(client):
            raise InputError("the row ids and the rows differ in number; give one id a row.")
        return row_draws(np.array(self.clients)[client], row_id)

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
        return found

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
