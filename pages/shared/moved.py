"""Pages of earlier versions: their links lead to where their content is now."""

import streamlit as st

from pages.shared import state


def clients() -> None:
    """Open Explore with the client's panel."""
    _go("pages/explore/page.py")


def review() -> None:
    """Open Compare with the options of the link."""
    _go("pages/compare/page.py")


def _go(page: str) -> None:
    state.view(), state.options()
    st.switch_page(page, query_params=st.query_params.to_dict())
