"""Pieces of a page: a guarded part, a chart by Plotly with its table, a bar for what takes long."""

import csv
import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from mimetypes import guess_type
from time import monotonic
from typing import Any, TypeAlias

import pandas as pd
import streamlit as st
from plotly.basedatatypes import BaseFigure

from fairfl_core._io import numbers as format
from fairfl_core._io.names import Target, only_text
from fairfl_core.errors import FairflError
from fairfl_core.intake import refused_by
from fairfl_core.lp.frontier import Frontier
from pages.shared import state, text, theme
from pages.shared.codecs import one_of
from pages.shared.results import LEVELS

log = logging.getLogger(__name__)
Table: TypeAlias = pd.DataFrame | Callable[[], pd.DataFrame]  # or how to make it, once it is open
CONFIG = {"displayModeBar": False, "displaylogo": False}
SCROLL = "document.querySelector('{}').scrollIntoView({{behavior: 'smooth'}})"
_OPENED = "opened-below"  # in the session: whether a hand has just opened something
QUICK = 0.3  # seconds: what is done sooner shows no bar


@contextmanager
def error_boundary(what: str) -> Iterator[None]:
    """Show a sentence in the place of whatever fails here; the rest of the page stays.

    What Streamlit raises to end or repeat a run is no `Exception`, and passes.
    """
    try:
        yield
    except FairflError as error:
        st.warning(text.CANNOT_BE_SHOWN.format(what, str(error)))
    except Exception:
        log.exception("%s failed", what)
        st.warning(text.FAILED.format(what))


def lazy(
    container: Callable[..., Any], label: str, key: str, draw: Callable[[], Any], **more: Any
) -> None:
    """Draw into a popover or an expander while it is open: what is closed is not computed."""
    place = container(label, key=key, on_change="rerun", **more)
    if place.open:
        with place, error_boundary(label):
            draw()


def open_below(name: str, titles: Mapping[str, str], label: str) -> str | None:
    """Offer what stands below a page's pictures, and return what is open of it.

    Nothing is at first, so that nothing is computed unasked; the page's link tells it by `name`.
    """
    setting: state.Setting[str | None] = state.Setting(name, None, one_of((None, *titles)))
    st.segmented_control(
        label,
        tuple(titles),
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        wrap=True,
        **state.bound(setting, lambda: st.session_state.update({_OPENED: True})),
    )
    return state.get(setting)


def bring_into_sight(name: str) -> None:
    """Scroll to what a hand has just opened by `open_below`; called once all of it is drawn."""
    if st.session_state.pop(_OPENED, False):
        script = SCROLL.format(f".st-key-widget_{name}")
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None]]:
    """A bar for work that takes a while; yields a function that takes the share done."""
    begun = monotonic()
    bar = cache(st.empty)  # a place on the page once there is something to show

    def on_progress(share: float) -> None:
        if share < 1 and monotonic() - begun > QUICK:
            bar().progress(share, doing)

    yield on_progress
    if bar.cache_info().currsize:
        bar().empty()


def chart(
    figure: BaseFigure,
    *,
    key: str,
    spoken: str,
    table: Table | None = None,
    height: int | str = "content",
) -> None:
    """Draw one chart by Plotly, with words for those who hear it and its table one click away.

    Parameters
    ----------
    figure : plotly figure
    key : str
        Also the name of the table's file.
    spoken : str
        The chart in one sentence.
    table : DataFrame or callable that makes one
    height : int or {"content", "stretch"}
    """
    large = state.large_type()
    st.plotly_chart(
        theme.sized(figure, large=large),
        key=key,
        config=CONFIG,
        height=height,  # type: ignore[arg-type]
        alt=spoken.replace("*", ""),
    )
    if table is not None:
        table_popover(table, key=key)


def table_popover(table: Table, *, key: str, label: str = text.TABLE) -> None:
    """The numbers of a chart behind a small button, to read and to take along as CSV."""

    def draw() -> None:
        rows = table() if callable(table) else table
        st.dataframe(rows.rename(columns=text.heading), hide_index=True, key=f"{key}-table")
        download(text.DOWNLOAD_CSV, lambda: csv_for_people(rows), f"{key}.csv", f"{key}-csv")

    lazy(st.popover, label, f"{key}-table-open", draw, type="tertiary")


def download(
    label: str, data: str | bytes | Callable[[], str | bytes], file: str, key: str, **more: Any
) -> None:
    """A button for a file, which is made when it is pressed if `data` makes it."""
    st.download_button(
        label,
        data,
        file_name=file,
        mime=guess_type(file)[0] or "text/plain",
        key=key,
        on_click="ignore",
        **more,
    )


def map_table(heat: Frontier) -> pd.DataFrame:
    """The accuracies of a map, in per cent."""
    columns = [f"{text.MAP_OVERALL} {value:g}" for value in heat.eps_global]
    table = pd.DataFrame((100 * heat.accuracy).round(2), columns=columns)
    table.insert(0, text.MAP_INSIDE, heat.eps_local)
    return table


def numbers_table(rows: Mapping[str, Sequence[str]], headings: Sequence[str]) -> None:
    """A small table of words and numbers as one element; all of it is only text."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in ("", *headings))
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in (name, *row)) + "</tr>"
        for name, row in rows.items()
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    st.html(f'<div class="fairfl-table">{table}</div>')


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


def limit_slider(name: str, noun: str = "client", *, alone: bool = False) -> None:
    """A slider over `eps_global` or `eps_local` of the view; a link's value between steps is one.

    Parameters
    ----------
    name : {"eps_global", "eps_local"}
    noun : str
        What a client is called here.
    alone : bool
        Whether the other slider is not beside it.
    """
    value = getattr(state.view(), name)
    inside = text.INSIDE_ALONE if alone else text.INSIDE
    st.select_slider(
        text.OVERALL if name == "eps_global" else inside.format(noun),
        tuple(sorted({*LEVELS, value})),
        format_func=format.epsilon,
        **state.bound_field(name),
    )


def go_to_cell(key: str, heat: Frontier) -> None:
    """Set both limits to the cell that was clicked on the map of this key."""
    x, y = st.session_state[key].go
    limits = heat.eps_global.tolist()
    state.change(eps_global=limits[int(x)], eps_local=limits[int(y)])


_LOGGED = "refusals-logged"


def log_refusal(kind: str, files: Sequence[Any], error: Exception) -> None:
    """Log once that these files were refused: their kind, number and size, and by which check.

    Neither names nor sentences: both may tell of people. The check is named by where in the code
    it stands.
    """
    reason = refused_by(error)
    seen = (reason, *(file.file_id for file in files))
    logged: set[tuple[str, ...]] = st.session_state.setdefault(_LOGGED, set())
    if files and seen not in logged:  # a page is run anew with every click
        logged.add(seen)
        size = sum(file.size for file in files)
        log.warning(
            "upload refused: %s, %d files, %d bytes, by %s", kind, len(files), size, reason
        )
