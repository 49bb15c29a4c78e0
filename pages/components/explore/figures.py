"""Figures of the Explore page alone."""

import pandas as pd
import plotly.graph_objects as go

from pages.components.explore import text
from pages.components.shared.figures import LEGEND_ABOVE, MARGIN
from pages.components.shared.theme import GROUP_COLOURS, SYMBOLS

__all__ = ["region_lines"]

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
