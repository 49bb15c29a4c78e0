"""Columns of any table (pandas, polars, Arrow, lists) as codes into names, or as numbers.

Whatever holds them, columns go through Arrow: a name stands once in a dictionary, however many
rows say it, and what is read from a file is coded exactly as what is held in memory. Groups of
several columns are crossed, like female and Black, and know their parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys
from fairfl_core._io.names import as_name, check_readable, in_order, listed, positions, shown
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


# -------------------------------------------------------------------- groups from several columns

MOST_CROSSED = 200  # crossed groups
_BETWEEN = " · "
_OPEN, _CLOSE = "“", "”"


@dataclass(frozen=True)
class Grouping:
    """Which columns the groups cross, and what each group has in each of them.

    Attributes
    ----------
    columns : tuple of str
        Like ``("sex", "race")``.
    groups : tuple of tuple of str
        The values of each group, in the order of the counts' groups, like
        ``(("female", "Black"), ("female", "white"), ...)``.
    """

    columns: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise InputError(
                '"grouping" must name one or more columns, each once; correct "columns".'
            )
        for values in self.groups:
            if len(values) != len(self.columns):
                raise InputError(
                    f'"grouping" has the group {listed(values)} for the columns '
                    f"{listed(self.columns)}; give one value for each column."
                )
        if len(set(self.groups)) < len(self.groups):
            twice = next(values for values in self.groups if self.groups.count(values) > 1)
            raise InputError(f'"grouping" has the group {listed(twice)} twice; keep one.')

    @classmethod
    def of_names(cls, columns: Sequence[str], names: Sequence[str]) -> "Grouping":
        """The grouping of crossed names, as `crossed_name` writes them."""
        return cls(tuple(columns), tuple(_values(name, columns) for name in names))

    def coarsen(self, grouping: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Groups of some of the columns, pooled over the others.

        Parameters
        ----------
        grouping : str
            Columns, like ``"race"`` or ``"sex*race"``; in any order.

        Returns
        -------
        codes : ndarray of int, shape (groups,)
            Of each crossed group, the coarse one that it belongs to.
        names : tuple of str
            The coarse groups: those that some crossed group belongs to.
        """
        wanted = [column.strip() for column in grouping.split("*")]
        unknown = [column for column in wanted if column not in self.columns]
        if unknown or len(set(wanted)) < len(wanted):
            wrong = (
                f'there is no column "{shown(unknown[0])}" among the groups\' columns'
                if unknown
                else f'the grouping "{shown(grouping)}" names a column twice'
            )
            raise InputError(
                f"{wrong}; name a grouping by one or more of {listed(self.columns)}, with * "
                "between them."
            )
        places = [self.columns.index(column) for column in wanted]
        parts = [tuple(values[place] for place in places) for values in self.groups]
        different = _in_order(list(dict.fromkeys(parts)))
        code = {values: place for place, values in enumerate(different)}
        codes = np.array([code[values] for values in parts], np.int64)
        return codes, tuple(crossed_name(values) for values in different)

    # ---------------------------------------------------------------- JSON

    def to_json(self) -> dict[str, Any]:
        """The form that stands in counts and manifests."""
        return {"columns": list(self.columns), "groups": [list(values) for values in self.groups]}

    @classmethod
    def from_json(cls, value: Any) -> "Grouping":
        """Check and take it."""
        if not isinstance(value, dict):
            raise InputError('"grouping" must be an object with "columns" and "groups".')
        check_keys(value, {"columns", "groups"}, set(), '"grouping"')
        columns, groups = value["columns"], value["groups"]
        lists = [columns, *groups] if isinstance(groups, list) else [None]
        for names in lists:
            if not isinstance(names, list) or not all(
                isinstance(name, str) and name.strip() for name in names
            ):
                raise InputError(
                    '"grouping" must have "columns", a list of names, and "groups", a list of '
                    "such lists (strings that are not empty)."
                )
        return cls(tuple(columns), tuple(tuple(values) for values in groups))


# -------------------------------------------------------------------- crossing columns


def group_columns(text: str, header: Sequence[str]) -> list[str]:
    """The columns that an option like ``sex,race`` names; a column may have a comma in its name."""
    return [text] if text in header else [name.strip() for name in text.split(",")]


def code_groups(rows: Any, columns: Sequence[str]) -> Coded:
    """The groups of a table: of one column, or crossed; every row must have them all."""
    return cross([code_names(rows[column], column) for column in columns], columns)


def cross(parts: Sequence[Coded], columns: Sequence[str]) -> Coded:
    """Cross columns: one name for each crossing that a row has, in the order of the parts.

    A row that lacks one of them has none (-1).
    """
    if len(parts) == 1:
        return parts[0]
    for column in columns:
        if list(columns).count(column) > 1:
            raise InputError(f'the group column "{shown(column)}" is given twice; name it once.')
    code = np.zeros(len(parts[0].codes), np.int64)
    whole = np.ones(len(code), bool)
    ordered = [in_order(part.names) for part in parts]
    for part, names in zip(parts, ordered, strict=True):
        whole &= part.codes >= 0
        code = code * len(names) + part.among(names)
    seen = np.unique(code[whole])
    if len(seen) > MOST_CROSSED:
        raise InputError(
            f"the columns {listed([shown(column) for column in columns])} cross to {len(seen):,} "
            f"groups; at most {MOST_CROSSED} can be compared, so put their values into fewer bins or name "
            "fewer columns."
        )
    values = np.stack(np.unravel_index(seen, [len(names) for names in ordered]), axis=1)
    crossed = [
        crossed_name([ordered[place][value] for place, value in enumerate(row)]) for row in values
    ]
    check_readable(crossed, " and ".join(columns))
    codes = np.where(whole, np.searchsorted(seen, code), -1)
    return Coded(codes.astype(np.int32), tuple(crossed))


def crossed_name(values: Sequence[str]) -> str:
    """How a crossing is called: ``female · Black``.

    A value that has the sign in itself stands in quotes, so that no two crossings are called
    alike.
    """
    if len(values) == 1:
        return values[0]
    return _BETWEEN.join(
        f"{_OPEN}{value.replace(_CLOSE, 2 * _CLOSE)}{_CLOSE}"
        if "·" in value or value.startswith(_OPEN)
        else value
        for value in values
    )


def _values(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The values that a crossed name is made of."""
    if len(columns) == 1:
        return (name,)
    values, left = [], name
    while left:
        value, left = _quoted(left) if left.startswith(_OPEN) else _plain(left)
        values.append(value)
    if len(values) != len(columns) or crossed_name(values) != name:
        raise InputError(
            f'the group "{shown(name)}" does not say a value for each of '
            f"{listed([shown(column) for column in columns])}; write groups like "
            f'"{_BETWEEN.join(shown(column) for column in columns)}".'
        )
    return tuple(values)


def _plain(text: str) -> tuple[str, str]:
    value, _, left = text.partition(_BETWEEN)
    return value, left


def _quoted(text: str) -> tuple[str, str]:
    """The value in quotes at the beginning of a text, and what follows it."""
    end = 1
    while text[end : end + 1] and (text[end] != _CLOSE or text[end + 1 : end + 2] == _CLOSE):
        end += 2 if text[end] == _CLOSE else 1
    return text[1:end].replace(2 * _CLOSE, _CLOSE), text[end + 1 :].removeprefix(_BETWEEN)


def _in_order(parts: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Crossings sorted by their values, column after column; numbers as numbers."""
    ordered = [in_order(sorted(set(column))) for column in zip(*parts, strict=True)]
    places = [
        positions(column, names)
        for column, names in zip(zip(*parts, strict=True), ordered, strict=True)
    ]
    return [parts[row] for row in np.lexsort(places[::-1])]
