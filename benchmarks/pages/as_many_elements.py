"""A yardstick of `benchmarks/browser.py`: as many elements as Explore has, and nothing to compute.

The same kinds in the same nesting, as many of them re-run; only the headline follows the slider,
and no chart is among them. What this page takes is what Streamlit takes for a page of this size.
"""

import pandas as pd
import streamlit as st

SENTENCE = "About as long as a sentence of the page, and the same after every move of the slider."
ROWS = pd.DataFrame({"asked": ["0.01"] * 3, "reached": ["0.01"] * 3, "unseen": ["0.02"] * 3})


def sidebar() -> None:
    """Settings with a caption each, and what is taken along."""
    for place in range(6):
        st.selectbox(f"Setting {place}", range(5))
        st.caption(SENTENCE)
    for place in range(2):
        st.toggle(f"Switch {place}")
    for place in range(4):
        st.download_button(f"File {place}", "", key=f"file-{place}")


def written(how_many: int) -> None:
    """Sentences."""
    for _ in range(how_many):
        st.markdown(SENTENCE)


def pressed(how_many: int, where: str) -> None:
    """Buttons in a row."""
    with st.container(horizontal=True):
        for place in range(how_many):
            st.button(f"Button {place}", key=f"{where}-{place}")


@st.fragment
def live(headline, summary, beside, below) -> None:
    """All that is re-run when the slider moves."""
    for column, label in zip(st.columns(2), ("Gap", "Other gap"), strict=True):
        with column:
            slider, number = st.columns([3, 1])
            slider.select_slider(label, range(22), 8, key=label)
            number.number_input(f"{label}, as a number", 0.0, 1.0)
    headline.markdown(f"#### {st.session_state['Gap']}")
    for _ in range(2):
        with headline.container(border=True):
            written(2)
    with summary:
        for column in st.columns(4):
            column.metric("A number", "0.05", "was 0.06", border=True)
    with beside:
        written(4)
        st.table(ROWS)
    with below:
        for place in range(2):
            st.selectbox(f"Choice {place}", range(3))
            written(3)
            st.expander("Table", key=f"table-{place}", on_change="rerun")
        written(2)


def whole() -> None:
    """What stays, and places for what follows the slider."""
    headline, sliders = st.container(), st.container()
    pressed(5, "preset")
    st.segmented_control("How sure", ["a", "b", "c", "d"])
    for place in range(4):
        st.expander(f"Fold {place}", key=f"fold-{place}", on_change="rerun")
    st.toggle("Without the group")
    summary = st.container()
    left, right = st.columns([3, 2])
    with right:
        beside = st.container()
        pressed(1, "keep")
    below = st.container()
    with sliders:
        live(headline, summary, beside, below)
    with left:
        written(1)
        st.expander("Table", key="table-map", on_change="rerun")
    pressed(1, "advice")
    written(3)
    for place in range(2):
        st.toggle(f"Draw {place}")
    st.download_button("Predictor", "", key="predictor")


with st.sidebar:
    sidebar()
whole()
