"""Step 7: what a limit is worth that was met on a hundred people."""

from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.teaching import hospitals as lesson
from pages.learn import charts, text
from pages.learn.widgets import ask, picture, slide
from pages.shared.charts import error_boundary

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
LIMITS = (0.01, 0.05, 0.1)


@st.cache_data(show_spinner=False, max_entries=len(SIZES) * len(LIMITS))
def _carried(n: int, epsilon: float) -> lesson.Carried:
    return lesson.carried_over(n, epsilon)


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.CHANCE)
        known = ask(text.CHANCE_QUESTION)
    with shown, error_boundary(text.PICTURES[6]):
        place = st.container()
        n, limit = 100, LIMITS[0]
        if known:
            cells = st.columns(2)
            with cells[0]:
                n = slide("step7_people", text.CHANCE_PEOPLE, SIZES, n, format.count)
            with cells[1]:
                limit = slide("step7_limit", text.CHANCE_LIMIT, LIMITS, limit, format.epsilon)
        _picture(place, n, limit, known)


def _picture(place: Any, n: int, limit: float, known: bool) -> None:
    carried = [_carried(size, limit) for size in SIZES]
    rows = [(c.n, limit, c.typical, *c.range, c.floor, c.low, c.high) for c in carried]
    table = pd.DataFrame(rows, columns=list(text.CHANCE_COLUMNS))
    here = carried[SIZES.index(n)]
    picture(
        place,
        charts.chance(carried, n, limit, known),
        spoken=text.CHANCE_SPOKEN,
        reading=text.chance_after(n, limit, here) if known else "",
        table=(table if known else table.iloc[:, :2]).round(3),
        key="learn-chance",
    )
