"""The yardstick of `benchmarks/start.py`: a Streamlit page with one slider and one chart."""

import plotly.graph_objects as go
import streamlit as st

value = st.select_slider("Gap", range(22), 8)
st.markdown(f"#### {value}")
st.plotly_chart(go.Figure(go.Scatter(x=list(range(22)), y=[value * x for x in range(22)])))
