"""Pieces of a page: a guarded part, a chart with its sentence above and its table below."""

import csv
import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

import pandas as pd
import plotly
import plotly.io as pio
import streamlit as st
from plotly.basedatatypes import BaseFigure
from streamlit.components import v1, v2

from fairfl_core._io import numbers as format
from fairfl_core.errors import FairflError
from fairfl_core.evaluation.harm import Effect
from fairfl_core.evaluation.verdict import HARMFUL, MET, NOT_MET, NOT_SURE, Verdict
from pages.components.session import present, state, streamlit_internals
from pages.components.shared import text, theme
from pages.components.shared.chart_key import key_of
from pages.components.shared.html import html_table
from pages.components.shared.outside_text import Target, only_text

__all__ = [
    "accuracy_metric",
    "badge",
    "chart",
    "csv_for_people",
    "draw",
    "fold",
    "mark_on",
    "metric",
    "numbers_table",
    "part",
    "progress",
    "table_below",
    "verdict_banner",
]

log = logging.getLogger(__name__)
Table: TypeAlias = (
    pd.DataFrame | Callable[[], pd.DataFrame]
)  # or how to make it, once it is unfolded
CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "sendChartToCloud"],
}
BARE = {"displayModeBar": False}
FOLD = "fold-"  # how the keys of folds begin
_figure = v2.component(
    "fairfl_figure",
    js=(Path(__file__).parent / "figure.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_mark = v2.component(
    "fairfl_mark",
    js=(Path(__file__).parent / "mark.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_SHOWN = 5e-5  # a change of accuracy that two decimals of points show
QUICK = 0.3  # seconds: what is done sooner shows no bar


@contextmanager
def part(what: str) -> Iterator[None]:
    """Show a sentence in the place of whatever fails here; the rest of the page stays."""
    try:
        yield
    except FairflError as error:
        st.warning(text.cannot_be_shown(what, str(error)))
    except Exception as error:
        if streamlit_internals.steers_the_script(error):
            raise
        log.exception("%s failed", what)
        st.warning(text.failed(what))


@contextmanager
def fold(title: str, key: str, *, opened: bool = False) -> Iterator[bool]:
    """A fold; yields whether it is open, for what is folded away is not made until it is."""
    container = st.expander(title, opened, key=f"{FOLD}{key}", on_change="rerun")
    with container:
        yield bool(container.open)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None]]:
    """A bar for work that takes a while; yields what is told the share done."""
    begun = monotonic()
    bar = cache(st.empty)  # a place on the page once there is something to show

    def on_progress(share: float) -> None:
        if share < 1 and monotonic() - begun > QUICK:
            bar().progress(share, doing)

    yield on_progress
    if bar.cache_info().currsize:
        bar().empty()


def metric(label: str, value: str, below: str = "", *, tip: str | None = None) -> None:
    """A number in a box with a line below it that is neither good nor bad."""
    st.metric(
        label,
        value,
        below or None,
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
        help=tip,
    )


Colour = Literal["green", "blue", "red", "orange"]
_COLOURS: dict[str, Colour] = {
    MET: "green",
    NOT_SURE: "orange",
    NOT_MET: "red",
    HARMFUL: "red",
}


_DELTAS: dict[str, Literal["normal", "orange"]] = {
    "better": "normal",
    "worse": "normal",
    "mixed": "orange",
}


def accuracy_metric(label: str, accuracy: float, change: float, effect: Effect) -> None:
    """Accuracy in a box, with its change: green where it rises and nobody is worse off."""
    st.metric(
        label,
        format.percent(accuracy),
        text.accuracy_change(effect, change),
        delta_color=_DELTAS[effect.colour] if abs(change) >= _SHOWN else "off",
        border=True,
        height="stretch",
    )


def verdict_banner(verdict: Verdict | None, title: str, sentence: str, *, harmless: bool) -> None:
    """The verdict; green where limits are met and nobody is worse off, never else."""
    if verdict is not None:
        word = verdict.word
        colour: Colour = "blue" if word == MET and not harmless else _COLOURS[word]
        with st.container(border=True):
            st.markdown(f"{badge(title, colour)}\n\n{sentence}")


def badge(title: str, colour: Colour) -> str:
    """A word that stands out, as Markdown: what stands below it can be of the same element."""
    return f":{colour}-badge[{title}]"


def numbers_table(rows: Mapping[str, Sequence[str]], headings: Sequence[str]) -> None:
    """A small table of words and numbers as one element.

    Streamlit's own reads every cell as Markdown, which takes a browser six times as long.
    """
    cells = [[name, *row] for name, row in rows.items()]
    st.html(f'<div class="fairfl-numbers">{html_table(["", *headings], cells)}</div>')


def chart(
    figure: BaseFigure,
    *,
    reading: str,
    table: Table,
    name: str,
    key: str = "",
    headings: Mapping[str, str] | None = None,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Draw one chart: how to read it above, the figure, its numbers below."""
    key = key or name
    st.markdown(reading)
    draw(figure, spoken=reading, key=key, on_click=on_click)
    table_below(table, name=name, key=key, headings=headings)


def draw(
    figure: BaseFigure,
    *,
    spoken: str,
    key: str,
    on_click: Callable[[], None] | None = None,
    bare: bool = False,
) -> None:
    """The figure alone, in the size of letters that is set, with words for those who hear it.

    Once a point is clicked, `st.session_state[key].clicked` is its custom data.
    """
    hall = present.presenting()
    key_line = "" if hall else key_of(figure)  # in a hall there is room beside it, none above
    if key_line:
        st.html(key_line)
        figure.update_layout(showlegend=False)
    with st.container(key=f"stage-{key}") if hall else nullcontext():
        _figure(
            key=key,
            data={
                "spec": spec_of(theme.sized(figure, large=hall or state.large_type())),
                "config": BARE if bare else CONFIG,
                "spoken": spoken.replace("*", "").replace("\\", ""),
                "stretch": hall,  # the stage's height is of present.css
                "library": _library(),
            },
            on_clicked_change=on_click or _nothing,
        )


def mark_on(key: str, x: float, y: float) -> None:
    """Put a cross on a chart that stays as it is: what moves is sent, and nothing else."""
    _mark(key=f"{key}-mark", data={"on": key, "x": x, "y": y}, height="content")


def spec_of(figure: BaseFigure) -> str:
    """A figure as figure.js reads it; what all figures start from stands there.

    Without a legend, what only a legend would show is left out.
    """
    spec = figure.to_dict()
    spec["layout"].pop("template", None)
    if spec["layout"].get("showlegend") is False:
        spec["data"] = [trace for trace in spec["data"] if not _stands_nowhere(trace)]
    return str(pio.to_json(spec, validate=False))


def _stands_nowhere(trace: Mapping[str, Any]) -> bool:
    """Whether a trace is there for its name alone."""
    x = trace.get("x")
    return isinstance(x, list | tuple) and list(x) == [None]


@cache
def _library() -> str:
    """Where the browser finds Plotly's library: as it lies in Plotly's own package."""
    served = v1.declare_component("plotly", Path(plotly.__file__).parent / "package_data")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    place = f"component/{served.name}/plotly.min.js?{plotly.__version__}"
    return f"/{base}/{place}" if base else f"/{place}"


def _nothing() -> None:
    """A click on a chart that leads nowhere."""


def table_below(
    table: Table,
    *,
    name: str,
    key: str = "",
    title: str = text.TABLE,
    headings: Mapping[str, str] | None = None,
) -> None:
    """The numbers of a chart, to read under their headings and to take along by column name."""
    key = key or name
    with fold(title, key) as is_open:
        if not is_open:
            return
        rows = table() if callable(table) else table
        st.dataframe(
            rows.rename(columns=dict(headings or {})), hide_index=True, key=f"{key}-table"
        )
        st.download_button(
            text.DOWNLOAD_CSV,
            lambda: csv_for_people(rows),
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
    return only_text(value, Target.CSV) if isinstance(value, str) else value
