"""The picture of all methods. A figure computes nothing: it draws what it is given."""

import numpy as np

from pages.compare.drawing import Drawing
from pages.explore.old_figures import MARGIN
from pages.methods import text
from pages.methods.results import Compared, Line
from pages.shared.outside_text import figure_text
from pages.shared.theme import GREY, HERE

__all__ = ["frontiers"]

OURS = ("#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7")
# Signs that the key can draw too; ours are circles.
SIGNS = (
    "square",
    "diamond",
    "cross",
    "x",
    "triangle-up",
    "triangle-down",
    "star",
    "triangle-left",
    "triangle-right",
)
SHADES = ("#7f7f7f", "#a0714f", "#9b5de5", "#8a8d2a", "#5f7a94")


def frontiers(found: Compared, which: str, widest: float) -> Drawing:
    """One line a method: ours coloured, rivals thin with a sign each; the front a broad line below.

    The picture reaches down to the front's own least accuracy, or who is far below would flatten all.
    """
    figure = Drawing()
    gaps, accuracy = found.front
    figure.add(
        "scatter",
        x=gaps,
        y=100 * accuracy,
        mode="lines",
        name=text.FRONT,
        line={"width": 8, "color": GREY},
        hoverinfo="skip",
    )
    ours = iter(OURS * 3)
    rivals = iter(range(100))
    for line in sorted(found.lines, key=lambda line: line.title.casefold()):
        if line.ours:
            _add(figure, line, next(ours), "circle", 3)
        else:
            turn = next(rivals)
            _add(figure, line, SHADES[turn % len(SHADES)], SIGNS[turn % len(SIGNS)], 1)
    figure.add_shape(
        type="line",
        x0=found.gap,
        x1=found.gap,
        yref="paper",
        y0=0,
        y1=1,
        line={"color": HERE, "dash": "dash", "width": 1},
    )
    return figure.update_layout(
        height=560,
        margin=MARGIN,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        xaxis={"title": {"text": text.axis_gap(which)}, "range": [0, widest], "fixedrange": True},
        yaxis={
            "title": {"text": text.AXIS_ACCURACY},
            "range": [100 * accuracy.min() - 1, 100 * accuracy.max() + 1],
            "fixedrange": True,
        },
    )


def _add(figure: Drawing, line: Line, colour: str, sign: str, width: int) -> None:
    frontier = line.frontier
    spread = frontier.accuracy.std(axis=1, ddof=1) if frontier.accuracy.shape[1] > 1 else None
    name = figure_text(line.title)
    figure.add(
        "scatter",
        x=frontier.gaps,
        y=100 * frontier.accuracy.mean(axis=1),
        error_y={
            "type": "data",
            "array": 100 * (np.zeros(len(frontier.gaps)) if spread is None else spread),
            "thickness": 1,
            "width": 2,
            "color": colour,
        },
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": width},
        marker={"symbol": sign, "size": 9 if width > 1 else 8, "color": colour},
        customdata=[[name, figure_text(row.setting, 60)] for row in frontier.rows],
        hovertemplate=text.HOVER,
    )
