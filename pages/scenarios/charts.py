"""Figures of the Scenarios page. A figure computes no rate: it draws what it is given."""

from html import escape

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.lp.frontier import Frontier
from pages.scenarios import text
from pages.shared.figures import CIVIDIS, Place, heat_map
from pages.shared.outside_text import figure_text
from pages.shared.theme import GROUP_COLOURS, ink

HEIGHT, HALL = 365, 450  # the latter is for a chart that has a hall's screen alone
MAP_SHARE, BARS_FROM = 0.68, 0.8  # of the height: what the map takes, where the bars begin


def shares_over_map(
    shares: NDArray[np.float64],
    group: str,
    heat: Frontier,
    here: Place,
    limits: tuple[float, float],
    *,
    labelled: bool = True,
    large: bool = False,
) -> go.Figure:
    """Bars of a group's share in each client, and below them what each pair of limits leaves.

    Parameters
    ----------
    shares : ndarray, shape (clients,)
    group : str
        Whose share it is.
    heat, here, limits
        As for `heat_map`; maps side by side get the same `limits`.
    labelled : bool
        Whether the axis upwards has its title: of maps side by side, the first has.
    large : bool
        Whether letters are large, as for a hall.
    """
    figure = heat_map(heat, here, limits=limits, height=HEIGHT, scale=False)
    clients = np.arange(len(shares))
    small = {"size": 16 if large else 11, "color": ink()}
    figure.add_bar(
        x=clients,
        y=100 * shares,
        xaxis="x2",
        yaxis="y2",
        marker={"color": GROUP_COLOURS[0]},
        text=[text.share(share) for share in shares],
        textposition="outside",
        textfont=small,
        constraintext="none",
        cliponaxis=False,
        customdata=clients + 1,
        hovertemplate=text.hover_share(figure_text(group)),
    )
    ticks = figure.layout.xaxis
    every = slice(None, None, 2 if large else 1)  # of large ones there is room for half
    return figure.update_layout(
        showlegend=False,
        bargap=0.35,
        margin={"l": 5, "r": 30 if large else 5, "t": 22, "b": 5},
        xaxis={
            "title": {"text": text.AXIS_OVERALL, "font": small},
            "tickfont": small,
            "tickangle": 0,
            "tickvals": ticks.tickvals[every],
            "ticktext": ticks.ticktext[every],
        },
        yaxis={
            "title": {"text": text.AXIS_INSIDE if labelled else "", "font": small},
            "tickfont": small,
            "domain": [0, MAP_SHARE],
        },
        xaxis2={
            "anchor": "y2",
            "tickvals": clients,
            "ticktext": clients + 1,
            "tickfont": small,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis2={
            "title": {
                "text": text.axis_share(figure_text(group)) if labelled else "",
                "font": small,
            },
            "domain": [BARS_FROM, 1],
            "range": [0, 100],
            "tickvals": [0, 100],
            "tickfont": small,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def colour_key(said: str, low: float, high: float) -> str:
    """What a map shows and its scale, as HTML: the lowest accuracy, the colours, the highest."""
    colours = ",".join(colour for _, colour in CIVIDIS)
    bar = (
        "display:inline-block;width:8rem;height:.7rem;margin:0 .4rem;vertical-align:middle;"
        f"background:linear-gradient(90deg,{colours})"
    )
    return (
        f'<div class="fairfl-title"><div>{escape(said)}</div><span>{text.of_scale(low)}'
        f'<i style="{bar}"></i>{text.of_scale(high)}</span></div>'
    )
