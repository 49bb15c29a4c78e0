"""Tables as columns: a dict of equally long arrays, which needs no pandas until someone asks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import extra

if TYPE_CHECKING:
    import pandas as pd

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


def long_table(
    axes: Mapping[str, Sequence[Any]], figures: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return arrays as columns, one row a place: `axes` name each dimension and what stands along it."""
    places = np.indices([len(names) for names in axes.values()]).reshape(len(axes), -1)
    index = {
        name: np.array(names, object)[place]
        for (name, names), place in zip(axes.items(), places, strict=True)
    }
    return index | {name: np.ravel(values) for name, values in figures.items()}


def take_rows(columns: Columns, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the rows at these positions, or where a mask is true."""
    return {name: np.asarray(values)[rows] for name, values in columns.items()}


def concat_columns(parts: Sequence[Columns]) -> dict[str, NDArray[Any]]:
    """Return tables of the same columns one below the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


MOST_ROWS = 15  # of a table; `to_frame` has them all


def notebook_html(
    title: str,
    sentences: Sequence[str],
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    n: int,
) -> str:
    """Write HTML for `_repr_html_`.

    Parameters
    ----------
    title : str
    sentences : sequence of str
    header : sequence of str
    rows : iterable of sequence of str
        The first cell names the row; the first `MOST_ROWS` rows are shown.
    n : int
        How many rows there are.
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr><th><bdi>{escape(row[0])}</bdi></th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in islice(rows, MOST_ROWS)
    )
    text = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    more = f"<p>{n - MOST_ROWS:,} more rows: to_frame()</p>" if n > MOST_ROWS else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p><strong>{escape(title)}</strong></p>{text}{table}{more}</div>"
