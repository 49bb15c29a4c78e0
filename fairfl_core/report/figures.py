"""Results as Plotly figures, the same in a notebook as on a page; a figure computes no rate.

The only module of the core that knows Plotly, which it imports when a figure is drawn.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import figure_text
from fairfl_core.errors import extra
from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.lp.frontier import FREE, Frontier

if TYPE_CHECKING:
    import plotly.graph_objects as go

Floats = NDArray[np.float64]
Place = tuple[float, float]  # eps_global, eps_local

# Colours keep their meaning everywhere (Okabe and Ito's, and what is seen on white and on dark).
GREY, AFTER, PALE, HERE = "#8a8a8a", "#0072B2", "#9ecae9", "#D55E00"
FREE_LINE, INTERVAL, BAND = "#e0218a", "#3f97d0", "rgba(0,114,178,0.12)"
JOINED = "rgba(138,138,138,0.65)"
LEGEND_ABOVE = {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0}
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
AXIS_OVERALL = "gap allowed overall, ε<sub>0</sub>"
AXIS_INSIDE = "gap allowed inside each client, ε<sub>c</sub>"
HOVER_CELL = (
    "overall %{customdata[2]}, inside each client %{customdata[3]}"
    "<br>accuracy %{z:.1f} %<extra></extra>"
)
HOVER_BEFORE = "%{customdata}: before %{x:.3f}<extra></extra>"
HOVER_AFTER = (
    "%{customdata[0]}: after %{x:.3f} (between %{customdata[1]:.3f} and "
    "%{customdata[2]:.3f}; chance alone %{customdata[3]:.3f})<extra></extra>"
)
LEAST_SPAN = 2.0  # points of accuracy that the colours of a map span at least
_ROW = 22  # height of a client's row


def graph_objects() -> Any:
    """Plotly's figures, or a sentence where Plotly is not installed."""
    with extra("app"):
        import plotly.graph_objects as go
    return go


def segments(starts: Floats, ends: Floats) -> Floats:
    """Coordinates of separate lines in one trace: start, end, a break, and so on."""
    return np.stack([starts, ends, np.full(len(starts), np.nan)], axis=1).ravel()


# -------------------------------------------------------------------- the map


def heat_map(
    heat: Frontier,
    here: Place | None = None,
    others: Sequence[tuple[str, Place]] = (),
    *,
    name: str = "you are here",
    limits: tuple[float, float] | None = None,
    height: int = 470,
    scale: bool = True,
) -> "go.Figure":
    """Draw accuracy over (eps_global, eps_local), with a cross at `here` and rings at `others`.

    `limits` of the colour scale are accuracies in per cent; default are those of the map, at
    least two points apart, so that what costs next to nothing looks so. `scale` tells whether the
    scale itself stands beside the map.
    """
    accuracy = 100 * heat.accuracy
    low, high = limits or colour_limits(accuracy)
    figure = graph_objects().Figure()
    figure.add_heatmap(
        z=accuracy,
        x=np.arange(accuracy.shape[1]),
        y=np.arange(accuracy.shape[0]),
        colorscale="Cividis",
        zmin=low,
        zmax=high,
        showscale=scale,
        colorbar={"title": {"text": "accuracy, %", "side": "right"}, "thickness": 14},
        customdata=_cells(tuple(heat.eps_global.tolist()), tuple(heat.eps_local.tolist())),
        hovertemplate=HOVER_CELL,
    )
    _add_free_zone(figure, heat)
    for other, place in others:
        _add_mark(figure, heat, place, other, "circle-open")
    if here is not None:
        _add_mark(figure, heat, here, name, "cross")
    return figure.update_layout(
        xaxis=_axis(AXIS_OVERALL, heat.eps_global),
        yaxis=_axis(AXIS_INSIDE, heat.eps_local),
        height=height,
        margin=MARGIN | {"t": 40},
        legend=LEGEND_ABOVE,
        hovermode="closest",
        hoverdistance=1,  # a mark stands for its own cell, not for those around it
        dragmode=False,
    )


def colour_limits(*accuracies: Floats) -> tuple[float, float]:
    """The colour scale of maps in per cent: from the lowest to the highest, at least two points."""
    low = min(float(np.nanmin(one)) for one in accuracies)
    high = max(float(np.nanmax(one)) for one in accuracies)
    return min(low, high - LEAST_SPAN), high


def index_on(grid: Sequence[float] | Floats, value: float) -> float:
    """Where a tolerance lies on an axis of equal steps over an uneven grid."""
    return float(np.interp(value, grid, np.arange(len(grid))))


def free_cells(accuracy: Floats) -> NDArray[np.bool_]:
    """The cells, in per cent, that are as accurate as no limit at all: the last cell."""
    with np.errstate(invalid="ignore"):
        return np.asarray(accuracy >= accuracy[-1, -1] - 100 * FREE)


def _add_free_zone(figure: "go.Figure", heat: Frontier) -> None:
    """Outline the cells that cost nothing, where the map has a cell of no limit."""
    free = free_cells(100 * heat.accuracy)
    if min(heat.eps_global[-1], heat.eps_local[-1]) < 1 or free.all():
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
        name="costs nothing inside",
        line={"color": FREE_LINE, "width": 3, "dash": "dot"},
        hoverinfo="skip",
    )


@lru_cache(16)  # maps differ in their numbers, seldom in their limits
def _cells(overall: tuple[float, ...], inside: tuple[float, ...]) -> list[list[list[object]]]:
    """Both limits of every cell, which a click takes, and the same as they are read."""
    read = {limit: _limit(limit) for limit in {*overall, *inside}}
    return [[[across, up, read[across], read[up]] for across in overall] for up in inside]


def _limit(value: float) -> str:
    return "no limit" if value >= 1 else f"{value:g}"


def _add_mark(figure: "go.Figure", heat: Frontier, place: Place, name: str, symbol: str) -> None:
    cross = {"symbol": "cross", "size": 16, "color": HERE, "line": {"width": 1, "color": "white"}}
    ring = cross | {"symbol": symbol, "line": {"width": 3, "color": HERE}}
    figure.add_scatter(
        x=[index_on(heat.eps_global, place[0])],
        y=[index_on(heat.eps_local, place[1])],
        mode="markers",
        name=name,
        marker=cross if symbol == "cross" else ring,
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
        "ticktext": [_limit(grid[place]) for place in shown],
        "showgrid": False,
        "zeroline": False,
        "range": [-0.5, len(grid) - 0.5],
        "fixedrange": True,
    }


# -------------------------------------------------------------------- the clients


def client_gaps(table: Mapping[str, Any]) -> "go.Figure":
    """Draw each client's gap before and after, in the table's order.

    Before is a hollow grey ring, after a filled dot (a pale square where the gap cannot be
    distinguished from none), the fitted value a short stroke, what was asked a dashed line.

    Parameters
    ----------
    table : DataFrame, or mapping from name to column
        ``client, n, gap_before, gap``, and where they are known ``gap_low, gap_high,
        noise_floor, gap_reached, eps_local``, as a study's client table has them.
    """
    figure = graph_objects().Figure()
    names = [
        f"{figure_text(str(name))}  (n = {n:,.0f})"
        for name, n in zip(table["client"], table["n"], strict=True)
    ]
    rows = np.arange(len(names))
    column = {
        name: np.asarray(table[name], float) if name in table else np.full(len(rows), np.nan)
        for name in (
            *("gap_before", "gap", "gap_low", "gap_high"),
            *("noise_floor", "gap_reached", "eps_local"),
        )
    }
    _add_asked(figure, rows, column["eps_local"])
    for start, end, style, name in (
        ("gap_low", "gap_high", {"color": INTERVAL, "width": 2}, "95 % interval, after"),
        ("gap_before", "gap", {"color": JOINED, "width": 5}, ""),
    ):
        if not np.isnan(column[start]).all():
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
        name="before (model's own)",
        marker={"symbol": "circle-open", "size": 10, "color": GREY, "line": {"width": 2}},
        customdata=names,
        hovertemplate=HOVER_BEFORE,
    )
    _add_after(figure, rows, names, column)
    if not np.isnan(column["gap_reached"]).all():
        figure.add_scatter(
            x=column["gap_reached"],
            y=rows,
            mode="markers",
            name="reached on the fitted people",
            marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": HERE}},
            hovertemplate="reached on the fitted people %{x:.3f}<extra></extra>",
        )
    return figure.update_layout(
        height=max(170, 110 + _ROW * len(names)),
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0},
        xaxis={
            "title": {"text": "gap between groups<br>(difference of rates)"},
            "rangemode": "tozero",
            "fixedrange": True,
        },
        yaxis={
            "tickvals": rows,
            "ticktext": names,
            "range": [len(names) - 0.4, -0.6],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _add_asked(figure: "go.Figure", rows: NDArray[np.int64], asked: Floats) -> None:
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
        name="asked",
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": AFTER}},
        hovertemplate="asked %{x:.3f}<extra></extra>",
    )


def _add_after(
    figure: "go.Figure", rows: NDArray[np.int64], names: Sequence[str], column: dict[str, Floats]
) -> None:
    within = within_chance(column["gap_low"])
    limits = [column[name] for name in ("gap_low", "gap_high", "noise_floor")]
    shown = np.stack([np.array(names, dtype=object), *limits], axis=1)
    judged = not np.isnan(column["gap_low"]).all()
    for mask, name, symbol, colour in (
        (~within, "after", "circle", AFTER),
        (within, "after, within noise", "square", PALE),
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
                customdata=shown[mask],
                hovertemplate=HOVER_AFTER if judged else "%{customdata[0]}: after %{x:.3f}",
            )
