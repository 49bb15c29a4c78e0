"""Step 4: what a lottery can reach, under the ROC curve of one hospital."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.solving.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import SYMBOLS, beside, settled
from pages.components.learn.widgets import Question, answered, ask, slide, start_with
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.figures import GREY, GROUP_COLOURS
from pages.components.shared.results import Choice

TITLE = "What a lottery can reach"
LIMITS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 1.0)
SPARSE = 7  # one dot for so many thresholds, else dots make a band
QUESTION = Question(
    4,
    "Now ask for a gap of 0: women and men must sit on the same spot. Which one?",
    (
        "The spot of the model's answers for women",
        "The spot of the model's answers for men",
        "A third spot that both triangles reach",
    ),
    2,
    "Neither group can reach the other's corner. The best common spot lies where the triangles "
    "overlap, below both corners: accuracy falls for everybody. Move the limit and see the two "
    "marks part again, never farther than the dashed square.",
)


@st.cache_resource(show_spinner=False)
def program() -> FairnessProgram:
    """The example's program: equalized odds, the paper's region."""
    return FairnessProgram(lesson.one_hospital(), "eo", "simplex")


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "The model gives a score; a **threshold** turns it into an answer. Each threshold is "
            "a dot: ill people recognised against healthy people alarmed. The dots make the "
            "**ROC curve**.\n\n"
            "Afterwards we may still throw dice: keep the model's answer, or say “ill” or "
            "“healthy” regardless. That reaches any point of the **triangle** between the "
            "model's own point and the two corners, and nothing outside."
        )
        if ask(QUESTION, then=lambda: start_with("step4_limit", 0.0)):
            st.caption(
                "Dotted: what the kernel region adds. With two answers these points are all "
                "worse than the triangle's; with more answers some are better."
            )
    with right, part("The region under the curve"):
        _limited()


def _limited() -> None:
    limit = 1.0
    if answered(4):
        limit = slide("step4_limit", "Gap allowed between women and men, ε", LIMITS, 1.0,
                      words.epsilon)  # fmt: skip
    found = lesson.reach(program(), limit)
    cost = found.model_accuracy - found.accuracy
    table = pd.DataFrame(
        {
            "group": lesson.GROUPS,
            "model: false alarms, %": 100 * (1 - lesson.corners(program().counts, "simplex")[:, 0, 0]),
            "model: recognised, %": 100 * lesson.corners(program().counts, "simplex")[:, 0, 1],
            "lottery: false alarms, %": 100 * (1 - found.share[:, 0]),
            "lottery: recognised, %": 100 * found.share[:, 1],
        }
    )  # fmt: skip
    reading = (
        f"**Limit {words.epsilon(limit)}: accuracy {words.percent(found.accuracy)}, "
        f"{words.points(cost)} less than the model's own.**"
        if cost > 1e-6
        else f"**The model's own answers: accuracy {words.percent(found.accuracy)}, gap "
        f"{words.gap(found.gap)}.**"
    )
    chart(
        _figure(found, limit),
        reading=f"{reading} Up is better for the ill, left is better for the healthy.",
        table=table.round(1),
        name="roc",
        key="learn-roc",
    )


def _figure(found: lesson.Reach, limit: float) -> go.Figure:
    figure = go.Figure()
    counts = program().counts
    triangle, kernel = (lesson.corners(counts, name) for name in ("simplex", "kernel"))
    for a, curve in enumerate(lesson.roc_curves()):
        colour = GROUP_COLOURS[a]
        figure.add_scatter(
            x=100 * curve.false_alarms, y=100 * curve.recognised, mode="lines", hoverinfo="skip",
            line={"color": colour, "width": 1}, opacity=0.5, showlegend=False,
        )  # fmt: skip
        figure.add_scatter(
            x=100 * curve.false_alarms[::SPARSE], y=100 * curve.recognised[::SPARSE],
            mode="markers", name=f"{curve.group}: thresholds",
            marker={"size": 5, "color": colour, "opacity": 0.7},
            hovertemplate="threshold: %{x:.0f} % alarmed, %{y:.0f} % recognised<extra></extra>",
        )  # fmt: skip
        for corners, order, dash, fill in (
            (triangle, (1, 0, 2, 1), "solid", "toself"),
            (kernel, (0, 2, 3), "dot", None),
        ):
            points = corners[a][list(order)]
            figure.add_scatter(
                x=100 * (1 - points[:, 0]), y=100 * points[:, 1], mode="lines", fill=fill,
                fillcolor=_pale(colour), line={"color": colour, "dash": dash, "width": 1.5},
                hoverinfo="skip", showlegend=False,
            )  # fmt: skip
    _add_marks(figure, triangle, found, limit)
    for name, dash in (("simplex (triangle)", "solid"), ("kernel adds", "dot")):
        figure.add_scatter(x=[None], y=[None], mode="lines", name=name,
                           line={"color": GREY, "dash": dash})  # fmt: skip
    axis = {"range": [-2, 102], "fixedrange": True, "ticksuffix": " %", "zeroline": False}
    figure.update_layout(
        xaxis=axis | {"title": "healthy people alarmed, %"},
        yaxis=axis | {"title": "ill people recognised, %"},
    )
    return settled(figure, 400)


def _add_marks(figure: go.Figure, triangle, found: lesson.Reach, limit: float) -> None:  # noqa: ANN001
    """The model's own points, the chosen ones, and the square they must share."""
    chosen = 100 * (1 - found.share[:, 0]), 100 * found.share[:, 1]
    if 0 < limit < 1:
        x, y = (float(values.min()) for values in chosen)
        figure.add_shape(type="rect", x0=x, y0=y, x1=x + 100 * limit, y1=y + 100 * limit,
                         line={"color": GREY, "dash": "dash"})  # fmt: skip
    for a, group in enumerate(lesson.GROUPS):
        figure.add_scatter(
            x=[100 * (1 - triangle[a, 0, 0])], y=[100 * triangle[a, 0, 1]], mode="markers",
            marker={"symbol": f"{SYMBOLS[a]}-open", "size": 13, "color": GROUP_COLOURS[a],
                    "line": {"width": 2}},
            hovertemplate=f"{group}: the model's own<br>%{{x:.1f}} % alarmed, %{{y:.1f}} % "
            "recognised<extra></extra>", showlegend=False,
        )  # fmt: skip
        figure.add_scatter(
            x=[chosen[0][a]], y=[chosen[1][a]], mode="markers", name=f"{group}: lottery",
            marker={"symbol": SYMBOLS[a], "size": 15 - 5 * a, "color": GROUP_COLOURS[a],
                    "line": {"width": 1.5, "color": "white"}},
            hovertemplate=f"{group}: the lottery<br>%{{x:.1f}} % alarmed, %{{y:.1f}} % "
            "recognised<extra></extra>",
        )  # fmt: skip


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.12)"
