"""From a table of predictions to people as codes: whose row, which group, label and answer.

Rows may be held by pandas, polars, Arrow or a mapping of lists; one row is one person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Required, TypedDict, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.columns import (
    Coded,
    as_numbers,
    code_column,
    code_names,
    column_names,
    to_arrow,
)
from fairfl_core.data.counts import check_most_labels
from fairfl_core.data.grouping import Grouping, code_groups, cross
from fairfl_core.data.score_columns import (
    check_column,
    check_order,
    check_probability,
    event_of,
    label_by_name,
    of_one_probability,
    order_columns,
    suggest_order,
)
from fairfl_core.data.splits import FoldRows
from fairfl_core.data.weighting import NO_GROUP, MissingGroup, check_rule
from fairfl_core.errors import InputError

__all__ = [
    "CodedPeople",
    "TableColumns",
    "all_labels",
    "check_two",
    "code_people",
    "columns_of_arrays",
    "score_matrix",
    "with_own_name",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class CodedPeople:
    """One entry a person: codes into `clients`, `groups` and `labels`.

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


class TableColumns(TypedDict, total=False):
    """The columns of a table and the names to expect; `ClientCounts.from_table` tells of each."""

    client: Required[str]
    group: Required[str | Sequence[str]]
    label: Required[str]
    prediction: str | None
    scores: Sequence[str] | Mapping[str, str] | None
    probability: str | None
    probability_of: str | None
    threshold: float
    clients: Sequence[Any] | None
    groups: Sequence[Any] | None
    labels: Sequence[Any] | None
    fold: str | None
    row_id: str | None
    weight: str | None
    missing_group: str | None


def code_people(rows: Any, **columns: Unpack[TableColumns]) -> CodedPeople:
    """Code the rows of a predictions table; `ClientCounts.from_table` tells the parameters."""
    client, label = columns["client"], columns["label"]
    prediction, scores = columns.get("prediction"), columns.get("scores")
    probability, weight = columns.get("probability"), columns.get("weight")
    fold, rule = columns.get("fold"), columns.get("missing_group")
    labels = columns.get("labels")
    score_columns = list(scores.values() if isinstance(scores, Mapping) else scores or ())
    folded = {} if fold is None else {"fold": fold, "row_id": _named(columns.get("row_id"))}
    given = columns["group"]
    by = [given] if isinstance(given, str) else list(given or ())
    if not by:
        raise InputError("no column of the group is named; name one, or several to cross.")
    header = " and ".join(by)
    names = [client, *by, label, *folded.values(), *([weight] if weight else [])]
    model = [prediction] if prediction else [probability] if probability else score_columns
    _check_model(prediction, scores, probability)
    _check_columns(rows, [*names, *model])
    by_client, by_label = (code_names(rows[column], column) for column in (client, label))
    by_group = _groups_or_none(rows, by, rule)
    there = by_group.codes >= 0
    if rule == "bound" and folded:
        raise InputError(
            "the worst case over missing groups is told of one model, not of fold models; choose "
            "--missing-group drop or own."
        )
    client_names = _declared(columns.get("clients")) or _seen(by_client, there)
    label_names = _declared(labels)
    paired: tuple[str, ...] | None = None
    if prediction is not None:
        answer = code_names(rows[prediction], prediction)
        label_names = label_names or all_labels(by_label.names, answer.names, label, prediction)
        predicted: Ints = _codes(answer, label_names, prediction, "label")
        matrix = np.empty((len(predicted), 0))
    elif probability is not None:
        label_names = label_names or check_two(in_order(by_label.names), label, "label")
        truth = _codes(by_label, label_names, label, "label")
        of, threshold = columns.get("probability_of"), columns.get("threshold", 0.5)
        matrix = _from_probability(rows, probability, of, threshold, label_names, truth)
        predicted = matrix.argmax(axis=1)
    else:
        label_names = label_names or check_two(in_order(by_label.names), label, "label")
        _check_scores_fit(score_columns, label_names, label)
        paired = order_columns(scores or (), label_names, ordered=labels is not None)
        columns_read = paired or tuple(score_columns)
        matrix = _finite(score_matrix(rows, columns_read), rows, columns_read)
        predicted = matrix.argmax(axis=1)  # of equal ones, the first
        truth = _codes(by_label, label_names, label, "label")
        if paired is None:
            raise InputError(suggest_order(truth, predicted, score_columns, label_names))
        check_order(truth, predicted, paired, label_names)
    check_most_labels(label_names)
    seen = in_order(by_group.names) if len(by) == 1 else by_group.names
    group_names = _declared(columns.get("groups")) or check_two(seen, header, "group")
    whole = CodedPeople(
        client=_codes(by_client, client_names, client, "client", there),
        group=_codes(by_group, group_names, header, "group", there),
        label=_codes(by_label, label_names, label, "label"),
        prediction=predicted,
        scores=matrix,
        clients=client_names,
        groups=group_names,
        labels=label_names,
        dealt=FoldRows.of(rows, client=client, **folded) if folded else None,
        grouping=Grouping.of_names(by, group_names) if len(by) > 1 else None,
        score_columns=paired,
        weight=None if weight is None else _weights(rows, weight),
    )
    lacking = int((~there).sum()) if rule != "own" else int(_lacks_any(rows, by).sum())
    if not lacking:
        return whole
    if rule == "drop" and folded:
        kept = {
            name: to_arrow(rows[name], name).filter(pa.array(there)) for name in {*names, *model}
        }
        without: TableColumns = {**columns, "missing_group": None}
        whole = code_people(kept, **without)
        return replace(whole, missing=MissingGroup("drop", lacking))
    return _without_missing(whole, there, str(rule), lacking)


def _groups_or_none(rows: Any, columns: Sequence[str], rule: str | None) -> Coded:
    """The groups of all rows; -1 where one is missing, where a rule allows that."""
    if rule is None:
        try:
            return code_groups(rows, columns)
        except InputError as error:
            if "is empty" not in str(error):
                raise
            raise InputError(
                f"{str(error).rstrip('.')}, or say what a missing group is: --missing-group drop, "
                "own or bound."
            ) from error
    check_rule(rule)
    parts = [code_column(rows[column], column) for column in columns]
    if rule == "own":
        parts = [with_own_name(part, column) for part, column in zip(parts, columns, strict=True)]
    return cross(parts, columns)


def with_own_name(part: Coded, column: str) -> Coded:
    """Give rows without a name one of their own."""
    if (part.codes >= 0).all():
        return part
    if NO_GROUP in part.names:
        raise InputError(f'column "{shown(column)}" has a group "{NO_GROUP}" already; rename it.')
    codes = np.where(part.codes < 0, len(part.names), part.codes).astype(np.int32)
    return Coded(codes, (*part.names, NO_GROUP))


def _lacks_any(rows: Any, columns: Sequence[str]) -> NDArray[np.bool_]:
    lacking = [code_column(rows[column], column).codes < 0 for column in columns]
    return np.asarray(np.any(lacking, axis=0))


def _seen(column: Coded, kept: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names that rows which are kept have, in order."""
    codes = np.unique(column.codes[kept])
    return in_order([column.names[code] for code in codes])


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
        weight=None if people.weight is None else people.weight[there],
        missing=MissingGroup(rule, lacking, table),
    )


def _weights(rows: Any, column: str) -> Floats:
    """The weight of every row: a number that is not below 0."""
    weight = as_numbers(to_arrow(rows[column], column))
    wrong = ~(weight >= 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = to_arrow(rows[column], column)[row].as_py()
        raise InputError(
            f'column "{shown(column)}", data row {row + 1}: the weight '
            f'"{"" if cell is None else cell!s:.40}" is not a number of 0 or more; correct it, or '
            "leave the row out."
        )
    if not (weight > 0).any():
        raise InputError(f'column "{shown(column)}": all weights are 0; choose another column.')
    return weight


def _from_probability(
    rows: Any,
    column: str,
    of: str | None,
    threshold: float,
    labels: tuple[str, ...],
    truth: Ints,
) -> Floats:
    """Scores of both labels from the probability of one of them."""
    chance = score_matrix(rows, [column])
    check_column(chance[:, 0], column)
    _finite(chance, rows, [column])
    label = as_name(of) if of else label_by_name(column, labels) or event_of(labels)
    if label is None:
        raise InputError(
            f'the name of the column "{shown(column)}" does not tell of which label it is the '
            f"probability ({listed(labels, 4)}); say it with --probability-of."
        )
    matrix = of_one_probability(chance[:, 0], label, labels, threshold)
    other = labels[1 - labels.index(label)]
    check_probability(truth, matrix.argmax(axis=1), column, label, other)
    return matrix


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
    if len({len(np.atleast_1d(column)) for column in rows.values()}) > 1:
        raise InputError("the arrays differ in length; give one entry a person in each of them.")
    return rows, names


def _named(row_id: str | None) -> str:
    """The column of row ids, without which nobody can tell whose row of a fold it is."""
    if row_id is None:
        raise InputError(
            "a fold column needs the column that names the person too, to see that nobody is in "
            "two folds; name it with --row-id."
        )
    return row_id


def _check_model(prediction: str | None, scores: Any, probability: str | None) -> None:
    if sum(map(bool, (prediction, scores, probability))) != 1:
        raise InputError(
            "give either a prediction column or score columns or one probability, one of the three."
        )


def _check_columns(rows: Any, names: Sequence[str]) -> None:
    header = column_names(rows)
    for name in names:
        if name not in header:
            raise InputError(f'there is no column "{name}"; the table has {listed(header)}.')
        if header.count(name) > 1:
            raise InputError(f'the column "{name}" stands twice; rename one of them.')
    if not len(rows[names[0]]):
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
    wrong = codes < 0 if rows is None else (codes < 0) & rows
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


def _check_scores_fit(scores: Sequence[str], labels: tuple[str, ...], label: str) -> None:
    for name in scores:
        if list(scores).count(name) > 1:
            raise InputError(
                f'the score column "{name}" is given twice; give one column per label.'
            )
    if len(labels) != len(scores):
        raise InputError(
            f'there are {len(scores)} score columns but {len(labels)} labels in column "{label}" '
            f"({listed(labels)}); give one score column per label, and name the labels with "
            "--labels where the rows do not hold them all."
        )


def _finite(matrix: Floats, rows: Any, columns: Sequence[str]) -> Floats:
    """Refuse a score that is no number, with its place and what stands there."""
    for place, name in enumerate(columns):
        wrong = np.isnan(matrix[:, place])
        if wrong.any():
            row = int(np.argmax(wrong))
            cell = to_arrow(rows[name], name)[row].as_py()
            raise InputError(
                f'column "{name}", data row {row + 1}: the score "{"" if cell is None else cell!s:.40}" '
                "is not a finite number; correct it or leave the row out."
            )
    return matrix
