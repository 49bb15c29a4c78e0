"""The picture of recognition before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.alarms import SHOWN
from pages.compare.drawing import Drawing
from pages.explore.old_figures import LEGEND_ABOVE, MARGIN, segments
from pages.shared import harm_text as text
from pages.shared.outside_text import figure_text
from pages.shared.theme import GREY, GROUP_COLOURS

__all__ = ["recognition"]

Floats = NDArray[np.float64]
Names = NDArray[Any]
ROW = 44  # height of a client's row
# How a change looks: word, symbol, and whether a bar is drawn across it.
LOOKS = {
    1: (text.MORE, "triangle-right", False),
    -1: (text.LESS, "triangle-left-open", True),
    0: (text.SAME, "circle", False),
}


@dataclass(frozen=True, eq=False)
class _Marks:
    """What is drawn of each client and group: shares in per cent, and how it looks."""

    client: Names
    n: Floats
    before: Floats
    after: Floats
    low: Floats
    high: Floats
    y: Floats
    change: Floats  # 1 more, -1 less, 0 the same; NaN where a group has nobody of this label
    colour: Names

    def take(self, chosen: NDArray[np.bool_]) -> "_Marks":
        """Some of them."""
        return _Marks(*(getattr(self, one.name)[chosen] for one in fields(self)))


def recognition(columns: Mapping[str, Any], groups: Sequence[str]) -> Drawing:
    """One row a client, one mark a group, joined to where it was: how often a label is recognised.

    `columns` are client, group, n, before, after, after_low, after_high, alarm of one label, in the
    order of the rows that are drawn.
    """
    figure = Drawing()
    row_of = {client: row for row, client in enumerate(dict.fromkeys(columns["client"]))}
    place = np.array([list(groups).index(group) for group in columns["group"]])
    marks = _marks(columns, [row_of[client] for client in columns["client"]], place, len(groups))
    for at in range(len(groups)):
        _add_changes(figure, marks.take(place == at), GROUP_COLOURS[at % len(GROUP_COLOURS)])
    _add_before(figure, marks)
    known = ~np.isnan(marks.change)
    for at, group in enumerate(groups):
        colour = GROUP_COLOURS[at % len(GROUP_COLOURS)]
        _add_after(figure, marks.take(known & (place == at)), figure_text(group), colour)
    _add_bars(figure, marks.take(known))
    for word, symbol, _ in (*LOOKS.values(), (text.BEFORE, "circle-open", False)):
        figure.add(
            "scatter",
            x=[None],
            y=[None],
            mode="markers",
            name=word,
            marker={"symbol": symbol, "size": 10, "color": GREY},
        )
    rows: dict[str, list[tuple[float, bool]]] = {client: [] for client in row_of}
    for client, n, alarm in zip(columns["client"], columns["n"], columns["alarm"], strict=True):
        rows[client].append((n, alarm))
    return figure.update_layout(
        height=max(200, 120 + ROW * len(rows)),
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0},
        xaxis={"title": {"text": text.AXIS_RECOGNISED}, "range": [-3, 103], "fixedrange": True},
        yaxis={
            "tickvals": list(row_of.values()),
            "ticktext": [_tick(client, groups_in) for client, groups_in in rows.items()],
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _marks(
    columns: Mapping[str, Any], rows: Sequence[int], place: NDArray[np.int64], groups: int
) -> _Marks:
    before, after, low, high = (
        100 * np.asarray(columns[name], float)
        for name in ("before", "after", "after_low", "after_high")
    )
    aside = np.linspace(-0.22, 0.22, groups) if groups > 1 else np.zeros(1)
    return _Marks(
        client=np.array(columns["client"], object),
        n=np.asarray(columns["n"], float),
        before=before,
        after=after,
        low=low,
        high=high,
        y=np.asarray(rows, float) + aside[place],
        change=np.where(np.abs(after - before) < 100 * SHOWN, 0, np.sign(after - before)),
        colour=np.array(GROUP_COLOURS)[place % len(GROUP_COLOURS)],
    )


def _tick(client: str, groups: Sequence[tuple[float, bool]]) -> str:
    """A client's name, marked where there is an alarm, and the people of its groups."""
    mark = "▼ " if any(alarm for _, alarm in groups) else ""
    people = " · ".join(f"{n:,.0f}" for n, _ in groups)
    return f"{mark}{figure_text(client, 24)}<br>n = {people}"


def _add_changes(figure: Drawing, marks: _Marks, colour: str) -> None:
    """A group's intervals, and from where to where it went."""
    for start, end, width in ((marks.low, marks.high, 1), (marks.before, marks.after, 4)):
        figure.add(
            "scatter",
            x=segments(start, end),
            y=np.repeat(marks.y, 3),
            mode="lines",
            line={"color": colour, "width": width},
            showlegend=False,
            hoverinfo="skip",
        )


def _add_before(figure: Drawing, marks: _Marks) -> None:
    figure.add(
        "scatter",
        x=marks.before,
        y=marks.y,
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": GREY, "line": {"width": 2}},
        showlegend=False,
        hovertemplate=text.HOVER_BEFORE,
    )


def _add_after(figure: Drawing, marks: _Marks, name: str, colour: str) -> None:
    """A group's marks, one look a change, and its colour in the legend."""
    group = np.full(len(marks.n), name, object)
    told = np.stack([marks.client, group, marks.before, marks.n], axis=1, dtype=object)
    symbols = [LOOKS[int(change)][1] for change in marks.change]
    figure.add(
        "scatter",
        x=marks.after,
        y=marks.y,
        mode="markers",
        marker={"symbol": symbols, "size": 13, "color": colour, "line": {"width": 2}},
        name=name,
        showlegend=False,
        customdata=told,
        hovertemplate=text.HOVER,
    )
    figure.add(
        "scatter",
        x=[None],
        y=[None],
        mode="markers",
        name=name,
        marker={"symbol": "square", "color": colour},
    )


def _add_bars(figure: Drawing, marks: _Marks) -> None:
    """A stroke through the marks whose look has one."""
    barred = marks.take(np.array([LOOKS[int(change)][2] for change in marks.change], bool))
    line = {"width": 2, "color": barred.colour.tolist()}
    figure.add(
        "scatter",
        x=barred.after,
        y=barred.y,
        mode="markers",
        marker={"symbol": "line-ns", "size": 14, "line": line},
        showlegend=False,
        hoverinfo="skip",
    )
