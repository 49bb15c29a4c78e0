"""A visitor's own set: an experiment like the others, in that session only.

The session holds it; a register that keeps nothing alive finds it by a name nobody can guess.
What is computed from it is cached inside it, never in the caches that visitors share. So it is
gone, with all that was made of it, when the session ends or another set takes its place.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import pyarrow as pa
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from fairfl_core.errors import InputError
from fairfl_core.intake import Taken
from pages.components.session import state

__all__ = [
    "UPLOADERS",
    "Held",
    "cached",
    "current",
    "drop",
    "find",
    "forget_uploads",
    "hold",
    "is_own",
    "names",
]

UPLOADERS = ("upload-table", "upload-counts")  # how the keys of uploaders begin
_KEY = "own-set"
_PREFIX = "yours-"
_MOST = 60  # results kept of one set
_register: "WeakValueDictionary[str, Held]" = WeakValueDictionary()
Function = TypeVar("Function", bound=Callable[..., Any])

# Uploads stay in memory: unless told, the server spools what is larger than 1 MB to a file.
MultiPartParser.spool_max_size = 256 * 2**20


class Held:
    """A set and what was computed from it."""

    def __init__(self, taken: Taken) -> None:
        self.name = _PREFIX + secrets.token_hex(16)
        self.taken = taken
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()

    def result(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """A result computed before, else now; the oldest gives way."""
        with self._lock:
            if key not in self._results:
                self._results[key] = make()
                if len(self._results) > _MOST:
                    self._results.popitem(last=False)
            self._results.move_to_end(key)
            return self._results[key]

    def clear(self) -> None:
        """Forget what was computed."""
        with self._lock:
            self._results.clear()


def hold(taken: Taken) -> Held:
    """Make this the session's set, in the place of any other, and choose it."""
    drop()
    held = Held(taken)
    _register[held.name] = held
    st.session_state[_KEY] = held
    for name, value in {"experiment": held.name, "notion": taken.experiment.notion, "seed": "all",
                        "own": "", "pinned": ""}.items():  # fmt: skip
        state.put(name, value)
    return held


def drop() -> None:
    """Let go of the session's set and give its memory back."""
    held = st.session_state.pop(_KEY, None)
    if held is not None:
        held.clear()
        _register.pop(held.name, None)
        pa.default_memory_pool().release_unused()


def forget_uploads(*, always: bool = False) -> None:
    """Free files whose uploader is gone: the server would keep them until the session ends.

    Only where no uploader is on the page, so that a file on its way is not taken from it.
    """
    there = any(str(key).startswith(UPLOADERS) for key in st.session_state)
    context = get_script_run_ctx()
    if context is not None and runtime.exists() and (always or not there):
        runtime.get_instance().uploaded_file_mgr.remove_session_files(context.session_id)


def current() -> Held | None:
    """The session's set, if it has one."""
    return st.session_state.get(_KEY)


def names() -> list[str]:
    """The names under which this session's own experiments are known: one, or none."""
    held = current()
    return [] if held is None else [held.name]


def is_own(name: str) -> bool:
    """Whether a name is of an uploaded set, not of a bundled experiment."""
    return name.startswith(_PREFIX)


def find(name: str) -> Held:
    """The set of a name; works outside of a page's run too, as a download does."""
    held = _register.get(name)
    if held is None:
        raise InputError("this uploaded set is gone; upload it again on the page Your data.")
    return held


def cached(most: int) -> Callable[[Function], Function]:
    """Cache a function of an experiment: for everybody if it is bundled, else inside the set.

    The experiment is told by the first argument: its name, or something that has a `choice` or
    an `experiment`.
    """

    def around(function: Function) -> Function:
        everybody = st.cache_resource(max_entries=most, show_spinner=False)(function)

        @wraps(function)
        def result(first: Any, *rest: Any, **named: Any) -> Any:
            name = _experiment(first)
            if not is_own(name):
                return everybody(first, *rest, **named)
            key = (function.__module__, function.__qualname__, first, rest, *sorted(named.items()))
            return find(name).result(key, lambda: function(first, *rest, **named))

        return result  # type: ignore[return-value]

    return around


def _experiment(first: Any) -> str:
    if isinstance(first, str):
        return first
    return _experiment(first.choice) if hasattr(first, "choice") else str(first.experiment)
