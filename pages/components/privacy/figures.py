"""From noise studies to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from fairfl_core.privacy.noise_study import Band

__all__ = ["Series", "against_budget", "failing_clients"]

GREY = "#8a8a8a"


@dataclass(frozen=True, eq=False)
class Series:
    """One figure against the budget.

    `reached` is its band on the true validation people, `unseen` its medians on test, `other`
    the medians of the other mechanism at the same true budget.
    """

    name: str
    colour: str
    reached: Band
    unseen: np.ndarray | None = None
    other: tuple[str, np.ndarray] | None = None


def against_budget(
    spent: np.ndarray,
    series: Sequence[Series],
    *,
    here: float,
    title: str,
    asked: float | None = None,
    without: float | None = None,
    times: float = 1.0,
    digits: int = 3,
) -> go.Figure:
    """Bands over the budget, less of it (more noise) to the right.

    The axis is logarithmic; `times` turns figures into the axis' unit (100 for percent). `asked`
    is a dashed line, `without` (no noise) a thin grey one.
    """
    figure = go.Figure()
    x = -np.log10(spent)
    for each in series:
        _add_band(figure, x, spent, each, times, digits)
    for level, name, dash in ((asked, "asked", "dash"), (without, "without noise", "solid")):
        if level is not None:
            figure.add_scatter(
                x=[x.min(), x.max()], y=[times * level] * 2, mode="lines", name=name,
                line={"color": GREY, "dash": dash, "width": 1.5}, hoverinfo="name",
            )  # fmt: skip
    figure.add_vline(
        x=-np.log10(here), line={"color": GREY, "width": 1.5, "dash": "dot"},
        annotation={"text": "you are here", "yanchor": "bottom", "y": 1, "showarrow": False},
    )  # fmt: skip
    return figure.update_layout(
        height=360,
        margin={"l": 10, "r": 10, "t": 25, "b": 10},
        legend={"orientation": "h", "y": -0.25, "yanchor": "top", "x": 0},
        xaxis={"title": "budget ε really spent per client (more noise →)", "tickvals": x,
               "ticktext": [f"{value:g}" for value in spent], "showgrid": False,
               "zeroline": False, "fixedrange": True, "tickangle": 0,
               "tickfont": {"size": 11}},
        yaxis={"title": title, "rangemode": "tozero" if times == 1 else "normal",
               "zeroline": False, "fixedrange": True},
    )  # fmt: skip


def _add_band(
    figure: go.Figure, x: np.ndarray, spent: np.ndarray, each: Series, times: float, digits: int
) -> None:
    band = each.reached
    red, green, blue = (int(each.colour[i : i + 2], 16) for i in (1, 3, 5))
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]), y=times * np.concatenate([band.high, band.low[::-1]]),
        fill="toself", fillcolor=f"rgba({red},{green},{blue},0.18)", line={"width": 0},
        mode="lines", showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=times * band.middle, mode="lines", name=each.name,
        line={"color": each.colour, "width": 2.5},
        customdata=np.stack([spent, times * band.low, times * band.high], axis=1),
        hovertemplate=f"{each.name}, budget %{{customdata[0]:g}}: %{{y:.{digits}f}} "
        f"(90 in 100 draws: %{{customdata[1]:.{digits}f}} to %{{customdata[2]:.{digits}f}})"
        "<extra></extra>",
    )  # fmt: skip
    if each.unseen is not None:
        figure.add_scatter(
            x=x, y=times * each.unseen, mode="markers", showlegend=False,
            marker={"color": each.colour, "size": 7},
            hovertemplate=f"unseen people: %{{y:.{digits}f}}<extra></extra>",
        )  # fmt: skip
    if each.other is not None:
        name, middle = each.other
        figure.add_scatter(
            x=x, y=times * middle, mode="lines+markers", name=f"{each.name}, {name}",
            line={"color": each.colour, "width": 1.5, "dash": "dot"},
            marker={"symbol": "x-thin", "size": 7, "line": {"width": 2, "color": each.colour}},
            hovertemplate=f"{name}: %{{y:.{digits}f}}<extra></extra>",
        )  # fmt: skip


def failing_clients(names: Sequence[str], often: np.ndarray) -> go.Figure:
    """How often each client's true gap is above what was asked, in 100 draws."""
    rows = np.arange(len(names))
    figure = go.Figure(
        go.Bar(
            x=100 * often, y=rows, orientation="h", marker={"color": "#D55E00"},
            text=[f"{100 * share:.0f} %" for share in often], 
            textposition=["inside" if share > 0.2 else "outside" for share in often],
            customdata=list(names), hovertemplate="%{customdata}: %{x:.0f} %<extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        height=max(200, 100 + 26 * len(names)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        bargap=0.35,
        xaxis={"title": "draws in which its gap is above the asked, %", "range": [0, 100],
               "fixedrange": True, "zeroline": False},
        yaxis={"tickvals": rows, "ticktext": list(names), "autorange": "reversed",
               "showgrid": False, "zeroline": False, "fixedrange": True},
    )  # fmt: skip
