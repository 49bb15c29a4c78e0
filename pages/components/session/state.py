"""What the visitor has set: kept over pages, and written into the address bar.

Streamlit forgets a widget when its page is left. So values live here, in one dictionary of the
session; a widget takes its value from it and gives it back when moved. A fresh session reads the
address bar first, so that a copied link reopens the same view.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = ["get", "give_back", "kept", "link_of", "put", "take_from", "write_link"]

_KEY = "kept"


def kept() -> dict[str, Any]:
    """The settings of this session: the very dictionary."""
    return st.session_state.setdefault(_KEY, {})


def get(name: str, start: Any, read: Callable[[str], Any] = str) -> Any:
    """The value of a setting: as kept, else from the link, else `start`.

    `read` turns the link's text into a value and raises ValueError for one that is none.
    """
    settings = kept()
    if name not in settings:
        settings[name] = start
        if name in st.query_params:
            with suppress(ValueError):  # an old or mistyped link: the start value stands
                settings[name] = read(st.query_params[name])
    return settings[name]


def put(name: str, value: Any) -> None:
    """Change a setting (from a callback, before widgets are made)."""
    kept()[name] = value


def take_from(name: str, value: Any) -> str:
    """Set the widget of a setting to its value; returns the widget's key."""
    key = f"widget_{name}"
    # In a fragment's own run, setting it to what it is would undo a move under way; on a full run
    # it must be set, or a widget new to this page starts at its default.
    if not _in_fragment_run() or st.session_state.get(key) != value:
        st.session_state[key] = value
    return key


def _in_fragment_run() -> bool:
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.fragment_ids_this_run)


def give_back(name: str) -> None:
    """A widget was moved: keep its value."""
    kept()[name] = st.session_state[f"widget_{name}"]


def link_of(settings: dict[str, Any]) -> dict[str, str]:
    """Settings as query parameters: short, and none for what is not set."""
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in settings.items()
        if value not in (None, "", False)
    }


def write_link(settings: dict[str, Any]) -> None:
    """Put these settings into the address bar, beside those already there."""
    for name, text in link_of(settings).items():
        if st.query_params.get(name) != text:
            st.query_params[name] = text
    for name, value in settings.items():
        if value in (None, "", False) and name in st.query_params:
            del st.query_params[name]
