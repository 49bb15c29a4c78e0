"""Step 4: what a lottery can reach, under the ROC curve of one hospital."""

from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from pages.learn import charts, text
from pages.learn.widgets import answered, ask, picture, slide, start_with
from pages.shared.charts import error_boundary

LIMITS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 1.0)


@st.cache_resource(show_spinner=False)
def program() -> FairnessProgram:
    """The example's program: equalized odds, the paper's region."""
    return FairnessProgram(lesson.one_hospital(), "eo", "simplex")


@st.cache_data(show_spinner=False)
def _by_thresholds() -> float:
    """Accuracy at a gap of zero where every group's thresholds may be moved and mixed."""
    return FairnessProgram(lesson.scored_hospital(), "eo", "exact").solve(0.0, 0.0).accuracy


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.CURVE)
        if ask(text.CURVE_QUESTION, then=lambda: start_with("step4_limit", 0.0)):
            with st.expander(text.WHY_NOT_THRESHOLD):
                fair = lesson.reach(program(), 0.0)
                st.markdown(text.moved_thresholds(_by_thresholds(), fair.accuracy))
            st.caption(text.CURVE_KERNEL)
    with shown, error_boundary(text.PICTURES[3]):
        _limited()


def _limited() -> None:
    place = st.container()
    limit = 1.0
    if answered(4):
        limit = slide("step4_limit", text.GAP_ALLOWED, LIMITS, 1.0, format.epsilon)
    reach = lesson.reach(program(), limit)
    triangle, kernel = (lesson.corners(program().counts, name) for name in ("simplex", "kernel"))
    columns = (
        lesson.GROUPS,
        100 * (1 - triangle[:, 0, 0]),
        100 * triangle[:, 0, 1],
        100 * (1 - reach.share[:, 0]),
        100 * reach.share[:, 1],
    )
    picture(
        place,
        charts.under_the_curve(triangle, kernel, reach, limit),
        reading=text.curve_reading(limit, reach),
        table=pd.DataFrame(dict(zip(text.CURVE_COLUMNS, columns, strict=True))).round(1),
        key="learn-roc",
    )
