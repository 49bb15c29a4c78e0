"""The picture of a visitor's models. A figure computes nothing: it draws what it is given."""

from collections.abc import Sequence

from fairfl_core.evaluation.own_models import ModelSetting
from pages.compare.drawing import Drawing
from pages.explore.old_figures import MARGIN
from pages.shared.outside_text import figure_text
from pages.shared.theme import HERE
from pages.your_data import models_text as text

__all__ = ["model_frontiers"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f", "#9b5de5")
SIGNS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")


def model_frontiers(
    frontiers: Sequence[Sequence[ModelSetting]], which: str, gap: float
) -> Drawing:
    """One line a model with a colour and a sign of its own; the gap compared at is dashed."""
    figure = Drawing()
    for turn, settings in enumerate(frontiers):
        if settings:
            _add(figure, settings, which, COLOURS[turn], SIGNS[turn])
    line = {"color": HERE, "dash": "dash", "width": 1}
    figure.add_shape(type="line", x0=gap, x1=gap, yref="paper", y0=0, y1=1, line=line)
    return figure.update_layout(
        height=460,
        margin=MARGIN,
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        xaxis={
            "title": {"text": text.axis_gap(which)},
            "rangemode": "tozero",
            "fixedrange": True,
        },
        yaxis={"title": {"text": text.AXIS_ACCURACY}, "fixedrange": True},
    )


def _add(
    figure: Drawing, settings: Sequence[ModelSetting], which: str, colour: str, sign: str
) -> None:
    accuracy = [100 * one.evaluation.accuracy for one in settings]
    limits = [one.evaluation.accuracy_interval for one in settings]
    name = figure_text(settings[0].model)
    figure.add(
        "scatter",
        x=[one.gap(which) for one in settings],
        y=accuracy,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [100 * high - y for (_, high), y in zip(limits, accuracy, strict=True)],
            "arrayminus": [y - 100 * low for (low, _), y in zip(limits, accuracy, strict=True)],
            "thickness": 1,
            "width": 2,
            "color": colour,
        },
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": 2},
        marker={"symbol": sign, "size": 9, "color": colour},
        customdata=[[name, text.limit(one)] for one in settings],
        hovertemplate=text.HOVER,
    )
