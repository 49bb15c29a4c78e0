"""Figures of the lesson; they compute nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching import hospitals as lesson
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN
from pages.learn import limits_text, lottery_text, notions_text, text
from pages.shared.theme import AFTER, GREY, GROUP_COLOURS, SYMBOLS, ink, translucent

__all__ = ["Row", "chance", "draws", "network", "settled", "shares"]

Floats = NDArray[np.float64]
HIDDEN = {"visible": False, "fixedrange": True}
HOSPITAL, RING = "#56B4E9", "#CC79A7"
DAY = 12  # columns from one day's square of people to the next


@dataclass(frozen=True)
class Row:
    """Each group's share in one row of a figure, with its limits, its people and what to say."""

    name: str
    share: Floats
    people: Floats
    said: str
    limits: tuple[Floats, Floats] | None = None


def settled(figure: go.Figure, height: int) -> go.Figure:
    """Size, margins and letters as every figure of the lesson has them."""
    figure.update_layout(
        height=height, margin=MARGIN, legend=LEGEND_ABOVE | {"y": 1.0}, dragmode=False
    )
    figure.update_annotations(font_color=ink())
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(title_font_color=ink(), tickfont_color=ink())
    return figure


def shares(rows: Sequence[Row], groups: Sequence[str], title: str, height: int) -> go.Figure:
    """One row a place, one mark a group; the distance between the marks is the gap."""
    figure = go.Figure()
    lanes = np.linspace(-0.06, 0.24, len(groups))
    for a, group in enumerate(groups):
        figure.add_scatter(
            x=[100 * row.share[a] for row in rows],
            y=np.arange(len(rows)) + lanes[a],
            mode="markers",
            name=group,
            error_x=_error([row.share[a] for row in rows], [row.limits for row in rows], a),
            marker={
                "size": 13,
                "symbol": SYMBOLS[a],
                "color": GROUP_COLOURS[a],
                "line": {"width": 1, "color": "white"},
            },
            customdata=[format.count(row.people[a]) for row in rows],
            hovertemplate=text.hover_share(group),
        )
    for place, row in enumerate(rows):
        figure.add_annotation(
            x=0,
            xref="paper",
            y=place - 0.42,
            text=f"<b>{row.name}</b>  {row.said}",
            showarrow=False,
            xanchor="left",
            align="left",
        )
    figure.update_layout(
        xaxis={"title": title, "range": [-3, 103], "fixedrange": True, "ticksuffix": " %"},
        yaxis={
            "showticklabels": False,
            "range": [len(rows) - 0.5, -0.7],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )
    return settled(figure, height)


def _error(
    share: Sequence[float],
    limits: Sequence[tuple[Floats, Floats] | None],
    group: int,
) -> dict[str, object] | None:
    """Bars from the lower to the upper limit of each row's share, where there are limits."""
    there = [pair for pair in limits if pair is not None]
    if len(there) < len(share):
        return None
    pairs = list(zip(share, there, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [100 * (high[group] - value) for value, (_, high) in pairs],
        "arrayminus": [100 * (value - low[group]) for value, (low, _) in pairs],
        "thickness": 1.5,
        "width": 4,
    }


def network(judged: Evaluation, known: bool) -> go.Figure:
    """Three hospitals and a server; once answered, with what is sent and what follows."""
    counts = judged.counts
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1, 2, 1],
        y=[0, 0, 0, 1],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        marker={
            "size": [34, 26, 42, 46],
            "symbol": ["square"] * 3 + ["circle"],
            "color": [HOSPITAL] * 3 + [GREY],
            "line": {"width": 1, "color": "white"},
        },
    )
    for c, client in enumerate(counts.clients):
        figure.add_annotation(
            x=1 + 0.12 * (c - 1),
            y=0.8,
            ax=c,
            ay=0.2,
            xref="x",
            yref="y",
            axref="x",
            ayref="y",
            showarrow=True,
            arrowhead=2,
            arrowwidth=2,
            arrowside="end+start" if known else "end",
            arrowcolor=GREY,
            text="",
        )
        gap = float(judged.gaps.local[c]) if known else None
        said = text.hospital(client, counts.n_client[c], gap)
        figure.add_annotation(x=c, y=-0.16, text=said, showarrow=False, yanchor="top")
        figure.add_annotation(
            x=(1 + c) / 2 + 0.06 * (c - 1),
            y=0.5,
            text=text.EIGHT_COUNTS if known else text.UNKNOWN,
            showarrow=False,
            bgcolor=translucent(GREY, 0.25),
            borderpad=3,
        )
    said = text.server(judged.gaps.overall if known else None)
    figure.add_annotation(x=1, y=1.17, text=said, showarrow=False, yanchor="bottom")
    figure.update_layout(
        xaxis=HIDDEN | {"range": [-0.5, 2.5]}, yaxis=HIDDEN | {"range": [-0.62, 1.5]}
    )
    return settled(figure, 380)


def draws(days: Sequence[NDArray[np.str_]], ids: Sequence[str]) -> go.Figure:
    """A hundred people on one day or two: who is told what, and who hears something else."""
    figure = go.Figure()
    place = np.arange(len(ids))
    column, row = place % 10, place // 10
    colour = GROUP_COLOURS[1]
    for day, told in enumerate(days):
        for answer, symbol in (("ill", "square"), ("healthy", "square-open")):
            mine = told == answer
            figure.add_scatter(
                x=column[mine] + DAY * day,
                y=row[mine],
                mode="markers",
                name=lottery_text.told(answer),
                showlegend=day == 0,
                marker={
                    "symbol": symbol,
                    "size": 12,
                    "color": colour,
                    "line": {"width": 2, "color": colour},
                },
                text=np.array(ids)[mine],
                hovertemplate="%{text}<extra></extra>",
            )
        figure.add_annotation(
            x=4.5 + DAY * day, y=-1.1, text=lottery_text.DAYS[day], showarrow=False
        )
    if len(days) > 1:
        other = days[0] != days[1]
        figure.add_scatter(
            x=column[other] + DAY,
            y=row[other],
            mode="markers",
            name=lottery_text.OTHER_THAN_BEFORE,
            marker={"symbol": "circle-open", "size": 22, "color": RING, "line": {"width": 2}},
            hoverinfo="skip",
        )
    figure.update_layout(xaxis=HIDDEN | {"range": [-1, 22]}, yaxis=HIDDEN | {"range": [9.8, -1.8]})
    return settled(figure, 330)


def chance(carried: Sequence[lesson.Carried], n: int, limit: float, known: bool) -> go.Figure:
    """Gaps on unseen people against how many the limit was met on; `n` is the one chosen."""
    figure = go.Figure()
    sizes = [each.n for each in carried]
    figure.add_scatter(
        x=sizes,
        y=[limit] * len(sizes),
        mode="lines",
        name=limits_text.ASKED_AND_MET,
        line={"color": AFTER, "dash": "dash", "width": 2},
    )
    if known:
        figure.add_scatter(
            x=sizes,
            y=[each.floor for each in carried],
            mode="lines",
            name=limits_text.CHANCE_ALONE,
            line={"color": GREY, "width": 2, "dash": "dot"},
            hovertemplate=limits_text.HOVER_CHANCE,
        )
        _add_unseen(figure, carried, n)
    figure.update_layout(
        xaxis={
            "title": limits_text.AXIS_MET_ON,
            "type": "log",
            "tickvals": sizes,
            "range": np.log10([sizes[0] * 0.8, sizes[-1] * 1.25]),
            "ticktext": [format.count(size) for size in sizes],
            "fixedrange": True,
        },
        yaxis={"title": limits_text.AXIS_WOMEN_MEN, "range": [0, 0.34], "fixedrange": True},
    )
    return settled(figure, 340)


def _add_unseen(figure: go.Figure, carried: Sequence[lesson.Carried], n: int) -> None:
    typical = np.array([each.typical for each in carried])
    low, high = np.array([each.range for each in carried]).T
    figure.add_scatter(
        x=[each.n for each in carried],
        y=typical,
        mode="markers",
        name=limits_text.UNSEEN_BARS,
        marker={
            "size": [17 if each.n == n else 9 for each in carried],
            "color": AFTER,
            "opacity": 1,
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": high - typical,
            "arrayminus": typical - low,
            "thickness": 2,
            "width": 4,
            "color": translucent(AFTER, 0.55),
        },
        hovertemplate=limits_text.HOVER_UNSEEN,
    )


def precision(rows: Sequence[tuple[str, float, float, float, float]], *, known: bool) -> go.Figure:
    """Of two groups both error rates, and once it is known, the precision, side by side.

    A row is (group, share ill, recognised, false alarms, precision).
    """
    figure = go.Figure()
    shown = notions_text.BARS if known else notions_text.BARS[:2]
    for place, (group, _, *rates) in enumerate(rows):
        values = [100 * rate for rate in rates[: len(shown)]]
        figure.add_bar(
            x=list(shown),
            y=values,
            name=group,
            marker={"color": GROUP_COLOURS[place]},
            text=["" if value != value else f"{value:.0f} %" for value in values],
            textposition="outside",
            cliponaxis=False,
        )
    figure.update_layout(
        barmode="group",
        xaxis={"fixedrange": True},
        yaxis={"title": notions_text.AXIS_PRECISION, "range": [0, 108], "fixedrange": True},
    )
    return settled(figure, 340)
