"""Methods: every rival of the paper's tables, run here, compared at equal held-out gaps."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.evaluation.methods import GAPS, MethodRow, method_experiments
from fairfl_core.paper.printed import TABLE_1
from pages.components.codecs import OneOf
from pages.components.methods import text
from pages.components.methods.figures import frontiers
from pages.components.methods.results import (
    PRINTED,
    Compared,
    beside_the_paper,
    compared,
    notions_of,
    rows_for,
    settings,
)
from pages.components.session import state
from pages.components.session.catalogue import experiment_of
from pages.components.session.sidebar import frame
from pages.components.shared import text as shared_text
from pages.components.shared.charts import chart, part
from pages.components.view import View

T = TypeVar("T")
LEVELS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)


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
    with part(text.RANKING):
        _ranking(found, which)
    with part(text.PICTURE):
        _picture(found, rows, notion, which)
    with part(text.COSTS):
        _papers_tables(rows, experiment, notion)
    with part(text.ABILITIES):
        _abilities(rows)


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


def _ranking(found: Compared, which: str) -> None:
    """Who is ahead in a sentence, and everybody in a table."""
    seeds = found.best.frontier.seeds if found.best else ()
    st.markdown(f"#### {text.headline(found, which, seeds)}")
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
        table=lambda: settings(rows, notion).round(5),
        headings=text.HEADINGS,
        name="methods",
    )


def _papers_tables(rows: tuple[MethodRow, ...], experiment: str, notion: str) -> None:
    table = beside_the_paper(rows, experiment, notion)
    if len(table):
        st.markdown(text.COSTS_TITLE)
        cells = [text.cost_cells(row) for row in table.to_dict("records")]
        # Two columns are headed alike: numbered inside, so that both are shown.
        frame_ = pd.DataFrame(cells)
        frame_.columns = pd.Index(_apart(text.COST_COLUMNS))
        st.table(frame_)
        st.caption(text.COSTS_READING)


def _apart(names: tuple[str, ...]) -> list[str]:
    """Headings that differ, alike to the eye: each repeated one has one more word joiner."""
    return [name + "\u2060" * names[:place].count(name) for place, name in enumerate(names)]


def _abilities(rows: tuple[MethodRow, ...]) -> None:
    st.markdown(text.ABILITIES_TITLE)
    here = {printed: method for method, printed in PRINTED.items()}
    here |= {"FedFB": "fedfb", "Reweighing-FL": "reweighing"}
    cells = [
        text.ability_cells(
            name, sorted({row.notion for row in rows if row.method == here.get(name)})
        )
        for name in TABLE_1
    ]
    st.table(pd.DataFrame(cells, columns=list(text.ABILITY_COLUMNS)))


page()
