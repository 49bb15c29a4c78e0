"""The yardstick of `benchmarks/browser.py`: an almost empty Streamlit page with one slider."""

import streamlit as st

value = st.select_slider("Gap", range(22), 8)  # as many stops as the dashboard's
st.html(f'<p class="fairfl-sentence">{value}</p>')
