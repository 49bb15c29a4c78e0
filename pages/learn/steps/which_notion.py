"""Step 10: which notion, as a tree of questions."""

import streamlit as st

from pages.learn import notions_text as text
from pages.learn.widgets import ask, beside, choose
from pages.shared import state

__all__ = ["advised", "show"]

_BY_HARM = {"missed": "eop", "both": "eo", "kind": "eo-full", "meaning": "precision"}


def advised(truth: str, harm: str) -> str:
    """What the answers lead to: a notion, or precision, which is none of ours."""
    return "sp" if truth == "no" else _BY_HARM[harm]


def show() -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(text.WHICH)
        ask(text.WHICH_QUESTION)
    with right:
        question, options = text.TREE["truth"]
        truth = choose("step10_truth", question, options, "yes")
        harm = "missed"
        if truth == "yes":
            question, options = text.TREE["harm"]
            harm = choose("step10_harm", question, options, harm)
        notion = advised(truth, harm)
        with st.container(border=True):
            st.markdown(text.ADVICE[notion])
        if notion != "precision" and st.button(text.TO_EXPLORE, key="learn-notion"):
            state.change(notion=notion)
            st.switch_page("pages/explore.py")
