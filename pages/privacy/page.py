"""Privacy: what noise on the clients' tables does to fairness and accuracy."""

import pandas as pd
import streamlit as st

from fairfl_core._io.names import figure_text
from fairfl_core.errors import InputError
from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, Mechanism
from fairfl_core.privacy.noise_study import spending
from pages.privacy import text
from pages.privacy.charts import COLOURS, Series, against_budget, failing_clients
from pages.privacy.results import (
    BUDGETS,
    NoiseResult,
    noise_result,
    on_counts,
    sums_suffice,
)
from pages.shared import state
from pages.shared.catalogue import noun_of
from pages.shared.codecs import one_of
from pages.shared.frame import experiment_choice, frame, view_settings
from pages.shared.results import is_large
from pages.shared.widgets import (
    chart,
    error_boundary,
    lazy,
    limit_slider,
    progress,
)

MOST_BARS = 12
BUDGET = state.Setting("budget", 1.0, one_of(BUDGETS))
MANY = (20, 40, 100, 200)
DRAWS = state.Setting("draws", 40, one_of(MANY))
MECHANISM = state.Setting("mechanism", MECHANISMS[0], one_of(MECHANISMS))
NEIGHBOUR = state.Setting("neighbours", NEIGHBOURS[0], one_of(NEIGHBOURS))
CURVE = state.Setting("curve", "local", one_of(tuple(text.CURVES)))
FIGURES_OF = {"local": ("local_worst", "local_mean"), "overall": ("overall",)}


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(_settings) as view:
        _controls()
        with error_boundary(text.STUDY):
            if is_large(view):
                raise InputError(text.TOO_MANY_CLIENTS)
            with progress(text.DRAWING) as on_progress:
                result = noise_result(
                    view,
                    _mechanism(),
                    state.get(DRAWS),
                    on_progress=on_progress,
                )
            _pictures(result)
        lazy(st.expander, text.PROTECTION_TITLE, "expander-protection", _protection)
        st.page_link(
            "pages/methods/page.py",
            label=text.PAPER_TABLE,
            query_params={"of": "adult", "tab": "table4"},
        )


def _mechanism() -> Mechanism:
    """The noise that is set; its budget is the one really spent."""
    return spending(state.get(MECHANISM), state.get(BUDGET), state.get(NEIGHBOUR))


def _controls() -> None:
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    with left:
        st.markdown(f"#### {text.TITLE}")
        experiment_choice()
    right.select_slider(
        text.BUDGET,
        BUDGETS,
        format_func=lambda budget: f"{budget:g}",
        help=text.BUDGET_TIP,
        **state.bound(BUDGET),
    )


def _settings() -> None:
    """The limits, the noise, and how the view is solved."""
    limit_slider("eps_global")
    limit_slider("eps_local", noun_of(state.view().data))
    st.selectbox(
        text.MECHANISM,
        MECHANISMS,
        format_func=lambda name: text.MECHANISMS[name][0],
        **state.bound(MECHANISM),
    )
    st.selectbox(
        text.NEIGHBOUR,
        NEIGHBOURS,
        format_func=lambda name: f"{name}: {text.NEIGHBOURS[name]}",
        **state.bound(NEIGHBOUR),
    )
    st.selectbox(text.DRAWS, MANY, **state.bound(DRAWS))
    st.caption(text.what_it_is(_mechanism(), sums_suffice=sums_suffice(state.view())))
    view_settings()


def _pictures(result: NoiseResult) -> None:
    view, noun = state.view(), noun_of(state.view().data)
    st.markdown(text.sentence(result, noun))
    instead = text.shown_instead(view, on_counts(view))
    if instead:
        st.caption(instead, help=text.settings_shown(on_counts(view)))
    curve, failing = st.columns(2, gap="large")
    with curve, error_boundary(text.CURVE):
        _curve(result, noun)
    with failing, error_boundary(text.FAILING):
        _fails(result, noun)


def _curve(result: NoiseResult, noun: str) -> None:
    """One figure, or two, against the budget: its band, and new people."""
    st.segmented_control(
        text.CURVE_CHOICE,
        tuple(text.CURVES),
        format_func=text.CURVES.__getitem__,
        label_visibility="collapsed",
        required=True,
        **state.bound(CURVE),
    )
    curve, study = state.get(CURVE), result.study
    series = []
    columns = {text.BUDGET_COLUMN: study.spent, text.PAPER_COLUMN: result.paper_epsilons}
    for figure in FIGURES_OF.get(curve, (curve,)):
        reached, unseen = result.over_budgets(figure)
        parts = (reached.low, reached.middle, reached.high, unseen)
        titled = zip(text.series_columns(figure), parts, strict=True)
        columns |= {title: values for title, values in titled if values is not None}
        series.append(Series(text.SERIES[figure], COLOURS[figure], reached, unseen))
    asked = {"local": float(study.eps_local.max()), "overall": study.eps_global}.get(curve, 1.0)
    chart(
        against_budget(
            study.spent,
            series,
            text.AXIS[curve],
            times=100.0 if curve == "accuracy" else 1.0,
            here=result.budget,
            asked=asked if asked < 1 else None,
            without=result.without_noise(curve) if curve == "accuracy" else None,
        ),
        key=f"privacy-{curve}",
        spoken=text.curve_spoken(curve, noun),
        table=pd.DataFrame(columns).round(4),
    )


def _fails(result: NoiseResult, noun: str) -> None:
    """How often each client's gap is above what was asked: in their order, or the worst of many."""
    table = result.client_table()
    few = table.sort_index() if len(table) <= MOST_BARS else table.head(MOST_BARS)
    names = [
        f"{figure_text(name)}  (n = {n:,.0f})"
        for name, n in zip(few["client"], few["n"], strict=True)
    ]
    title = text.fails_title(result, noun, MOST_BARS)
    st.markdown(title)
    chart(
        failing_clients(names, few["fails"].to_numpy()),
        key="privacy-clients",
        spoken=title,
        table=table.round(4),
    )


def _protection() -> None:
    left, right = st.columns(2, gap="large")
    left.markdown(text.PROTECTED)
    right.markdown(text.NOT_PROTECTED)
    st.markdown(text.REHEARSAL)
    st.code(text.RELEASE_COMMAND.format(_mechanism()), language=None, wrap_lines=True)


page()
