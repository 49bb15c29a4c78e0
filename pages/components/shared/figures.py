"""From results to Plotly figures. A figure computes no rate: it draws what it is given."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairfl_core.solving.frontier import Frontier
from pages.components.shared.direction import isolated

__all__ = [
    "GROUP_COLOURS",
    "client_gaps",
    "dumbbell",
    "heat_map",
    "index_on",
    "label",
    "rates",
    "size_of_type",
]

GROUP_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY, AFTER, BAND = "#8a8a8a", "#0072B2", "rgba(0,114,178,0.12)"
FREE = 0.0005  # within a twentieth of a point of no limit at all: costs nothing


def label(name: str, longest: int = 40) -> str:
    """A name as a figure's text: Plotly reads tags in it, so none is left, and it has an end."""
    name = " ".join(str(name).split())
    name = name if len(name) <= longest else name[: longest - 1] + "…"
    return isolated(name.replace("&", "&amp;").replace("<", "&lt;"))


def size_of_type(figure: go.Figure, large: bool) -> go.Figure:
    """Larger letters for a lecture hall."""
    return figure.update_layout(font_size=18 if large else 13)


def index_on(grid: Sequence[float], value: float) -> float:
    """Where a tolerance lies on an axis of equal steps over an uneven grid."""
    return float(np.interp(value, grid, np.arange(len(grid))))


def heat_map(
    found: Frontier,
    here: tuple[float, float],
    pinned: tuple[float, float] | None = None,
    *,
    limits: tuple[float, float] | None = None,
    numbers: bool = False,
    height: int = 470,
) -> go.Figure:
    """Accuracy over (eps_global, eps_local); `here` and `pinned` are such pairs."""
    accuracy = 100 * found.accuracy
    low, high = limits or (accuracy.min(), accuracy.max())
    columns, rows = np.arange(accuracy.shape[1]), np.arange(accuracy.shape[0])
    names = [[f"{value:g}" for value in axis] for axis in (found.eps_global, found.eps_local)]
    figure = go.Figure(
        go.Heatmap(
            z=accuracy,
            x=columns,
            y=rows,
            colorscale="Cividis",
            zmin=low,
            zmax=max(high, low + 0.1),
            colorbar={"title": "accuracy, %", "thickness": 14},
            text=accuracy if numbers else None,
            texttemplate="%{text:.1f}" if numbers else None,
            hoverinfo="skip",
        )
    )
    _add_free_zone(figure, accuracy)
    # Plotly lets a person click points, not cells: an unseen point lies in every cell.
    x, y = np.meshgrid(columns, rows)
    figure.add_scatter(
        x=x.ravel(),
        y=y.ravel(),
        mode="markers",
        marker={"size": 22, "symbol": "square", "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        customdata=np.stack(
            [found.eps_global[x.ravel()], found.eps_local[y.ravel()], accuracy.ravel()], axis=1
        ),
        hovertemplate="overall %{customdata[0]:g}, inside each client %{customdata[1]:g}"
        "<br>accuracy %{customdata[2]:.1f} %<extra></extra>",
        showlegend=False,
    )
    for place, name, symbol in (
        (pinned, "A (pinned)", "circle-open"),
        (here, "you are here", "cross"),
    ):
        if place is not None:
            figure.add_scatter(
                x=[index_on(found.eps_global, place[0])],
                y=[index_on(found.eps_local, place[1])],
                mode="markers",
                name=name,
                marker={"symbol": symbol, "size": 16, "color": "#D55E00",
                        "line": {"width": 3 if symbol != "cross" else 1, "color": "white"
                                 if symbol == "cross" else "#D55E00"}},
                hoverinfo="name",
            )  # fmt: skip
    every = 2 if len(columns) > 12 else 1
    for axis, title, ticks in (
        ("x", "gap allowed overall, ε<sub>0</sub>", (columns, names[0])),
        ("y", "gap allowed inside each client, ε<sub>c</sub>", (rows, names[1])),
    ):
        figure.update_layout(
            {
                f"{axis}axis": {
                    "title": title,
                    "tickvals": ticks[0][::every],
                    "ticktext": ticks[1][::every],
                    "showgrid": False,
                    "zeroline": False,
                    "range": [-0.5, len(ticks[0]) - 0.5],
                    "fixedrange": True,
                }
            }
        )
    return figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
        dragmode=False,
    )


def _add_free_zone(figure: go.Figure, accuracy: np.ndarray) -> None:
    """Outline the cells where fairness costs nothing (within a twentieth of a point)."""
    free = accuracy >= accuracy.max() - 100 * FREE
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
        name="costs nothing inside",
        line={"color": "white", "width": 3, "dash": "dot"},
        hoverinfo="skip",
    )


def client_gaps(table: pd.DataFrame) -> go.Figure:
    """The dumbbell chart of a clients' table, in the table's order."""
    return dumbbell(
        [f"{label(name)}  (n = {n:,.0f})" for name, n in zip(table.client, table.n, strict=True)],
        *(
            table[name].to_numpy()
            for name in (
                "before", "after", "low", "high", "reached on validation", "asked", "chance alone"
            )
        ),
    )  # fmt: skip


def dumbbell(
    names: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    reached: np.ndarray,
    asked: np.ndarray,
    noise: np.ndarray,
    *,
    row_height: int = 22,
) -> go.Figure:
    """Each client's gap before and after, with its interval and what was asked.

    Before is a hollow grey ring, after a filled dot (a pale square where the gap is no larger
    than chance alone would show), the fitted value a short stroke, what was asked a dashed line.
    """
    rows = np.arange(len(names))
    figure = go.Figure()
    limit = float(np.nanmax(asked)) if np.nanmax(asked) < 1 else None
    if limit is not None and np.ptp(asked) == 0:
        figure.add_vrect(x0=0, x1=limit, fillcolor=BAND, line_width=0, layer="below")
        figure.add_vline(x=limit, line={"color": AFTER, "dash": "dash", "width": 1.5})
    elif limit is not None:
        own = asked < 1
        figure.add_scatter(
            x=asked[own], y=rows[own], mode="markers", name="asked",
            marker={"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": AFTER}},
            hovertemplate="asked %{x:.3f}<extra></extra>",
        )  # fmt: skip
    bar_x = np.stack([low, high, np.full(len(names), np.nan)], axis=1).ravel()
    bar_y = np.repeat(rows, 3)
    figure.add_scatter(
        x=bar_x, y=bar_y, mode="lines", name="95 % interval, after",
        line={"color": "rgba(0,114,178,0.45)", "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    link_x = np.stack([before, after, np.full(len(names), np.nan)], axis=1).ravel()
    figure.add_scatter(
        x=link_x, y=bar_y, mode="lines", showlegend=False,
        line={"color": "rgba(138,138,138,0.5)", "width": 5}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=before, y=rows, mode="markers", name="before (model's own)",
        marker={"symbol": "circle-open", "size": 10, "color": GREY, "line": {"width": 2}},
        customdata=list(names), hovertemplate="%{customdata}: before %{x:.3f}<extra></extra>",
    )  # fmt: skip
    within = after <= noise
    for mask, name, symbol, colour in (
        (~within, "after", "circle", AFTER),
        (within, "after, within noise", "square", "#9ecae9"),
    ):
        if mask.any():
            figure.add_scatter(
                x=after[mask], y=rows[mask], mode="markers", name=name,
                marker={"symbol": symbol, "size": 10, "color": colour,
                        "line": {"width": 1, "color": AFTER}},
                customdata=np.stack([np.array(names, dtype=object)[mask], low[mask], high[mask],
                                     noise[mask]], axis=1),
                hovertemplate="%{customdata[0]}: after %{x:.3f} (between %{customdata[1]:.3f} and "
                "%{customdata[2]:.3f}; chance alone %{customdata[3]:.3f})<extra></extra>",
            )  # fmt: skip
    figure.add_scatter(
        x=reached, y=rows, mode="markers", name="reached on validation",
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": "#D55E00"}},
        hovertemplate="reached on validation %{x:.3f}<extra></extra>",
    )  # fmt: skip
    return figure.update_layout(
        height=max(170, 110 + row_height * len(names)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        xaxis={"title": "gap between groups (difference of rates)", "rangemode": "tozero",
               "fixedrange": True, "side": "bottom"},
        yaxis={"tickvals": rows, "ticktext": list(names), "range": [len(names) - 0.4, -0.6],
               "showgrid": False, "zeroline": False, "fixedrange": True},
    )  # fmt: skip


def rates(table: pd.DataFrame, groups: Sequence[str]) -> go.Figure:
    """Rates of one client: one row a rate and group, before hollow, after filled, with limits.

    `table` has the columns rate_of, group, n, rate_before, rate, rate_low, rate_high.
    """
    figure = go.Figure()
    rows = np.arange(len(table))
    for place, group in enumerate(groups):
        mine = (table["group"] == group).to_numpy()
        some = table[mine]
        colour = GROUP_COLOURS[place % len(GROUP_COLOURS)]
        figure.add_scatter(
            x=100 * np.stack([some.rate_low, some.rate_high, np.full(len(some), np.nan)], 1).ravel(),
            y=np.repeat(rows[mine], 3), mode="lines", showlegend=False, hoverinfo="skip",
            line={"color": colour, "width": 2},
        )  # fmt: skip
        figure.add_scatter(
            x=100 * some.rate_before, y=rows[mine], mode="markers", showlegend=False,
            marker={"symbol": "circle-open", "size": 11, "color": GREY, "line": {"width": 2}},
            hovertemplate="before %{x:.1f} %<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=100 * some.rate, y=rows[mine], mode="markers", name=label(group),
            marker={"size": 11, "color": colour}, customdata=some[["n"]].to_numpy(),
            hovertemplate="after %{x:.1f} %, n = %{customdata[0]:,.0f}<extra></extra>",
        )  # fmt: skip
    names = [
        f"{label(rate)}<br>{label(group)}, n = {n:,.0f}"
        for rate, group, n in zip(table.rate_of, table.group, table.n, strict=True)
    ]
    return figure.update_layout(
        height=max(200, 90 + 48 * len(table)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        xaxis={"title": "rate, %", "range": [-2, 102], "fixedrange": True},
        yaxis={"tickvals": rows, "ticktext": names, "autorange": "reversed", "showgrid": False,
               "zeroline": False, "fixedrange": True},
    )  # fmt: skip


def region_lines(table: pd.DataFrame) -> go.Figure:
    """Accuracy against the gap on unseen people, one line and one mark a region.

    `table` has the columns region, limit, accuracy, overall gap, mean client gap.
    """
    figure = go.Figure()
    marks = ("circle", "diamond", "square")
    for place, region in enumerate(table["region"].unique()):
        some = table[table["region"] == region]
        colour = GROUP_COLOURS[place]
        figure.add_scatter(
            x=some["mean client gap"], y=100 * some["accuracy"], mode="lines+markers",
            name=region, line={"color": colour, "dash": ("solid", "dot", "dash")[place]},
            marker={"symbol": marks[place], "size": 9, "color": colour},
            customdata=some[["limit", "overall gap"]].to_numpy(),
            hovertemplate="limit %{customdata[0]:g}: accuracy %{y:.1f} %, mean client gap "
            "%{x:.3f}, overall %{customdata[1]:.3f}<extra></extra>",
        )  # fmt: skip
    return figure.update_layout(
        height=380,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0},
        xaxis={"title": "mean client's gap on unseen people", "fixedrange": True},
        yaxis={"title": "accuracy on unseen people, %", "fixedrange": True},
    )
