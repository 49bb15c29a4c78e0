"""Methods: those of the paper's tables and others, run here, compared at equal gaps on new people."""

from collections.abc import Callable
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core.evaluation.methods import GAPS, method_experiments
from pages.methods import charts, results, text
from pages.methods.results import LEVELS, Compared, rows_for
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of, noun_of
from pages.shared.codecs import one_of
from pages.shared.frame import frame
from pages.shared.widgets import bring_into_sight, chart, error_boundary, map_table, open_below


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(_notion_choice):
        _live()


def _of() -> state.Setting[str]:
    names = tuple(method_experiments())
    here = state.view().experiment
    return state.Setting("of", here if here in names else names[0], one_of(names))


def _by() -> state.Setting[str]:
    notions = results.notions_of(rows_for(state.get(_of())))
    return state.Setting("by", notions[0], one_of(notions))


_GAP = state.Setting("gap", "gap_global", one_of(tuple(GAPS)))
_AT = state.Setting("at", 0.02, one_of(LEVELS))


def _notion_choice() -> None:
    """The notion, among Settings."""
    _select(_by(), text.NOTION, shared_text.notion_title)


def _select(
    setting: state.Setting[str], label: str, words: Callable[[str], str], **more: Any
) -> None:
    """A select box over what a setting may be."""
    assert setting.codec is not None
    options = setting.codec.options
    st.selectbox(label, options, format_func=words, **more, **state.bound(setting))


def _found() -> tuple[Compared, str]:
    """The methods as they are set to be compared, and what the gap is called."""
    experiment, which = state.get(_of()), state.get(_GAP)
    found = results.compared(
        rows_for(experiment),
        state.get(_by()),
        which,
        state.get(_AT),
        results.families_of(experiment),
    )
    return found, text.gap_names(noun_of(experiment))[which]


@st.fragment
def _live() -> None:
    """All that follows the choices: only this is re-run when one changes."""
    _choices()
    with error_boundary(text.PICTURES):
        found, gap_name = _found()
        st.markdown(text.sentence(found))
        left, right = st.columns([6, 5], gap="medium")
        with left:
            _lines(found, gap_name)
        with right:
            _ranking(found)
    tab = open_below("tab", text.TABS, text.BELOW)
    if tab is not None:
        with error_boundary(text.TABS[tab]):
            _below(tab)
        bring_into_sight("tab")
    state.publish()


def _choices() -> None:
    """Whose people, which gap, and where on it methods are compared."""
    cells = st.columns([4, 3, 4], gap="medium", vertical_alignment="bottom")
    unseen = {"label_visibility": "collapsed"}
    with cells[0]:
        _select(
            _of(), text.EXPERIMENT, lambda name: experiment_of(name).manifest["title"], **unseen
        )
    with cells[1]:
        names = text.gap_names(noun_of(state.get(_of())))
        _select(_GAP, text.GAP, names.__getitem__, **unseen)
    cells[2].select_slider(text.AT, LEVELS, help=text.AT_TIP, **state.bound(_AT))


def _lines(found: Compared, gap_name: str) -> None:
    rows, notion = rows_for(state.get(_of())), state.get(_by())
    _title(text.LINES_TITLE, shared_text.notion_title(notion).lower())
    chart(
        charts.frontiers(found, gap_name),
        key="methods",
        spoken=text.spoken_lines(found, gap_name),
        table=lambda: results.settings(rows, notion),
    )


def _ranking(found: Compared) -> None:
    _title(text.RANKING_TITLE, text.legend(found))
    chart(
        charts.ranking(found),
        key="methods-ranking",
        spoken=text.spoken_ranking(found),
        table=lambda: pd.DataFrame(
            [text.rank_cells(line) for line in found.lines], columns=list(text.RANK_COLUMNS)
        ),
    )


def _title(title: str, note: str) -> None:
    st.html(f'<div class="fairfl-title"><b>{escape(title)}</b><span>{escape(note)}</span></div>')


def _below(tab: str) -> None:
    """What is behind the pictures, or one of the paper's own beside what runs here."""
    experiment, notion = state.get(_of()), state.get(_by())
    if tab == "compared":
        st.markdown("\n".join(f"- {one}" for one in text.how_compared(_found()[0])))
    elif tab == "figure1":
        _figure_1()
    elif tab == "differs":
        st.markdown(text.differences(experiment))
    else:
        st.markdown(results.paper_table(tab, experiment, notion) or text.NO_TABLE)


def _figure_1() -> None:
    """The paper's maps of its three datasets."""
    for cell, name in zip(st.columns(3, gap="medium"), results.FIGURE_1, strict=True):
        with cell:
            opened, heat = experiment_of(name), results.figure_1(name)
            dataset = opened.manifest["title"]
            _title(dataset, "")
            chart(
                charts.paper_map(heat),
                key=f"figure1-{name}",
                spoken=text.spoken_map(dataset, heat),
                table=lambda heat=heat: map_table(heat),
            )
            st.caption(text.alone(opened.notion, heat))
    st.caption(text.FIGURE_1_READING)


page()
