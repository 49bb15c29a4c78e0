"""Many clients in little room: the worst, the largest, or those whose name is searched for."""

import pandas as pd
import streamlit as st

from pages.shared import state, text
from pages.shared.codecs import OneOf, Text

__all__ = ["ALL_UP_TO", "MOST", "chosen_clients", "worst_and_largest"]

ALL_UP_TO = 60  # clients drawn together; more, and a chart shows some
MOST = 20
WORST, LARGEST, BY_NAME = "worst", "largest", "name"
SHOWN = state.Setting("few", WORST, OneOf((WORST, LARGEST, BY_NAME)))
SEARCHED = state.Setting("few_name", "", Text(200))


def chosen_clients(table: pd.DataFrame) -> pd.DataFrame:
    """The clients to draw: all where they fit, else those that the visitor asks for."""
    if len(table) <= ALL_UP_TO:
        return table
    titles = text.clients_shown(MOST)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            text.which_clients(len(table)),
            (WORST, LARGEST, BY_NAME),
            format_func=lambda option: titles[option],
            required=True,
            **state.bound(SHOWN),
        )
        if state.get(SHOWN) == BY_NAME:
            st.text_input(text.NAME_CONTAINS, width=260, max_chars=200, **state.bound(SEARCHED))
    if state.get(SHOWN) == BY_NAME:
        wanted = state.get(SEARCHED).casefold()
        matching = table[table["client"].str.casefold().str.contains(wanted, regex=False)]
        st.caption(text.clients_matching(len(matching), len(table), MOST))
        return matching.head(MOST)
    return _first(table, "gap" if state.get(SHOWN) == WORST else "n")


def worst_and_largest(table: pd.DataFrame) -> pd.DataFrame:
    """For a page that cannot be asked: all where they fit, else the worst and the largest."""
    if len(table) <= ALL_UP_TO:
        return table
    return table.loc[_first(table, "gap").index.union(_first(table, "n").index, sort=False)]


def _first(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """The first ones by a column, largest first, in the order the table has."""
    chosen = table[by].sort_values(ascending=False, kind="stable").index[:MOST]
    return table[table.index.isin(chosen)]
