"""The picture of the options."""

import plotly.graph_objects as go

from fairfl_core._io import numbers as format
from fairfl_core.review import Board
from pages.compare import text
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN
from pages.shared.outside_text import figure_text
from pages.shared.theme import GROUP_COLOURS

__all__ = ["options_figure"]

ROW = 58  # height of an option's row


def options_figure(board: Board) -> go.Figure:
    """One row an option: both gaps with their intervals, and the accuracy as text."""
    figure = go.Figure()
    for name, title, symbol, lift, colour in (
        ("overall", text.OVERALL, "circle", -0.12, GROUP_COLOURS[0]),
        ("worst", text.WORST, "square", 0.12, GROUP_COLOURS[1]),
    ):
        there = [
            (place, column.picture)
            for place, column in enumerate(board.columns)
            if column.picture[name] is not None
        ]
        gaps = [picture[name] for _, picture in there]
        figure.add_scatter(
            x=gaps,
            y=[place + lift for place, _ in there],
            mode="markers",
            name=title,
            marker={"symbol": symbol, "size": 12, "color": colour},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [
                    p[f"{name}_high"] - gap for (_, p), gap in zip(there, gaps, strict=True)
                ],
                "arrayminus": [
                    gap - p[f"{name}_low"] for (_, p), gap in zip(there, gaps, strict=True)
                ],
                "thickness": 2,
                "width": 4,
            },
            hovertemplate=f"{title} %{{x:.3f}}<extra></extra>",
        )
    names = [
        f"{figure_text(column.name, 28)}<br>{format.percent(column.picture['accuracy'])}"
        for column in board.columns
    ]
    return figure.update_layout(
        height=110 + ROW * len(names),
        margin=MARGIN | {"t": 30},
        legend=LEGEND_ABOVE,
        xaxis={"title": text.AXIS_GAP, "rangemode": "tozero", "fixedrange": True},
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "range": [len(names) - 0.4, -0.6],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
    )
