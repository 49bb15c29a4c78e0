"""Names of clients, groups and labels: read from columns, checked, put in order."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "as_name",
    "as_names",
    "as_series",
    "check_names",
    "coded",
    "declared_names",
    "in_order",
    "listed",
    "positions",
]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in quotes for a sentence, the first few where there are many."""
    quoted = ", ".join(f'"{name}"' for name in names[:most])
    return quoted + (f" and {len(names) - most} more" if len(names) > most else "")


def check_names(names: tuple[str, ...], field: str) -> None:
    """Refuse too few names, one that stands twice, and an empty one."""
    least = 1 if field == "clients" else 2
    if len(names) < least:
        raise InputError(
            f"there are {len(names)} {field} but at least {least} are needed; "
            + ("give one or more clients." if least == 1 else "fairness compares at least two.")
        )
    if len(set(names)) < len(names):
        times = Counter(names)
        twice = next(name for name in names if times[name] > 1)
        raise InputError(f'the name "{twice}" stands twice among the {field}; rename one of them.')
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"one of the {field} has a name that is not valid text; rename it."
            ) from error
    if any(not name.strip() for name in names):
        raise InputError(f"one of the {field} has an empty name; name it.")


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Sorted; as numbers where all of them are, so that "10" comes after "9"."""
    numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in names)
    return (
        tuple(sorted(names, key=lambda name: (float(name), name)))
        if numbers
        else tuple(sorted(names))
    )


def positions(names: Sequence[str], declared: Sequence[str]) -> NDArray[np.int64]:
    """Where each name stands among the declared ones; -1 where it does not."""
    place = {name: i for i, name in enumerate(declared)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def declared_names(
    declared: Sequence[str] | None,
    names: Sequence[str],
    codes: NDArray[np.int64],
    column: str,
    what: str,
    option: str,
) -> tuple[str, ...]:
    """The names to use, after checking that the rows hold no other."""
    if declared is None:
        return in_order(names)
    unknown = np.flatnonzero(positions(names, declared)[codes] < 0)
    if unknown.size:
        name = names[codes[unknown[0]]]
        raise InputError(
            f'column "{column}", data row {unknown[0] + 1}: the {what} "{name}" is not declared '
            f"({listed(declared)}); add it with {option} or correct the row."
        )
    return tuple(declared)


def coded(values: "pd.Series[Any]", column: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return a code per row and the name of each code; a missing value is refused."""
    import pandas as pd

    try:
        codes, uniques = pd.factorize(values)
    except TypeError as error:
        raise InputError(
            f'column "{column}" holds lists or objects; give one name a row.'
        ) from error
    names = [as_name(value) for value in uniques]
    blank = np.array([not name.strip() for name in names] + [True])  # the last: code -1, missing
    if blank[codes].any():
        raise InputError(
            f'column "{column}", data row {int(np.argmax(blank[codes])) + 1} is empty; '
            "fill it in or leave the row out."
        )
    merged = list(dict.fromkeys(names))  # 1 and 1.0 are one name
    return positions(names, merged)[codes], merged


def as_name(value: Any) -> str:
    """A label read as 1.0 in one column and 1 in another is the same label."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    return text.split(".")[0] if re.fullmatch(r"-?\d+\.0+", text) else text


def as_names(values: "pd.Series[Any]") -> NDArray[Any]:
    """Each row's name as text, the way `coded` reads it."""
    codes, names = coded(values, str(values.name))
    return np.array(names, dtype=object)[codes]


def as_series(values: ArrayLike) -> "pd.Series[Any]":
    """A column from any array or list; a missing value in a list of names stays missing."""
    import pandas as pd

    return values if isinstance(values, pd.Series) else pd.Series(values)
