"""Step 5: the same region with three answers, in space."""

import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.learn import lottery_text as text
from pages.learn.region_figures import in_space
from pages.learn.text import GAP_ALLOWED, PICTURES
from pages.learn.widgets import answered, ask, beside, slide, start_with
from pages.shared.charts import chart, error_boundary

__all__ = ["show"]

LIMITS = (0.0, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 1.0)


@st.cache_resource(show_spinner=False)
def _program() -> FairnessProgram:
    return FairnessProgram(lesson.skin_clinic(), "eo", "simplex")


def show() -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(text.SPACE)
        ask(text.SPACE_QUESTION, then=lambda: start_with("step5_limit", 0.05))
    with right, error_boundary(PICTURES[4]):
        _limited()


def _limited() -> None:
    known = answered(5)
    limit = 1.0
    if known:
        limit = slide("step5_limit", GAP_ALLOWED, LIMITS, 1.0, format.epsilon)
    reach = lesson.reach(_program(), limit)
    counts = _program().counts
    corners = lesson.corners(counts, "simplex")
    table = pd.DataFrame({"group": lesson.GROUPS})
    for y, label in enumerate(counts.labels):
        model, lottery = text.space_columns(label)
        table[model] = 100 * corners[:, 0, y]
        table[lottery] = 100 * reach.share[:, y]
    chart(
        in_space(corners, reach, counts.labels, known),
        reading=text.space_after(limit, reach) if known else text.SPACE_BEFORE,
        table=table.round(1),
        name="three-answers",
        key="learn-solid",
    )
