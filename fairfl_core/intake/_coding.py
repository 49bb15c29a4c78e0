"""From an uploaded table to codes: whose row, which group, which label, what the model answered.

As `data.coding`, but forgiving: a row that lacks something keeps its place with the code -1, so
that the page can say how many were dropped and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, check_readable, in_order, shown
from fairfl_core.data.coding import all_labels, check_two, score_matrix, with_own_name
from fairfl_core.data.columns import Coded, as_numbers, encode
from fairfl_core.data.grouping import cross
from fairfl_core.data.score_columns import (
    as_probabilities,
    check_column,
    check_order,
    check_probability,
    of_one_probability,
)
from fairfl_core.data.splits import FoldRows, RowIds
from fairfl_core.data.tables import TableFile, read_columns
from fairfl_core.errors import InputError
from fairfl_core.intake._roles import ColumnRoles

MOST_NAMES = {"client": 20_000, "group": 50, "label": 50}
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Everything that is taken from a table, one entry a row of it.

    `prediction` are codes into `labels`, -1 where the model gave no answer, and `scores` its
    scores in their order where the table has them; `malformed` rows had too few or too many
    cells and are not among these. `dealt` says of a cross-fitted table whose row each is and
    which fold's model it is by.
    """

    client: Coded
    group: Coded
    label: Coded
    split: Coded | None
    labels: tuple[str, ...]
    prediction: Codes
    scores: NDArray[np.float64] | None
    malformed: int
    dealt: FoldRows | None = None

    def __len__(self) -> int:
        return len(self.prediction)


def labels_of(upload: TableFile, column: str) -> tuple[str, ...]:
    """The different values of a column, in order; for a person to pair with scores."""
    table, _ = read_columns(upload, [column])
    return in_order(_coded(table.column(column), column, "label", join=False).names)


def code_rows(
    upload: TableFile, roles: ColumnRoles, *, join: bool = False, missing: str = "drop"
) -> CodedRows:
    """Read and code the chosen columns.

    `join` takes names alike but for case and spaces as one; `missing` is "own" where rows without
    a group are a group of their own.
    """
    _check_named(roles)
    score_columns = [column for _, column in roles.scores]
    score_columns += [roles.probability] if roles.probability else []
    folded = _fold_columns(roles)
    groups = roles.group_columns
    chosen = [roles.client, *groups, roles.label, roles.prediction, roles.split, *folded]
    names = [column for column in chosen if column]
    _check_chosen([*names, *score_columns, *([roles.row_id] if not folded else [])])
    table, malformed = read_columns(upload, names, score_columns)

    def coded(header: str, role: str, join: bool = join, like: Sequence[str] = ()) -> Coded:
        return _coded(table.column(header), header, role, join, like)

    client, label = coded(roles.client, "client"), coded(roles.label, "label")
    parts = [coded(column, "group") for column in groups]
    if missing == "own":
        parts = [with_own_name(part, name) for part, name in zip(parts, groups, strict=True)]
    group = cross(parts, groups)
    split = coded(roles.split, "split", join=True) if roles.split else None
    if roles.prediction:
        answer = coded(roles.prediction, "label", like=label.names)
        labels = all_labels(label.names, answer.names, roles.label, roles.prediction)
        prediction, scores = answer.among(labels), None
    else:
        labels, scores = _scored(table, roles, label.names)
        prediction = _largest(scores)
        _check_fits(label.among(labels), prediction, labels, roles)
        if join and len(label.names) == len(labels):
            labels = tuple(_joined(list(labels), label.names))
    _check_labels(label, labels, roles)
    dealt = None
    if folded:
        row_id = RowIds.of(table.column(roles.row_id), roles.row_id)
        dealt = FoldRows(client, row_id, coded(roles.fold, "fold", join=False), roles.fold)
    return CodedRows(client, group, label, split, labels, prediction, scores, malformed, dealt)


def _fold_columns(roles: ColumnRoles) -> tuple[str, ...]:
    """The columns of a cross-fitted table; a fold says nothing without the two others."""
    if not roles.fold:
        return ()
    for column, needed in (
        (roles.split, "the split (fit and test)"),
        (roles.row_id, "the row id (which rows are one test person's)"),
    ):
        if not column:
            raise InputError(
                f'the fold column "{shown(roles.fold)}" needs a column of {needed} beside it; '
                "choose one, or no fold column."
            )
    return roles.fold, roles.row_id


def _check_named(roles: ColumnRoles) -> None:
    """That everything needed is chosen, and that the model gave one thing."""
    for column, what in (
        (roles.client, "the client (hospital, site)"),
        (roles.group, "the group"),
        (roles.label, "the true label"),
    ):
        if not column:
            raise InputError(f"choose the column of {what}.")
    for label, column in roles.scores:
        if not column:
            raise InputError(
                f'choose the score column of the label "{shown(label)}"; names like p_LABEL or '
                "score_LABEL would tell."
            )
    if roles.probability and not roles.probability_of:
        raise InputError(
            f'choose the label that the column "{shown(roles.probability)}" is the probability of; '
            "a name like p_LABEL would tell."
        )
    if sum(map(bool, (roles.prediction, roles.scores, roles.probability))) != 1:
        raise InputError(
            "choose the column of the model's answer, or a score for each label, or one "
            "probability."
        )


def _check_chosen(columns: Sequence[str]) -> None:
    for column in filter(None, columns):
        if columns.count(column) > 1:
            raise InputError(
                f'the column "{shown(column)}" is chosen for two things; choose another for one.'
            )


# -------------------------------------------------------------------- names


def _coded(
    column: pa.ChunkedArray, header: str, role: str, join: bool, like: Sequence[str] = ()
) -> Coded:
    """Code a column; joined names are written as in `like` where it has them."""
    codes, values = encode(column, header)
    most = MOST_NAMES.get(role)
    if most and len(values) > most:
        raise InputError(_too_many(header, role, len(codes), values))
    names = [
        "" if value is None or value != value else as_name(value) for value in values.to_pylist()
    ]
    check_readable(names, header)
    return Coded.of(codes, _joined(names, like) if join else names)


def _too_many(header: str, role: str, rows: int, values: pa.Array) -> str:
    n = len(values)
    if role == "client":
        return (
            f'column "{shown(header)}" has {n:,} different clients, about {rows / n:.1f} rows '
            "each: it looks like the id of a person; choose the column of the hospital or site."
        )
    continuous = not np.isnan(as_numbers(values[:1000])).any()
    what = "looks continuous" if continuous else "has too many values"
    return (
        f'column "{shown(header)}" {what} for a {role} ({n:,} different); choose another column, or '
        f"put its values into at most {MOST_NAMES[role]} bins."
    )


def same_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def same_but_for_case(names: Sequence[str]) -> list[list[str]]:
    """Names that differ only in case or spaces, together."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(same_name(name), []).append(name)
    return [group for group in alike.values() if len(group) > 1]


def _joined(names: Sequence[str], as_written: Sequence[str] = ()) -> list[str]:
    """Each name as the first that is alike but for case and spaces writes it."""
    first: dict[str, str] = {}
    for name in (*as_written, *names):
        first.setdefault(same_name(name), " ".join(name.split()))
    return [first[same_name(name)] for name in names]


# -------------------------------------------------------------------- answers


def _check_labels(label: Coded, labels: tuple[str, ...], roles: ColumnRoles) -> None:
    unknown = [name for name in label.names if name not in labels]
    if unknown:
        raise InputError(
            f'the label "{shown(unknown[0])}" has no score column; choose one for each of the '
            f'{len(label.names)} labels in "{shown(roles.label)}".'
        )
    check_two(label.names and labels, roles.label, "label")
    if len(labels) > MOST_NAMES["label"]:
        raise InputError(f"there are {len(labels)} labels; put them into at most 50 bins.")


def _scored(
    table: pa.Table, roles: ColumnRoles, seen: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The labels, and a probability for each of them from whatever numbers the model gave."""
    if roles.probability:
        labels = in_order(seen)
        chance = score_matrix(table, [roles.probability])[:, 0]
        check_column(chance, roles.probability)
        label = as_name(roles.probability_of)
        return labels, of_one_probability(chance, label, labels, roles.threshold)
    columns = [column for _, column in roles.scores]
    scores = score_matrix(table, columns)
    for place, column in enumerate(columns):
        check_column(scores[:, place], column, roles.scores_are)
    return tuple(name for name, _ in roles.scores), as_probabilities(scores, roles.scores_are)


def _check_fits(label: Codes, answer: Codes, labels: tuple[str, ...], roles: ColumnRoles) -> None:
    """Refuse scores that are paired with other labels than people's own say."""
    whole = (label >= 0) & (answer >= 0)
    truth, predicted = label[whole], answer[whole]
    if roles.probability:
        of = as_name(roles.probability_of)
        other = labels[1 - labels.index(of)]
        check_probability(truth, predicted, roles.probability, of, other)
    else:
        columns = [column for _, column in roles.scores]
        check_order(truth, predicted, columns, labels, "Choose the columns so.")


def _largest(scores: NDArray[np.float64]) -> Codes:
    """Which label has the largest score; of equal ones the first, and -1 where one is missing."""
    whole = ~np.isnan(scores).any(axis=1)
    return np.where(whole, scores.argmax(axis=1), -1).astype(np.int32)
