"""A line in the server's log for every upload that was not taken, with nothing of what is in it."""

import logging
from collections.abc import Sequence
from typing import Protocol

import streamlit as st

__all__ = ["log_refusal"]

log = logging.getLogger(__name__)
_LOGGED = "refusals-logged"


class Uploaded(Protocol):
    """What an uploader gives."""

    @property
    def file_id(self) -> str:
        """Another one for every upload."""

    @property
    def size(self) -> int:
        """In bytes."""


def log_refusal(kind: str, files: Sequence[Uploaded], error: Exception) -> None:
    """Log once that these files were refused: their kind, number and size, and by which check.

    Neither names nor sentences: both may tell of people. The check is told by where in the code
    it stands.
    """
    reason = _check(error)
    seen = (reason, *(file.file_id for file in files))
    logged: set[tuple[str, ...]] = st.session_state.setdefault(_LOGGED, set())
    if files and seen not in logged:  # a page is run anew with every click
        logged.add(seen)
        size = sum(file.size for file in files)
        log.warning(
            "upload refused: %s, %d files, %d bytes, by %s", kind, len(files), size, reason
        )


def _check(error: BaseException) -> str:
    """Where an error was raised first: module and function."""
    while error.__cause__ is not None and type(error.__cause__) is type(error):
        error = error.__cause__
    trace = error.__traceback__
    if trace is None:
        return type(error).__name__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
