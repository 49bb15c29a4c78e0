"""From noise studies to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.privacy.noise_study import Band
from pages.privacy import text
from pages.shared.text import YOU_ARE_HERE, share
from pages.shared.theme import AFTER, GREY, HERE, laid_out, named_rows, translucent

Floats = NDArray[np.float64]
HEIGHT = 308
COLOURS = {"local_worst": HERE, "local_mean": AFTER, "overall": AFTER, "accuracy": AFTER}


@dataclass(frozen=True, eq=False)
class Series:
    """One figure against the budget.

    `reached` is its band on the true validation people, `unseen` its medians on test.
    """

    name: str
    colour: str
    reached: Band
    unseen: Floats | None = None


def against_budget(
    spent: Floats,
    series: Sequence[Series],
    title: str,
    *,
    times: float = 1.0,
    here: float,
    asked: float | None = None,
    without: float | None = None,
) -> go.Figure:
    """Bands over the budget, less of it (more noise) to the right; the axis is logarithmic.

    `asked` is a dashed line, `without` (no noise) a thin grey one; figures are drawn `times` as large.
    """
    figure = go.Figure()
    x = -np.log10(spent)
    for place, one in enumerate(series):
        _add_band(figure, x, spent, one, times, show_unseen=place == 0)
    for level, name, dash in (
        (asked, text.ASKED, "dash"),
        (without, text.WITHOUT_NOISE, "solid"),
    ):
        if level is not None:
            figure.add_scatter(
                x=[x.min(), x.max()],
                y=[times * level] * 2,
                mode="lines",
                name=name,
                line={"color": GREY, "dash": dash, "width": 1.5},
                hoverinfo="name",
            )
    mark = {"text": YOU_ARE_HERE, "xanchor": "left", "yanchor": "top", "y": 1, "showarrow": False}
    line = {"color": GREY, "width": 1.5, "dash": "dot"}
    figure.add_vline(x=-np.log10(here), line=line, annotation=mark)
    return laid_out(
        figure,
        HEIGHT,
        margin_t=46,  # two lines of the legend, which stands at the figure's own top
        legend={"yref": "container", "y": 1, "yanchor": "top"},
        xaxis={
            "title": text.AXIS_BUDGET,
            "tickvals": x,
            "ticktext": [f"{value:g}" for value in spent],
            "showgrid": False,
            "tickangle": 0,
        },
        yaxis={"title": title, "rangemode": "tozero" if times == 1 else "normal"},
    )


def _add_band(
    figure: go.Figure, x: Floats, spent: Floats, one: Series, times: float, *, show_unseen: bool
) -> None:
    digits = 3 if times == 1 else 1
    low, middle, high = (
        times * part for part in (one.reached.low, one.reached.middle, one.reached.high)
    )
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        fill="toself",
        fillcolor=translucent(one.colour, 0.18),
        line={"width": 0},
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=x,
        y=middle,
        mode="lines",
        name=one.name,
        line={"color": one.colour, "width": 2.5},
        customdata=np.stack([spent, low, high], axis=1),
        hovertemplate=text.HOVER_BAND.format(one.name, digits),
    )
    if one.unseen is not None:
        figure.add_scatter(
            x=x,
            y=times * one.unseen,
            mode="markers",
            name=text.NEW_PEOPLE,
            showlegend=show_unseen,
            marker={"color": one.colour, "size": 7},
            hovertemplate=text.HOVER_UNSEEN.format(digits),
        )


def failing_clients(names: Sequence[str], often: Floats) -> go.Figure:
    """How often each client's true gap is above what was asked, in 100 draws."""
    figure = go.Figure().add_bar(
        x=100 * often,
        y=np.arange(len(names)),
        orientation="h",
        marker_color=HERE,
        text=[share(one) for one in often],
        textposition="outside",
        cliponaxis=False,
        constraintext="none",
        customdata=list(names),
        hovertemplate=text.HOVER_FAILS,
    )
    return laid_out(
        figure,
        HEIGHT,
        bargap=max(0.35, 1 - 0.15 * len(names)),  # of two clients no bar is a block
        xaxis={"title": text.AXIS_FAILS, "range": [0, 108], "tickvals": [0, 25, 50, 75, 100]},
        yaxis=named_rows(names),
    )
