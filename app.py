"""The door: page config and navigation over pages/, nothing else."""

import streamlit as st

st.set_page_config(page_title="fairfl", page_icon="⚖️", layout="wide")
st.navigation([st.Page("pages/coming.py", title="What is to come")]).run()
