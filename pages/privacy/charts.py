"""From noise studies to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.privacy.noise_study import Band
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN
from pages.privacy import text
from pages.shared.text import YOU_ARE_HERE
from pages.shared.theme import GREY, HERE, translucent

__all__ = ["Scale", "Series", "against_budget", "failing_clients"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """One figure against the budget.

    `reached` is its band on the true validation people, `unseen` its medians on test, `other`
    the name and the medians of the other mechanism at the same true budget.
    """

    name: str
    colour: str
    reached: Band
    unseen: Floats | None = None
    other: tuple[str, Floats] | None = None


@dataclass(frozen=True)
class Scale:
    """The vertical axis: its title, what turns figures into its unit, and digits under it."""

    title: str
    times: float = 1.0
    digits: int = 3


def against_budget(
    spent: Floats,
    series: Sequence[Series],
    scale: Scale,
    *,
    here: float,
    asked: float | None = None,
    without: float | None = None,
) -> go.Figure:
    """Bands over the budget, less of it (more noise) to the right; the axis is logarithmic.

    `asked` is a dashed line, `without` (no noise) a thin grey one.
    """
    figure = go.Figure()
    x = -np.log10(spent)
    for one in series:
        _add_band(figure, x, spent, one, scale)
    for level, name, dash in (
        (asked, text.ASKED, "dash"),
        (without, text.WITHOUT_NOISE, "solid"),
    ):
        if level is not None:
            figure.add_scatter(
                x=[x.min(), x.max()],
                y=[scale.times * level] * 2,
                mode="lines",
                name=name,
                line={"color": GREY, "dash": dash, "width": 1.5},
                hoverinfo="name",
            )
    figure.add_vline(
        x=-np.log10(here),
        line={"color": GREY, "width": 1.5, "dash": "dot"},
        annotation={"text": YOU_ARE_HERE, "yanchor": "bottom", "y": 1, "showarrow": False},
    )
    return figure.update_layout(
        height=360,
        margin=MARGIN | {"t": 25},
        legend=LEGEND_ABOVE | {"y": -0.25, "yanchor": "top"},
        xaxis={
            "title": text.AXIS_BUDGET,
            "tickvals": x,
            "ticktext": [f"{value:g}" for value in spent],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "tickangle": 0,
            "tickfont": {"size": 11},
        },
        yaxis={
            "title": scale.title,
            "rangemode": "tozero" if scale.times == 1 else "normal",
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _add_band(figure: go.Figure, x: Floats, spent: Floats, one: Series, scale: Scale) -> None:
    low, middle, high = (
        scale.times * part for part in (one.reached.low, one.reached.middle, one.reached.high)
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
        hovertemplate=text.hover_band(one.name, scale.digits),
    )
    if one.unseen is not None:
        figure.add_scatter(
            x=x,
            y=scale.times * one.unseen,
            mode="markers",
            showlegend=False,
            marker={"color": one.colour, "size": 7},
            hovertemplate=text.hover_unseen(scale.digits),
        )
    if one.other is not None:
        name, medians = one.other
        figure.add_scatter(
            x=x,
            y=scale.times * medians,
            mode="lines+markers",
            name=f"{one.name}, {name}",
            line={"color": one.colour, "width": 1.5, "dash": "dot"},
            marker={
                "symbol": "x-thin",
                "size": 7,
                "line": {"width": 2, "color": one.colour},
            },
            hovertemplate=f"{name}: %{{y:.{scale.digits}f}}<extra></extra>",
        )


def failing_clients(names: Sequence[str], often: Floats) -> go.Figure:
    """How often each client's true gap is above what was asked, in 100 draws."""
    rows = np.arange(len(names))
    figure = go.Figure(
        go.Bar(
            x=100 * often,
            y=rows,
            orientation="h",
            marker={"color": HERE},
            text=[f"{100 * share:.0f} %" for share in often],
            textposition=["inside" if share > 0.2 else "outside" for share in often],
            customdata=list(names),
            hovertemplate="%{customdata}: %{x:.0f} %<extra></extra>",
        )
    )
    return figure.update_layout(
        height=max(200, 100 + 26 * len(names)),
        margin=MARGIN,
        bargap=0.35,
        xaxis={
            "title": text.AXIS_FAILS,
            "range": [0, 100],
            "fixedrange": True,
            "zeroline": False,
        },
        yaxis={
            "tickvals": rows,
            "ticktext": list(names),
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )
