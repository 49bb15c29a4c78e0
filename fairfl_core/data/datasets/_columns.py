"""Columns to numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["codes_of", "one_hot"]


def codes_of(column: "pd.Series[Any]", codes: Mapping[Any, int]) -> NDArray[np.int16]:
    """Replace each value by its code; a value without one is an error that names it."""
    values = column.map(codes)
    if values.isna().any():
        row = int(np.flatnonzero(values.isna())[0])
        raise InputError(
            f'column {column.name}, row {row + 1}: "{column.iloc[row]}" is not one of '
            f"{', '.join(str(value) for value in codes)}."
        )
    return values.to_numpy(np.int16)


def one_hot(
    column: "pd.Series[Any]", categories: Sequence[Any] | None = None
) -> NDArray[np.float32]:
    """One column a category, in sorted order unless given; missing ("?") is a category too."""
    import pandas as pd

    if categories is None:
        categories = sorted(column.unique())
    codes = pd.Index(list(categories)).get_indexer(column)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise InputError(
            f'column {column.name}, row {row + 1}: "{column.iloc[row]}" is not a known category.'
        )
    return np.eye(len(categories), dtype=np.float32)[codes]
