"""Figures of Explore's tabs and of a client's panel, by Plotly."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairfl_core._io.names import figure_text
from fairfl_core.evaluation.advice import CertaintyPrice
from pages.explore import text
from pages.shared.theme import GREY, GROUP_COLOURS, SYMBOLS, laid_out, named_rows, segments

DASHES = ("solid", "dot", "dash", "dashdot", "longdash")


def region_lines(table: pd.DataFrame) -> go.Figure:
    """Accuracy against the gap on unseen people, one line and one mark a region.

    `table` has the columns region, limit, accuracy, gap_global, gap_local_mean.
    """
    figure = go.Figure()
    for place, region in enumerate(table["region"].unique()):
        some = table[table["region"] == region]
        colour = GROUP_COLOURS[place % len(GROUP_COLOURS)]
        figure.add_scatter(
            x=some["gap_local_mean"],
            y=100 * some["accuracy"],
            mode="lines+markers",
            name=region,
            line={"color": colour, "dash": DASHES[place % len(DASHES)]},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9, "color": colour},
            customdata=some[["limit", "gap_global"]].to_numpy(),
            hovertemplate=text.HOVER_REGION,
        )
    titles = {"xaxis_title": text.AXIS_MEAN_GAP, "yaxis_title": text.AXIS_ACCURACY}
    return laid_out(figure, 380, margin_t=30, **titles)


def certainty_line(price: CertaintyPrice, now: float) -> go.Figure:
    """What certainty costs against people per client, with the median client marked."""
    cost = 100 * price.cost
    figure = go.Figure()
    figure.add_scatter(
        x=price.people,
        y=cost,
        mode="lines+markers",
        line={"color": GROUP_COLOURS[0]},
        hovertemplate=text.HOVER_CERTAINTY,
    )
    figure.add_scatter(
        x=[now],
        y=[float(np.interp(np.log(now), np.log(price.people), cost))],
        mode="markers+text",
        text=[text.AS_IT_IS],
        textposition="top center",
        marker={"symbol": "x", "size": 12, "color": GROUP_COLOURS[1]},
        hovertemplate=text.HOVER_CERTAINTY,
    )
    return laid_out(
        figure,
        340,
        margin_t=30,
        showlegend=False,
        xaxis={"title": text.AXIS_PEOPLE, "type": "log"},
        yaxis={"title": text.AXIS_COST, "rangemode": "tozero"},
    )


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
            line_color=colour,
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
    return laid_out(
        figure,
        max(200, 90 + 48 * len(table)),
        xaxis={"title": text.AXIS_RATE, "range": [-2, 102]},
        yaxis=named_rows(names),
    )
