"""Unseen people under cross-fitting: scored by every fold model, answered by one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import as_name
from fairfl_core.data.answers import Answers, answers_to
from fairfl_core.data.coding import TableColumns, code_people
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.fold_rows import FoldRows
from fairfl_core.data.ranks import BetweenCuts
from fairfl_core.data.scored import ScoredData
from fairfl_core.data.tables.columns import Coded
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.data.experiments import Experiment

__all__ = ["FoldedData", "fitted_people", "unseen_people"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoldedData:
    """The same people once for each fold model, in the same order.

    The predictor is a mixture: a person is answered by the lottery on the score of one fold model,
    drawn by the person's row id. So p_i(k) is the mean over folds, and what is told of it is the
    exact expectation over that draw too.
    """

    by_fold: tuple[ScoredData, ...]

    @classmethod
    def from_experiment(cls, experiment: "Experiment", seed: int) -> "FoldedData":
        """The test people of one seed of a cross-fitted experiment."""
        found = experiment.fold_scores(seed)
        client, group, label = (
            np.asarray(code, np.int64) for code in (found.client, found.group, found.label)
        )
        return cls(
            tuple(
                ScoredData(
                    client=client,
                    group=group,
                    label=label,
                    scores=np.asarray(scores, np.float64),
                    predicted=scores.argmax(axis=1),
                    clients=experiment.clients,
                    groups=experiment.groups,
                    labels=experiment.labels,
                    favourable=experiment.favourable,
                    grouping=experiment.grouping,
                )
                for scores in found.fold_scores
            )
        )

    @classmethod
    def from_table(
        cls,
        rows: Any,
        *,
        favourable: str | None = None,
        **columns: Unpack[TableColumns],
    ) -> "FoldedData":
        """Take test people from a table that has one row for each person and fold.

        A person's rows are paired by client and `row_id`; the other columns are those of
        `ClientCounts.from_table`. A table of answers says no scores: only predictors that look at
        answers can be judged on it.
        """
        people = code_people(rows, **columns)
        if people.weight is not None:
            raise InputError("weights are for one model, not for fold models; leave one out.")
        dealt = cast(FoldRows, people.dealt)
        everybody = np.ones(len(people.label), bool)
        alike = {
            "group": Coded(people.group.astype(np.int32), people.groups),
            "label": Coded(people.label.astype(np.int32), people.labels),
        }
        pairs = dealt.paired(everybody, dealt.folds(everybody), alike)
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

    def under_chances(
        self,
        chances_of: Callable[[ScoredData], Floats],
        cuts_of: Callable[[ScoredData], BetweenCuts | None] = lambda people: None,
    ) -> Answers:
        """Answers when each person of a fold has these probabilities.

        Sums of p_i(k) are means over the folds, and `cuts_of` may tell a fold's without a look at
        each person; only their squares ask for each person's own mean.
        """
        between = [cut for fold in self.by_fold if (cut := cuts_of(fold)) is not None]
        if len(between) == self.folds:
            return self._between_cuts(between)
        parts = [chances_of(fold) for fold in self.by_fold]
        mean = _mean_answers(
            [
                fold.under_chances(partial(_known, part))
                for fold, part in zip(self.by_fold, parts, strict=True)
            ]
        )
        chances = np.mean(parts, axis=0)
        squares = [self._summed(chances[:, answer] ** 2) for answer in range(len(self.labels))]
        return replace(mean, squares=np.stack(squares, axis=3))

    def _between_cuts(self, by_fold: Sequence[BetweenCuts]) -> Answers:
        """Two labels, whose chances p and 1 - p have squares that differ by 1 - 2 p."""
        shape = self.counts.table.shape
        mean = _mean_answers([fold.answers(shape) for fold in by_fold])
        second = by_fold[0].of_people()
        for fold in by_fold[1:]:
            second += fold.of_people()
        second /= len(by_fold)
        squares = self._summed(second * second)
        first = squares + mean.confusion[..., 0] - mean.confusion[..., 1]
        return replace(mean, squares=np.stack([first, squares], axis=3))

    def _summed(self, values: Floats) -> Floats:
        """Sums by client, group and label."""
        shape = self.counts.table.shape[:3]
        total = np.bincount(self._row, values, minlength=int(np.prod(shape)))
        return total.astype(float).reshape(shape)

    @cached_property
    def _row(self) -> Ints:
        """Each person's cell and label, as one number."""
        first = self.by_fold[0]
        return first.cell * len(self.labels) + first.label


def _mean_answers(folds: Sequence[Answers]) -> Answers:
    """The mean over folds of what is linear in p_i(k); squares are not, and are of nobody."""
    return Answers(
        *(np.mean([getattr(one, part.name) for one in folds], axis=0) for part in fields(Answers))
    )


def _known(chances: Floats, _: ScoredData) -> Floats:
    return chances


def fitted_people(experiment: "Experiment", seed: int) -> ScoredData:
    """Those a fair predictor is fitted on, each scored by a model that never saw them."""
    return ScoredData.from_experiment(experiment, seed, experiment.fit_split)


def unseen_people(experiment: "Experiment", seed: int) -> "ScoredData | FoldedData":
    """Those it is tested on: scored by the one model, or by every fold model."""
    if experiment.folds > 1:
        return FoldedData.from_experiment(experiment, seed)
    return ScoredData.from_experiment(experiment, seed, "test")
