"""Figures of the Clients page."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.components.clients import text
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN, segments
from pages.shared.outside_text import figure_text
from pages.shared.theme import GREY, GROUP_COLOURS

__all__ = ["rates"]


def rates(table: pd.DataFrame, groups: Sequence[str]) -> go.Figure:
    """Rates of one client: one row a rate and group, before hollow, after filled, with limits.

    `table` has the columns rate_of, group, n, rate_before, rate, rate_low, rate_high.
    """
    figure = go.Figure()
    rows = np.arange(len(table))
    for place, group in enumerate(groups):
        mine = (table["group"] == group).to_numpy()
        some = table[mine]
        colour = GROUP_COLOURS[place % len(GROUP_COLOURS)]
        figure.add_scatter(
            x=100 * segments(some["rate_low"].to_numpy(), some["rate_high"].to_numpy()),
            y=np.repeat(rows[mine], 3),
            mode="lines",
            showlegend=False,
            hoverinfo="skip",
            line={"color": colour, "width": 2},
        )
        figure.add_scatter(
            x=100 * some["rate_before"],
            y=rows[mine],
            mode="markers",
            showlegend=False,
            marker={"symbol": "circle-open", "size": 11, "color": GREY, "line": {"width": 2}},
            hovertemplate=text.HOVER_BEFORE,
        )
        figure.add_scatter(
            x=100 * some["rate"],
            y=rows[mine],
            mode="markers",
            name=figure_text(group),
            marker={"size": 11, "color": colour},
            customdata=some[["n"]].to_numpy(),
            hovertemplate=text.HOVER_AFTER,
        )
    names = [
        f"{figure_text(rate)}<br>{figure_text(group)}, n = {n:,.0f}"
        for rate, group, n in zip(table["rate_of"], table["group"], table["n"], strict=True)
    ]
    return figure.update_layout(
        height=max(200, 90 + 48 * len(table)),
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0},
        xaxis={"title": text.AXIS_RATE, "range": [-2, 102], "fixedrange": True},
        yaxis={
            "tickvals": rows,
            "ticktext": names,
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )
