"""The two tolerances: sliders, numbers, presets, and a click on a map."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import NOTHING_MORE
from pages.shared import state, text
from pages.shared.charts import error_boundary
from pages.shared.results import (
    CERTAINTIES,
    LEVELS,
    certainty_costs,
    certainty_possible,
    many_margins,
)
from pages.shared.view import NO_LIMIT, START, View

__all__ = [
    "LEVELS",
    "certainty",
    "certainty_price",
    "controls",
    "go_to_cell",
    "nearest_level",
    "one_move_from",
    "preset_buttons",
    "sliders",
]

PRESETS = {
    "none": (NO_LIMIT, NO_LIMIT),
    "local": (NO_LIMIT, 0.01),
    "global": (0.01, NO_LIMIT),
    "both": (0.01, 0.01),
}
NUMBER = 120  # pixels
LIMITS = ("eps_local", "eps_global")  # what the sliders move
_SHOWN = 10  # settings a browser may still echo


def sliders() -> None:
    """`controls`, and the link with what they say."""
    controls()
    state.publish()


def controls() -> None:
    """Both tolerances, each by a slider and by an exact number; the view's own are changed."""
    with st.container(horizontal=True, gap="medium"):
        _control("eps_global", text.OVERALL, text.OVERALL_TIP)
        _control("eps_local", text.INSIDE, text.INSIDE_TIP)


def certainty() -> DeltaGenerator:
    """How sure the limits are to be; returns the place of its price, beside it.

    That is for `certainty_price` to fill in, once there is nothing more urgent to do.
    """
    view = state.view()
    if not certainty_possible(view):
        return st.empty()
    chosen = next(name for name, one in CERTAINTIES.items() if one == _kind(view.guarantee))
    key = state.widget("certainty", chosen)

    def moved() -> None:
        guarantee, policy = CERTAINTIES[st.session_state[key] or "none"], state.view().policy
        if guarantee is not None:  # a confidence cannot be had for ratios: they go
            policy = replace(policy, ratio_global=None, ratio_local=None, limits=())
        state.change(guarantee=guarantee, policy=policy)

    st.segmented_control(
        text.CERTAINTY,
        list(text.CERTAINTIES),
        format_func=lambda name: text.CERTAINTIES[name],
        key=key,
        on_change=moved,
        help=text.CERTAINTY_TIP,
        required=True,
    )
    return st.empty()


def certainty_price(view: View) -> None:
    """What each certainty costs here, before one chooses; or why there is none."""
    if not certainty_possible(view):
        st.caption(text.NO_CERTAINTY)
        return
    if many_margins(view):  # three more solutions, unasked
        st.empty()
        return
    with error_boundary(text.CERTAINTY):
        st.caption(text.certainty_costs(certainty_costs(view)))


def _kind(guarantee: Guarantee | None) -> Guarantee | None:
    """The offer nearest to a guarantee that a link may have brought: its scope and proof."""
    if guarantee is None:
        return None
    proved = guarantee.proof == "proved"
    return CERTAINTIES["proved" if proved else guarantee.scope]


def nearest_level(value: float) -> float:
    """The slider's step nearest to a tolerance."""
    return min(LEVELS, key=lambda level: abs(level - value))


def one_move_from(view: View) -> list[View]:
    """The views that one move of a slider leads to, nearest first."""
    stands = {name: LEVELS.index(nearest_level(getattr(view, name))) for name in LIMITS}
    moves = [(abs(to - stands[name]), name, to) for name in LIMITS for to in range(len(LEVELS))]
    found: list[dict[str, Any]] = [{name: LEVELS[to]} for far, name, to in sorted(moves) if far]
    return [replace(view, **move) for move in found]


def _control(name: str, label: str, tip: str) -> None:
    """A slider, and a number beside it for values between its steps."""
    value = getattr(state.view(), name)
    nearest = nearest_level(value)
    shown = _shown(name)
    shown[:] = [*shown[1 - _SHOWN :], (nearest, value)]
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"limit-{name}"):
        st.select_slider(
            label,
            LEVELS,
            format_func=format.epsilon,
            key=state.widget(f"{name}_slider", nearest),
            help=tip,
            on_change=_moved,
            args=(name,),
        )
        st.number_input(
            text.as_a_number(label),
            0.0,
            1.0,
            step=0.005,
            format="%.4g",
            key=state.widget(name, value),
            on_change=_moved,
            args=(name,),
            label_visibility="collapsed",
            width=NUMBER,
        )


def _shown(name: str) -> list[tuple[float, float]]:
    """What slider and number of a tolerance last showed."""
    return state.get(state.Setting(f"{name}_shown", []))


def _moved(name: str) -> None:
    """Take what was moved, the slider or the number.

    While a page is being repainted the browser still holds the number of an earlier setting and
    sends it along with the slider's next move: such an echo is no wish of the visitor.
    """
    slider = st.session_state[f"widget_{name}_slider"]
    number = st.session_state[f"widget_{name}"]
    shown = _shown(name)
    echo = number in [value for _, value in shown]
    state.change(**{name: float(slider if echo and slider != shown[-1][0] else number)})


def preset_buttons() -> None:
    """Common settings at one click, and the way back."""
    with st.container(horizontal=True):
        for name, (eps_global, eps_local) in PRESETS.items():
            st.button(
                text.PRESETS[name],
                key=f"preset-{name}",
                on_click=state.change,
                kwargs={"eps_global": eps_global, "eps_local": eps_local},
            )
        st.button(
            text.RESET,
            key="preset-reset",
            type="tertiary",
            on_click=state.change,
            kwargs=START | {"own_limits": (), "policy": NOTHING_MORE},
        )


def go_to_cell(chart: str) -> Callable[[], None]:
    """A callback that takes the clicked cell of a map as the new tolerances."""

    def clicked() -> None:
        eps_global, eps_local, *_ = st.session_state[chart].clicked
        state.change(eps_global=float(eps_global), eps_local=float(eps_local))

    return clicked
