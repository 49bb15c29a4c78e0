"""The picture of recognition before and after."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairfl_core.evaluation.alarms import SHOWN
from pages.components.shared import harm_text as text
from pages.components.shared.drawing import Drawing
from pages.components.shared.figures import LEGEND_ABOVE, MARGIN, segments
from pages.components.shared.outside_text import figure_text
from pages.components.shared.theme import GREY, GROUP_COLOURS

__all__ = ["recognition"]

ROW = 44  # height of a client's row
# How a change looks: word, symbol, and whether a bar is drawn across it.
LOOKS = {
    1: (text.MORE, "triangle-right", False),
    -1: (text.LESS, "triangle-left-open", True),
    0: (text.SAME, "circle", False),
}


def recognition(table: pd.DataFrame, groups: Sequence[str]) -> Drawing:
    """One row a client, one mark a group, joined to where it was: how often a label is recognised.

    `table` has the columns client, group, n, before, after, after_low, after_high, alarm of one
    label, in the order of the rows that are drawn.
    """
    figure = Drawing()
    clients = list(dict.fromkeys(table["client"]))
    row_of = {client: row for row, client in enumerate(clients)}
    aside = np.linspace(-0.22, 0.22, len(groups)) if len(groups) > 1 else np.zeros(1)
    before, after = (100 * table[side].to_numpy(float) for side in ("before", "after"))
    place = table["group"].map(list(groups).index).to_numpy(int)
    marks = table.assign(
        before=before,
        after=after,
        change=np.where(np.abs(after - before) < 100 * SHOWN, 0, np.sign(after - before)),
        y=table["client"].map(row_of).to_numpy(float) + aside[place],
        colour=np.array(GROUP_COLOURS)[place % len(GROUP_COLOURS)],
    )
    for at in range(len(groups)):
        _add_changes(figure, marks[place == at], GROUP_COLOURS[at % len(GROUP_COLOURS)])
    _add_before(figure, marks)
    known = marks["change"].notna().to_numpy()  # a group may have nobody of this label
    for at, group in enumerate(groups):
        colour = GROUP_COLOURS[at % len(GROUP_COLOURS)]
        _add_after(figure, marks[known & (place == at)], figure_text(group), colour)
    _add_bars(figure, marks[known])
    for word, symbol, _ in (*LOOKS.values(), (text.BEFORE, "circle-open", False)):
        figure.add(
            "scatter",
            x=[None],
            y=[None],
            mode="markers",
            name=word,
            marker={"symbol": symbol, "size": 10, "color": GREY},
        )
    rows: dict[str, list[tuple[float, bool]]] = {client: [] for client in clients}
    for client, n, alarm in zip(table["client"], table["n"], table["alarm"], strict=True):
        rows[client].append((n, alarm))
    names = [_tick(client, groups_in) for client, groups_in in rows.items()]
    return figure.update_layout(
        height=max(200, 120 + ROW * len(clients)),
        margin=MARGIN,
        legend=LEGEND_ABOVE | {"y": 1.0},
        xaxis={"title": {"text": text.AXIS_RECOGNISED}, "range": [-3, 103], "fixedrange": True},
        yaxis={
            "tickvals": list(row_of.values()),
            "ticktext": names,
            "range": [len(clients) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _tick(client: str, groups: Sequence[tuple[float, bool]]) -> str:
    """A client's name, marked where there is an alarm, and the people of its groups."""
    mark = "▼ " if any(alarm for _, alarm in groups) else ""
    people = " · ".join(f"{n:,.0f}" for n, _ in groups)
    return f"{mark}{figure_text(client, 24)}<br>n = {people}"


def _add_changes(figure: Drawing, marks: pd.DataFrame, colour: str) -> None:
    """A group's intervals, and from where to where it went."""
    low, high = (100 * marks[f"after_{end}"].to_numpy(float) for end in ("low", "high"))
    before, after, y = (marks[name].to_numpy(float) for name in ("before", "after", "y"))
    for start, end, width in ((low, high, 1), (before, after, 4)):
        figure.add(
            "scatter",
            x=segments(start, end),
            y=np.repeat(y, 3),
            mode="lines",
            line={"color": colour, "width": width},
            showlegend=False,
            hoverinfo="skip",
        )


def _add_before(figure: Drawing, marks: pd.DataFrame) -> None:
    figure.add(
        "scatter",
        x=marks["before"].to_numpy(float),
        y=marks["y"].to_numpy(float),
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": GREY, "line": {"width": 2}},
        showlegend=False,
        hovertemplate=text.HOVER_BEFORE,
    )


def _add_after(figure: Drawing, marks: pd.DataFrame, name: str, colour: str) -> None:
    """A group's marks, one look a change, and its colour in the legend."""
    told = np.stack(
        [marks["client"], [name] * len(marks), marks["before"], marks["n"]], axis=1, dtype=object
    )
    symbols = [LOOKS[int(change)][1] for change in marks["change"]]
    figure.add(
        "scatter",
        x=marks["after"].to_numpy(float),
        y=marks["y"].to_numpy(float),
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


def _add_bars(figure: Drawing, marks: pd.DataFrame) -> None:
    """A stroke through the marks whose look has one."""
    barred = marks[np.array([LOOKS[int(change)][2] for change in marks["change"]], bool)]
    line = {"width": 2, "color": barred["colour"].tolist()}
    figure.add(
        "scatter",
        x=barred["after"].to_numpy(float),
        y=barred["y"].to_numpy(float),
        mode="markers",
        marker={"symbol": "line-ns", "size": 14, "line": line},
        showlegend=False,
        hoverinfo="skip",
    )
