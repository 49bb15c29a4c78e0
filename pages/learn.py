"""Learn: to come."""

import streamlit as st

st.title("Learn")
