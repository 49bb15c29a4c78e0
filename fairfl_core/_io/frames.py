"""Tables as columns: a dict of equally long arrays, which needs no pandas until someone asks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.extras import extra

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Columns", "concat_columns", "records", "rows_of", "take_rows", "to_frame"]

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]


def to_frame(columns: Columns) -> "pd.DataFrame":
    """Return columns as a pandas DataFrame; columns of objects (names, None) stay objects."""
    with extra("app"):
        import pandas as pd
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object)
            if isinstance(values, np.ndarray) and values.dtype == object
            else values
            for name, values in columns.items()
        }
    )


def records(columns: Columns) -> list[dict[str, Any]]:
    """Return the rows as JSON carries them: plain Python values, null for what is undefined."""
    return [
        {name: None if value is None or value != value else value for name, value in row.items()}
        for row in rows_of(columns)
    ]


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """Return the rows as dicts of plain Python values."""
    plain = [np.asarray(values).tolist() for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def take_rows(columns: Columns, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the rows at these positions, or where a mask is true."""
    return {name: np.asarray(values)[rows] for name, values in columns.items()}


def concat_columns(parts: Sequence[Columns]) -> dict[str, NDArray[Any]]:
    """Return tables of the same columns one below the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
