"""Learn: a lesson of eight steps, each asking before it tells; then the words, and the limits."""

import re

import streamlit as st

from pages.components.learn import (
    chance,
    cost,
    draws,
    glossary,
    network,
    people,
    roc,
    simpson,
    solid,
)
from pages.components.session import controls, state
from pages.components.shared.charts import part
from pages.components.shared.results import Choice

STEPS = (network, people, simpson, roc, solid, draws, chance, cost)


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    _lesson(choice)
    _words()
    _limits()


@st.fragment
def _lesson(choice: Choice) -> None:
    """One step: only this is re-run when the reader answers or moves something."""
    step = _step()
    _ladder(step)
    this = STEPS[step - 1]
    st.subheader(f"{step}. {this.TITLE}", anchor=False)
    with part(f"Step {step}"):
        this.show(choice)
    _onward(step)
    _to_the_top(step)


def _step() -> int:
    step = state.get("step", 1, int)
    if not 1 <= step <= len(STEPS):
        step = 1
        state.put("step", step)
    others = [name for name in st.query_params if re.match(rf"step(?!{step})\d_", name)]
    state.write_link({"step": str(step)} | dict.fromkeys(others))
    return step


def _ladder(step: int) -> None:
    """Where the reader is, and the way to any other step."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Step",
            range(1, len(STEPS) + 1),
            key=state.take_from("step", step),
            on_change=state.give_back,
            args=("step",),
            required=True,
            label_visibility="collapsed",
        )
        st.caption("A lesson of about five minutes. Its people are made up until step 8.")


def _onward(step: int) -> None:
    with st.container(horizontal=True):
        st.button("Back", key="learn-back", disabled=step == 1, on_click=state.put,
                  args=("step", step - 1))  # fmt: skip
        if step < len(STEPS):
            st.button(f"Next: {STEPS[step].TITLE.lower()}", key="learn-next", type="primary",
                      on_click=state.put, args=("step", step + 1))  # fmt: skip


def _to_the_top(step: int) -> None:
    """A new step begins at its top, also on a phone; runs when the step changes, not otherwise."""
    main = "document.querySelector('[data-testid=\"stMain\"]')"
    st.html(f"<script>/* {step:d} */ {main}.scrollTo(0, 0)</script>", unsafe_allow_javascript=True)


def _words() -> None:
    with st.expander("The words used here"):
        st.markdown("\n".join(f"- **{word}.** {text}" for word, text in glossary.WORDS))


def _limits() -> None:
    with st.expander("What no metric settles"):
        st.markdown("\n".join(f"- **{claim}** {text}" for claim, text in glossary.UNSETTLED))


page()
