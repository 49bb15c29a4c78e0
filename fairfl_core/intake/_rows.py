"""From read columns to codes: whose row, which group, which label, what the model said."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, in_order, listed, positions
from fairfl_core._io.tables import ACTING, Upload, read_columns, shown
from fairfl_core.errors import InputError
from fairfl_core.intake._columns import Columns

__all__ = ["Coded", "Rows", "code_rows", "labels_of", "same_but_for_case"]

LONGEST_NAME = 200
MOST_NAMES = {"client": 20_000, "group": 50, "label": 50}
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes into its names; -1 where a row has none."""

    codes: Codes
    names: tuple[str, ...]

    @property
    def n(self) -> NDArray[np.int64]:
        """Rows of each name."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))

    def among(self, declared: Sequence[str]) -> Codes:
        """The same rows as codes into other names; -1 for a name that is none of them."""
        return np.append(positions(self.names, declared), -1)[self.codes].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Rows:
    """Everything that is taken from a table, one entry a row of it.

    `said` are codes into `labels` and `scores` the model's scores in their order, both where
    the table has them; `skipped` rows had too few or too many cells and are not among these.
    """

    client: Coded
    group: Coded
    label: Coded
    split: Coded | None
    labels: tuple[str, ...]
    said: Codes
    scores: NDArray[np.float64] | None
    skipped: int


def labels_of(upload: Upload, column: str) -> tuple[str, ...]:
    """The different values of a column, in order; for a person to pair with scores."""
    table, _ = read_columns(upload, [column])
    return in_order(_coded(table.column(column), column, "label", join=False).names)


def code_rows(upload: Upload, columns: Columns, *, join: bool = False) -> Rows:
    """Read and code the chosen columns; `join` takes names alike but for case and spaces as one."""
    roles = [columns.client, columns.group, columns.label]
    chosen = [*roles, *filter(None, (columns.prediction, columns.split))]
    score_columns = [column for _, column in columns.scores]
    for column in (*chosen, *score_columns):
        if [*chosen, *score_columns].count(column) > 1:
            raise InputError(
                f'the column "{shown(column)}" is chosen for two things; choose another for one.'
            )
    if bool(columns.prediction) == bool(score_columns):
        raise InputError("choose the column of the model's answer, or a score for each label.")
    table, skipped = read_columns(upload, chosen, score_columns)
    client, group, label = (
        _coded(table.column(column), column, role, join)
        for column, role in zip(roles, ("client", "group", "label"), strict=True)
    )
    split = None
    if columns.split:
        split = _coded(table.column(columns.split), columns.split, "split", join=True)
    if columns.prediction:
        answer = _coded(table.column(columns.prediction), columns.prediction, "label", join,
                        label.names)  # fmt: skip
        labels = _all_labels(label, answer, columns)
        said, scores = answer.among(labels), None
    else:
        labels = tuple(name for name, _ in columns.scores)
        scores = _scores(table, score_columns, "," if upload.delimiter == ";" else ".")
        said = _largest(scores)
        if join and len(label.names) == len(labels):
            labels = tuple(_joined(list(labels), label.names))
    _check_labels(label, labels, columns)
    return Rows(client, group, label, split, labels, said, scores, skipped)


# -------------------------------------------------------------------- names


def _coded(
    column: pa.ChunkedArray, header: str, role: str, join: bool, like: Sequence[str] = ()
) -> Coded:
    """Code a column; joined names are written as in `like` where it has them."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = coded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    raw = whole.dictionary.to_pylist()
    most = MOST_NAMES.get(role)
    if most and len(raw) > most:
        raise InputError(_too_many(header, role, len(raw), whole))
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    names = [_name(value) for value in raw]
    _check_readable(names, header)
    kept = _joined(names, like) if join else names
    different = list(dict.fromkeys(name for name in kept if name))
    place = np.append(positions(kept, different), -1).astype(np.int32)
    used = place[codes]
    seen = np.unique(used[used >= 0])
    return Coded(used, tuple(different)) if len(seen) == len(different) else _seen(used, different)


def _seen(codes: Codes, names: Sequence[str]) -> Coded:
    """Leave out names that no row says: a file's dictionary may hold more."""
    seen = np.unique(codes[codes >= 0])
    place = np.full(len(names) + 1, -1, np.int32)
    place[seen] = np.arange(len(seen))
    return Coded(place[codes], tuple(names[code] for code in seen))


def _name(value: Any) -> str:
    if value is None or value != value:
        return ""
    name = as_name(value)
    return name if name.strip() else ""


def _check_readable(names: Sequence[str], header: str) -> None:
    """A name is for people: not endless, and no sign in it acts on the text around it."""
    for name in names:
        if len(name) > LONGEST_NAME:
            raise InputError(
                f'column "{shown(header)}": the name "{name[:40]}…" has {len(name):,} letters; '
                f"shorten it to at most {LONGEST_NAME}."
            )
        acts = next(
            (c for c in name if c in ACTING or unicodedata.category(c) in ("Cc", "Cs")), None
        )
        if acts is not None:
            raise InputError(
                f'column "{shown(header)}": the name "{shown(name)}" holds the unseen sign '
                f"U+{ord(acts):04X}, which acts on other text; remove it."
            )


def _too_many(header: str, role: str, n: int, column: pa.DictionaryArray) -> str:
    kind = column.dictionary.type
    real = pa.types.is_floating(kind) or pa.types.is_integer(kind) or _numeric(column.dictionary)
    if role == "client":
        return (
            f'column "{shown(header)}" has {n:,} different clients, about {len(column) / n:.1f} rows '
            "each: it looks like the id of a person; choose the column of the hospital or site."
        )
    what = "looks continuous" if real else "has too many values"
    return (
        f'column "{shown(header)}" {what} for a {role} ({n:,} different); choose another column, or '
        f"put its values into at most {MOST_NAMES[role]} bins."
    )


def _numeric(values: pa.Array) -> bool:
    try:
        values[:1000].cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()


def same_but_for_case(names: Sequence[str]) -> list[list[str]]:
    """Names that differ only in case or spaces, together."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_fold(name), []).append(name)
    return [group for group in alike.values() if len(group) > 1]


def _joined(names: Sequence[str], as_written: Sequence[str] = ()) -> list[str]:
    """Each name as the first that is alike but for case and spaces writes it."""
    first: dict[str, str] = {}
    for name in (*as_written, *names):
        first.setdefault(_fold(name), " ".join(name.split()))
    return [first[_fold(name)] for name in names]


# -------------------------------------------------------------------- answers


def _all_labels(label: Coded, answer: Coded, columns: Columns) -> tuple[str, ...]:
    if not set(label.names) & set(answer.names):
        raise InputError(
            f'the labels in "{shown(columns.label)}" ({listed(label.names, 4)}) and the answers in '
            f'"{shown(columns.prediction)}" ({listed(answer.names, 4)}) have no name in common; '
            "write both with the same names."
        )
    return in_order(list(dict.fromkeys([*label.names, *answer.names])))


def _check_labels(label: Coded, labels: tuple[str, ...], columns: Columns) -> None:
    unknown = [name for name in label.names if name not in labels]
    if unknown:
        raise InputError(
            f'the label "{shown(unknown[0])}" has no score column; choose one for each of the '
            f'{len(label.names)} labels in "{shown(columns.label)}".'
        )
    if len(labels) < 2 or not label.names:
        raise InputError(
            f'column "{shown(columns.label)}" holds fewer than two different labels; '
            "choose the column of the true label."
        )
    if len(labels) > MOST_NAMES["label"]:
        raise InputError(f"there are {len(labels)} labels; put them into at most 50 bins.")


def _scores(table: pa.Table, columns: Sequence[str], decimal: str) -> NDArray[np.float64]:
    """One column of scores a label; NaN where a cell is no finite number."""
    import pandas as pd

    found = np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            text = column.to_pandas().astype(str)
            if decimal == ",":
                text = text.str.replace(",", ".", regex=False)
            values = pd.to_numeric(text, errors="coerce").to_numpy(float)
        else:
            values = column.cast(pa.float64()).to_numpy()
        found[:, place] = np.where(np.isfinite(values), values, np.nan)
    return found


def _largest(scores: NDArray[np.float64]) -> Codes:
    """Which label has the largest score; of equal ones the first, and -1 where one is missing."""
    whole = ~np.isnan(scores).any(axis=1)
    said = np.full(len(scores), -1, np.int32)
    said[whole] = scores[whole].argmax(axis=1)
    return said
