"""Step 10: which notion, as a tree of questions."""

import pandas as pd
import streamlit as st

from pages.learn import charts, text
from pages.learn.widgets import ask, beside, choose, picture
from pages.shared import state
from pages.shared.charts import error_boundary

__all__ = ["advised", "show"]

_BY_HARM = {"missed": "eop", "both": "eo", "kind": "eo-full", "meaning": "precision"}


def advised(truth: str, harm: str) -> str:
    """What the answers lead to: a notion, or precision, which no limit can be set on."""
    return "sp" if truth == "no" else _BY_HARM[harm]


def show() -> None:
    """Lay the step out."""
    shown, words = beside()
    with words:
        st.markdown(text.WHICH)
        ask(text.WHICH_QUESTION)
    with shown, error_boundary(text.PICTURES[9]):
        place = st.container()
        truth, harm = _answers()
        notion = advised(truth, harm)
        with place:
            picture(
                charts.tree(truth, harm, notion),
                key="learn-tree",
                reading=text.ADVICE[notion],
                table=_table(),
            )
        if notion != "precision" and st.button(text.TO_EXPLORE, key="learn-notion"):
            state.change(notion=notion)
            st.switch_page("pages/explore/page.py")


def _answers() -> tuple[str, str]:
    question, options = text.TREE["truth"]
    truth = choose("step10_truth", question, options, "yes")
    if truth == "no":
        return truth, "missed"
    question, options = text.TREE["harm"]
    return truth, choose("step10_harm", question, options, "missed")


def _table() -> pd.DataFrame:
    (first, truths), (second, harms) = text.TREE.values()
    rows = [(truths["no"], "", text.BRANCHES["sp"])]
    rows += [(truths["yes"], said, text.BRANCHES[_BY_HARM[harm]]) for harm, said in harms.items()]
    return pd.DataFrame(rows, columns=[first, second, text.WHICH_COLUMN])
