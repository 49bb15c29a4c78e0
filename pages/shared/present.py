"""Present: large letters, one idea a screen, arrow keys, and a code to the same setting."""

from collections.abc import Sequence
from typing import Any

import segno
import streamlit as st

from pages.shared import own_data, state, text
from pages.shared.codecs import FLAG, whole

PRESENT = state.Setting("present", False, FLAG)
_LEFT = "left-hall"
SCREEN = state.Setting("screen", 1, whole(1, 20))


def presenting() -> bool:
    """Whether the page is shown to a hall."""
    if st.session_state.pop(_LEFT, False):  # inside a fragment: the whole page is to run again
        st.rerun()
    return state.get(PRESENT)


def screen(titles: Sequence[str]) -> int:
    """Which of some screens is shown, with what goes to the others; counted from 0."""
    now = min(state.get(SCREEN), len(titles))
    presenter(
        back=lambda: state.put(SCREEN, now - 1) if now > 1 else None,
        onward=lambda: state.put(SCREEN, now + 1) if now < len(titles) else None,
        words=text.SCREEN.format(now, len(titles), titles[now - 1]),
    )
    return now - 1


def presenter(back: Any, onward: Any, words: str) -> None:
    """What a presenter needs, in a corner: back, next, a code to scan, and the way out."""
    with st.container(key="presenter", horizontal=True, vertical_alignment="center"):
        st.caption(words)
        st.button(text.BACKWARD, key="backward", on_click=back, help=text.BACKWARD_TIP)
        st.button(text.ONWARD, key="onward", on_click=onward, help=text.ONWARD_TIP)
        with st.popover(text.SCAN):
            _code()
        st.button(text.LEAVE, key="leave", type="tertiary", on_click=_leave)


def _leave() -> None:
    state.put(PRESENT, False)
    st.session_state[_LEFT] = True


def _code() -> None:
    """A code to this very setting, where others can reach this server."""
    if own_data.is_own(state.view().experiment):
        st.caption(text.NOTHING_TO_SCAN)
        return
    link = state.link_for_others(PRESENT.name)
    if not link:
        st.caption(text.NOT_REACHABLE)
        return
    # As a picture of its own: Streamlit lets no SVG through in HTML.
    st.html(f'<img class="fairfl-code" alt="{text.SCAN_ALT}" src="{code_of(link)}">')
    st.caption(text.SCAN_TIP)


def code_of(link: str) -> str:
    """The code of a link as the address of a picture; black on white in light and dark."""
    code = segno.make(link, error="l", micro=False)
    return code.svg_data_uri(scale=6, border=4, light="white", encode_minimal=False)
