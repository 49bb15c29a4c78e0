"""Step 5: the same region with three answers, in space."""

from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.learn import charts, text
from pages.learn.widgets import answered, ask, picture, slide, start_with
from pages.shared.charts import error_boundary

LIMITS = (0.0, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 1.0)


@st.cache_resource(show_spinner=False)
def _program() -> FairnessProgram:
    return FairnessProgram(lesson.skin_clinic(), "eo", "simplex")


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.SPACE)
        ask(text.SPACE_QUESTION, then=lambda: start_with("step5_limit", 0.05))
    with shown, error_boundary(text.PICTURES[4]):
        _limited()


def _limited() -> None:
    known = answered(5)
    place = st.container()
    limit = 1.0
    if known:
        limit = slide("step5_limit", text.GAP_ALLOWED, LIMITS, 1.0, format.epsilon)
    reach = lesson.reach(_program(), limit)
    counts = _program().counts
    corners = lesson.corners(counts, "simplex")
    table = pd.DataFrame({"group": lesson.GROUPS})
    for y, label in enumerate(counts.labels):
        model, lottery = text.space_columns(label)
        table[model] = 100 * corners[:, 0, y]
        table[lottery] = 100 * reach.share[:, y]
    picture(
        place,
        charts.in_space(corners, reach, counts.labels, known),
        spoken=text.SPACE_SPOKEN,
        reading=text.space_after(limit, reach) if known else "",
        table=table.round(1),
        key="learn-solid",
    )
