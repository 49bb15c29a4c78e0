"""From a table of predictions to people as codes: whose row, which group, label and answer.

Rows may be held by pandas, polars, Arrow or a mapping of lists; one row is one person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import LARGEST
from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.columns import (
    Coded,
    Grouping,
    as_numbers,
    code_column,
    code_groups,
    code_names,
    column_names,
    cross,
    to_arrow,
)
from fairfl_core.data.counts import check_most_labels
from fairfl_core.data.score_columns import (
    as_probabilities,
    check_column,
    check_order,
    check_probability,
    event_of,
    label_by_name,
    of_one_probability,
    order_columns,
    suggest_order,
)
from fairfl_core.data.splits import FoldRows, RowIds
from fairfl_core.data.weighting import NO_GROUP, MissingGroup, check_rule
from fairfl_core.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class CodedPeople:
    """One entry a person: codes into `clients`, `groups` and `labels`; -1 where a row has none.

    `prediction` is the model's own answer (the paper's Y_1); `scores` are what it was the largest
    of, one column a label, and no column where the table has answers instead; `score_columns`
    names them, in the order of the labels. `dealt` says of a cross-fitted table whose row each is
    and which fold's model it is by, `grouping` of which columns the groups are crossed; `weight`
    is what a person counts for, `missing` tells of rows that have no group.
    """

    client: Ints
    group: Ints
    label: Ints
    prediction: Ints
    scores: Floats
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    dealt: FoldRows | None = None
    grouping: Grouping | None = None
    score_columns: tuple[str, ...] | None = None
    weight: Floats | None = None
    missing: MissingGroup | None = None

    @cached_property
    def folds(self) -> int:
        """How many models scored these people, if all are fitted on; one unless cross-fitted."""
        everybody = np.ones(len(self.label), bool)
        return 1 if self.dealt is None else len(self.dealt.fitted(everybody))

    @property
    def alike(self) -> dict[str, Coded]:
        """What all rows of one person must agree in."""
        return {
            "group": Coded(self.group, self.groups),
            "label": Coded(self.label, self.labels),
        }


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a table and the names to expect; `ClientCounts.from_table` tells of each.

    `scores_are` says of what kind scores are (`SCORE_KINDS`), to be made probabilities; without it
    they are taken as they stand.
    """

    client: str
    group: str | Sequence[str]
    label: str
    prediction: str | None = None
    scores: Sequence[str] | Mapping[str, str] | None = None
    scores_are: str | None = None
    probability: str | None = None
    probability_of: str | None = None
    threshold: float = 0.5
    clients: Sequence[Any] | None = None
    groups: Sequence[Any] | None = None
    labels: Sequence[Any] | None = None
    fold: str | None = None
    row_id: str | None = None
    weight: str | None = None
    missing_group: str | None = None

    @property
    def by(self) -> list[str]:
        """The columns of the group."""
        several = isinstance(self.group, Iterable) and not isinstance(self.group, str)
        return list(self.group) if several else [self.group]  # type: ignore[list-item]

    @property
    def of_scores(self) -> list[str]:
        """The columns of the scores, in the order given."""
        given = self.scores or ()
        return list(given.values() if isinstance(given, Mapping) else given)

    @property
    def names(self) -> list[str]:
        """The columns that are read as names."""
        folded = [self.fold, self.row_id] if self.fold else []
        named = [self.client, *self.by, self.label, self.prediction, *folded]
        return [name for name in named if name not in ("", None)]

    @property
    def numbers(self) -> list[str]:
        """The columns that are read as numbers: the model's, and weights."""
        return [*self.of_scores, *filter(None, [self.probability, self.weight])]

    def __post_init__(self) -> None:
        if not self.by or self.group in ("", None):
            raise InputError("no column of the group is named; name one, or several to cross.")
        if sum(map(bool, (self.prediction, self.scores, self.probability))) != 1:
            raise InputError(
                "give either a prediction column or score columns or one probability, one of the "
                "three."
            )
        if self.fold is not None and self.row_id is None:
            raise InputError(
                "a fold column needs the column that names the person too, to see that nobody is "
                "in two folds; name it with --row-id."
            )
        rule = None if self.missing_group is None else check_rule(self.missing_group)
        if rule == "bound" and self.fold:
            raise InputError(
                "the worst case over missing groups is computed for one model, not of fold models; "
                "choose --missing-group drop or own."
            )


def code_people(
    rows: Any, columns: TableColumns, *, forgiving: bool = False, join: bool = False
) -> CodedPeople:
    """Code the rows of a predictions table.

    Parameters
    ----------
    rows : table of any kind, or mapping from names to columns
    columns : TableColumns
    forgiving : bool
        Whether a row that lacks something keeps its place with the code -1; else it is refused.
    join : bool
        Whether names that differ only in case or spaces are one.
    """
    _check_columns(rows, [*columns.names, *columns.numbers])
    reader = _Reader(rows, columns, forgiving, join)
    declared = _declared(columns.labels)
    by_client = reader.code(columns.client, "client")
    by_label = reader.code(columns.label, "label", declared)
    by_group = reader.groups()
    there = by_group.codes >= 0
    model = reader.model(by_label, declared)
    check_most_labels(model["labels"])
    counted = np.ones_like(there) if forgiving else there
    clients = _declared(columns.clients) or _seen(by_client, counted)
    header = " and ".join(columns.by)
    crossed = len(columns.by) > 1
    groups = _declared(columns.groups) or (by_group.names if crossed else in_order(by_group.names))
    people = CodedPeople(
        client=_codes(by_client, clients, columns.client, "client", counted),
        group=_codes(by_group, groups, header, "group"),
        clients=clients,
        groups=groups if forgiving else check_two(groups, header, "group"),
        dealt=reader.dealt(by_client),
        grouping=Grouping.of_names(columns.by, groups) if crossed else None,
        weight=None if columns.weight is None else _weights(rows, columns.weight),
        **model,
    )
    lacking = reader.lacking(there)
    if not lacking:
        return people
    rule = columns.missing_group or "drop"
    if forgiving:
        return replace(people, missing=MissingGroup(rule, lacking))
    return _without_missing(people, there, rule, lacking)


@dataclass(frozen=True, eq=False)
class _Reader:
    """A table, which of its columns hold what, and how strictly they are read."""

    rows: Any
    columns: TableColumns
    forgiving: bool
    join: bool

    def code(self, column: str, role: str, like: Sequence[str] = ()) -> Coded:
        """Code a column of names; unless forgiving every row must have one."""
        if not self.forgiving:
            return code_names(self.rows[column], column)
        return code_column(self.rows[column], column, role, join=self.join, like=like)

    def groups(self) -> Coded:
        """Code the groups of all rows; -1 where one is missing, where that is allowed."""
        if self.columns.missing_group is None and not self.forgiving:
            try:
                return code_groups(self.rows, self.columns.by)
            except InputError as error:
                if "is empty" not in str(error):
                    raise
                raise InputError(
                    f"{str(error).rstrip('.')}, or say what a missing group is: --missing-group "
                    "drop, own or bound."
                ) from error
        parts = self._group_parts
        if self.columns.missing_group == "own":
            parts = [with_own_name(*part) for part in zip(parts, self.columns.by, strict=True)]
        return cross(parts, self.columns.by)

    @cached_property
    def _group_parts(self) -> list[Coded]:
        role = "group" if self.forgiving else ""
        rows = self.rows
        return [code_column(rows[one], one, role, join=self.join) for one in self.columns.by]

    def lacking(self, there: NDArray[np.bool_]) -> int:
        """How many rows have no group, `there` being those that now have one."""
        if self.columns.missing_group != "own":
            return int((~there).sum())
        return int(np.any([part.codes < 0 for part in self._group_parts], axis=0).sum())

    def dealt(self, by_client: Coded) -> FoldRows | None:
        """Whose row each is, and by which fold's model, of a cross-fitted table."""
        rows, fold, row_id = self.rows, self.columns.fold, self.columns.row_id
        if fold is None or row_id is None:
            return None
        ids = RowIds.of(rows[row_id], row_id)
        return FoldRows(by_client, ids, code_column(rows[fold], fold), fold)

    # ---------------------------------------------------------------- what the model says

    def model(self, by_label: Coded, declared: tuple[str, ...]) -> dict[str, Any]:
        """People's labels, and what the model answers: by its word, by scores or a probability.

        As fields of `CodedPeople`.
        """
        label, prediction = self.columns.label, self.columns.prediction
        if prediction is not None:
            answer = self.code(prediction, "label", by_label.names)
            labels = declared or all_labels(by_label.names, answer.names, label, prediction)
            predicted = _codes(answer, labels, prediction, "label")
            scores, columns = np.empty((len(predicted), 0)), None
        else:
            labels = declared or check_two(in_order(by_label.names), label, "label")
            if self.columns.scores:
                self._check_labels(labels, by_label.names)
        truth = _codes(by_label, labels, label, "label")
        if self.columns.probability is not None:
            scores, predicted = self._of_probability(self.columns.probability, labels, truth)
            columns = None
        elif prediction is None:
            scores, predicted, columns = self._of_scores(labels, truth)
        return {
            "label": truth,
            "prediction": predicted,
            "scores": scores,
            "labels": labels,
            "score_columns": columns,
        }

    def _check_labels(self, labels: tuple[str, ...], seen: tuple[str, ...]) -> None:
        """There is one score column for each label."""
        unknown = [name for name in seen if name not in labels]
        if unknown and self.forgiving:
            raise InputError(
                f'the label "{shown(unknown[0])}" has no score column; choose one for each of the '
                f'{len(seen)} labels in "{shown(self.columns.label)}".'
            )
        check_scores_fit(self.columns.of_scores, labels, self.columns.label)

    def _of_scores(
        self, labels: tuple[str, ...], truth: Ints
    ) -> tuple[Floats, Ints, tuple[str, ...]]:
        """Scores in the order of the labels, what is the largest, and the columns in that order."""
        given, kind = self.columns.scores or (), self.columns.scores_are
        paired = order_columns(given, labels, ordered=bool(self.columns.labels))
        columns = paired or tuple(self.columns.of_scores)
        matrix = self._numbers(columns, kind)
        matrix = matrix if kind is None else as_probabilities(matrix, kind)
        predicted = _largest(matrix)
        known = (truth >= 0) & (predicted >= 0)
        if paired is None:
            raise InputError(suggest_order(truth[known], predicted[known], columns, labels))
        how = "Choose the columns so." if self.forgiving else ""
        check_order(truth[known], predicted[known], columns, labels, how)
        return matrix, predicted, columns

    def _of_probability(
        self, column: str, labels: tuple[str, ...], truth: Ints
    ) -> tuple[Floats, Ints]:
        """Scores of both labels from the probability of one of them, and the larger one."""
        chance = self._numbers([column], "probabilities")[:, 0]
        of = self.columns.probability_of
        label = as_name(of) if of else label_by_name(column, labels) or event_of(labels)
        if label is None:
            raise InputError(
                f'the name of the column "{shown(column)}" does not tell of which label it is the '
                f"probability ({listed(labels, 4)}); say it with --probability-of."
            )
        matrix = of_one_probability(chance, label, labels, self.columns.threshold)
        predicted = _largest(matrix)
        known = (truth >= 0) & (predicted >= 0)
        other = labels[1 - labels.index(label)]
        check_probability(truth[known], predicted[known], column, label, other)
        return matrix, predicted

    def _numbers(self, columns: Sequence[str], kind: str | None) -> Floats:
        """Columns of scores as numbers, after checking that they can be of a kind."""
        matrix = score_matrix(self.rows, columns)
        if kind is not None:
            for place, column in enumerate(columns):
                check_column(matrix[:, place], column, kind)
        for place, column in enumerate([] if self.forgiving else columns):
            there = ~np.isnan(matrix[:, place])
            _check_numbers(there, self.rows, column, "score", "a finite number")
        return matrix


def _largest(scores: Floats) -> Ints:
    """Which label has the largest score; of equal ones the first, and -1 where one is missing."""
    whole = ~np.isnan(scores).any(axis=1)
    return np.where(whole, scores.argmax(axis=1), -1)


def with_own_name(part: Coded, column: str) -> Coded:
    """Give rows without a name one of their own."""
    if (part.codes >= 0).all():
        return part
    if NO_GROUP in part.names:
        raise InputError(f'column "{shown(column)}" has a group "{NO_GROUP}" already; rename it.')
    codes = np.where(part.codes < 0, len(part.names), part.codes).astype(np.int32)
    return Coded(codes, (*part.names, NO_GROUP))


def _seen(column: Coded, kept: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names that rows which are kept have, in order."""
    codes = np.unique(column.codes[kept])
    return in_order([column.names[code] for code in codes if code >= 0])


def _without_missing(
    people: CodedPeople, there: NDArray[np.bool_], rule: str, lacking: int
) -> CodedPeople:
    """Those who have a group; the others counted apart where any group may be theirs."""
    table = None
    if rule == "bound":
        if (people.client[~there] < 0).any():
            raise InputError(
                "a client has rows without a group only, so nothing can be compared there; leave "
                "it out, or choose --missing-group drop."
            )
        size = len(people.labels)
        shape = len(people.clients), size, size
        cell = np.ravel_multi_index(
            tuple(part[~there] for part in (people.client, people.label, people.prediction)), shape
        )
        weight = None if people.weight is None else people.weight[~there]
        table = np.bincount(cell, weight, minlength=int(np.prod(shape))).reshape(shape)
    return replace(
        people,
        **{
            name: getattr(people, name)[there]
            for name in ("client", "group", "label", "prediction", "scores")
        },
        dealt=None if people.dealt is None else people.dealt.among(there),
        weight=None if people.weight is None else people.weight[there],
        missing=MissingGroup(rule, lacking, table),
    )


def _weights(rows: Any, column: str) -> Floats:
    """The weight of every row: a number that is not below 0."""
    weight = as_numbers(to_arrow(rows[column], column))
    _check_numbers(weight >= 0, rows, column, "weight", "a number of 0 or more")
    if not (weight > 0).any():
        raise InputError(f'column "{shown(column)}": all weights are 0; choose another column.')
    if weight.max() > LARGEST:
        raise InputError(
            f'column "{shown(column)}": a weight is larger than people can be counted; correct it.'
        )
    return weight


def _check_numbers(
    right: NDArray[np.bool_], rows: Any, column: str, what: str, needed: str
) -> None:
    """Refuse a cell that is not what is needed, with its place and what stands there."""
    if not right.all():
        row = int(np.argmin(right))
        cell = to_arrow(rows[column], column)[row].as_py()
        raise InputError(
            f'column "{shown(column)}", data row {row + 1}: the {what} '
            f'"{"" if cell is None else cell!s:.40}" is not {needed}; correct it or leave the row '
            "out."
        )


def columns_of_arrays(
    arrays: Mapping[str, Any], scores: Any, labels: Sequence[Any] | None
) -> tuple[dict[str, Any], dict[str, str] | list[str]]:
    """Arrays as a table for `code_people`, and the names of the scores' columns in it.

    Parameters
    ----------
    arrays : mapping from name to array or None
        ``label`` and others, one entry a person; None for what there is not.
    scores : array or None
        One column a label, in the order of `labels`, which are sorted unless given.
    """
    rows = {name: column for name, column in arrays.items() if column is not None}
    for name, column in rows.items():
        if np.ndim(column) != 1:
            raise InputError(f"{name} must be a list or an array with one entry a person.")
    names: dict[str, str] | list[str] = []
    if scores is not None:
        matrix = np.asarray(scores)
        if matrix.ndim != 2:
            raise InputError("scores must be a matrix: one row a person, one column a label.")
        names = [f"score_{place}" for place in range(matrix.shape[1])]
        rows |= dict(zip(names, matrix.T, strict=True))
        ordered = _declared(labels) or in_order(code_names(rows["label"], "label").names)
        if len(ordered) == len(names):  # else `code_people` tells how many there must be
            names = dict(zip(ordered, names, strict=True))
    return rows, names


def _check_columns(rows: Any, names: Sequence[str]) -> None:
    header = column_names(rows)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"columns are named by a text, not by {name!r:.40}; rename them, or give the name."
            )
        if name not in header:
            raise InputError(f'there is no column "{name}"; the table has {listed(header)}.')
        if header.count(name) > 1:
            raise InputError(f'the column "{name}" stands twice; rename one of them.')
        if isinstance(rows[name], str) or not hasattr(rows[name], "__len__"):
            raise InputError(f'the column "{name}" is no list or array; give one entry a person.')
    rows_of = {name: len(rows[name]) for name in names}
    for name, n in rows_of.items():
        if n != rows_of[names[0]]:
            raise InputError(
                f'the columns differ in length ("{names[0]}" has {rows_of[names[0]]:,} rows and '
                f'"{name}" {n:,}); give one entry a person in each of them.'
            )
    if not rows_of[names[0]]:
        raise InputError("the table has no rows; give at least one person.")


# -------------------------------------------------------------------- names


def _declared(names: Sequence[Any] | None) -> tuple[str, ...]:
    if isinstance(names, str) or not (names is None or isinstance(names, Iterable)):
        raise InputError(
            f"names are given as a list, not as {names!r:.40}; give one such as [...]."
        )
    return tuple(map(as_name, names or ()))


def _codes(
    column: Coded,
    declared: tuple[str, ...],
    header: str,
    what: str,
    rows: NDArray[np.bool_] | None = None,
) -> Ints:
    """Codes into the declared names, after checking that the rows (or some) hold no other."""
    codes = column.among(declared)
    wrong = (codes < 0) & (column.codes >= 0) & (True if rows is None else rows)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f'column "{header}", data row {row + 1}: the {what} "{column.names[column.codes[row]]}" '
            f"is not declared ({listed(declared)}); add it with --{what}s or correct the row."
        )
    return codes


def all_labels(
    labels: Sequence[str], answers: Sequence[str], label: str, prediction: str
) -> tuple[str, ...]:
    """The labels that people have or are answered with, in order; `label` and so on are headers."""
    if not set(labels) & set(answers):
        raise InputError(
            f'the labels in "{shown(label)}" ({listed(labels, 4)}) and the answers in '
            f'"{shown(prediction)}" ({listed(answers, 4)}) have no name in common; write both '
            "with the same names."
        )
    return check_two(in_order(list(dict.fromkeys([*labels, *answers]))), label, "label")


def check_two(names: tuple[str, ...], header: str, what: str) -> tuple[str, ...]:
    """Refuse a column that holds fewer than two groups or labels."""
    if len(names) < 2:
        raise InputError(
            f'column "{shown(header)}" holds {len(names)} {what}; fairness compares at least two: '
            "choose another column."
        )
    return names


# -------------------------------------------------------------------- scores


def score_matrix(rows: Any, columns: Sequence[str]) -> Floats:
    """Score columns as numbers, one column a label; NaN where a cell is none."""
    return np.stack([as_numbers(to_arrow(rows[name], name)) for name in columns], axis=1)


def check_scores_fit(scores: Sequence[str], labels: tuple[str, ...], label: str) -> None:
    """Refuse score columns that are not one for each label."""
    for name in scores:
        if list(scores).count(name) > 1:
            raise InputError(
                f'the score column "{name}" is given twice; give one column per label.'
            )
    if len(labels) != len(scores):
        raise InputError(
            f'there are {len(scores)} score columns but {len(labels)} labels in column "{label}" '
            f"({listed(labels)}); give one score column per label (or of two labels the probability "
            "of one, --probability), and name the labels with --labels where the rows do not hold "
            "them all."
        )
