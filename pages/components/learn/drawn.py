"""Figures that several steps draw; they compute nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.components.session import controls
from pages.components.shared.figures import GROUP_COLOURS, size_of_type

__all__ = ["SYMBOLS", "Row", "beside", "ink", "settled", "shares"]

SYMBOLS = ("circle", "diamond", "square", "triangle-up")


@dataclass(frozen=True)
class Row:
    """Each group's share in one row of a figure, with its limits, its people and what to say."""

    name: str
    share: Sequence[float]
    people: Sequence[float]
    said: str
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def beside() -> tuple:
    """Two columns: the words, and the picture."""
    return tuple(st.columns([5, 7], gap="large"))


def settled(figure: go.Figure, height: int) -> go.Figure:
    """Size, margins and letters as every figure of the lesson has them."""
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        dragmode=False,
    )
    figure.update_annotations(font_color=ink())
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(title_font_color=ink(), tickfont_color=ink())
    return size_of_type(figure, controls.large_type())


def ink() -> str:
    """The colour of letters: the theme's own, as Plotly's grey is too pale for small ones."""
    return "#e6edf3" if st.context.theme.type == "dark" else "#1b2733"


def shares(rows: Sequence[Row], groups: Sequence[str], title: str, height: int) -> go.Figure:
    """One row a place, one mark a group; the distance between the marks is the gap."""
    figure = go.Figure()
    lanes = np.linspace(-0.06, 0.24, len(groups))
    for a, group in enumerate(groups):
        x = [100 * row.share[a] for row in rows]
        error = None
        if rows[0].low is not None:
            error = {
                "type": "data",
                "symmetric": False,
                "array": [100 * (row.high[a] - row.share[a]) for row in rows],
                "arrayminus": [100 * (row.share[a] - row.low[a]) for row in rows],
                "thickness": 1.5,
                "width": 4,
            }
        figure.add_scatter(
            x=x, y=np.arange(len(rows)) + lanes[a], mode="markers", name=group, error_x=error,
            marker={"size": 13, "symbol": SYMBOLS[a], "color": GROUP_COLOURS[a],
                    "line": {"width": 1, "color": "white"}},
            customdata=[f"{row.people[a]:,.0f}" for row in rows],
            hovertemplate=f"{group}: %{{x:.1f}} % of %{{customdata}} people<extra></extra>",
        )  # fmt: skip
    for place, row in enumerate(rows):
        figure.add_annotation(
            x=0, xref="paper", y=place - 0.42, text=f"<b>{row.name}</b>  {row.said}",
            showarrow=False, xanchor="left", align="left",
        )  # fmt: skip
    figure.update_layout(
        xaxis={"title": title, "range": [-3, 103], "fixedrange": True, "ticksuffix": " %"},
        yaxis={"showticklabels": False, "range": [len(rows) - 0.5, -0.7], "showgrid": False,
               "zeroline": False, "fixedrange": True},
    )  # fmt: skip
    return settled(figure, height)
