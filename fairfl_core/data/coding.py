"""From a table of predictions to people as codes: whose row, which group, label and answer.

Rows may be held by pandas, polars, Arrow or a mapping of lists; one row is one person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, shown
from fairfl_core.data.fold_rows import FoldRows
from fairfl_core.data.grouping import Grouping, code_groups
from fairfl_core.data.score_columns import check_order, order_columns, suggest_order
from fairfl_core.data.tables.columns import Coded, as_numbers, code_names, column_names, to_arrow
from fairfl_core.errors import InputError

__all__ = [
    "CodedPeople",
    "all_labels",
    "check_two",
    "code_people",
    "columns_of_arrays",
    "score_matrix",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class CodedPeople:
    """One entry a person: codes into `clients`, `groups` and `labels`.

    `prediction` is the model's own answer (the paper's Y_1); `scores` are what it was the largest
    of, one column a label, and no column where the table has answers instead; `score_columns`
    names them, in the order of the labels. `dealt` says of a cross-fitted table whose row each is
    and which fold's model it is by, `grouping` of which columns the groups are crossed.
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

    @cached_property
    def folds(self) -> int:
        """How many models scored these people, if all are fitted on; one unless cross-fitted."""
        everybody = np.ones(len(self.label), bool)
        return 1 if self.dealt is None else len(self.dealt.fitted(everybody))


def code_people(
    rows: Any,
    *,
    client: str,
    group: str | Sequence[str],
    label: str,
    prediction: str | None = None,
    scores: Sequence[str] | Mapping[str, str] | None = None,
    clients: Sequence[Any] | None = None,
    groups: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    fold: str | None = None,
    row_id: str | None = None,
) -> CodedPeople:
    """Code the rows of a predictions table; `ClientCounts.from_table` tells the parameters."""
    score_columns = list(scores.values() if isinstance(scores, Mapping) else scores or ())
    folded = {} if fold is None else {"fold": fold, "row_id": _named(row_id)}
    columns = [group] if isinstance(group, str) else list(group)
    header = " and ".join(columns)
    names = [client, *columns, label, *folded.values()]
    _check_columns(rows, names, prediction, score_columns)
    by_client, by_label = (code_names(rows[column], column) for column in (client, label))
    by_group = code_groups(rows, columns)
    client_names = _declared(clients) or in_order(by_client.names)
    label_names = _declared(labels)
    paired: tuple[str, ...] | None = None
    if prediction is not None:
        answer = code_names(rows[prediction], prediction)
        label_names = label_names or all_labels(by_label.names, answer.names, label, prediction)
        predicted: Ints = _codes(answer, label_names, prediction, "label")
        matrix = np.empty((len(predicted), 0))
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
    seen = in_order(by_group.names) if len(columns) == 1 else by_group.names
    group_names = _declared(groups) or check_two(seen, header, "group")
    return CodedPeople(
        client=_codes(by_client, client_names, client, "client"),
        group=_codes(by_group, group_names, header, "group"),
        label=_codes(by_label, label_names, label, "label"),
        prediction=predicted,
        scores=matrix,
        clients=client_names,
        groups=group_names,
        labels=label_names,
        dealt=FoldRows.of(rows, client=client, **folded) if folded else None,
        grouping=Grouping.of_names(columns, group_names) if len(columns) > 1 else None,
        score_columns=paired,
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


def _check_columns(
    rows: Any, names: Sequence[str], prediction: str | None, scores: Sequence[str]
) -> None:
    if (prediction is None) == (not scores):
        raise InputError("give either a prediction column or score columns, one of the two.")
    header = column_names(rows)
    for name in [*names, *([prediction] if prediction else scores)]:
        if name not in header:
            raise InputError(f'there is no column "{name}"; the table has {listed(header)}.')
        if header.count(name) > 1:
            raise InputError(f'the column "{name}" stands twice; rename one of them.')
    if not len(rows[names[0]]):
        raise InputError("the table has no rows; give at least one person.")


# -------------------------------------------------------------------- names


def _declared(names: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(map(as_name, names or ()))


def _codes(column: Coded, declared: tuple[str, ...], header: str, what: str) -> Ints:
    """Codes into the declared names, after checking that the rows hold no other."""
    codes = column.among(declared)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
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
