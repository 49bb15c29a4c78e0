"""Learn: a lesson of ten steps, each asking before it tells; then the words, and the limits."""

import streamlit as st

from pages.learn import glossary_text, text
from pages.learn.steps import STEPS
from pages.learn.widgets import STEP
from pages.shared import present, state
from pages.shared.charts import error_boundary
from pages.shared.frame import frame

SCROLL = "document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, 0)"


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(chooses=False):
        _lesson()
        if present.presenting():
            return
        _explained(text.WORDS, glossary_text.WORDS)
        _explained(text.UNSETTLED, glossary_text.UNSETTLED)


@st.fragment
def _lesson() -> None:
    """One step: only this is re-run when the reader answers or moves something."""
    step = state.get(STEP)
    state.leave_out(lambda name: name.startswith("step") and not name.startswith(f"step{step}_"))
    if not present.presenting():
        _ladder()
    st.subheader(text.step_title(step), anchor=False)
    with error_boundary(text.step_name(step)):
        STEPS[step - 1].show()
    if present.presenting():
        present.presenter(
            back=lambda: state.put(STEP, max(step - 1, 1)),
            onward=lambda: state.put(STEP, min(step + 1, len(STEPS))),
            said=text.step_of(step),
        )
        state.publish_setting(STEP)
    else:
        _onward(step)
    # A new step begins at its top, also on a phone; the script runs when the step changes.
    st.html(f"<script>/* {step:d} */ {SCROLL}</script>", unsafe_allow_javascript=True)


def _ladder() -> None:
    """Where the reader is, and the way to any other step."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            text.STEP,
            range(1, len(STEPS) + 1),
            required=True,
            label_visibility="collapsed",
            wrap=True,
            **state.bound(STEP),
        )
        st.caption(text.ABOUT_LESSON)


def _onward(step: int) -> None:
    with st.container(horizontal=True):
        st.button(
            text.BACK,
            key="learn-back",
            disabled=step == 1,
            on_click=state.put,
            args=(STEP, step - 1),
        )
        if step < len(STEPS):
            st.button(
                text.onward(step),
                key="learn-next",
                type="primary",
                on_click=state.put,
                args=(STEP, step + 1),
            )


def _explained(title: str, entries: tuple[tuple[str, str], ...]) -> None:
    with st.expander(title):
        st.markdown("\n".join(f"- **{word}** {meaning}" for word, meaning in entries))


page()
