"""Learn: a lesson of ten steps, each asking before it tells; then the score, and Explore."""

from functools import partial

import streamlit as st

from pages.learn import text
from pages.learn.steps import STEPS
from pages.learn.widgets import STEP, forget, guesses
from pages.shared import state
from pages.shared.frame import frame, presenter, presenting
from pages.shared.widgets import error_boundary, lazy

SCROLL = "document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, 0)"


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(hall=True):
        _lesson()


@st.fragment
def _lesson() -> None:
    """One step: only this is re-run when the reader answers or moves something."""
    step = state.get(STEP)
    state.leave_out(
        lambda name: name[:4] == "step" and name.partition("_")[0] not in ("step", f"step{step}")
    )
    if not presenting():
        st.segmented_control(  # where the reader is, and the way to any other step
            text.STEP,
            range(1, len(STEPS) + 1),
            format_func=lambda step: text.NAMES[step - 1],
            required=True,
            label_visibility="collapsed",
            wrap=True,
            **state.bound(STEP),
        )
    st.markdown(f"#### {step}. {text.TITLES[step - 1]}")
    shown, words = st.columns([7, 5], gap="large")  # on a phone the picture comes first
    with shown, error_boundary(f"{text.STEP} {step}"):
        STEPS[step - 1](st.container(key="learn-picture"), words)
    if presenting():
        presenter(
            back=lambda: state.put(STEP, max(step - 1, 1)),
            onward=lambda: state.put(STEP, min(step + 1, len(STEPS))),
            words=text.STEP_OF.format(step, len(STEPS)),
        )
    else:
        with words:
            _onward(step)
    # A new step begins at its top, also on a phone; the script runs when the step changes.
    st.html(f"<script>/* {step:d} */ {SCROLL}</script>", unsafe_allow_javascript=True)
    state.publish()


def _onward(step: int) -> None:
    """Back and next, the end of the last step, and what explains the words."""
    last, first = step == len(STEPS), guesses()
    if last and step in first:
        st.markdown(f"#### {text.score(sum(first.values()), len(first))}")
    with st.container(horizontal=True, vertical_alignment="center"):
        go = partial(state.put, STEP)
        st.button(text.BACK, key="learn-back", disabled=step == 1, on_click=go, args=(step - 1,))
        if last:
            st.page_link(
                "pages/explore/page.py", label=text.NOW_EXPLORE, icon=":material/explore:"
            )
            st.button(text.ANEW, on_click=forget, type="tertiary", key="learn-anew")
        else:
            label = text.NEXT.format(text.NAMES[step].lower())
            st.button(label, key="learn-next", type="primary", on_click=go, args=(step + 1,))
        for title in text.EXPLAINED:
            explain = partial(_explain, title)
            lazy(st.popover, title, f"learn-{title.lower()}", explain, type="tertiary")


def _explain(title: str) -> None:
    st.markdown(text.explained(title))


page()
