"""Figures of the Explore page alone."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairfl_core.evaluation.advice import CertaintyPrice
from pages.explore import text
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN
from pages.shared.theme import GROUP_COLOURS, SYMBOLS

__all__ = ["certainty_line", "region_lines"]

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
    return figure.update_layout(
        height=380,
        margin=MARGIN | {"t": 30},
        legend=LEGEND_ABOVE,
        xaxis={"title": text.AXIS_MEAN_GAP, "fixedrange": True},
        yaxis={"title": text.AXIS_ACCURACY, "fixedrange": True},
    )


def certainty_line(price: CertaintyPrice, now: float) -> go.Figure:
    """What certainty costs against people per client, with the median client marked."""
    cost = 100 * price.cost
    figure = go.Figure()
    figure.add_scatter(
        x=price.people,
        y=cost,
        mode="lines+markers",
        name=text.CERTAINTY,
        line={"color": GROUP_COLOURS[0]},
        showlegend=False,
        hovertemplate=text.HOVER_CERTAINTY,
    )
    figure.add_scatter(
        x=[now],
        y=[float(np.interp(np.log(now), np.log(price.people), cost))],
        mode="markers+text",
        text=[text.AS_IT_IS],
        textposition="top center",
        marker={"symbol": "x", "size": 12, "color": GROUP_COLOURS[1]},
        name=text.AS_IT_IS,
        showlegend=False,
        hovertemplate=text.HOVER_CERTAINTY,
    )
    return figure.update_layout(
        height=340,
        margin=MARGIN | {"t": 30},
        xaxis={"title": text.AXIS_PEOPLE, "type": "log", "fixedrange": True},
        yaxis={"title": text.AXIS_COST, "rangemode": "tozero", "fixedrange": True},
    )
