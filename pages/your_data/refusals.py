"""A line in the server's log for every upload that was not taken, with nothing of what is in it."""

import logging
from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from fairfl_core.intake import refused_by

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
    reason = refused_by(error)
    seen = (reason, *(file.file_id for file in files))
    logged: set[tuple[str, ...]] = st.session_state.setdefault(_LOGGED, set())
    if files and seen not in logged:  # a page is run anew with every click
        logged.add(seen)
        size = sum(file.size for file in files)
        log.warning(
            "upload refused: %s, %d files, %d bytes, by %s", kind, len(files), size, reason
        )
