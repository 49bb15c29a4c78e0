"""What a result shows of itself in a notebook: a title, sentences, a table; names are only text."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

__all__ = ["MOST_ROWS", "notebook_html"]

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
