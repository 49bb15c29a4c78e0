"""Explore: move two tolerances and see what fairness costs, for whom, and how sure that is."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core.errors import CollisionError
from fairfl_core.review.file import MOST
from pages.explore import text
from pages.explore.charts import region_lines
from pages.explore.live import (
    CERTAINTY_DRAWN,
    HEAT,
    Places,
    client_gaps,
    live,
    mark,
    three_numbers,
)
from pages.explore.old_harm import recognition_part
from pages.shared import downloads, figures, policy, present, state, tolerances
from pages.shared import text as shared_text
from pages.shared.charts import (
    chart,
    error_boundary,
    progress,
)
from pages.shared.codecs import Between, Flag
from pages.shared.frame import frame
from pages.shared.results import (
    COARSE,
    GRID,
    SURE,
    advice_of,
    certainty_possible,
    counts_of,
    heat_of,
    heavy,
    many_margins,
    region_curve,
    summary_of,
)
from pages.shared.view import View

WELCOME = state.Setting("welcome", True, Flag())
MAP_DRAWN = state.Setting("map_drawn", False, Flag())
REGIONS_DRAWN = state.Setting("regions_drawn", False, Flag())
POINTS = state.Setting("points", 1.0, Between(0.0, 20.0))


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame():
        if present.presenting():
            _presented()
        else:
            _welcome()
            _whole()


def _welcome() -> None:
    if state.get(WELCOME):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/learn.py", label=text.LESSON)
            st.button(
                text.DISMISS,
                key="welcome-away",
                help=text.DISMISS_TIP,
                type="tertiary",
                on_click=state.put,
                args=(WELCOME, False),
            )


def _whole() -> None:
    """All of the page: what stays when a slider moves, with places for what does not.

    These are filled before anything is drawn that takes long.
    """
    view = state.view()
    top, sliders = st.container(), st.container()
    tolerances.preset_buttons()
    price = tolerances.certainty()
    policy.asked_for()
    policy_cost, summary = st.container(), st.container(horizontal=True, key="numbers")
    left, right = st.columns([3, 2], gap="large")
    with right:
        comparison = st.container()
        _options()
        kept = st.container()
    recognition, advice, clients = st.container(), st.container(), st.container()
    certainty = _certainty_choice(view)
    regions = st.container()
    predictor = downloads.predictor_part(view)
    with sliders:
        live(
            Places(
                top=top,
                price=price,
                policy=policy_cost,
                summary=summary,
                comparison=comparison,
                kept=kept,
                recognition=recognition,
                clients=clients,
                certainty=certainty,
                predictor=predictor,
            )
        )
    with left, error_boundary(text.MAP):
        _map(view)
    with (
        advice,
        error_boundary(text.ADVICE),
        suppress(CollisionError),
    ):  # floors may be out of its reach
        _advice(view)
    with regions, error_boundary(text.REGIONS):
        _regions(view)


@st.fragment
def _presented() -> None:
    """One idea a screen: the headline, the two limits, one picture."""
    view = state.view()
    place = st.container()
    tolerances.sliders()
    at = present.screen(text.SCREENS)
    with error_boundary(shared_text.RESULTS):
        summary = summary_of(view)
        with place:
            st.markdown(f"#### {shared_text.headline(summary)}")
        if at == 0:
            _map(view)
            mark(view)
        elif at == 1:
            client_gaps(view, summary)
        elif at == 2:
            recognition_part(summary)
        else:
            three_numbers(view, summary)


def _map(view: View) -> None:
    many = heavy(view, map_only=True)
    if many and not st.toggle(text.DRAW_MAP, **state.bound(MAP_DRAWN)):
        return
    with progress(shared_text.SOLVING_MAP) as on_progress:
        heat = heat_of(view, COARSE if many else GRID, on_progress)
    kept = [
        (text.option(place), (one.eps_global, one.eps_local))
        for place, one in enumerate(state.options())
    ]
    chart(
        figures.heat_map(heat, None, kept, marked=True),
        reading=text.map_reading(
            own_limits=bool(view.own_limits), collides=bool(np.isnan(heat.accuracy).any())
        ),
        table=lambda: figures.map_table(heat),
        name="accuracy-map",
        key=HEAT,
        on_click=tolerances.go_to_cell(HEAT),
    )


def _advice(view: View) -> None:
    """The tightest limits that hold with confidence within a price: one button."""
    if not certainty_possible(view) or many_margins(view):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            text.ADVICE_POINTS,
            0.0,
            20.0,
            step=0.1,
            format="%.1f",
            width=190,
            help=text.ADVICE_TIP,
            **state.bound(POINTS),
        )
        points = state.get(POINTS)
        advice = advice_of(view, points)
        st.button(
            text.use_advice(advice),
            key="advice-use",
            on_click=state.change,
            kwargs={
                "eps_global": advice.eps,
                "eps_local": advice.eps,
                "guarantee": view.guarantee or SURE,
            },
        )
    st.caption(text.advice(advice, points, view.guarantee or SURE))


def _certainty_choice(view: View) -> DeltaGenerator:
    """Whether to draw what certainty costs against people per client; returns its place."""
    if certainty_possible(view):
        st.markdown(text.CERTAINTY_TITLE)
        st.toggle(text.DRAW_CERTAINTY, **state.bound(CERTAINTY_DRAWN))
    return st.container()


def _options() -> None:
    """Keep up to four settings."""
    kept = state.options()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.KEEP,
            on_click=lambda: state.keep(state.view()),
            key="keep",
            disabled=len(kept) == MOST,
            help=text.KEEP_TIP,
        )
        if kept:
            st.page_link("pages/review.py", label=text.TO_REVIEW)
            st.button(text.LET_GO, on_click=state.let_go, args=kept, key="let-go", type="tertiary")


def _regions(view: View) -> None:
    """Accuracy against the gap that really remains, one line a region: a fair comparison."""
    st.markdown(text.REGIONS_TITLE)
    if counts_of(view.data, view.seeds[0], "test") is None:
        st.caption(shared_text.NO_CHECK_HERE)
        return
    if not st.toggle(text.DRAW_REGIONS, **state.bound(REGIONS_DRAWN)):
        return
    runs = view.seeds[:1] if view.answers_by_scores else view.seeds
    with progress(text.SOLVING_REGIONS) as on_progress:
        table = region_curve(replace(view, seeds=runs), on_progress)
    chart(
        region_lines(table),
        reading=text.REGIONS_READING,
        table=table.round(4),
        headings=text.REGION_COLUMNS,
        name="regions",
        key="explore-regions",
    )


page()
