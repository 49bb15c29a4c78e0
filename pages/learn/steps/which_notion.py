"""Step 10: which notion, as a tree of questions."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.learn import charts, text
from pages.learn.widgets import ask, choose, picture
from pages.shared import state
from pages.shared.charts import error_boundary

_BY_HARM = {"missed": "eop", "both": "eo", "kind": "eo-full", "meaning": "precision"}


def advised(truth: str, harm: str) -> str:
    """What the answers lead to: a notion, or precision, which no limit can be set on."""
    return "sp" if truth == "no" else _BY_HARM[harm]


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.WHICH)
        known = ask(text.WHICH_QUESTION)
    with shown, error_boundary(text.PICTURES[9]):
        place = st.container()
        notion = _advised() if known else ""
        picture(
            place,
            charts.tree(notion),
            key="learn-tree",
            spoken=text.TREE_SPOKEN,
            reading=text.ADVICE.get(notion, ""),
            table=_table(),
        )


def _advised() -> str:
    """Ask both questions; what the answers lead to."""
    st.caption(text.FOR_YOURSELF)
    notion = advised(*_answers())
    if notion != "precision" and st.button(text.TO_EXPLORE, key="learn-notion"):
        state.change(notion=notion)
        st.switch_page("pages/explore/page.py")
    return notion


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
