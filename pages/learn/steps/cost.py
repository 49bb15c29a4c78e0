"""Step 8: what fairness costs, read from one map of a real experiment."""

from dataclasses import replace
from typing import Any

import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.solving.frontier import Frontier
from pages.learn import limits_text as text
from pages.learn.question import Question
from pages.learn.text import PICTURES
from pages.learn.widgets import answered, ask, beside, forget
from pages.shared import figures, state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.charts import chart, error_boundary, progress
from pages.shared.results import heat_of, heavy, summary_of
from pages.shared.view import View, options_of

__all__ = ["show"]

TIGHT = 0.01


def show() -> None:
    """Lay the step out."""
    view = state.view()
    heat: Frontier | None = None
    with error_boundary(PICTURES[7]):
        heat = _solved(view)
    left, right = beside()
    with left:
        st.markdown(text.COST)
        _choice()
        if heat is not None:
            ask(_question(view))
        st.caption(text.COST_CAVEAT)
        st.page_link("pages/explore.py", label=text.GO_EXPLORE)
        st.button(text.ANEW, on_click=forget, type="tertiary", key="learn-anew")
    with right, error_boundary(PICTURES[7]):
        if heat is not None:
            _map(view, heat)


def _choice() -> None:
    """Whose map it is: the one setting that this step needs."""
    names: Any = options_of("experiment", state.view(), catalogue())
    st.selectbox(
        text.EXPERIMENT,
        names,
        format_func=lambda name: experiment_of(name).manifest["title"],
        **state.bound_field("experiment"),
    )


def _solved(view: View) -> Frontier:
    if heavy(view, map_only=True):
        raise InputError(text.TAKES_LONG)
    with progress(text.SOLVING) as on_progress:
        return heat_of(view, on_progress=on_progress)


def _question(view: View) -> Question:
    """What a tight local limit alone costs, and a tight global one: Explore's own numbers."""
    unlimited = view.without_limits()
    local = summary_of(replace(unlimited, eps_local=TIGHT))
    overall = summary_of(replace(unlimited, eps_global=TIGHT))
    people = shared_text.judged_on(local)
    return text.cost_question(TIGHT, local.judged, overall.judged, people)


def _map(view: View, heat: Frontier) -> None:
    known = answered(8)
    loose = float(heat.eps_global[-1])
    figure = figures.heat_map(
        heat,
        here=(TIGHT, loose) if known else (loose, loose),
        others=[(text.LOCAL_ALONE, (loose, TIGHT))] if known else [],
        name=text.GLOBAL_ALONE if known else text.HARDLY,
        height=440,
    )
    title = experiment_of(view.experiment).manifest["title"]
    chart(
        figure,
        reading=text.cost_reading(title, shared_text.notion_title(view.notion)),
        table=figures.map_table(heat),
        name="lesson-map",
        key="learn-map",
    )
