"""Groups from several columns: each is a crossing, like female and Black, and knows its parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys
from fairfl_core._io.names import check_readable, in_order, listed, positions, shown
from fairfl_core.data.columns import Coded, code_names
from fairfl_core.errors import InputError

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
