"""Step 5: the same region with three answers, in space."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.solving.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import SYMBOLS, beside, ink, settled
from pages.components.learn.widgets import Question, answered, ask, slide, start_with
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.figures import GREY, GROUP_COLOURS
from pages.components.shared.results import Choice

TITLE = "The same with three answers"
LIMITS = (0.0, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 1.0)
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
EYE = {"x": 0.5, "y": 2.3, "z": 0.75}  # from here the model's corners stand out
QUESTION = Question(
    5,
    "With two answers the region had three corners. How many has it with three?",
    ("Three", "Four", "Nine"),
    1,
    "The model's own answers, and one corner for each answer given to everybody: a tetrahedron "
    "for each group. Each further answer adds one corner and one dimension; the arithmetic stays "
    "the same. Turn the picture by dragging.",
)


@st.cache_resource(show_spinner=False)
def _program() -> FairnessProgram:
    return FairnessProgram(lesson.skin_clinic(), "eo", "simplex")


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "A skin clinic's model says *leave*, *watch* or *treat*. Now each group is a point "
            "in space: how many of those to be left, watched and treated are recognised as such. "
            "The lottery keeps the model's answer, or gives one of the three to everybody."
        )
        ask(QUESTION, then=lambda: start_with("step5_limit", 0.05))
    with right, part("The region in space"):
        _limited()


def _limited() -> None:
    known = answered(5)
    limit = 1.0
    if known:
        limit = slide("step5_limit", "Gap allowed between women and men, ε", LIMITS, 1.0,
                      words.epsilon)  # fmt: skip
    found = lesson.reach(_program(), limit)
    labels = _program().counts.labels
    corners = lesson.corners(_program().counts, "simplex")
    table = pd.DataFrame({"group": lesson.GROUPS})
    for y, label in enumerate(labels):
        table[f"{label}: model, %"] = 100 * corners[:, 0, y]
        table[f"{label}: lottery, %"] = 100 * found.share[:, y]
    lost = words.points(found.model_accuracy - found.accuracy)
    reading = (
        f"**Limit {words.epsilon(limit)}: accuracy {words.percent(found.accuracy)}, {lost} "
        "less than the model's own.** Filled marks: the lottery; hollow: the model."
        if known
        else "**Each group's share of right answers in the three kinds of cases** (hollow marks)."
    )
    chart(
        _figure(corners, found, labels, known), reading=reading, table=table.round(1),
        name="three-answers", key="learn-solid",
    )  # fmt: skip


def _figure(corners, found: lesson.Reach, labels, known: bool) -> go.Figure:  # noqa: ANN001
    figure = go.Figure()
    for a, group in enumerate(lesson.GROUPS):
        colour, points = GROUP_COLOURS[a], 100 * corners[a]
        if known:
            _add_tetrahedron(figure, points, colour)
        for place, symbol, name in (
            (points[0], f"{SYMBOLS[a]}-open", f"{group}: model"),
            (100 * found.share[a], SYMBOLS[a], f"{group}: lottery"),
        ):
            if known or "open" in symbol:
                figure.add_scatter3d(
                    x=place[:1], y=place[1:2], z=place[2:], mode="markers", name=name,
                    marker={"symbol": symbol, "size": 7, "color": colour},
                    hovertemplate=f"{name}<br>" + "<br>".join(
                        f"{label} %{{{axis}:.1f}} %" for label, axis in
                        zip(labels, "xyz", strict=True)) + "<extra></extra>",
                )  # fmt: skip
    if known:
        ends = 100 * np.eye(len(labels))  # answering y to everybody recognises all of y only
        figure.add_scatter3d(
            x=ends[0], y=ends[1], z=ends[2], mode="markers+text", hoverinfo="skip",
            text=[f"always {label}" for label in labels], textfont={"color": ink()},
            textposition="top center", marker={"size": 4, "color": GREY}, showlegend=False,
        )  # fmt: skip
    axes = {
        f"{axis}axis": {"title": {"text": f"{label}, %", "font": {"color": ink()}}, "range": [0, 100],
                        "nticks": 5, "tickfont": {"color": ink()}}
        for axis, label in zip("xyz", labels, strict=True)
    }  # fmt: skip
    settled(figure, 400)
    return figure.update_layout(
        scene=axes
        | {"camera": {"eye": EYE, "center": {"x": 0, "y": 0, "z": -0.12}}, "dragmode": "orbit"},
        uirevision="kept",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        dragmode="orbit",
    )


def _add_tetrahedron(figure: go.Figure, points, colour: str) -> None:  # noqa: ANN001
    x, y, z = points.T
    figure.add_mesh3d(
        x=x, y=y, z=z, i=[0, 0, 0, 1], j=[1, 1, 2, 2], k=[2, 3, 3, 3], color=colour,
        opacity=0.12, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    lines = [[*(points[list(edge), axis]), None] for axis in range(3) for edge in EDGES]
    coordinates = [sum(lines[6 * axis : 6 * axis + 6], []) for axis in range(3)]
    figure.add_scatter3d(
        x=coordinates[0], y=coordinates[1], z=coordinates[2], mode="lines",
        line={"color": colour, "width": 3}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
