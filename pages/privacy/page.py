"""Privacy: what noise on the clients' tables does to fairness and accuracy."""

import pandas as pd
import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, Mechanism
from fairfl_core.privacy.noise_study import spending
from pages.privacy import text
from pages.privacy.charts import Scale, Series, against_budget, failing_clients
from pages.privacy.results import (
    BUDGETS,
    FIGURES,
    PAPER_ASKED,
    NoiseResult,
    adult_beside_paper,
    noise_result,
    on_counts,
    sums_suffice,
)
from pages.shared import state, tolerances
from pages.shared.catalogue import experiment_of
from pages.shared.charts import chart, error_boundary, metric, progress, table_below
from pages.shared.codecs import Flag, OneOf
from pages.shared.frame import frame
from pages.shared.outside_text import figure_text
from pages.shared.results import heavy
from pages.shared.theme import AFTER, HERE
from pages.shared.view import View

COLOURS = {"local_worst": HERE, "local_mean": AFTER, "overall": AFTER, "accuracy": AFTER}
MOST_BARS = 12
FEW, MANY = 20, 40  # draws unless said: with more than ten clients, and with fewer
BUDGET = state.Setting("budget", 1.0, OneOf(BUDGETS))
DRAWS = state.Setting("draws", "auto", OneOf(("auto", "20", "40", "100", "200")))
MECHANISM = state.Setting("mechanism", MECHANISMS[0], OneOf(MECHANISMS))
NEIGHBOUR = state.Setting("neighbours", NEIGHBOURS[0], OneOf(NEIGHBOURS))
BOTH = state.Setting("both", False, Flag())


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame():
        _live()


@st.fragment
def _live() -> None:
    """All that follows a slider: only this is re-run when one moves."""
    view = state.view()
    place = st.container()
    tolerances.sliders()
    automatic = MANY if len(experiment_of(view.experiment).clients) <= 10 else FEW
    mechanism = _noise_controls(automatic)
    st.caption(text.what_it_is(mechanism, sums_suffice=sums_suffice(view)))
    if on_counts(view) != view:
        st.caption(text.shown_instead(view, on_counts(view)))
    with error_boundary(text.STUDY):
        draws = state.get(DRAWS)
        result = _study(view, mechanism, automatic if draws == "auto" else int(draws))
        with place:
            st.markdown(f"#### {text.headline(result)}")
        _metrics(result)
        st.markdown(text.comparison(result))
        _charts(result)
    with error_boundary(text.PAPER_TABLE):
        _paper_table(mechanism.neighbours)
    _in_words(mechanism)


def _noise_controls(automatic: int) -> Mechanism:
    """Budget, mechanism, neighbour relation, draws; the budget is the one really spent."""
    left, right = st.columns([3, 2], gap="medium")
    left.select_slider(
        text.BUDGET,
        BUDGETS,
        format_func=lambda budget: f"{budget:g}",
        help=text.BUDGET_TIP,
        **state.bound(BUDGET),
    )
    right.selectbox(
        text.DRAWS,
        ("auto", "20", "40", "100", "200"),
        format_func=lambda option: text.draws(option, automatic),
        **state.bound(DRAWS),
    )
    left, middle, right = st.columns([2, 2, 1], gap="medium", vertical_alignment="bottom")
    left.selectbox(
        text.MECHANISM,
        MECHANISMS,
        format_func=lambda name: text.MECHANISMS[name][0],
        **state.bound(MECHANISM),
    )
    middle.selectbox(
        text.NEIGHBOUR, NEIGHBOURS, format_func=text.neighbours, **state.bound(NEIGHBOUR)
    )
    right.toggle(text.BOTH, help=text.BOTH_TIP, **state.bound(BOTH))
    return spending(state.get(MECHANISM), state.get(BUDGET), state.get(NEIGHBOUR))


def _study(view: View, mechanism: Mechanism, draws: int) -> NoiseResult:
    if heavy(view):
        raise InputError(text.TOO_MANY_CLIENTS)
    with progress(text.DRAWING) as on_progress:
        return noise_result(view, mechanism, draws, both=state.get(BOTH), on_progress=on_progress)


def _metrics(result: NoiseResult) -> None:
    for cell, figure in zip(st.columns(4), FIGURES, strict=True):
        low, middle, high = result.band(figure)
        with cell:
            metric(
                text.FIGURES[figure],
                text.shown(figure, middle),
                text.between(figure, low, high),
                tip=text.FIGURES_TIP,
            )
    st.caption(text.true_means(result))


def _charts(result: NoiseResult) -> None:
    study = result.study
    limit = float(study.eps_local.max())
    noiseless = result.without_noise("accuracy")
    left, right = st.columns(2, gap="large")
    with left, error_boundary(text.LOCAL):
        _bands(
            result,
            ("local_worst", "local_mean"),
            Scale(text.AXIS_LOCAL),
            reading=text.local_reading(unseen=study.held_out is not None),
            name="privacy-local",
            asked=limit if limit < 1 else None,
        )
    with right, error_boundary(text.OVERALL):
        _bands(
            result,
            ("overall",),
            Scale(text.AXIS_OVERALL),
            reading=text.overall_reading(result.band("overall")[1], study.eps_global),
            name="privacy-overall",
            asked=study.eps_global if study.eps_global < 1 else None,
        )
    left, right = st.columns(2, gap="large")
    with left, error_boundary(text.ACCURACY):
        _bands(
            result,
            ("accuracy",),
            Scale(text.AXIS_ACCURACY, times=100.0, digits=1),
            reading=text.accuracy_reading(result.band("accuracy")[1], noiseless),
            name="privacy-accuracy",
            without=noiseless,
        )
    with right, error_boundary(text.FAILING):
        _fails(result)


def _bands(
    result: NoiseResult,
    figures: tuple[str, ...],
    scale: Scale,
    *,
    reading: str,
    name: str,
    asked: float | None = None,
    without: float | None = None,
) -> None:
    """One chart of some figures against the budget, and its table."""
    study, other = result.study, text.MECHANISMS[result.other_mechanism.name][1]
    series = []
    columns = {text.BUDGET_COLUMN: study.spent, text.PAPER_COLUMN: result.paper_epsilons}
    for figure in figures:
        reached, unseen, medians = result.over_budgets(figure)
        parts = (reached.low, reached.middle, reached.high, unseen, medians)
        titled = zip(text.series_columns(figure), parts, strict=True)
        columns |= {title: values for title, values in titled if values is not None}
        series.append(
            Series(
                text.SERIES[figure],
                COLOURS[figure],
                reached,
                unseen,
                None if medians is None else (other, medians),
            )
        )
    chart(
        against_budget(
            study.spent, series, scale, here=result.budget, asked=asked, without=without
        ),
        reading=reading,
        table=pd.DataFrame(columns).round(4),
        name=name,
    )


def _fails(result: NoiseResult) -> None:
    table = result.client_table()
    shown = table.head(MOST_BARS)
    names = [
        f"{figure_text(name)}  (n = {n:,.0f})"
        for name, n in zip(shown["client"], shown["n"], strict=True)
    ]
    chart(
        failing_clients(names, shown["fails"].to_numpy()),
        reading=text.fails_reading(result, MOST_BARS),
        table=table.round(4),
        headings=text.CLIENT_COLUMNS,
        name="privacy-clients",
    )


def _paper_table(neighbours: str) -> None:
    st.markdown(text.PAPER_TITLE)
    with progress(text.REPEATING) as on_progress:
        rows = adult_beside_paper(neighbours, on_progress=on_progress)
    st.markdown(text.paper_introduction(rows, PAPER_ASKED, neighbours))
    shown = pd.DataFrame([text.paper_row(row) for row in rows])
    st.table(shown.set_index(shown.columns[0]))
    table_below(pd.DataFrame([text.paper_record(row) for row in rows]), name="privacy-paper")


def _in_words(mechanism: Mechanism) -> None:
    st.markdown(text.PROTECTION_TITLE)
    left, right = st.columns(2, gap="large")
    left.markdown(text.PROTECTED)
    right.markdown(text.NOT_PROTECTED)
    st.markdown(text.RELEASE_TITLE)
    st.markdown(text.REHEARSAL)
    st.code(text.release_command(mechanism), language=None, wrap_lines=True)


page()
