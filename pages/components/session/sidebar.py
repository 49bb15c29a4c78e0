"""The frame of every page: the sidebar with the view's settings, and what a link got wrong."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from fairfl_core.solving.build import default_rates
from pages.components.session import (
    glossary,
    own_data,
    present,
    sign_in,
    state,
    streamlit_answers,
    streamlit_internals,
    text,
)
from pages.components.session.catalogue import catalogue, experiment_of
from pages.components.shared import downloads, theme
from pages.components.shared import text as shared_text
from pages.components.shared.outside_text import plain
from pages.components.view import View, options_of

__all__ = ["frame"]

HISTORY = (Path(__file__).parent / "history.js").read_text(encoding="utf-8")


@contextmanager
def frame(*, brings_data: bool = False, chooses: bool = True) -> Iterator[View]:
    """Lay out what every page has; yields the view to show.

    A link to an uploaded set that is gone shows nothing but that; `brings_data` tells the page on
    which it can be brought again. A page that has no use for the settings `chooses` not: they and
    what is taken along are not there.
    """
    streamlit_internals.take_short_turns()
    streamlit_answers.answer_at_once()
    streamlit_internals.end_in_time()
    streamlit_internals.end_left_sessions()
    if streamlit_internals.leave_pages_folder():
        st.rerun()  # through the door: app.py lays out the app
    state.follow_history()
    own_data.forget_uploads()
    st.html(theme.STYLE)
    if state.large_type():
        st.html(theme.LARGE_STYLE)
    present.style()
    st.html(f"{glossary.brand()}<script>{HISTORY}</script>", unsafe_allow_javascript=True)
    sign_in.require()
    if state.data_is_gone():
        _gone(brings_data=brings_data)
        yield state.view()
        return
    with st.sidebar:
        if chooses:
            _settings(state.view())
        st.toggle(text.LARGE_TYPE, help=text.LARGE_TYPE_TIP, **state.bound(state.LARGE_TYPE))
        st.toggle(text.PRESENT, help=text.PRESENT_TIP, **state.bound(present.PRESENT))
        if chooses:
            downloads.take_along()
        sign_in.sign_out()
    line = st.container()
    yield state.view()
    # Last: by then the browser runs history.js, and opening a page adds nothing to its history.
    state.publish()
    if state.ignored():
        line.caption(shared_text.ignored(state.ignored()))


def _gone(*, brings_data: bool) -> None:
    """Say that the link's set is gone; another is never shown in its place unasked."""
    st.warning(text.DATA_GONE)
    with st.container(horizontal=True, vertical_alignment="center"):
        if not brings_data:
            st.page_link("pages/your_data.py", label=text.BRING_AGAIN)
        st.button(text.SHOW_ANOTHER, key="show-another", on_click=state.change)
    if not brings_data:
        st.stop()


def _settings(view: View) -> None:
    """Whose people, what is called fair, what may be mixed, from which rates, in which runs."""
    experiment = experiment_of(view.data)
    mark = "" if own_data.is_own(view.experiment) else text.THE_PAPERS
    _select(
        "experiment",
        text.EXPERIMENT,
        lambda name: experiment_of(name).manifest["title"],
        text.EXPERIMENT_TIP,
    )
    st.caption(text.about(experiment))
    if len(options_of("data", view, catalogue())) > 1:
        _select("data", text.SPLIT, lambda name: experiment_of(name).protocol, text.SPLIT_TIP)
        st.caption(text.split_meaning(experiment))
    _select(
        "notion",
        text.NOTION,
        lambda name: shared_text.notion_title(name) + (mark if name == experiment.notion else ""),
        text.NOTION_TIP,
    )
    st.caption(shared_text.notion_meaning(view.notion, plain(experiment.favourable)))
    _select(
        "region", text.REGION, lambda name: shared_text.region_title(name), tip=text.REGION_TIP
    )
    st.caption(shared_text.region_meaning(view.region))
    if len(options_of("rates", view, catalogue())) > 1:
        best = default_rates(view.region, folds=experiment.folds)
        _select(
            "rates",
            text.RATES,
            lambda name: shared_text.RATES[name][0] + (text.RECOMMENDED if name == best else ""),
            tip=text.RATES_TIP,
        )
        st.caption(shared_text.RATES[view.rates][1])
    every = experiment.seeds
    st.selectbox(
        text.SEEDS,
        [every, *((seed,) for seed in every if len(every) > 1)],
        format_func=lambda seeds: text.runs(seeds, every),
        help=text.SEEDS_TIP,
        **state.bound_field("seeds"),
    )


def _select(name: str, label: str, title: Callable[[str], str], tip: str | None = None) -> None:
    """A select box over a field of the view."""
    options: Any = options_of(name, state.view(), catalogue())
    st.selectbox(label, options, format_func=title, help=tip, **state.bound_field(name))
