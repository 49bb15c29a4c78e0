"""A visitor's own set: an experiment like the others, in that session only.

The session holds it; a register that keeps nothing alive finds it by a name nobody can guess.
What is computed from it is cached inside it, never in the caches that visitors share. So it is
gone, with all that was made of it, when the session ends or another set takes its place.
"""

import secrets
from weakref import WeakValueDictionary

import pyarrow as pa
import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.intake import Intake
from pages.components.session import streamlit_internals
from pages.components.session.store import Store

__all__ = ["UPLOADERS", "Held", "current", "drop", "find", "forget_uploads", "hold", "is_own"]

UPLOADERS = ("upload-table", "upload-counts")  # how the keys of uploaders begin
_KEY = "own-set"
_PREFIX = "yours-"
_MOST = 60  # results kept of one set
_register: "WeakValueDictionary[str, Held]" = WeakValueDictionary()

streamlit_internals.keep_uploads_in_memory()
streamlit_internals.hold_so_much()
streamlit_internals.ask_no_other_host()


class Held:
    """A set and what was computed from it."""

    def __init__(self, intake: Intake) -> None:
        self.name = _PREFIX + secrets.token_hex(16)
        self.intake = intake
        self.results = Store(_MOST)
        _register[self.name] = self


def hold(intake: Intake) -> Held:
    """Make this the session's set, in the place of any other."""
    drop()
    held = Held(intake)
    st.session_state[_KEY] = held
    return held


def drop() -> None:
    """Let go of the session's set and give its memory back."""
    held = st.session_state.pop(_KEY, None)
    if held is not None:
        held.results.clear()
        _register.pop(held.name, None)
        pa.default_memory_pool().release_unused()


def forget_uploads(*, always: bool = False) -> None:
    """Free files whose uploader is gone.

    Only where no uploader is on the page, so that a file on its way is not taken from it.
    """
    there = any(str(key).startswith(UPLOADERS) for key in st.session_state)
    if always or not there:
        streamlit_internals.forget_uploaded_files()


def current() -> Held | None:
    """The session's set, if it has one."""
    held: Held | None = st.session_state.get(_KEY)
    return held


def is_own(name: str) -> bool:
    """Whether a name is of an uploaded set, not of a bundled experiment."""
    return name.startswith(_PREFIX)


def find(name: str) -> Held:
    """The set of a name; works outside of a page's run too, as a download does."""
    held = _register.get(name)
    if held is None:
        raise InputError("this uploaded set is gone; upload it again on the page Your data.")
    return held
