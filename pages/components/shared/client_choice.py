"""Many clients in little room: the worst, the largest, or those whose name is searched for."""

import pandas as pd
import streamlit as st

from pages.components.session import state

__all__ = ["ALL_UP_TO", "MOST", "few_of", "worst_and_largest"]

ALL_UP_TO = 60  # clients drawn together; more, and a chart shows some
MOST = 20
WORST, LARGEST, SEARCH = f"worst {MOST}", f"largest {MOST}", "by name"


def few_of(table: pd.DataFrame) -> pd.DataFrame:
    """The clients to draw: all where they fit, else those that the visitor asks for."""
    if len(table) <= ALL_UP_TO:
        return table
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = state.get("few", WORST)
        which = which if which in (WORST, LARGEST, SEARCH) else WORST
        st.segmented_control(
            f"Clients shown, of {len(table):,}", (WORST, LARGEST, SEARCH), required=True,
            key=state.take_from("few", which), on_change=state.give_back, args=("few",),
        )  # fmt: skip
        if which == SEARCH:
            st.text_input(
                "Name contains", key=state.take_from("few_name", state.get("few_name", "")),
                on_change=state.give_back, args=("few_name",), width=260, max_chars=200,
            )  # fmt: skip
    if which == SEARCH:
        wanted = state.get("few_name", "").casefold()
        found = table[table["client"].str.casefold().str.contains(wanted, regex=False)]
        st.caption(
            f"{len(found):,} of {len(table):,} clients have it in their name"
            + (f"; the first {MOST} are drawn." if len(found) > MOST else ".")
        )
        return found.head(MOST)
    return _first(table, "after" if which == WORST else "n")


def worst_and_largest(table: pd.DataFrame) -> pd.DataFrame:
    """For a page that cannot be asked: all where they fit, else the worst and the largest."""
    if len(table) <= ALL_UP_TO:
        return table
    return table.loc[_first(table, "after").index.union(_first(table, "n").index, sort=False)]


def _first(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """The first ones by a column, largest first, in the order the table has."""
    chosen = table[by].sort_values(ascending=False, kind="stable").index[:MOST]
    return table[table.index.isin(chosen)]
