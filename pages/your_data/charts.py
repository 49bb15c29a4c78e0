"""Pictures of a visitor's set and models. A figure computes nothing: it draws what it is given."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core._io.names import Target, figure_text, only_text
from fairfl_core.evaluation.methods import MODEL_GAPS, ModelSetting
from pages.shared.theme import GROUP_COLOURS, HERE, error_bars, laid_out
from pages.your_data import text

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f", "#9b5de5")
SIGNS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
PATTERNS = ("", "/", ".", "x", "-", "|")  # beside the colours, which repeat after eight
MARK = "display: inline-block; width: 0.7em; height: 0.7em; background"
MOST_KEYS = 6  # groups with a mark of their own; hovering tells the others
NAMED = 15  # clients whose names have room below the bars


def people_bars(
    clients: Sequence[str], groups: Sequence[str], people: NDArray[np.float64], whom: str
) -> go.Figure:
    """One bar a client, in parts by group; `whom` says what is counted: people, or noised counts."""
    figure = go.Figure()
    names = [figure_text(name, 20) for name in clients]
    for place, group in enumerate(groups):
        figure.add_bar(
            x=np.arange(len(clients)),
            y=people[:, place],
            name=figure_text(group, 20),
            marker={
                "color": GROUP_COLOURS[place % len(GROUP_COLOURS)],
                "pattern": {"shape": PATTERNS[place % len(PATTERNS)], "fillmode": "overlay"},
            },
            customdata=names,
            hovertemplate="%{customdata}: %{y:,.0f}<extra>%{fullData.name}</extra>",
        )
    shown = [figure_text(name, 12) for name in clients] if len(clients) <= NAMED else []
    return laid_out(
        figure,
        barmode="stack",
        showlegend=False,  # the title has the key
        xaxis={"tickvals": np.arange(len(shown)), "ticktext": shown},
        yaxis_title=whom.lower(),
    )


def people_key(title: str, groups: Sequence[str]) -> str:
    """The title of the bars with a mark for each group, as HTML in which names are only text."""
    marks = "".join(
        f'<i style="{MARK}: {GROUP_COLOURS[place % len(GROUP_COLOURS)]}"></i> '
        f"<bdi>{only_text(group, Target.HTML, 20)}</bdi>&ensp;"
        for place, group in enumerate(groups[:MOST_KEYS])
    )
    return f'<div class="fairfl-title">{escape(title)}<span>{marks}</span></div>'


def model_frontiers(
    frontiers: Sequence[Sequence[ModelSetting]], which: str, gap: float
) -> go.Figure:
    """One line a model with a colour and a sign of its own; the gap compared at is dashed."""
    figure = go.Figure()
    for turn, settings in enumerate(frontiers):
        if settings:
            _add(figure, settings, which, COLOURS[turn], SIGNS[turn])
    line = {"color": HERE, "dash": "dash", "width": 1}
    figure.add_shape(type="line", x0=gap, x1=gap, yref="paper", y0=0, y1=1, line=line)
    return laid_out(
        figure,
        showlegend=True,
        legend={"y": -0.2, "yanchor": "top"},
        xaxis={"title": text.AXIS_GAP.format(MODEL_GAPS[which]), "rangemode": "tozero"},
        yaxis_title=text.AXIS_ACCURACY,
    )


def _add(
    figure: go.Figure, settings: Sequence[ModelSetting], which: str, colour: str, sign: str
) -> None:
    accuracy = np.array([100 * one.evaluation.accuracy for one in settings])
    limits = 100 * np.array([one.evaluation.accuracy_interval for one in settings])
    name = figure_text(settings[0].model)
    figure.add_scatter(
        x=[one.gap(which) for one in settings],
        y=accuracy,
        error_y=error_bars(accuracy, *limits.T, thickness=1, width=2, color=colour),
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": 2},
        marker={"symbol": sign, "size": 9, "color": colour},
        customdata=[[name, text.limit(one)] for one in settings],
        hovertemplate=text.HOVER,
    )
