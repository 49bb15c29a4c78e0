"""Pictures of a watch: each client's gap over time, its interval and its limit."""

import plotly.graph_objects as go

from fairfl_core._io.names import figure_text
from fairfl_core.monitoring.watch import ScopeWatch, Watch
from pages.shared.theme import AFTER, GREY, HERE, laid_out, translucent
from pages.watch import text

MOST = 12  # clients in pictures; the table has all
HEIGHT = 260


def shown(watch: Watch) -> list[ScopeWatch]:
    """Those in pictures: broken ones always, then the widest gaps, in their own order."""
    worst = sorted(watch.scopes, key=lambda one: (one.broke is None, -one.gap[-1]))[:MOST]
    return [one for one in watch.scopes if one in worst]


def key() -> str:
    """What the marks mean, as HTML; boxes are drawn, for letters in pale colours cannot be read."""
    line = f"width:1.1em;border-top:2px solid {AFTER}"
    dot = f"width:.5em;height:.5em;border-radius:50%;background:{GREY}"
    dashes = f"width:1.1em;border-top:2px dashed {GREY}"
    band = f"width:1.1em;height:.7em;background:{translucent(AFTER, 0.3)}"
    boxes = [
        f'<i style="display:inline-block;{style}"></i>' for style in (line, dot, dashes, band)
    ]
    signs = [*boxes, '<i class="fairfl-found">✖</i>']
    marks = zip(signs, text.KEY, strict=True)
    return (
        f'<div class="fairfl-key">{"".join(f"{one} {words}&ensp; " for one, words in marks)}</div>'
    )


def over_time(watch: Watch, one: ScopeWatch) -> go.Figure:
    """One client: months as dots, the gap so far, its interval, the limit, the alarm."""
    periods = [figure_text(period) for period in watch.periods]
    figure = go.Figure()
    figure.add_scatter(
        x=periods + periods[::-1],
        y=[*one.high, *one.low[::-1]],
        fill="toself",
        fillcolor=translucent(AFTER, 0.2),
        line_width=0,
        hoverinfo="skip",
    )
    figure.add_scatter(x=periods, y=one.gap, mode="lines", line_color=AFTER, name=text.SO_FAR)
    dots = {"color": GREY, "size": 5}
    figure.add_scatter(x=periods, y=one.month, mode="markers", marker=dots, name=text.MONTH)
    figure.add_scatter(
        x=[periods[0], periods[-1]],
        y=[one.eps, one.eps],
        mode="lines",
        name=text.ALLOWED,
        line={"color": GREY, "dash": "dash"},
    )
    if one.broke is not None:
        mark = {"color": HERE, "size": 12, "symbol": "x"}
        place = {"x": [periods[one.broke]], "y": [one.gap[one.broke]]}
        figure.add_scatter(**place, mode="markers", marker=mark, name=text.FOUND)
    top = max(max(scope.gap[-1], scope.eps) for scope in shown(watch))
    return laid_out(
        figure,
        HEIGHT,
        showlegend=False,
        xaxis={"type": "category", "nticks": 5},
        yaxis={"range": [0, min(max(3 * top, 0.15), 1.0)]},  # the same for all
    )
