"""From results to what the two charts of Explore draw, and the same as Plotly figures for a notebook.

Nothing is computed here but places. Figures differ in three things: all clients stand in rows, however
many they are; colours are those of the light theme; no click goes anywhere. The only module of the
core that knows Plotly, which it imports when a figure is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import figure_text
from fairfl_core._io.numbers import epsilon
from fairfl_core.errors import extra
from fairfl_core.evaluation.checks import within_chance
from fairfl_core.evaluation.study import Summary
from fairfl_core.evaluation.verdict import Verdict
from fairfl_core.explore.text import gap_axis
from fairfl_core.lp.frontier import FREE, Frontier

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = [
    "LEAST_SPAN",
    "MANY",
    "Picture",
    "ROWS",
    "STATES",
    "alone",
    "client_gaps",
    "client_order",
    "colour_limits",
    "found",
    "free_edges",
    "gaps",
    "heat_map",
    "map_data",
    "prices",
]

Picture = Literal["gaps", "map", "found", "price"]
LEAST_SPAN = 2.0  # points of accuracy that the colours of a map span at least
LOSERS = 8  # of many clients, those in which most people lose a label
ROWS = 12  # clients drawn as rows, in their own order; more are columns, in the order of gaps
MANY = 60  # clients drawn at all; of more the worst rows
STATES = frozenset(
    (
        *("AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN"),
        *("IA", "KS", "KY", "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV"),
        *("NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN"),
        *("TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC", "PR"),
    )
)
Floats = NDArray[np.float64]


# -------------------------------------------------------------------- the map


def map_data(
    heat: Frontier, here: tuple[float, float] | None, kept: Sequence[tuple[float, float]] = ()
) -> dict[str, Any]:
    """The map in per cent, where one stands on it, and where kept settings stand.

    Parameters
    ----------
    heat : Frontier
    here : (eps_global, eps_local) or None
        The limits where one stands.
    kept : sequence of (eps_global, eps_local)
        Those of the settings kept for Compare, at most four.
    """
    accuracy = 100 * heat.accuracy
    low, high = colour_limits(accuracy) if np.isfinite(accuracy).any() else (0.0, 100.0)
    return {
        "accuracy": [[_known(cell, 2) for cell in row] for row in accuracy.tolist()],
        "limits": heat.eps_global.tolist(),
        "here": None if here is None else list(_place(heat, here)),
        "kept": [["ABCD"[at], *_place(heat, one)] for at, one in enumerate(kept)],
        "low": low,
        "high": high,
        "free": free_edges(heat),
    }


def colour_limits(*accuracies: Floats) -> tuple[float, float]:
    """The colour scale of maps in per cent: from the lowest to the highest, at least two points."""
    low = min(float(np.nanmin(one)) for one in accuracies)
    high = max(float(np.nanmax(one)) for one in accuracies)
    return min(low, high - LEAST_SPAN), high


def _place(heat: Frontier, limits: tuple[float, float]) -> tuple[float, float]:
    """Where limits lie on axes of equal steps over uneven grids."""
    grids = (heat.eps_global, heat.eps_local)
    across, up = (
        float(np.interp(limit, grid, np.arange(len(grid))))
        for limit, grid in zip(limits, grids, strict=True)
    )
    return across, up


def free_edges(heat: Frontier) -> list[list[int]]:
    """Edges between cells as accurate as no limit at all (the last cell) and those that cost."""
    with np.errstate(invalid="ignore"):
        free = heat.accuracy >= heat.accuracy[-1, -1] - FREE
    if free.all() or min(heat.eps_global[-1], heat.eps_local[-1]) < 1:
        return []
    left = free & ~np.pad(free, ((0, 0), (1, 0)))[:, :-1]
    below = free & ~np.pad(free, ((1, 0), (0, 0)))[:-1]
    edges = [[x, y, x, y + 1] for y, x in np.argwhere(left).tolist()]
    return edges + [[x, y, x + 1, y] for y, x in np.argwhere(below).tolist()]


def alone(heat: Frontier, here: tuple[float, float], before: float) -> tuple[float, float]:
    """What the limit in each client costs alone, and the overall one, in points (below zero)."""
    eps_global, eps_local = here
    inside = np.interp(eps_local, heat.eps_local, heat.accuracy[:, -1])
    overall = np.interp(eps_global, heat.eps_global, heat.accuracy[-1])
    return 100 * (float(inside) - before), 100 * (float(overall) - before)


def is_flat(heat: Frontier, before: float) -> bool:
    """Whether no pair of limits on the map costs as much as the scale's least span."""
    known = heat.accuracy[np.isfinite(heat.accuracy)]
    return bool(known.size) and 100 * (max(known.max(), before) - known.min()) < LEAST_SPAN


# -------------------------------------------------------------------- the clients


def client_order(before: Floats) -> NDArray[np.intp]:
    """Which clients are drawn, in which order.

    Few stand in their own order; many by the gap before, which no slider moves; of very many the
    worst are drawn.
    """
    if len(before) <= ROWS:
        return np.arange(len(before))
    order = np.argsort(-np.nan_to_num(before), kind="stable")
    return order if len(before) <= MANY else order[:ROWS]


def gaps(
    columns: Mapping[str, Any], verdict: Verdict | None, groups: Sequence[str]
) -> dict[str, Any]:
    """Each client's gap before and after, with its interval and what was asked.

    Gaps are between 0 and 1, None where they are unknown; `asked` is 1 for no limit, `within` says
    that the gap may be chance, `above` that it is above its limit beyond chance. `columns` are those
    of a study's or an evaluation's table of clients, and ``eps_local``; without ``gap_low`` and
    ``gap_high`` there are no intervals.
    """
    unknown = np.full(len(columns["client"]), np.nan)
    names = ("gap_before", "gap", "gap_low", "gap_high")
    before, after, low, high = (np.array(columns.get(name, unknown), float) for name in names)
    judged = {} if verdict is None else {one.client: one for one in verdict.limits}
    for at, client in enumerate(columns["client"]):  # one gap has one interval: the verdict's
        if client in judged:
            low[at], high[at] = judged[client].low, judged[client].high
    within = within_chance(low)
    return {
        "clients": [
            {
                "name": client,
                "n": int(columns["n"][at]),
                "before": _known(before[at]),
                "after": _known(after[at]),
                "low": _known(low[at]),
                "high": _known(high[at]),
                "asked": float(columns["eps_local"][at]),
                "within": bool(within[at]),
                "above": client in judged and judged[client].is_broken,
            }
            for at, client in ((at, columns["client"][at]) for at in client_order(before))
        ],
        "axis": gap_axis(groups),
    }


def found(summary: Summary, label: str, before: Floats) -> dict[str, Any]:
    """How many of a label are recognised in each client and group, before and after, in per cent.

    `sure` says that a change is beyond chance, `alarm` that somebody's loss is.
    """
    harm = summary.harm
    y = harm.labels.index(label)
    was, now = (
        100 * part.share[1:, :, y] for part in (harm.recognition.before, harm.recognition.after)
    )
    people, p_value = harm.recognition.before.n[1:, :, y], harm.p_value[1:, :, y]
    alarmed = {one.client for one in harm.proved if one.label in (None, label)}
    names = harm.scopes[1:]
    order = client_order(before)
    if len(names) > ROWS:  # those in which most people lose it
        lost = np.maximum(np.nan_to_num(was - now) * people, 0.0).sum(axis=1)
        order = np.argsort(-lost, kind="stable")[:LOSERS]
    return {
        "clients": [
            {
                "name": str(names[at]),
                "n": int(people[at].sum()),
                "alarm": names[at] in alarmed,
                "groups": [
                    {
                        "before": _known(was[at, a], 2),
                        "after": _known(now[at, a], 2),
                        "n": round(float(people[at, a])),
                        "sure": bool(p_value[at, a] < 0.05),
                    }
                    for a in range(len(harm.groups))
                ],
            }
            for at in order
        ],
        "groups": list(harm.groups),
        "label": label,
    }


def prices(summary: Summary, columns: dict[str, Any]) -> dict[str, Any]:
    """Points of accuracy that each client gains or loses against the model as it is."""
    change = np.array([payer.change for payer in summary.payers])
    order = np.argsort(np.nan_to_num(change), kind="stable")[:MANY]
    if len(change) <= ROWS:
        order = np.arange(len(change))
    return {
        "clients": [
            {
                "name": summary.payers[at].client,
                "n": int(columns["n"][at]),
                "points": _known(100 * change[at], 3),
            }
            for at in order
        ]
    }


def _known(value: float, digits: int = 4) -> float | None:
    return None if np.isnan(value) else round(float(value), digits)


# -------------------------------------------------------------------- as figures

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
    columns: Mapping[str, Any], verdict: Verdict | None, groups: Sequence[str]
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
