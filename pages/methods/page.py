"""Methods: every rival of the paper's tables, run here, compared at equal held-out gaps."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.evaluation.methods import GAPS, MethodRow, method_experiments
from pages.methods import text
from pages.methods.charts import frontiers
from pages.methods.results import (
    LEVELS,
    Compared,
    abilities,
    beaten,
    compared,
    costs,
    notions_of,
    rows_for,
    settings,
    table_2,
)
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of
from pages.shared.charts import chart, error_boundary
from pages.shared.codecs import OneOf
from pages.shared.frame import frame
from pages.shared.view import View

T = TypeVar("T")


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(chooses=False) as view:
        st.markdown(text.TITLE)
        st.markdown(text.INTRO)
        _live(view)


@st.fragment
def _live(view: View) -> None:
    """All that follows the choices: only this is re-run when one changes."""
    experiment, notion, which, gap = _choices(view)
    rows = rows_for(experiment)
    found = compared(rows, notion, which, gap)
    with error_boundary(text.RANKING):
        _ranking(found, rows, notion, which)
    with error_boundary(text.PICTURE):
        _picture(found, rows, notion, which)
    with error_boundary(text.COSTS):
        _papers_tables(rows, experiment, notion)
    with error_boundary(text.ABILITIES):
        _abilities(rows, experiment)


def _choices(view: View) -> tuple[str, str, str, float]:
    """Whose people, which notion and gap, and where on it methods are compared."""
    names = tuple(method_experiments())
    first = view.experiment if view.experiment in names else names[0]
    cells = (*st.columns(2), *st.columns(2))
    with cells[0]:
        experiment = _one(
            "of", names, first, text.EXPERIMENT, lambda name: experiment_of(name).manifest["title"]
        )
    with cells[1]:
        notions = notions_of(rows_for(experiment))
        notion = _one("by", notions, notions[0], text.NOTION, shared_text.notion_title)
    with cells[2]:
        which = _one("gap", tuple(GAPS), "gap_global", text.GAP, text.gap_choice)
    with cells[3]:
        gap = _one("at", LEVELS, 0.02, text.AT, str, text.AT_TIP)
    return experiment, notion, which, gap


def _one(
    name: str,
    options: Sequence[T],
    first: T,
    label: str,
    words: Callable[[T], str],
    tip: str | None = None,
) -> T:
    """A select box whose choice stands in the link."""
    setting = state.Setting(name, first, OneOf(options))
    st.selectbox(label, options, format_func=words, help=tip, **state.bound(setting))
    chosen: T = state.get(setting)
    return chosen


def _ranking(found: Compared, rows: tuple[MethodRow, ...], notion: str, which: str) -> None:
    """Who is ahead in a sentence, how each fares, and everybody in a table."""
    seeds = found.best.frontier.seeds if found.best else ()
    st.markdown(f"#### {text.headline(found, which, seeds)}")
    elsewhere = beaten(rows, notion, which, LEVELS)
    said = text.reading(found, which, elsewhere, LEVELS)
    if said:
        st.markdown("\n".join(f"- {one}" for one in said))
    cells = [text.rank_cells(line) for line in found.lines]
    st.table(pd.DataFrame(cells, columns=list(text.RANK_COLUMNS)))
    st.caption(text.RANK_READING)
    if reading := text.pooled_reading(found):
        st.markdown(reading)


def _picture(found: Compared, rows: tuple[MethodRow, ...], notion: str, which: str) -> None:
    widest = max(float(np.max(line.frontier.gaps)) for line in found.lines)
    chart(
        frontiers(found, which, 1.05 * widest),
        reading=text.picture_reading(which),
        table=lambda: settings(rows, notion),
        headings=text.HEADINGS,
        name="methods",
    )


def _papers_tables(rows: tuple[MethodRow, ...], experiment: str, notion: str) -> None:
    """Tables 2 and 3, for the notion that the paper has."""
    if notion != experiment_of(experiment).notion:
        return
    st.markdown(text.TABLE_2_TITLE)
    _table(
        text.TABLE_2_COLUMNS, [text.table_2_cells(x) for x in table_2(rows, experiment, notion)]
    )
    st.caption(text.TABLE_2_READING)
    with st.expander(text.DIFFERS):
        st.markdown(text.differences(experiment))
    st.markdown(text.TABLE_3_TITLE)
    _table(text.TABLE_3_COLUMNS, [text.table_3_cells(x) for x in costs(rows, experiment, notion)])
    st.caption(text.TABLE_3_READING)


def _table(columns: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> None:
    """A table of which several columns may be headed alike."""
    st.table(pd.DataFrame(cells, columns=_apart(columns)))


def _apart(names: tuple[str, ...]) -> list[str]:
    """Headings that differ, alike to the eye: each repeated one has one more word joiner."""
    return [name + "\u2060" * names[:place].count(name) for place, name in enumerate(names)]


def _abilities(rows: tuple[MethodRow, ...], experiment: str) -> None:
    st.markdown(text.ABILITIES_TITLE)
    _table(text.ABILITY_COLUMNS, [text.ability_cells(x) for x in abilities(rows, experiment)])
    st.caption(text.ABILITIES_READING)


page()
