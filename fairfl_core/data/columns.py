"""Columns of any table (pandas, polars, Arrow, lists) as codes into names, or as numbers.

Whatever holds them, columns go through Arrow: a name stands once in a dictionary, however many
rows say it, and what is read from a file is coded exactly as what is held in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, check_readable, positions, shown
from fairfl_core.errors import InputError

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DECIMAL_COMMA = r"^(\s*[+-]?\d*),(\d+([eE][+-]?\d+)?\s*)$"


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes into its names; -1 where a row has none."""

    codes: NDArray[np.integer[Any]]
    names: tuple[str, ...]

    @classmethod
    def of(cls, codes: Codes, names: Sequence[str]) -> "Coded":
        """Take equal names as one, blank ones as none, and leave out those that no row has."""
        different = list(dict.fromkeys(name for name in names if name.strip()))
        merged = np.append(positions(names, different), -1).astype(np.int32)[codes]
        seen = np.flatnonzero(np.bincount(merged[merged >= 0], minlength=len(different)))
        place = np.full(len(different) + 1, -1, np.int32)
        place[seen] = np.arange(len(seen))
        return cls(place[merged], tuple(different[code] for code in seen))

    def among(self, declared: Sequence[str]) -> Codes:
        """The same rows as codes into other names; -1 for a name that is none of them."""
        return np.append(positions(self.names, declared), -1).astype(np.int32)[self.codes]


# -------------------------------------------------------------------- tables of any kind


def column_names(rows: Any) -> list[str]:
    """The header of a pandas, polars or Arrow table, or of a mapping from names to columns."""
    if isinstance(rows, Mapping):
        return [str(name) for name in rows]
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if names is None or isinstance(rows, type):
        raise InputError(
            f"the table is of type {type(rows).__name__}; give a pandas, polars or Arrow table, or "
            "a mapping from names to columns."
        )
    return [str(name) for name in names]


def to_arrow(values: Any, header: str) -> pa.ChunkedArray:
    """A column of any kind as an Arrow one; lists of several kinds become text."""
    try:
        if not hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array([pa.array(values, from_pandas=True)])
        # Arrow's own columns as they are: pyarrow before 26 crashes where it hands itself text views.
        column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array(values)
        return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.chunked_array([pa.array([_text(value, header) for value in values])])
    except pa.ArrowNotImplementedError as error:
        raise _no_names(header) from error


def _text(value: Any, header: str) -> str | None:
    if isinstance(value, list | tuple | set | dict | np.ndarray):
        raise _no_names(header)
    return None if value is None or value != value else as_name(value)


def _no_names(header: str) -> InputError:
    return InputError(f'column "{header}" holds lists or objects; give one name a row.')


# -------------------------------------------------------------------- names


def encode(column: pa.ChunkedArray, header: str) -> tuple[Codes, pa.Array]:
    """A code a row, -1 where it is missing, and the values the codes stand for."""
    try:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        whole = coded.unify_dictionaries().combine_chunks()
    except pa.ArrowNotImplementedError as error:
        raise _no_names(header) from error
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    codes = whole.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, whole.dictionary


def code_column(
    values: Any, header: str, role: str = "", *, join: bool = False, like: Sequence[str] = ()
) -> Coded:
    """Code a column of names, in which cells may be empty.

    Parameters
    ----------
    role : str
        What it holds, one of `MOST_NAMES`: a column of more different values is refused.
    join : bool
        Take names that differ only in case or spaces as one, written as in `like` or else as the
        first of them.
    """
    codes, dictionary = encode(to_arrow(values, header), header)
    if len(dictionary) > MOST_NAMES.get(role, np.inf):
        raise InputError(_too_many(header, role, len(codes), dictionary))
    names = [
        "" if value is None or value != value else as_name(value)
        for value in dictionary.to_pylist()
    ]
    check_readable(names, header)
    return Coded.of(codes, _joined(names, like) if join else names)


MOST_NAMES = {"client": 20_000, "group": 50, "label": 50}


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
    """The form that names have in common which differ only in case or spaces."""
    return " ".join(name.split()).casefold()


def _joined(names: Sequence[str], as_written: Sequence[str]) -> list[str]:
    """Each name as the first that is alike but for case and spaces writes it."""
    first: dict[str, str] = {}
    for name in (*as_written, *names):
        first.setdefault(same_name(name), " ".join(name.split()))
    return [first[same_name(name)] for name in names]


def code_names(values: Any, header: str) -> Coded:
    """Code a column in which every row must have a name."""
    coded = code_column(values, header)
    if (coded.codes < 0).any():
        raise InputError(
            f'column "{header}", data row {int(np.argmax(coded.codes < 0)) + 1} is empty; '
            "fill it in or leave the row out."
        )
    return coded


# -------------------------------------------------------------------- numbers


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def as_numbers(column: pa.ChunkedArray | pa.Array) -> Floats:
    """A column as numbers; NaN where a cell is none or is not finite."""
    if pa.types.is_dictionary(column.type):
        codes, dictionary = encode(pa.chunked_array(column), "")
        return np.append(as_numbers(dictionary), np.nan)[codes]
    try:
        numbers = _parsed(column) if is_text(column.type) else column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # dates, lists
        return np.full(len(column), np.nan)
    values = numbers.fill_null(np.nan).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(values), values, np.nan)


def _parsed(texts: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Numbers that are written in text; null where it is none."""
    import pyarrow.compute as pc

    bare = pc.utf8_trim_whitespace(texts)
    numeric = pc.match_substring_regex(bare, _NUMBER)
    return pc.if_else(numeric, pc.utf8_ltrim(bare, "+"), None).cast(pa.float64())


def decimal_points(texts: pa.Array) -> pa.Array:
    """Write numbers that have a decimal comma with a point; leave everything else as it is."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, _DECIMAL_COMMA, r"\1.\2")
