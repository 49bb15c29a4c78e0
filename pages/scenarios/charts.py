"""From scenarios to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.solving.frontier import Frontier
from pages.compare.drawing import Drawing
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN, Place, heat_map, index_on
from pages.scenarios import text
from pages.shared.text import YOU_ARE_HERE
from pages.shared.theme import GROUP_COLOURS, HERE

__all__ = ["group_shares", "small_map"]

SMALL = 11  # letters on the axes of maps that stand three in a row, in large type too


def small_map(heat: Frontier, here: Place | None, limits: tuple[float, float]) -> Drawing:
    """A map of few cells with the number in each; no scale beside it, as maps share one."""
    figure = heat_map(heat, None, limits=limits, height=330, scale=False)
    if here is not None:
        _add_frame(figure, index_on(heat.eps_global, here[0]), index_on(heat.eps_local, here[1]))
    accuracy = 100 * heat.accuracy
    y, x = np.indices(accuracy.shape)
    lightness = (accuracy - limits[0]) / max(limits[1] - limits[0], 0.1)
    # Plotly's own choice of letter colour is hard to read in the middle of the scale.
    colours = np.where(lightness > 0.45, "black", "white").ravel().tolist()
    figure.add(
        "scatter",
        x=x.ravel(),
        y=y.ravel(),
        mode="text",
        text=[f"{value:.1f}" for value in accuracy.ravel()],
        textfont={"size": 10, "color": colours},
        hoverinfo="skip",
        showlegend=False,
    )
    return figure.update_layout(
        showlegend=False,
        margin={"l": 5, "r": 5, "t": 10, "b": 5},
        xaxis={"title": {"text": text.SMALL_OVERALL}, "tickfont": {"size": SMALL}},
        yaxis={"title": {"text": text.SMALL_INSIDE}, "tickfont": {"size": SMALL}},
    )


def _add_frame(figure: Drawing, column: float, row: float) -> None:
    """Around the cell of the limits set: a mark upon it would hide its number."""
    figure.add(
        "scatter",
        x=column + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]),
        y=row + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]),
        mode="lines",
        name=YOU_ARE_HERE,
        line={"color": HERE, "width": 3},
        hoverinfo="name",
    )


def group_shares(
    blocks: Sequence[str],
    clients: Sequence[str],
    groups: Sequence[str],
    shares: NDArray[np.float64],
) -> go.Figure:
    """Who is in which client, as stacked bars: one entry of `blocks` and `clients` a bar.

    `shares` has a row per bar and a column per group.
    """
    figure = go.Figure()
    for code, group in enumerate(groups):
        share = 100 * shares[:, code]
        figure.add_bar(
            x=[list(blocks), list(clients)],
            y=share,
            name=str(group),
            marker={"color": GROUP_COLOURS[code % len(GROUP_COLOURS)]},
            text=[f"{value:.0f}" for value in share] if code == 0 else None,
            textposition="inside",
            insidetextanchor="start",
            textangle=0,
            constraintext="none",
            hovertemplate="%{x}: %{y:.1f} %<extra>" + str(group) + "</extra>",
        )
    return figure.update_layout(
        barmode="stack",
        bargap=0.25,
        height=280,
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0, "traceorder": "normal"},
        xaxis={"title": text.AXIS_CLIENT, "fixedrange": True},
        yaxis={"title": text.AXIS_SHARE, "range": [0, 100], "fixedrange": True},
    )
