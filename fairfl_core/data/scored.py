"""People with their scores: what the exact region looks at where counts do not suffice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import as_name
from fairfl_core.data.answers import Answers, BetweenCuts, Ranks, answers_to, unchanged
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.coding import CodedPeople, TableColumns, code_people
from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts, count_people, table_shape
from fairfl_core.data.splits import FoldRows
from fairfl_core.data.weighting import MissingGroup
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.data.experiments import Experiment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _Raw:
    """Stands for scores as the model gave them."""


_RAW = _Raw()
SUM = 1e-2  # scores are rounded by those who write them; logits are off by far more


@dataclass(frozen=True, eq=False)
class ScoredData:
    """One entry a person: client, group and label as codes, and the score R(x, a, c).

    Attributes
    ----------
    client, group, label : ndarray, shape (people,)
        Codes into `clients`, `groups` and `labels`.
    scores : ndarray, shape (people, labels)
        The model's estimate of Pr(label) for each person.
    predicted : ndarray, shape (people,)
        The model's own answer (the paper's Y_1), as a code into `labels`.
    favourable : str
        The label that equal opportunity (`eop`) looks at.
    calibration : Calibration, optional
        What the scores were recalibrated by; None for scores as the model gave them. The
        model's answers stay those of the model.
    folds : int
        How many models gave the scores: J when cross-fitted, each person's by the one of them
        that never saw them; else 1.
    grouping : Grouping or None
        Of which columns the groups are crossed; None for groups of one column.
    score_columns : tuple of str or None
        The table's columns that hold the scores, in the order of `labels`; None where they come
        from no table.
    missing : MissingGroup or None
        What was made of rows whose group is missing.
    """

    client: Ints
    group: Ints
    label: Ints
    scores: Floats
    predicted: Ints
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    calibration: Calibration | None = None
    folds: int = 1
    grouping: Grouping | None = None
    score_columns: tuple[str, ...] | None = None
    missing: MissingGroup | None = None

    def __post_init__(self) -> None:
        check_scores(self.scores, self.labels)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def cell(self) -> Ints:
        """Each person's cell: client times the number of groups, plus group."""
        return self.client * len(self.groups) + self.group

    @cached_property
    def counts(self) -> ClientCounts:
        """The table n[client, group, label, prediction] of these people."""
        shape = table_shape(self.clients, self.groups, self.labels)
        table = count_people(self.client, self.group, self.label, self.predicted, shape)
        names = self.clients, self.groups, self.labels, self.favourable
        return ClientCounts(
            table,
            *names,
            folds=self.folds,
            grouping=self.grouping,
            score_columns=self.score_columns,
            missing=self.missing,
        )

    def under_lottery(self, lottery: Floats) -> Answers:
        """Answers under Pr(answer k | model says j), shape (clients, groups, labels, labels)."""
        return self.counts.under_lottery(lottery)

    @property
    def own_answers(self) -> Answers:
        """What the model itself answers."""
        return self.counts.own_answers

    def under_chances(
        self,
        chances_of: Callable[["ScoredData"], Floats],
        cuts_of: Callable[["ScoredData"], BetweenCuts | None] = lambda people: None,
    ) -> Answers:
        """Answers when each person has these probabilities, shape (people, labels).

        `cuts_of` may know between which places they are alike: then nobody is looked at.
        """
        between = cuts_of(self)
        if between is not None:
            return between.answers(self.counts.table.shape)
        chances = chances_of(self)
        kept = chances[np.arange(len(self)), self.predicted]
        both_right = kept * (self.predicted == self.label)
        shape = self.counts.table.shape
        return answers_to(self.cell, self.label, chances, 1 - kept, both_right, shape)

    def recalibrated(self, calibration: Calibration) -> "ScoredData":
        """The same people with recalibrated scores; the model's answers stay."""
        if self.calibration is not None:
            raise InputError("these scores are recalibrated already; start from the model's own.")
        return replace(self, scores=self.scores_by(calibration), calibration=calibration)

    @cached_property
    def calibrated(self) -> "ScoredData":
        """The same people, recalibrated on themselves unless they are: fitted once."""
        return self if self.calibration is not None else self.recalibrated(Calibration.fit(self))

    def scores_by(self, calibration: Calibration | None) -> Floats:
        """The scores under a calibration of these very clients and groups; kept once found."""
        if calibration is None or calibration is self.calibration:
            return self.scores
        known = self._recalibrated
        if calibration not in known:
            known[calibration] = calibration.apply(self.client, self.group, self.scores)
        return known[calibration]

    def ranks_by(self, calibration: Calibration | None) -> Ranks:
        """Two labels: these people in the order of their scores under a calibration; kept."""
        known = self._ranked
        key = _RAW if calibration is None else calibration
        if key not in known:
            score = self.scores_by(calibration)[:, 1]
            cells = len(self.clients) * len(self.groups)
            known[key] = Ranks(self.cell, self.label, self.predicted, score, cells)
        return known[key]

    @cached_property
    def _ranked(self) -> "WeakKeyDictionary[Any, Ranks]":
        return WeakKeyDictionary()

    @cached_property
    def _recalibrated(self) -> "WeakKeyDictionary[Calibration, Floats]":
        return WeakKeyDictionary()

    # ---------------------------------------------------------------- where they come from

    @classmethod
    def from_experiment(
        cls, experiment: "Experiment", seed: int, split: str, fold: int | None = None
    ) -> "ScoredData":
        """The people of one seed and split of an experiment; `Experiment.scores` tells of `fold`."""
        people = experiment.scores(seed, split, fold)
        return cls(
            client=np.asarray(people.client, np.int64),
            group=np.asarray(people.group, np.int64),
            label=np.asarray(people.label, np.int64),
            scores=np.asarray(people.scores, np.float64),
            predicted=np.asarray(people.prediction, np.int64),
            clients=experiment.clients,
            groups=experiment.groups,
            labels=experiment.labels,
            favourable=experiment.favourable,
            folds=experiment.folds if split == experiment.fit_split else 1,
            grouping=experiment.grouping,
        )

    @classmethod
    def from_table(
        cls,
        rows: Any,
        *,
        favourable: str | None = None,
        **columns: Any,
    ) -> "ScoredData":
        """Take the rows of a table of scores; see `ClientCounts.from_table` for the columns."""
        people = code_people(rows, TableColumns(**columns))
        if people.weight is not None or (people.missing and people.missing.table is not None):
            raise InputError(
                "weights, and the worst case over missing groups, are had for counts, not for the "
                "exact region or rates from scores; choose the region simplex or kernel."
            )
        counts = ClientCounts.from_people(people, favourable)
        return cls.from_coded(people, counts.favourable, folds=people.folds)

    @classmethod
    def from_coded(
        cls,
        people: CodedPeople,
        favourable: str,
        rows: NDArray[np.intp] | slice = slice(None),
        folds: int = 1,
    ) -> "ScoredData":
        """Some of the people whose rows are coded already; answers stand for themselves."""
        predicted = np.asarray(people.prediction[rows], np.int64)
        scores = people.scores[rows]
        return cls(
            client=np.asarray(people.client[rows], np.int64),
            group=np.asarray(people.group[rows], np.int64),
            label=np.asarray(people.label[rows], np.int64),
            scores=scores if scores.size else scores_of_answers(predicted, people.labels),
            predicted=predicted,
            clients=people.clients,
            groups=people.groups,
            labels=people.labels,
            favourable=favourable,
            folds=folds,
            grouping=people.grouping,
            score_columns=people.score_columns,
            missing=people.missing,
        )


def scores_of_answers(answers: NDArray[np.integer[Any]], labels: Sequence[str]) -> Floats:
    """The scores of a model that tells only its answers: 1 for the answer, 0 for the others."""
    return np.eye(len(labels))[answers]


def check_scores(scores: Floats, labels: Sequence[str]) -> None:
    """Refuse what is not a probability of each label."""
    if scores.ndim != 2 or scores.shape[1] != len(labels):
        raise InputError(
            f"scores need one column for each of the {len(labels)} labels; give as many."
        )
    off = np.abs(scores.sum(axis=1) - 1)
    wrong = ~np.isfinite(off) | (off > SUM) | (scores < 0).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        given = ", ".join(f"{value:g}" for value in scores[row])
        raise InputError(
            f"data row {row + 1}: the scores {given} are not probabilities that sum to one; correct "
            "them (the softmax of a model's outputs is), or say where they are read that they are "
            "logits or votes."
        )


@dataclass(frozen=True, eq=False)
class FoldedData:
    """The same people once for each fold model, in the same order.

    The predictor is a mixture: a person is answered by the lottery on the score of one fold model,
    drawn by the person's row id. So p_i(k) is the mean over folds, and what is reported of it is the
    exact expectation over that draw too.
    """

    by_fold: tuple[ScoredData, ...]

    @classmethod
    def from_experiment(cls, experiment: "Experiment", seed: int) -> "FoldedData":
        """The test people of one seed of a cross-fitted experiment."""
        folds = range(experiment.folds)
        return cls(
            tuple(ScoredData.from_experiment(experiment, seed, "test", fold) for fold in folds)
        )

    @classmethod
    def from_table(
        cls,
        rows: Any,
        *,
        favourable: str | None = None,
        **columns: Any,
    ) -> "FoldedData":
        """Take test people from a table that has one row for each person and fold.

        A person's rows are paired by client and `row_id`; the other columns are those of
        `ClientCounts.from_table`. A table of answers says no scores: only predictors that look at
        answers can be judged on it.
        """
        people = code_people(rows, TableColumns(**columns))
        if people.weight is not None:
            raise InputError("weights are for one model, not for fold models; leave one out.")
        dealt = cast(FoldRows, people.dealt)
        everybody = np.ones(len(people.label), bool)
        pairs = dealt.paired(everybody, dealt.folds(everybody), people.alike)
        name = people.labels[-1] if favourable is None else as_name(favourable)
        return cls(tuple(ScoredData.from_coded(people, name, mine) for mine in pairs))

    def __post_init__(self) -> None:
        first = self.by_fold[0]
        for fold in self.by_fold[1:]:
            if not all(
                np.array_equal(getattr(first, part), getattr(fold, part))
                for part in ("client", "group", "label")
            ):
                raise InputError(
                    "the folds hold other people, or in another order; give each test person once "
                    "a fold."
                )

    def __len__(self) -> int:
        return len(self.by_fold[0])

    @property
    def folds(self) -> int:
        """How many models answer them."""
        return len(self.by_fold)

    @property
    def clients(self) -> tuple[str, ...]:
        """Names of the clients."""
        return self.by_fold[0].clients

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.by_fold[0].groups

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        return self.by_fold[0].labels

    @property
    def score_columns(self) -> tuple[str, ...] | None:
        """The table's columns that hold the scores, in the order of `labels`."""
        return self.by_fold[0].score_columns

    @property
    def favourable(self) -> str:
        """The label that equal opportunity looks at."""
        return self.by_fold[0].favourable

    @property
    def counts(self) -> ClientCounts:
        """How many they are; their answers are those of the first fold model."""
        return self.by_fold[0].counts

    @cached_property
    def mean_counts(self) -> ClientCounts:
        """Their counts, mean over the fold models: reals, exact for whatever is linear in them."""
        table = np.mean([fold.counts.table for fold in self.by_fold], axis=0)
        return replace(self.counts, table=table, noisy=True, estimated=True)

    @cached_property
    def _patterns(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Cell, label, each fold model's answer, and how many people have all of these alike."""
        first, labels = self.by_fold[0], len(self.labels)
        code = first.cell * labels + first.label
        for fold in self.by_fold:
            code = code * labels + fold.predicted
        codes, many = np.unique(code, return_counts=True)
        predicted = []
        for _ in self.by_fold:
            codes, answer = np.divmod(codes, labels)
            predicted.append(answer)
        cell, label = np.divmod(codes, labels)
        return cell, label, np.stack(predicted[::-1]), many.astype(float)

    def under_lottery(self, lottery: Floats) -> Answers:
        """Answers under Pr(answer k | model says j), shape (clients, groups, labels, labels)."""
        cell, label, predicted, many = self._patterns
        rows = lottery.reshape(-1, *lottery.shape[2:])[cell]  # (patterns, predicted, answer)
        place = np.arange(len(cell))
        chances = np.mean([rows[place, answer] for answer in predicted], axis=0)
        kept = np.array([rows[place, answer, answer] for answer in predicted])
        both_right = (kept * (predicted == label)).mean(axis=0)
        shape = self.counts.table.shape
        return answers_to(cell, label, chances, 1 - kept.mean(axis=0), both_right, shape, many)

    @cached_property
    def own_answers(self) -> Answers:
        """What the fold models themselves answer."""
        return self.under_lottery(unchanged(self.counts.table.shape))

    def under_chances(
        self,
        chances_of: Callable[[ScoredData], Floats],
        cuts_of: Callable[[ScoredData], BetweenCuts | None] = lambda people: None,
    ) -> Answers:
        """Answers when each person of a fold has these probabilities.

        Sums of p_i(k) are means over the folds, and `cuts_of` may tell a fold's without a look at
        each person; only their squares ask for each person's own mean.
        """
        folds = [fold.under_chances(chances_of, cuts_of) for fold in self.by_fold]
        names = ("confusion", "turned", "both_right")
        means = {name: np.mean([getattr(one, name) for one in folds], axis=0) for name in names}

        def squares() -> Floats:
            chances = np.mean([chances_of(fold) for fold in self.by_fold], axis=0)
            return np.stack([self._summed(chance**2) for chance in chances.T], axis=3)

        return Answers(**means, find_squares=squares)

    def _summed(self, values: Floats) -> Floats:
        """Sums by client, group and label."""
        first, shape = self.by_fold[0], self.counts.table.shape[:3]
        row = first.cell * len(self.labels) + first.label
        total = np.bincount(row, values, minlength=int(np.prod(shape)))
        return total.astype(float).reshape(shape)


def fitted_people(experiment: "Experiment", seed: int) -> ScoredData:
    """Those a fair predictor is fitted on, each scored by a model that never saw them."""
    return ScoredData.from_experiment(experiment, seed, experiment.fit_split)


def unseen_people(experiment: "Experiment", seed: int) -> "ScoredData | FoldedData":
    """Those it is tested on: scored by the one model, or by every fold model."""
    if experiment.folds > 1:
        return FoldedData.from_experiment(experiment, seed)
    return ScoredData.from_experiment(experiment, seed, "test")
