"""Step 6: why the answer is a lottery, and how one person keeps one answer."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import beside, settled
from pages.components.learn.roc import program
from pages.components.learn.widgets import Question, ask, choose
from pages.components.session import state
from pages.components.shared.charts import chart, part
from pages.components.shared.figures import GROUP_COLOURS
from pages.components.shared.results import Choice

TITLE = "Why the answer is a lottery"
MODES = {"dice": "New dice each time", "id": "By each person's id"}
MEN = 100
AGAIN = "step6_again"
QUESTION = Question(
    6,
    "Tomorrow the same 100 men come again and the model says “ill” again. Who hears another "
    "answer than the model's?",
    ("The same men as today", "Other men, about as many", "Nobody"),
    1,
    "Each time the dice are thrown anew. Who may not like that lets the dice depend on the "
    "person's id: the same person then always gets the same answer, and over many people the "
    "shares are the same. It is still chance who has which id.",
)


def show(choice: Choice) -> None:
    """Lay the step out."""
    found = lesson.reach(program(), 0.0).predictor
    kept = 100 * found.lottery[0, 1, 1, 1]
    left, right = beside()
    with left:
        st.markdown(
            "A fixed rule sits on a corner of the region. The fair spot of step 4 lies *between* "
            "corners, and only a mixture gets there.\n\n"
            f"So in that hospital, when the model says “ill” of a man, {kept:.0f} in 100 keep "
            f"that answer and {100 - kept:.0f} in 100 are told “healthy” by the throw of dice. "
            "Two men with the same file may get different answers: that is a price too."
        )
        known = ask(QUESTION)
    with right, part("The draws"):
        _picture(found, known)


def _picture(predictor: FairPredictor, known: bool) -> None:
    mode = "dice"
    if known:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            mode = choose("step6_dice", "How answers are drawn", tuple(MODES), "dice", MODES)
            st.button("Ask once more", key="learn-again", on_click=_again)
    again = state.get(AGAIN, 0, int)
    state.write_link({AGAIN: str(again) if again else None})
    first, second = (_told(predictor, mode, day) for day in (1, 2 + abs(again)))
    days = [first, second] if known else [first]
    changed = [int((day != "ill").sum()) for day in days]
    reading = f"**Today {changed[0]} of 100 men are told “healthy” although the model says “ill”**"
    if known:
        reading += (
            f"; tomorrow {changed[1]}. **{int((first != second).sum())} of the 100 hear something "
            "else than the day before** (rings)"
        )
    table = pd.DataFrame({"person": _ids(), "model": "ill", "today": first})
    if known:
        table["tomorrow"] = second
    chart(_figure(days), reading=f"{reading}. One square is one man.", table=table, name="draws",
          key="learn-draws")  # fmt: skip


def _again() -> None:
    state.put(AGAIN, state.get(AGAIN, 0, int) + 1)


def _ids() -> list[str]:
    return [f"patient {number:03d}" for number in range(1, MEN + 1)]


def _told(predictor: FairPredictor, mode: str, day: int) -> np.ndarray:
    client, group, said = ([name] * MEN for name in (predictor.clients[0], "men", "ill"))
    if mode == "id":
        return predictor.decide(client, group, said, row_id=_ids())
    return predictor.sample(client, group, said, seed=day)


def _figure(days: list[np.ndarray]) -> go.Figure:
    figure = go.Figure()
    column, row = np.arange(MEN) % 10, np.arange(MEN) // 10
    colour = GROUP_COLOURS[1]
    for day, told in enumerate(days):
        x = column + 12 * day
        for answer, symbol in (("ill", "square"), ("healthy", "square-open")):
            mine = told == answer
            figure.add_scatter(
                x=x[mine], y=row[mine], mode="markers", name=f"told “{answer}”",
                showlegend=day == 0,
                marker={"symbol": symbol, "size": 12, "color": colour,
                        "line": {"width": 2, "color": colour}},
                text=np.array(_ids())[mine], hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
        figure.add_annotation(x=4.5 + 12 * day, y=-1.1, text=("today", "tomorrow")[day],
                              showarrow=False)  # fmt: skip
    if len(days) > 1:
        other = days[0] != days[1]
        figure.add_scatter(
            x=column[other] + 12, y=row[other], mode="markers", name="other than the day before",
            marker={"symbol": "circle-open", "size": 22, "color": "#CC79A7", "line": {"width": 2}},
            hoverinfo="skip",
        )  # fmt: skip
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(xaxis=hidden | {"range": [-1, 22]}, yaxis=hidden | {"range": [9.8, -1.8]})
    return settled(figure, 330)
