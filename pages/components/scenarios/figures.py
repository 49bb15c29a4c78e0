"""From scenarios to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fairfl_core.solving.frontier import Frontier
from pages.components.shared.figures import GROUP_COLOURS, heat_map

__all__ = ["group_shares", "small_map"]


def small_map(
    found: Frontier, here: tuple[float, float] | None, limits: tuple[float, float]
) -> go.Figure:
    """A map of few cells with the number in each; no scale beside it, as maps share one."""
    figure = heat_map(found, here, limits=limits, height=330)
    figure.update_traces(showscale=False, selector={"type": "heatmap"})
    accuracy = 100 * found.accuracy
    y, x = np.indices(accuracy.shape)
    lightness = (accuracy - limits[0]) / max(limits[1] - limits[0], 0.1)
    # Plotly's own choice of letter colour is hard to read in the middle of the scale.
    figure.add_scatter(
        x=x.ravel(), y=y.ravel(), mode="text", text=[f"{value:.1f}" for value in accuracy.ravel()],
        textfont={"size": 12, "color": np.where(lightness > 0.45, "black", "white").ravel().tolist()},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    return figure.update_layout(showlegend=False, margin={"l": 5, "r": 5, "t": 10, "b": 5})


def group_shares(
    blocks: Sequence[str], clients: Sequence[str], groups: Sequence[str], shares: np.ndarray
) -> go.Figure:
    """Who is in which client, as stacked bars: one entry of `blocks` and `clients` a bar.

    `shares` has a row per bar and a column per group.
    """
    figure = go.Figure()
    for code, group in enumerate(groups):
        colour = GROUP_COLOURS[code % len(GROUP_COLOURS)]
        share = 100 * shares[:, code]
        figure.add_bar(
            x=[list(blocks), list(clients)], y=share, name=str(group), marker={"color": colour},
            text=[f"{each:.0f}" for each in share] if code == 0 else None,
            textposition="inside", insidetextanchor="start", textangle=0,
            constraintext="none",
            hovertemplate="%{x}: %{y:.1f} %<extra>" + str(group) + "</extra>",
        )  # fmt: skip
    return figure.update_layout(
        barmode="stack",
        bargap=0.25,
        height=280,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        xaxis={"title": "client", "fixedrange": True},
        yaxis={"title": "share of people, %", "range": [0, 100], "fixedrange": True},
    )
