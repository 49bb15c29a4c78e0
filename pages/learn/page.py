"""Learn: a lesson of ten steps, each asking before it tells; then the score, and Explore."""

import streamlit as st

from pages.learn import text
from pages.learn.steps import STEPS
from pages.learn.widgets import STEP, answered, forget, guesses
from pages.shared import present, state
from pages.shared.frame import frame
from pages.shared.widgets import error_boundary, lazy_popover

SCROLL = "document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, 0)"


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(hall=True):
        _lesson()


@st.fragment
def _lesson() -> None:
    """One step: only this is re-run when the reader answers or moves something."""
    step = state.get(STEP)
    state.leave_out(lambda name: name.startswith("step") and not name.startswith(f"step{step}_"))
    if not present.presenting():
        _ladder()
    st.markdown(f"#### {text.step_title(step)}")
    shown, words = st.columns([7, 5], gap="large")  # on a phone the picture comes first
    with error_boundary(text.STEP_NAME.format(step)):
        STEPS[step - 1](shown, words)
    if present.presenting():
        present.presenter(
            back=lambda: state.put(STEP, max(step - 1, 1)),
            onward=lambda: state.put(STEP, min(step + 1, len(STEPS))),
            words=text.step_of(step),
        )
        state.publish_setting(STEP)
    else:
        with words:
            _onward(step)
    # A new step begins at its top, also on a phone; the script runs when the step changes.
    st.html(f"<script>/* {step:d} */ {SCROLL}</script>", unsafe_allow_javascript=True)
    state.publish()


def _ladder() -> None:
    """Where the reader is, and the way to any other step."""
    st.segmented_control(
        text.STEP,
        range(1, len(STEPS) + 1),
        format_func=lambda step: text.NAMES[step - 1],
        required=True,
        label_visibility="collapsed",
        wrap=True,
        **state.bound(STEP),
    )


def _onward(step: int) -> None:
    """Back and next, the end of the last step, and what explains the words."""
    last = step == len(STEPS)
    if last and answered(step):
        first = guesses()
        st.markdown(f"#### {text.score(sum(first.values()), len(first))}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.BACK,
            key="learn-back",
            disabled=step == 1,
            on_click=state.put,
            args=(STEP, step - 1),
        )
        if last:
            st.page_link(
                "pages/explore/page.py", label=text.NOW_EXPLORE, icon=":material/explore:"
            )
            st.button(text.ANEW, on_click=forget, type="tertiary", key="learn-anew")
        else:
            st.button(
                text.onward(step),
                key="learn-next",
                type="primary",
                on_click=state.put,
                args=(STEP, step + 1),
            )
        for title in text.EXPLAINED:
            with lazy_popover(title, f"learn-{title.lower()}", type="tertiary") as is_open:
                if is_open:
                    st.markdown(text.explained(title))


page()
