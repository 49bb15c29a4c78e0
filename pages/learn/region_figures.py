"""The regions of the lesson: under a curve with two answers, in space with three."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairfl_core.teaching import hospitals as lesson
from pages.learn import lottery_text as text
from pages.learn.charts import settled
from pages.learn.text import AXIS_RECOGNISED
from pages.shared.theme import GREY, GROUP_COLOURS, SYMBOLS, ink, translucent

__all__ = ["in_space", "under_the_curve"]

Floats = NDArray[np.float64]
SPARSE = 7  # one dot for so many thresholds, else dots make a band
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
CORNER_LABELS = ("top left", "middle right", "top center")  # seen from EYE, clear of lines
EYE = {"x": 0.5, "y": 2.3, "z": 0.75}  # from here the model's corners stand out


def under_the_curve(
    triangle: Floats, kernel: Floats, reach: lesson.Reach, limit: float
) -> go.Figure:
    """ROC curves, what lotteries reach under them, and where the limit puts the groups.

    `triangle` and `kernel` are the regions' corners, shape (groups, corners, labels).
    """
    figure = go.Figure()
    for a, curve in enumerate(lesson.roc_curves()):
        _add_curve(figure, curve, GROUP_COLOURS[a])
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
                fillcolor=translucent(GROUP_COLOURS[a], 0.12),
                line={"color": GROUP_COLOURS[a], "dash": dash, "width": 1.5},
                hoverinfo="skip",
                showlegend=False,
            )
    _add_marks(figure, triangle, reach, limit)
    for name, dash in ((text.TRIANGLE, "solid"), (text.KERNEL_ADDS, "dot")):
        figure.add_scatter(
            x=[None], y=[None], mode="lines", name=name, line={"color": GREY, "dash": dash}
        )
    axis = {"range": [-2, 102], "fixedrange": True, "ticksuffix": " %", "zeroline": False}
    figure.update_layout(
        xaxis=axis | {"title": text.AXIS_ALARMED}, yaxis=axis | {"title": AXIS_RECOGNISED}
    )
    return settled(figure, 400)


def _add_curve(figure: go.Figure, curve: lesson.Roc, colour: str) -> None:
    x, y = 100 * curve.false_alarms, 100 * curve.recognised
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        hoverinfo="skip",
        line={"color": colour, "width": 1},
        showlegend=False,
    )
    figure.add_scatter(
        x=x[::SPARSE],
        y=y[::SPARSE],
        mode="markers",
        name=text.thresholds(curve.group),
        marker={"size": 5, "color": colour, "opacity": 0.7},
        hovertemplate=text.HOVER_THRESHOLD,
    )


def _add_marks(figure: go.Figure, triangle: Floats, reach: lesson.Reach, limit: float) -> None:
    """The model's own points, the chosen ones, and the square they must share."""
    x, y = 100 * (1 - reach.share[:, 0]), 100 * reach.share[:, 1]
    if 0 < limit < 1:
        figure.add_shape(
            type="rect",
            x0=x.min(),
            y0=y.min(),
            x1=x.min() + 100 * limit,
            y1=y.min() + 100 * limit,
            line={"color": GREY, "dash": "dash"},
        )
    for a, group in enumerate(lesson.GROUPS):
        figure.add_scatter(
            x=[100 * (1 - triangle[a, 0, 0])],
            y=[100 * triangle[a, 0, 1]],
            mode="markers",
            marker={
                "symbol": f"{SYMBOLS[a]}-open",
                "size": 13,
                "color": GROUP_COLOURS[a],
                "line": {"width": 2},
            },
            hovertemplate=text.hover_mark(group, text.MODELS_OWN),
            showlegend=False,
        )
        figure.add_scatter(
            x=[x[a]],
            y=[y[a]],
            mode="markers",
            name=text.by_lottery(group),
            marker={
                "symbol": SYMBOLS[a],
                "size": 15 - 5 * a,
                "color": GROUP_COLOURS[a],
                "line": {"width": 1.5, "color": "white"},
            },
            hovertemplate=text.hover_mark(group, text.THE_LOTTERY),
        )


def in_space(
    corners: Floats, reach: lesson.Reach, labels: Sequence[str], known: bool
) -> go.Figure:
    """Each group's region with three answers; before the answer only the model's points."""
    figure = go.Figure()
    for a, group in enumerate(lesson.GROUPS):
        points = 100 * corners[a]
        _add_point(figure, points[0], f"{SYMBOLS[a]}-open", text.by_model(group), a, labels)
        if known:
            _add_tetrahedron(figure, points, GROUP_COLOURS[a])
            mark = 100 * reach.share[a]
            _add_point(figure, mark, SYMBOLS[a], text.by_lottery(group), a, labels)
    if known:
        ends = 100 * np.eye(len(labels))  # answering y to everybody recognises all of y only
        figure.add_scatter3d(
            x=ends[0],
            y=ends[1],
            z=ends[2],
            mode="markers+text",
            hoverinfo="skip",
            text=[text.always(label) for label in labels],
            textfont={"color": ink(), "size": 13},
            textposition=list(CORNER_LABELS),
            marker={"size": 4, "color": GREY},
            showlegend=False,
        )
    scene: dict[str, object] = {
        f"{axis}axis": {
            "title": {"text": f"{label}, %", "font": {"color": ink(), "size": 13}},
            "range": [0, 100],
            "tickvals": [50, 100],  # a 0 would stand under the names of corners
            "tickfont": {"color": ink(), "size": 12},
            "gridcolor": GREY,
        }
        for axis, label in zip("xyz", labels, strict=True)
    }
    scene |= {"camera": {"eye": EYE, "center": {"x": 0, "y": 0, "z": -0.12}}, "dragmode": "orbit"}
    return settled(figure, 400).update_layout(
        scene=scene, uirevision="kept", margin={"l": 0, "r": 0, "t": 0, "b": 0}, dragmode="orbit"
    )


def _add_point(
    figure: go.Figure,
    place: Floats,
    symbol: str,
    name: str,
    group: int,
    labels: Sequence[str],
) -> None:
    figures = (f"{label} %{{{axis}:.1f}} %" for label, axis in zip(labels, "xyz", strict=True))
    figure.add_scatter3d(
        x=place[:1],
        y=place[1:2],
        z=place[2:],
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 7, "color": GROUP_COLOURS[group]},
        hovertemplate="<br>".join((name, *figures)) + "<extra></extra>",
    )


def _add_tetrahedron(figure: go.Figure, points: Floats, colour: str) -> None:
    x, y, z = points.T
    figure.add_mesh3d(
        x=x,
        y=y,
        z=z,
        i=[0, 0, 0, 1],
        j=[1, 1, 2, 2],
        k=[2, 3, 3, 3],
        color=colour,
        opacity=0.12,
        hoverinfo="skip",
        showlegend=False,
    )
    ends = np.array([[points[a], points[b], np.full(3, np.nan)] for a, b in EDGES]).reshape(-1, 3)
    figure.add_scatter3d(
        x=ends[:, 0],
        y=ends[:, 1],
        z=ends[:, 2],
        mode="lines",
        line={"color": colour, "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )
