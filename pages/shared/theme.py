"""How everything looks: colours that keep their meaning, sizes of letters, the static style."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import plotly.colors
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray
from plotly.basedatatypes import BaseFigure

# Okabe-Ito; violet and olive in place of its black and yellow, which one of the two themes hides.
GROUP_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#9467BD", "#A89A00"),
)
SYMBOLS = ("circle", "diamond", "square", "triangle-up")
GREY, AFTER, HERE = "#8a8a8a", "#0072B2", "#D55E00"
LEGEND_ABOVE = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0}
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
CIVIDIS = plotly.colors.get_colorscale("Cividis")
Floats = NDArray[np.float64]
_HERE = Path(__file__).parent
_STYLE = _HERE / "style.css"
_LARGE = "<style>html { font-size: 20px; }</style>"
_PRESENT = (_HERE / "present.css").read_text(encoding="utf-8")
_KEYS = (_HERE / "present.js").read_text(encoding="utf-8")


def style(*, large: bool, presenting: bool) -> None:
    """Put the app's static style onto the page; in a hall, with the keys that turn screens."""
    st.html(_STYLE)
    if presenting:
        st.html(f"<style>{_PRESENT}</style><span class='fairfl-presenting'></span>")
        st.html(f"<script>{_KEYS}</script>", unsafe_allow_javascript=True)
    elif large:
        st.html(_LARGE)


def laid_out(figure: go.Figure, height: int | None = None, **layout: Any) -> go.Figure:
    """Lay a figure out, with the margins and the legend's place of all figures unless told."""
    figure.update_layout(height=height, margin=MARGIN, legend=LEGEND_ABOVE, dragmode=False)
    return figure.update_layout(**layout)


def sized(figure: BaseFigure, *, large: bool) -> BaseFigure:
    """A figure as all are: axes that stay, letters that a hall can read, the style's colours."""
    still = {"fixedrange": True, "zeroline": False}
    return (
        figure.update_xaxes(still)
        .update_yaxes(still)
        .update_layout(
            font={"size": 18 if large else 13},
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
        )
    )


def ink() -> str:
    """The colour of letters that no style reaches: those of a picture in space."""
    return "#e6edf3" if st.context.theme.type == "dark" else "#1b2733"


def translucent(colour: str, opacity: float) -> str:
    """A colour ``#rrggbb`` that lets others through."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def named_rows(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis with a name at each of the rows 0, 1, ..., from the top."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names)}
    return ticks | {"range": [len(names) - 0.4, -0.6], "showgrid": False}


def error_bars(middle: Floats, low: Floats, high: Floats, **looks: Any) -> dict[str, Any]:
    """Bars from the lower to the upper limit of each value, for `error_x` or `error_y`."""
    ends = {"array": high - middle, "arrayminus": middle - low}
    return {"type": "data", "symmetric": False, **ends, "thickness": 1.5, "width": 4} | looks


def segments(starts: Floats, ends: Floats) -> Floats:
    """Coordinates of separate lines in one trace: start, end, a break, and so on."""
    return np.stack([starts, ends, np.full(len(starts), np.nan)], axis=1).ravel()
