"""From results to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
import plotly.colors
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.evaluation.summary import FREE
from fairfl_core.explore.charts import colour_limits, index_on
from fairfl_core.lp.frontier import Frontier
from pages.shared import text
from pages.shared.outside_text import figure_text
from pages.shared.theme import (
    AFTER,
    BAND,
    FREE_LINE,
    GREY,
    HERE,
    INTERVAL,
    PALE,
    translucent,
)
from pages.shared.view import NO_LIMIT

__all__ = [
    "Place",
    "client_gaps",
    "heat_map",
    "map_table",
    "segments",
]

Floats = NDArray[np.float64]
Place = tuple[float, float]  # eps_global, eps_local
LEGEND_ABOVE = {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0}
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
CIVIDIS = plotly.colors.get_colorscale("Cividis")
CROSS = {"symbol": "cross", "size": 16, "color": HERE, "line": {"width": 1, "color": "white"}}
ROW = 22  # height of a client's row


def segments(starts: Floats, ends: Floats) -> Floats:
    """Coordinates of separate lines in one trace: start, end, a break, and so on."""
    return np.stack([starts, ends, np.full(len(starts), np.nan)], axis=1).ravel()


# -------------------------------------------------------------------- the map


def heat_map(
    heat: Frontier,
    here: Place | None,
    others: Sequence[tuple[str, Place]] = (),
    *,
    name: str = text.YOU_ARE_HERE,
    limits: tuple[float, float] | None = None,
    height: int = 470,
    scale: bool = True,
) -> go.Figure:
    """Accuracy over (eps_global, eps_local), with a cross at `here` and rings at `others`.

    `limits` of the colour scale are accuracies in per cent; default are those of the map, at
    least two points apart, so that what costs next to nothing looks so. The scale itself stands
    beside the map unless told.
    """
    accuracy = 100 * heat.accuracy
    low, high = limits or colour_limits(accuracy)
    figure = go.Figure()
    figure.add_heatmap(
        z=accuracy,
        x=np.arange(accuracy.shape[1]),
        y=np.arange(accuracy.shape[0]),
        colorscale=CIVIDIS,
        zmin=low,
        zmax=high,
        showscale=scale,
        colorbar={"title": {"text": text.ACCURACY_PERCENT, "side": "right"}, "thickness": 14},
        customdata=_cells(tuple(heat.eps_global.tolist()), tuple(heat.eps_local.tolist())),
        hovertemplate=text.HOVER_CELL,
    )
    _add_free_zone(figure, heat, accuracy)
    for other, place in others:
        _add_mark(figure, heat, place, other, "circle-open")
    if here is not None:
        _add_mark(figure, heat, here, name, "cross")
    figure.update_layout(
        xaxis=_axis(text.AXIS_OVERALL, heat.eps_global),
        yaxis=_axis(text.AXIS_INSIDE, heat.eps_local),
        height=height,
        margin=MARGIN | {"t": 40},
        legend=LEGEND_ABOVE,
        hovermode="closest",
        hoverdistance=1,  # a mark stands for its own cell, not for those around it
        dragmode=False,
    )
    return figure


def _add_free_zone(figure: go.Figure, heat: Frontier, accuracy: Floats) -> None:
    """Outline the cells that cost nothing against no limit at all: the last cell of the map."""
    if min(heat.eps_global[-1], heat.eps_local[-1]) < NO_LIMIT:
        return
    free = accuracy >= accuracy[-1, -1] - 100 * FREE
    if free.all():
        return
    x: list[float | None] = []
    y: list[float | None] = []
    for row, column in np.argwhere(free):
        if column == 0 or not free[row, column - 1]:
            x += [column - 0.5, column - 0.5, None]
            y += [row - 0.5, row + 0.5, None]
        if row == 0 or not free[row - 1, column]:
            x += [column - 0.5, column + 0.5, None]
            y += [row - 0.5, row - 0.5, None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name=text.COSTS_NOTHING,
        line={"color": FREE_LINE, "width": 3, "dash": "dot"},
        hoverinfo="skip",
    )


@lru_cache(16)  # maps differ in their numbers, seldom in their limits
def _cells(overall: tuple[float, ...], inside: tuple[float, ...]) -> list[list[list[object]]]:
    """Both limits of every cell, which a click takes, and the same as they are read."""
    read = {limit: text.limit_on_axis(limit) for limit in {*overall, *inside}}
    return [[[across, up, read[across], read[up]] for across in overall] for up in inside]


def _add_mark(figure: go.Figure, heat: Frontier, place: Place, name: str, symbol: str) -> None:
    ring = CROSS | {"symbol": symbol, "line": {"width": 3, "color": HERE}}
    figure.add_scatter(
        x=[index_on(heat.eps_global, place[0])],
        y=[index_on(heat.eps_local, place[1])],
        mode="markers",
        name=name,
        marker=CROSS if symbol == "cross" else ring,
        customdata=[list(place)],
        hoverinfo="name",
    )


def _axis(title: str, grid: Floats) -> dict[str, object]:
    shown = np.arange(len(grid))
    if len(grid) > 12:  # every third one, and the last, which is no limit and takes two places
        shown = np.union1d(shown[:-2][::3], shown[-1:])
    return {
        "title": {"text": title},
        "tickvals": shown,
        "ticktext": [text.limit_on_axis(grid[place]) for place in shown],
        "showgrid": False,
        "zeroline": False,
        "range": [-0.5, len(grid) - 0.5],
        "fixedrange": True,
    }


def map_table(heat: Frontier) -> pd.DataFrame:
    """The accuracies of a map, in per cent."""
    columns = [f"{text.MAP_OVERALL} {value:g}" for value in heat.eps_global]
    table = pd.DataFrame((100 * heat.accuracy).round(2), columns=columns)
    table.insert(0, text.MAP_INSIDE, heat.eps_local)
    return table


# -------------------------------------------------------------------- the clients


def client_gaps(table: pd.DataFrame) -> go.Figure:
    """Each client's gap before and after, from a study's client table, in the table's order.

    Before is a hollow grey ring, after a filled dot (a pale square where the gap cannot be
    told from none), the fitted value a short stroke, what was asked a dashed line.
    """
    figure = go.Figure()
    names = [
        f"{figure_text(name)}  (n = {n:,.0f})"
        for name, n in zip(table["client"], table["n"], strict=True)
    ]
    rows = np.arange(len(table))
    column = {name: table[name].to_numpy(float) for name in table if name != "client"}
    _add_asked(figure, rows, column["eps_local"])
    for start, end, style, name in (
        ("gap_low", "gap_high", {"color": INTERVAL, "width": 2}, text.INTERVAL),
        ("gap_before", "gap", {"color": translucent(GREY, 0.65), "width": 5}, ""),
    ):
        figure.add_scatter(
            x=segments(column[start], column[end]),
            y=np.repeat(rows, 3),
            mode="lines",
            name=name,
            showlegend=bool(name),
            line=style,
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=column["gap_before"],
        y=rows,
        mode="markers",
        name=text.BEFORE,
        marker={"symbol": "circle-open", "size": 10, "color": GREY, "line": {"width": 2}},
        customdata=names,
        hovertemplate=text.HOVER_BEFORE,
    )
    _add_after(figure, rows, names, column)
    figure.add_scatter(
        x=column["gap_reached"],
        y=rows,
        mode="markers",
        name=text.REACHED,
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": HERE}},
        hovertemplate=text.HOVER_REACHED,
    )
    return figure.update_layout(
        height=max(170, 110 + ROW * len(table)),
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0},
        xaxis={"title": {"text": text.AXIS_GAP}, "rangemode": "tozero", "fixedrange": True},
        yaxis={
            "tickvals": rows,
            "ticktext": names,
            "range": [len(table) - 0.4, -0.6],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _add_asked(figure: go.Figure, rows: NDArray[np.int64], asked: Floats) -> None:
    """A band where all clients have the same limit, else a stroke for each that has one."""
    limited = asked < 1
    if not limited.any():
        return
    if np.ptp(asked) == 0:
        upright = {"xref": "x", "yref": "y domain", "y0": 0, "y1": 1, "x1": float(asked[0])}
        figure.add_shape(
            type="rect", x0=0, fillcolor=BAND, line={"width": 0}, layer="below", **upright
        )
        line = {"color": AFTER, "dash": "dash", "width": 1.5}
        figure.add_shape(type="line", x0=float(asked[0]), line=line, **upright)
        return
    figure.add_scatter(
        x=asked[limited],
        y=rows[limited],
        mode="markers",
        name=text.ASKED,
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": AFTER}},
        hovertemplate=text.HOVER_ASKED,
    )


def _add_after(
    figure: go.Figure, rows: NDArray[np.int64], names: Sequence[str], column: dict[str, Floats]
) -> None:
    within = within_chance(column["gap_low"])
    told = np.stack(
        [
            np.array(names, dtype=object),
            column["gap_low"],
            column["gap_high"],
            column["noise_floor"],
        ],
        axis=1,
    )
    for mask, name, symbol, colour in (
        (~within, text.AFTER, "circle", AFTER),
        (within, text.AFTER_NOISE, "square", PALE),
    ):
        if mask.any():
            figure.add_scatter(
                x=column["gap"][mask],
                y=rows[mask],
                mode="markers",
                name=name,
                marker={
                    "symbol": symbol,
                    "size": 10,
                    "color": colour,
                    "line": {"width": 1, "color": AFTER},
                },
                customdata=told[mask],
                hovertemplate=text.HOVER_AFTER,
            )
