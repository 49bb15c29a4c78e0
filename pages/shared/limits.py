"""The two limits: the gap allowed overall (epsilon_0) and in each client (epsilon_c)."""

import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.lp.frontier import Frontier
from pages.shared import state, text
from pages.shared.results import LEVELS


def limit_slider(name: str, noun: str = "client") -> None:
    """A slider over `eps_global` or `eps_local` of the view; a link's value between steps is one.

    Parameters
    ----------
    name : {"eps_global", "eps_local"}
    noun : str
        What a client is called here.
    """
    value = getattr(state.view(), name)
    st.select_slider(
        text.OVERALL if name == "eps_global" else text.inside(noun),
        tuple(sorted({*LEVELS, value})),
        format_func=format.epsilon,
        **state.bound_field(name),
    )


def go_to_cell(key: str, heat: Frontier) -> None:
    """Set both limits to the cell that was clicked on the map of this key."""
    x, y = st.session_state[key].go
    limits = heat.eps_global.tolist()
    state.change(eps_global=limits[int(x)], eps_local=limits[int(y)])
