"""From a watch to a Plotly figure: each client's gap over time, its interval and its limit."""

import math

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairfl_core._io.names import figure_text
from fairfl_core.monitoring.watch import ScopeWatch, Watch
from pages.shared.theme import AFTER, GREY, HERE, translucent
from pages.watch.text import where

__all__ = ["MOST", "over_time", "shown"]

MOST = 12  # clients in the picture; the table has all
_BAND = translucent(AFTER, 0.2)


def shown(watch: Watch) -> list[ScopeWatch]:
    """Those in the picture: broken ones always, then the widest gaps, in their own order."""
    worst = sorted(watch.scopes, key=lambda one: (one.broke is None, -one.gap[-1]))[:MOST]
    return [one for one in watch.scopes if one in worst]


def over_time(watch: Watch) -> go.Figure:
    """Small pictures, one a client: months as dots, the gap so far, its interval, the limit."""
    scopes = shown(watch)
    periods = [figure_text(period) for period in watch.periods]
    columns = min(len(scopes), 4)
    rows = math.ceil(len(scopes) / columns)
    titles = [
        f"{'✕ ' if one.broke is not None else ''}{figure_text(where(one), 24)}" for one in scopes
    ]
    figure = make_subplots(
        rows, columns, shared_xaxes=True, shared_yaxes=True, subplot_titles=titles,
        horizontal_spacing=0.03, vertical_spacing=0.12,
    )  # fmt: skip
    for place, one in enumerate(scopes):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        first = place == 0
        band = go.Scatter(
            x=periods + periods[::-1], y=[*one.high, *one.low[::-1]], fill="toself",
            fillcolor=_BAND, line_width=0, hoverinfo="skip", name="between, in all months at once",
            showlegend=first,
        )  # fmt: skip
        gap = go.Scatter(
            x=periods, y=one.gap, line_color=AFTER, name="gap so far", showlegend=first
        )
        month = go.Scatter(
            x=periods, y=one.month, mode="markers", marker={"color": GREY, "size": 5},
            name="each month", showlegend=first,
        )  # fmt: skip
        limit = go.Scatter(
            x=[periods[0], periods[-1]], y=[one.eps, one.eps], mode="lines", name="allowed",
            line={"color": GREY, "dash": "dash"}, showlegend=first,
        )  # fmt: skip
        figure.add_traces([band, gap, month, limit], [at["row"]] * 4, [at["col"]] * 4)
        if one.broke is not None:
            mark = {"color": HERE, "size": 12, "symbol": "x"}
            told = go.Scatter(
                x=[periods[one.broke]], y=[one.gap[one.broke]], mode="markers", marker=mark,
                name="told", showlegend=first or not any(s.broke is not None for s in scopes[:place]),
            )  # fmt: skip
            figure.add_trace(told, **at)
    top = max(max(one.gap[-1], one.eps) for one in scopes)
    figure.update_yaxes(range=[0, min(max(3 * top, 0.15), 1.0)])
    figure.update_xaxes(type="category", nticks=6)
    figure.update_layout(
        height=300 if rows == 1 else 190 * rows + 60, margin={"l": 10, "r": 10, "t": 60, "b": 10},
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure
