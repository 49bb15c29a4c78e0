"""Step 8: what fairness costs, read from one map of a real experiment."""

from dataclasses import replace
from typing import Any

import streamlit as st

from fairfl_core.explore.charts import map_data
from fairfl_core.lp.frontier import Frontier
from pages.learn import text
from pages.learn.text import Question
from pages.learn.widgets import answered, ask
from pages.shared import present, state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of, noun_of
from pages.shared.charts import error_boundary, map_table, progress, table_popover
from pages.shared.component import limit_map
from pages.shared.results import COARSE, GRID, heat_of, is_dear, summary_of
from pages.shared.view import View, options_of

TIGHT = 0.01


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    view = state.view()
    with words:
        st.markdown(text.COST)
        _choice()
        with error_boundary(text.PICTURES[7]):
            ask(_question(view))
        st.page_link("pages/explore/page.py", label=text.GO_EXPLORE, icon=":material/explore:")
    with shown, error_boundary(text.PICTURES[7]):
        _map(view)


def _choice() -> None:
    """Whose map it is: the one setting that this step needs."""
    names: Any = options_of("experiment", state.view(), catalogue())
    st.selectbox(
        text.EXPERIMENT,
        names,
        format_func=lambda name: experiment_of(name).manifest["title"],
        label_visibility="collapsed",
        **state.bound_field("experiment"),
    )


def _question(view: View) -> Question:
    """What a tight local limit alone costs, and a tight global one: Explore's own numbers."""
    unlimited = view.without_limits()
    local = summary_of(replace(unlimited, eps_local=TIGHT)).judged
    overall = summary_of(replace(unlimited, eps_global=TIGHT)).judged
    return text.cost_question(TIGHT, local, overall, noun_of(view.data))


def _map(view: View) -> None:
    coarse, known = is_dear(view), answered(8)
    heat = _solved(view, coarse)
    loose = float(heat.eps_global[-1])
    reading = text.cost_reading(shared_text.notion_title(view.notion), coarse=coarse)
    data = map_data(heat, (loose, loose), [(loose, TIGHT), (TIGHT, loose)] if known else [])
    data["kept"] = [[mark, *place[1:]] for mark, place in zip("LG", data["kept"], strict=False)]
    limit_map(
        "learn-map",
        data,
        noun=noun_of(view.data),
        spoken=reading,
        title=text.MAP_TITLE,
        note=text.MARKS if known else "",
        large=present.presenting() or state.large_type(),
        height=420,
    )
    st.markdown(reading)
    table_popover(lambda: map_table(heat), key="learn-map")


def _solved(view: View, coarse: bool) -> Frontier:
    with progress(text.SOLVING) as on_progress:
        one = view.of_seed(view.seeds[0]) if coarse else view
        return heat_of(one, COARSE if coarse else GRID, on_progress)
