"""Step 1: what a federated model is, and why there are two fairnesses."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import beside, settled
from pages.components.learn.widgets import Question, ask
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.results import Choice

TITLE = "One model, two kinds of fair"
QUESTION = Question(
    1,
    "What does a hospital send to the server?",
    (
        "The records of its patients",
        "The model's numbers and one small table of counts",
        "Nothing at all",
    ),
    1,
    "Records stay at home. The table says how many people of each group were ill or healthy and "
    "what the model said: here eight numbers a hospital. They are enough to read every gap and to "
    "set up the fair answers.",
)


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "Three hospitals want one model that tells who is ill. None may hand out its "
            "records. So each trains at home, a server averages what they learned, and all get "
            "the same model back: a **federated** model, and each hospital is a **client**.\n\n"
            "Is it fair to women and men? That is two questions. **Local**: are they treated "
            "alike *inside each hospital*? **Global**: are they treated alike *over all "
            "hospitals together*?"
        )
        known = ask(QUESTION)
    with right, part("The picture of the network"):
        _picture(lesson.untouched(lesson.network(), "eop"), known)


def _picture(judged: Evaluation, known: bool) -> None:
    counts = judged.counts
    reading = "**Three hospitals and a server.** What travels along the arrows?"
    if known:
        reading = (
            "**From those counts the server reads both gaps**: how much more often ill people of "
            f"one group are recognised than of the other. Inside hospitals up to "
            f"{words.gap(judged.gaps.local_worst)}, overall {words.gap(judged.gaps.overall)}."
        )
    table = pd.DataFrame({"hospital": counts.clients, "people": counts.n_client})
    chart(
        _figure(judged, known),
        reading=reading,
        table=_sent(judged) if known else table,
        name="network",
        key="learn-network",
    )


def _sent(judged: Evaluation) -> pd.DataFrame:
    """What each hospital sends, and the share that follows from it."""
    counts = judged.counts
    rows = [
        [client, group, *counts.table[c, a].ravel(), round(judged.rates[c, a, 0], 3)]
        for c, client in enumerate(counts.clients)
        for a, group in enumerate(counts.groups)
    ]
    names = ["hospital", "group", "healthy, told healthy", "healthy, told ill",
             "ill, told healthy", "ill, told ill", "share of ill recognised"]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def _figure(judged: Evaluation, known: bool) -> go.Figure:
    counts = judged.counts
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1, 2, 1], y=[0, 0, 0, 1], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"size": [34, 26, 42, 46], "symbol": ["square"] * 3 + ["circle"],
                "color": ["#56B4E9"] * 3 + ["#8a8a8a"], "line": {"width": 1, "color": "white"}},
    )  # fmt: skip
    for c, client in enumerate(counts.clients):
        figure.add_annotation(
            x=1 + 0.12 * (c - 1), y=0.8, ax=c, ay=0.2, xref="x", yref="y", axref="x", ayref="y",
            showarrow=True, arrowhead=2, arrowwidth=2, arrowside="end" if not known else "end+start",
            arrowcolor="#8a8a8a", text="",
        )  # fmt: skip
        said = f"<b>{client}</b><br>{words.count(counts.n_client[c])} people"
        if known:
            said += f"<br>local gap {words.gap(judged.gaps.local[c])}"
        figure.add_annotation(x=c, y=-0.16, text=said, showarrow=False, yanchor="top")
        figure.add_annotation(
            x=(1 + c) / 2 + 0.06 * (c - 1), y=0.5, text="8 counts" if known else "?",
            showarrow=False, bgcolor="rgba(138,138,138,0.25)", borderpad=3,
        )  # fmt: skip
    said = "<b>Server</b>"
    if known:
        said += f"<br>global gap {words.gap(judged.gaps.overall)}"
    figure.add_annotation(x=1, y=1.17, text=said, showarrow=False, yanchor="bottom")
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(
        xaxis=hidden | {"range": [-0.5, 2.5]}, yaxis=hidden | {"range": [-0.62, 1.5]}
    )
    return settled(figure, 380)
