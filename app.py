"""The door: page config and navigation over pages/, nothing else."""

import os

import streamlit as st

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before pages load numpy: cores are shared
st.set_page_config(page_title="fairfl: what fairness costs", page_icon="⚖️", layout="wide")
st.navigation(
    [
        st.Page("pages/explore.py", title="Explore", default=True),
        st.Page("pages/clients.py", title="Clients"),
        st.Page("pages/review.py", title="Review"),
        st.Page("pages/scenarios.py", title="Scenarios"),
        st.Page("pages/privacy.py", title="Privacy"),
        st.Page("pages/methods.py", title="Methods"),
        st.Page("pages/your_data.py", title="Your data"),
        st.Page("pages/learn.py", title="Learn"),
    ]
).run()
