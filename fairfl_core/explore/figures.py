"""The two charts of Explore as Plotly figures for a notebook, of the same data and colours.

What is drawn comes from `charts`, as on the page. Three things differ: all clients stand in rows,
however many they are; colours are those of the light theme; no click goes anywhere. The only
module of the core that knows Plotly, which it imports when a figure is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import figure_text
from fairfl_core._io.numbers import epsilon
from fairfl_core.errors import extra
from fairfl_core.explore.charts import gaps, map_data
from fairfl_core.lp.frontier import Frontier

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from fairfl_core.evaluation.verdict import Verdict

Floats = NDArray[np.float64]

# Those of frontend/charts.css, light.
WAS, NOW, OVER, EDGE, ALLOWED, CORE = (
    *("#6b7580", "#0072b2", "#b0400a", "#007a58"),
    *("#009e73", "#c2410c"),
)
_LEGEND: dict[str, Any] = {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0}
_MARGIN = {"l": 10, "r": 10, "t": 40, "b": 10}
_STILL = {"showgrid": False, "zeroline": False, "fixedrange": True}
_ROW = 22  # height of a client's row
_HOVER_CELL = "overall %{x}, in each client %{y}<br>%{z:.1f} % right<extra></extra>"
_HOVER = "%{customdata}: %{x:.3f}<extra></extra>"


def graph_objects() -> Any:
    """Plotly's figures, or a sentence where Plotly is not installed."""
    with extra("app"):
        import plotly.graph_objects as go
    return go


def heat_map(heat: Frontier, here: tuple[float, float] | None = None) -> "go.Figure":
    """Draw accuracy over (eps_global, eps_local), with a cross at `here`."""
    data = map_data(heat, here)
    figure = graph_objects().Figure()
    figure.add_heatmap(
        z=data["accuracy"],
        colorscale="Cividis",
        zmin=data["low"],
        zmax=data["high"],
        colorbar={"title": {"text": "accuracy, %", "side": "right"}, "thickness": 14},
        hovertemplate=_HOVER_CELL,
    )
    if data["free"]:
        edges = np.array(data["free"], float) - 0.5
        figure.add_scatter(
            x=_segments(edges[:, 0], edges[:, 2]),
            y=_segments(edges[:, 1], edges[:, 3]),
            mode="lines",
            name="free of cost",
            line={"color": "#11161c", "width": 2, "dash": "dot"},
            hoverinfo="skip",
        )
    if data["here"] is not None:
        figure.add_scatter(
            x=data["here"][:1],
            y=data["here"][1:],
            mode="markers",
            name="you are here",
            marker={"symbol": "cross", "size": 16, "color": CORE, "line": {"color": "white"}},
        )
    return figure.update_layout(
        xaxis=_STILL | _ticks("gap allowed overall, ε₀", heat.eps_global),
        yaxis=_STILL | _ticks("gap allowed in each client, εc", heat.eps_local),
        height=470,
        margin=_MARGIN,
        legend=_LEGEND,
        template="plotly_white",
    )


def _ticks(title: str, grid: Floats) -> dict[str, Any]:
    step = 1 if len(grid) <= 12 else 3
    shown = sorted({*range(0, len(grid) - (step > 1), step), len(grid) - 1})
    return {
        "title": {"text": title},
        "tickvals": shown,
        "ticktext": [epsilon(grid[place]) for place in shown],
        "range": [-0.5, len(grid) - 0.5],
    }


def _segments(starts: Floats, ends: Floats) -> Floats:
    """Coordinates of separate lines in one trace: start, end, a break, and so on."""
    return np.stack([starts, ends, np.full(len(starts), np.nan)], axis=1).ravel()


def client_gaps(
    columns: Mapping[str, Any], verdict: "Verdict | None", groups: Sequence[str]
) -> "go.Figure":
    """Draw each client's gap before and after, its interval, and what it is allowed.

    The parameters are those of `charts.gaps`.
    """
    data = gaps(columns, verdict, groups)
    clients, rows = data["clients"], np.arange(len(data["clients"]))
    names = [f"{figure_text(one['name'])}  (n = {one['n']:,})" for one in clients]
    before, after, low, high, asked = (
        np.array([one[key] for one in clients], float)
        for key in ("before", "after", "low", "high", "asked")
    )
    figure = graph_objects().Figure()
    for place, limit in zip(rows.tolist(), asked.tolist(), strict=True):
        if limit < 1:
            where = {"y0": place - 0.5, "y1": place + 0.5, "x1": limit, "layer": "below"}
            figure.add_shape(
                type="rect", x0=0, line={"width": 0}, fillcolor=ALLOWED, opacity=0.17, **where
            )
            line = {"color": EDGE, "dash": "dash", "width": 1.5}
            figure.add_shape(type="line", x0=limit, line=line, **where)
    for name, starts, ends, line in (
        ("95 %", low, high, {"color": NOW, "width": 1.4}),
        ("", before, after, {"color": WAS, "width": 5}),
    ):
        if not np.isnan(starts).all():
            figure.add_scatter(
                x=_segments(starts, ends),
                y=np.repeat(rows, 3),
                mode="lines",
                name=name,
                opacity=1.0 if name else 0.45,
                showlegend=bool(name),
                line=line,
                hoverinfo="skip",
            )
    above, within = (np.array([one[key] for one in clients], bool) for key in ("above", "within"))
    every = np.ones(len(rows), bool)
    for name, mask, x, symbol, colour in (
        ("before", every, before, "circle-open", WAS),
        ("after", ~within & ~above, after, "circle", NOW),
        ("after, may be chance", within & ~above, after, "circle-open", NOW),
        ("above the limit", above, after, "circle", OVER),
    ):
        if mask.any():
            figure.add_scatter(
                x=x[mask],
                y=rows[mask],
                mode="markers",
                name=name,
                marker={"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2}},
                customdata=np.array(names, object)[mask],
                hovertemplate=_HOVER,
            )
    return figure.update_layout(
        height=max(170, 110 + _ROW * len(names)),
        margin=_MARGIN,
        legend=_LEGEND,
        template="plotly_white",
        xaxis={
            "title": {"text": figure_text(data["axis"])},
            "rangemode": "tozero",
            "fixedrange": True,
        },
        yaxis=_STILL | {"tickvals": rows, "ticktext": names, "range": [len(rows) - 0.4, -0.6]},
    )
