"""The door: page config and navigation over pages/, nothing else."""

import os

import streamlit as st


def main() -> None:
    """Set the page up and run the one that was asked for."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before pages load numpy: cores are shared
    st.set_page_config(page_title="fairfl: what fairness costs", page_icon="⚖️", layout="wide")

    from pages.shared import frame, state

    page = st.navigation(
        [
            st.Page("pages/learn/page.py", title="Learn", url_path="learn"),
            st.Page("pages/explore/page.py", title="Explore", url_path="explore", default=True),
            st.Page("pages/compare/page.py", title="Compare", url_path="compare"),
            st.Page("pages/scenarios/page.py", title="Scenarios", url_path="scenarios"),
            st.Page("pages/privacy/page.py", title="Privacy", url_path="privacy"),
            st.Page("pages/methods/page.py", title="Methods", url_path="methods"),
            st.Page("pages/your_data/page.py", title="Your data", url_path="your_data"),
            st.Page("pages/watch/page.py", title="Watch", url_path="watch"),
            st.Page(frame.clients, title="Clients", url_path="clients", visibility="hidden"),
            st.Page(frame.review, title="Review", url_path="review", visibility="hidden"),
        ],
        position="top",
    )
    state.enter(page.url_path)
    page.run()


if __name__ == "__main__":  # a process that reads an upload imports this file, too
    main()
