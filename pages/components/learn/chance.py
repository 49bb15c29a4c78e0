"""Step 7: what a limit is worth that was met on a hundred people."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import beside, settled
from pages.components.learn.widgets import Question, ask, slide
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.figures import AFTER, GREY
from pages.components.shared.results import Choice

TITLE = "What a limit on 100 people is worth"
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
LIMITS = (0.01, 0.05, 0.1)
QUESTION = Question(
    7,
    "On 100 people we meet a limit of 0.01 exactly. How large is the gap, typically, on people "
    "not seen before?",
    ("About 0.01", "About 0.02", "About 0.08"),
    2,
    "Among 100 people there are some 20 ill women and 20 ill men. One man more or less moves the "
    "gap by 0.05. The lottery was tuned to these forty, and their luck does not carry over.",
)


@st.cache_data(show_spinner=False, max_entries=len(SIZES) * len(LIMITS))
def _carried(n: int, epsilon: float) -> lesson.Carried:
    return lesson.carried_over(n, epsilon)


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "The lottery is fitted on people whose truth is known (**validation**). It will be "
            "used on others. So we keep some people aside and look at them only at the end: the "
            "**unseen people** (test).\n\n"
            "Even a perfectly fair rule shows some gap on few people, by chance alone: the "
            "**noise floor**. A gap below it is no evidence, neither for nor against."
        )
        known = ask(QUESTION)
    with right, part("What a limit is worth"):
        n, limit = 100, LIMITS[0]
        if known:
            cells = st.columns(2)
            with cells[0]:
                n = slide("step7_people", "People the limit was met on", SIZES, 100, words.count)
            with cells[1]:
                limit = slide("step7_limit", "Gap allowed, ε", LIMITS, LIMITS[0], words.epsilon)
        _picture(n, limit, known)


def _picture(n: int, limit: float, known: bool) -> None:
    found = [_carried(size, limit) for size in SIZES]
    here = found[SIZES.index(n)]
    low, high = here.range
    reading = "**The limit asked, and met on the people it was fitted on.** And on others?"
    if known:
        reading = (
            f"**Met on {words.count(n)} people, a limit of {words.epsilon(limit)} is a gap of "
            f"{words.gap(here.typical)} on unseen ones**, nine times in ten between "
            f"{words.gap(low)} and {words.gap(high)}. A perfectly fair rule would show "
            f"{words.gap(here.floor)} on {words.count(n)} people; seeing {words.epsilon(limit)} "
            f"there, the true gap may be anything up to {words.gap(here.high)} (95 % interval)."
        )
    table = pd.DataFrame(
        {
            "people": SIZES,
            "asked": limit,
            "unseen, typical": [each.typical for each in found],
            "unseen, low": [each.range[0] for each in found],
            "unseen, high": [each.range[1] for each in found],
            "chance alone": [each.floor for each in found],
            "interval of the gap seen, low": [each.low for each in found],
            "interval of the gap seen, high": [each.high for each in found],
        }
    )
    if not known:
        table = table[["people", "asked"]]
    chart(_figure(found, n, limit, known), reading=reading, table=table.round(3), name="chance",
          key="learn-chance")  # fmt: skip


def _figure(found: list[lesson.Carried], n: int, limit: float, known: bool) -> go.Figure:
    figure = go.Figure()
    sizes = [each.n for each in found]
    figure.add_scatter(x=sizes, y=[limit] * len(sizes), mode="lines", name="asked, and met",
                       line={"color": AFTER, "dash": "dash", "width": 2})  # fmt: skip
    if known:
        figure.add_scatter(
            x=sizes, y=[each.floor for each in found], mode="lines", name="chance alone",
            line={"color": GREY, "width": 2, "dash": "dot"},
            hovertemplate="%{x:,} people: chance alone %{y:.3f}<extra></extra>",
        )  # fmt: skip
        typical = np.array([each.typical for each in found])
        low, high = np.array([each.range for each in found]).T
        figure.add_scatter(
            x=sizes, y=typical, mode="markers", name="unseen people (bar: nine in ten)",
            marker={"size": [17 if size == n else 9 for size in sizes], "color": AFTER, "opacity": 1},
            error_y={"type": "data", "symmetric": False, "array": high - typical,
                     "arrayminus": typical - low, "thickness": 2, "width": 4,
                     "color": "rgba(0,114,178,0.55)"},
            hovertemplate="%{x:,} people: %{y:.3f} on unseen people<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        xaxis={"title": "people the limit was met on", "type": "log", "tickvals": sizes,
               "range": np.log10([sizes[0] * 0.8, sizes[-1] * 1.25]),
               "ticktext": [words.count(size) for size in sizes], "fixedrange": True},
        yaxis={"title": "gap between women and men", "range": [0, 0.34], "fixedrange": True},
    )  # fmt: skip
    return settled(figure, 340)
