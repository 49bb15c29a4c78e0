"""Pieces of a page: a guarded part, and a chart with its sentence above and its table below."""

import csv
import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.errors import FairflError

__all__ = ["chart", "csv_for_people", "part", "table_below"]

log = logging.getLogger(__name__)
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


@contextmanager
def part(what: str) -> Iterator[None]:
    """Show a sentence in the place of whatever fails here; the rest of the page stays."""
    try:
        yield
    except FairflError as error:
        st.warning(f"{what} cannot be shown: {error}")
    except Exception as error:
        # Streamlit steers with exceptions of its own: those must pass.
        if type(error).__module__.startswith("streamlit"):
            raise
        log.exception("%s failed", what)
        st.warning(f"{what} cannot be shown because of an error of ours; the rest is unaffected.")


def chart(
    figure: go.Figure,
    *,
    reading: str,
    table: pd.DataFrame,
    name: str,
    key: str,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw one chart: how to read it above, the figure, its numbers below."""
    st.markdown(reading)
    if on_select is None:
        st.plotly_chart(figure, key=key, config=CONFIG, alt=_spoken(reading))
    else:
        st.plotly_chart(
            figure,
            key=key,
            on_select=on_select,
            selection_mode="points",
            config=CONFIG,
            alt=_spoken(reading),
        )
    table_below(table, name=name, key=key)


def table_below(table: pd.DataFrame, *, name: str, key: str, title: str = "Table") -> None:
    """The numbers of a chart, to read and to take along."""
    with st.expander(title):
        st.dataframe(table, hide_index=True, key=f"{key}-table")
        st.download_button(
            "Download as CSV",
            lambda: csv_for_people(table),
            file_name=f"{name}.csv",
            mime="text/csv",
            key=f"{key}-csv",
            on_click="ignore",
        )


def csv_for_people(table: pd.DataFrame) -> str:
    """CSV that a spreadsheet opens as text: a cell that begins like a formula is prefixed."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(column) for column in table.columns])
    for row in table.itertuples(index=False):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def _spoken(reading: str) -> str:
    return reading.replace("*", "").replace("\\", "")
