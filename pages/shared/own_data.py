"""A visitor's own set: an experiment like the others, in that session only.

The session holds it; a register of weak references finds it by a name nobody can guess, also
outside of a page's run, as a download needs it. What is computed from it is kept inside it, never
in the caches that visitors share. So it is gone, with all that was made of it, when the session
ends or another set takes its place.
"""

import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.intake import Intake

_KEY = "own-set"
_PREFIX = "yours-"
_MOST = 30  # results of one function kept of one set
_register: "WeakValueDictionary[str, Held]" = WeakValueDictionary()


class Held:
    """A set and what was computed from it."""

    def __init__(self, intake: Intake) -> None:
        self.name = _PREFIX + secrets.token_hex(16)
        self.intake = intake
        self._made: dict[Callable[..., Any], Callable[..., Any]] = {}
        _register[self.name] = self

    def cached(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its latest results kept in this set, for as long as it lives."""
        return self._made.setdefault(function, lru_cache(_MOST)(function))


def hold(intake: Intake) -> Held:
    """Make this the session's set, in the place of any other."""
    drop()
    held = Held(intake)
    st.session_state[_KEY] = held
    return held


def drop() -> None:
    """Let go of the session's set."""
    held = st.session_state.pop(_KEY, None)
    if held is not None:
        _register.pop(held.name, None)


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
