"""Figures of the lesson; they compute nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching import hospitals as lesson
from pages.learn import text
from pages.shared.theme import (
    AFTER,
    GREY,
    GROUP_COLOURS,
    SYMBOLS,
    error_bars,
    ink,
    laid_out,
    translucent,
)

Floats = NDArray[np.float64]
UNSEEN = {"xaxis_visible": False, "yaxis_visible": False}
SILENT = {"hoverinfo": "skip", "showlegend": False}
HOSPITAL, RING = "#56B4E9", "#CC79A7"
DAY = 12  # columns from one day's square of people to the next
SPARSE = 7  # one dot for so many thresholds, else dots make a band
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
CORNER_LABELS = ("top left", "middle right", "top center")  # seen from EYE, clear of lines
EYE = {"x": 0.5, "y": 2.3, "z": 0.75}  # from here the model's corners stand out


@dataclass(frozen=True)
class Row:
    """Each group's share in one row of a figure, its people, what to say, its lower and upper limits."""

    name: str
    share: Floats
    people: Floats
    said: str
    limits: Floats | None = None


def shares(rows: Sequence[Row], groups: Sequence[str], title: str) -> go.Figure:
    """One row a place, one mark a group; the distance between the marks is the gap."""
    figure = go.Figure()
    lanes = np.linspace(-0.06, 0.24, len(groups))
    share = 100 * np.array([row.share for row in rows])
    limits = [100 * row.limits for row in rows if row.limits is not None]
    for a, group in enumerate(groups):
        figure.add_scatter(
            x=share[:, a],
            y=np.arange(len(rows)) + lanes[a],
            mode="markers",
            name=group,
            error_x=error_bars(share[:, a], *np.array(limits)[:, :, a].T) if limits else None,
            marker={"size": 13, "symbol": SYMBOLS[a], "color": GROUP_COLOURS[a]},
            marker_line={"width": 1, "color": "white"},
            customdata=[format.count(row.people[a]) for row in rows],
            hovertemplate=text.HOVER_SHARE.format(group),
        )
    for place, row in enumerate(rows):
        said, at = f"<b>{row.name}</b>  {row.said}", {"x": 0, "xref": "paper", "y": place - 0.42}
        figure.add_annotation(**at, text=said, showarrow=False, xanchor="left", align="left")
    return laid_out(
        figure,
        xaxis={"title": title, "range": [-3, 103], "ticksuffix": " %"},
        yaxis={"showticklabels": False, "range": [len(rows) - 0.5, -0.7], "showgrid": False},
    )


def network(judged: Evaluation, known: bool) -> go.Figure:
    """Three hospitals and a server; once answered, with what is sent and what follows."""
    counts = judged.counts
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1, 2, 1],
        y=[0, 0, 0, 1],
        mode="markers",
        **SILENT,
        marker_size=[34, 26, 42, 46],
        marker_symbol=["square"] * 3 + ["circle"],
        marker_color=[HOSPITAL] * 3 + [GREY],
    )
    for c, client in enumerate(counts.clients):
        figure.add_annotation(
            x=1 + 0.12 * (c - 1),
            y=0.8,
            ax=c,
            ay=0.2,
            axref="x",
            ayref="y",
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
    return laid_out(figure, **UNSEEN, xaxis_range=[-0.5, 2.5], yaxis_range=[-0.62, 1.5])


def draws(days: Sequence[NDArray[np.str_]], ids: Sequence[str]) -> go.Figure:
    """A hundred people on one day or two: who is told what, and who hears something else."""
    figure = go.Figure()
    row, column = np.divmod(np.arange(len(ids)), 10)
    colour = GROUP_COLOURS[1]
    for day, told in enumerate(days):
        for answer, symbol in (("ill", "square"), ("healthy", "square-open")):
            mine = told == answer
            figure.add_scatter(
                x=column[mine] + DAY * day,
                y=row[mine],
                mode="markers",
                name=text.TOLD.format(answer),
                showlegend=day == 0,
                marker={"symbol": symbol, "size": 12, "color": colour},
                marker_line={"width": 2, "color": colour},
                text=np.array(ids)[mine],
                hovertemplate="%{text}<extra></extra>",
            )
        figure.add_annotation(x=4.5 + DAY * day, y=-1.1, text=text.DAYS[day], showarrow=False)
    if len(days) > 1:
        other = days[0] != days[1]
        figure.add_scatter(
            x=column[other] + DAY,
            y=row[other],
            mode="markers",
            name=text.OTHER_THAN_BEFORE,
            marker={"symbol": "circle-open", "size": 22, "color": RING, "line": {"width": 2}},
            hoverinfo="skip",
        )
    return laid_out(figure, **UNSEEN, xaxis_range=[-1, 22], yaxis_range=[9.8, -1.8])


def chance(carried: Sequence[lesson.Carried], n: int, limit: float, known: bool) -> go.Figure:
    """Gaps on unseen people against how many the limit was met on; `n` is the one chosen."""
    figure = go.Figure()
    sizes = [each.n for each in carried]
    asked = {"color": AFTER, "dash": "dash"}
    figure.add_scatter(
        x=sizes, y=[limit] * len(sizes), mode="lines", name=text.ASKED_AND_MET, line=asked
    )
    if known:
        figure.add_scatter(
            x=sizes,
            y=[each.floor for each in carried],
            mode="lines",
            name=text.CHANCE_ALONE,
            line={"color": GREY, "dash": "dot"},
            hovertemplate=text.HOVER_CHANCE,
        )
        typical = np.array([each.typical for each in carried])
        low, high = np.array([each.range for each in carried]).T
        figure.add_scatter(
            x=sizes,
            y=typical,
            mode="markers",
            name=text.EVERYBODY_BARS,
            marker={
                "size": [17 if size == n else 9 for size in sizes],
                "color": AFTER,
                "opacity": 1,
            },
            error_y=error_bars(typical, low, high, color=translucent(AFTER, 0.55)),
            hovertemplate=text.HOVER_EVERYBODY,
        )
    return laid_out(
        figure,
        xaxis={
            "title": text.AXIS_MET_ON,
            "type": "log",
            "tickvals": sizes,
            "range": np.log10([sizes[0] * 0.8, sizes[-1] * 1.25]),
            "ticktext": [format.count(size) for size in sizes],
        },
        yaxis={"title": text.AXIS_WOMEN_MEN, "range": [0, 0.34]},
    )


def precision(rows: Sequence[tuple[str, float, float, float, float]], *, known: bool) -> go.Figure:
    """Of two groups both error rates, and once it is known, the precision, side by side.

    A row is (group, share ill, recognised, false alarms, precision).
    """
    figure = go.Figure()
    shown = text.BARS if known else text.BARS[:2]
    for place, (group, _, *rates) in enumerate(rows):
        values = [100 * rate for rate in rates[: len(shown)]]
        figure.add_bar(
            x=list(shown),
            y=values,
            name=group,
            marker_color=GROUP_COLOURS[place],
            text=["" if value != value else f"{value:.0f} %" for value in values],
            textposition="outside",
            cliponaxis=False,
        )
    axis = {"title": text.AXIS_PRECISION, "range": [0, 108]}
    return laid_out(figure, barmode="group", yaxis=axis)


# -------------------------------------------------------------------- regions


def under_the_curve(
    triangle: Floats, kernel: Floats, reach: lesson.Reach, limit: float
) -> go.Figure:
    """ROC curves, what lotteries reach under them, and where the limit puts the groups.

    `triangle` and `kernel` are the regions' corners, shape (groups, corners, labels).
    """
    figure = go.Figure()
    for a, curve in enumerate(lesson.roc_curves()):
        colour = GROUP_COLOURS[a]
        x, y = 100 * curve.false_alarms, 100 * curve.recognised
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": colour, "width": 1}, **SILENT)
        figure.add_scatter(
            x=x[::SPARSE],
            y=y[::SPARSE],
            mode="markers",
            name=text.THRESHOLDS.format(curve.group),
            marker={"size": 5, "color": colour, "opacity": 0.7},
            hovertemplate=text.HOVER_THRESHOLD,
        )
        for corners, order, dash, fill in (
            (triangle, (1, 0, 2, 1), "solid", "toself"),
            (kernel, (0, 2, 3), "dot", None),
        ):
            points = corners[a][list(order)]
            figure.add_scatter(
                x=100 * (1 - points[:, 0]),
                y=100 * points[:, 1],
                mode="lines",
                fill=fill,
                fillcolor=translucent(colour, 0.12),
                line={"color": colour, "dash": dash, "width": 1.5},
                **SILENT,
            )
    _add_marks(figure, triangle, reach, limit)
    for name, dash in ((text.TRIANGLE, "solid"), (text.KERNEL_ADDS, "dot")):
        line = {"color": GREY, "dash": dash}
        figure.add_scatter(x=[None], y=[None], mode="lines", name=name, line=line)
    axis = {"range": [-2, 102], "ticksuffix": " %"}
    across, up = {"title": text.AXIS_ALARMED}, {"title": text.AXIS_FOUND}
    return laid_out(figure, xaxis=axis | across, yaxis=axis | up)


def _add_marks(figure: go.Figure, triangle: Floats, reach: lesson.Reach, limit: float) -> None:
    """The model's own points, the chosen ones, and the square they must share."""
    x, y = 100 * (1 - reach.share[:, 0]), 100 * reach.share[:, 1]
    if 0 < limit < 1:
        low, high = (x.min(), y.min()), (x.min() + 100 * limit, y.min() + 100 * limit)
        square = dict(zip(("x0", "y0", "x1", "y1"), (*low, *high), strict=True))
        figure.add_shape(type="rect", **square, line={"color": GREY, "dash": "dash"})
    for a, group in enumerate(lesson.GROUPS):
        figure.add_scatter(
            x=[100 * (1 - triangle[a, 0, 0])],
            y=[100 * triangle[a, 0, 1]],
            mode="markers",
            marker={"symbol": f"{SYMBOLS[a]}-open", "size": 13, "color": GROUP_COLOURS[a]},
            marker_line_width=2,
            hovertemplate=text.HOVER_MARK.format(group, text.MODELS_OWN),
            showlegend=False,
        )
        figure.add_scatter(
            x=[x[a]],
            y=[y[a]],
            mode="markers",
            name=text.BY_LOTTERY.format(group),
            marker={"symbol": SYMBOLS[a], "size": 15 - 5 * a, "color": GROUP_COLOURS[a]},
            marker_line={"width": 1.5, "color": "white"},
            hovertemplate=text.HOVER_MARK.format(group, text.THE_LOTTERY),
        )


def in_space(
    corners: Floats, reach: lesson.Reach, labels: Sequence[str], known: bool
) -> go.Figure:
    """Each group's region with three answers; before the answer only the model's points."""
    figure = go.Figure()

    def add_point(place: Floats, symbol: str, name: str, group: int) -> None:
        figures = (f"{label} %{{{axis}:.1f}} %" for label, axis in zip(labels, "xyz", strict=True))
        figure.add_scatter3d(
            **dict(zip("xyz", place[:, None], strict=True)),
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 7, "color": GROUP_COLOURS[group]},
            hovertemplate="<br>".join((name, *figures)) + "<extra></extra>",
        )

    for a, group in enumerate(lesson.GROUPS):
        points = 100 * corners[a]
        add_point(points[0], f"{SYMBOLS[a]}-open", text.BY_MODEL.format(group), a)
        if known:
            _add_tetrahedron(figure, points, GROUP_COLOURS[a])
            add_point(100 * reach.share[a], SYMBOLS[a], text.BY_LOTTERY.format(group), a)
    letters = {"color": ink(), "size": 13}
    if known:
        ends = 100 * np.eye(len(labels))  # answering y to everybody recognises all of y only
        figure.add_scatter3d(
            **dict(zip("xyz", ends, strict=True)),
            mode="markers+text",
            **SILENT,
            text=[text.ALWAYS.format(label) for label in labels],
            textfont=letters,
            textposition=list(CORNER_LABELS),
            marker={"size": 4, "color": GREY},
        )
    scene: dict[str, object] = {
        f"{axis}axis": {
            "title": {"text": f"{label}, %", "font": letters},
            "range": [0, 100],
            "tickvals": [50, 100],  # a 0 would stand under the names of corners
            "tickfont": {"color": ink(), "size": 12},
            "gridcolor": GREY,
        }
        for axis, label in zip("xyz", labels, strict=True)
    }
    scene |= {"camera": {"eye": EYE, "center": {"x": 0, "y": 0, "z": -0.12}}, "dragmode": "orbit"}
    nothing = dict.fromkeys("lrtb", 0)
    return laid_out(figure, scene=scene, uirevision="kept", margin=nothing, dragmode="orbit")


def _add_tetrahedron(figure: go.Figure, points: Floats, colour: str) -> None:
    sides = {"i": [0, 0, 0, 1], "j": [1, 1, 2, 2], "k": [2, 3, 3, 3]}
    corners = dict(zip("xyz", points.T, strict=True))
    figure.add_mesh3d(**corners, **sides, color=colour, opacity=0.12, **SILENT)
    ends = np.array([[points[a], points[b], np.full(3, np.nan)] for a, b in EDGES]).reshape(-1, 3)
    lines = dict(zip("xyz", ends.T, strict=True))
    figure.add_scatter3d(**lines, mode="lines", line={"color": colour, "width": 3}, **SILENT)


# -------------------------------------------------------------------- which notion

ROOT, FORK = (0.0, 3.0), (0.85, 1.5)
LEAVES = {"sp": 4.0, "eop": 3.0, "eo": 2.0, "eo-full": 1.0, "precision": 0.0}
TRUNK = 1.32  # where leaves begin


def tree(notion: str) -> go.Figure:
    """Two questions and the five notions they lead to; the way to the advised one is bold."""
    figure = go.Figure()
    trusted, hurts = text.TREE.values()

    def add_branch(start: tuple[float, float], end: tuple[float, float], chosen: bool) -> None:
        line = {"color": AFTER if chosen else GREY, "width": 5 if chosen else 1.5}
        x, y = zip(start, end, strict=True)
        figure.add_scatter(x=x, y=y, mode="lines", line=line, **SILENT)

    add_branch(ROOT, FORK, notion in list(LEAVES)[1:])
    for leaf, y in LEAVES.items():
        start = ROOT if y == max(LEAVES.values()) else FORK
        add_branch(start, (TRUNK, y), leaf == notion)
    question = f"{trusted[1]['yes']}:<br>{hurts[0].replace(' ', '<br>').lower()}"
    for (x, y), said in (
        (ROOT, trusted[0].replace("recorded ", "recorded<br>")),
        (FORK, question),
    ):
        # Lines end at the box, which the style makes dark where the page is.
        box = {"bgcolor": "white", "bordercolor": GREY, "borderpad": 5}
        figure.add_annotation(x=x, y=y, text=said, showarrow=False, **box)
    answers = (trusted[1]["no"], *hurts[1].values())
    for (leaf, y), said in zip(LEAVES.items(), answers, strict=True):
        said = f"{said}:<br><b>{text.BRANCHES[leaf]}{' ◀' * (leaf == notion)}</b>"
        left = {"xanchor": "left", "align": "left"}
        figure.add_annotation(x=TRUNK, y=y, text=said, showarrow=False, **left)
    return laid_out(figure, **UNSEEN, xaxis_range=[-0.5, 2.5], yaxis_range=[-0.6, 4.6])
