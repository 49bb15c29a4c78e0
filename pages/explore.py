"""Explore: move two tolerances and see what fairness costs, for whom, and how sure that is."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.finding import within_chance
from fairfl_core.evaluation.study import Study
from fairfl_core.evaluation.summary import Summary
from fairfl_core.review.file import MOST
from pages.components.codecs import Between, Flag, OneOf
from pages.components.explore import text
from pages.components.explore.figures import certainty_line, region_lines
from pages.components.session import policy, present, state, tolerances
from pages.components.session.catalogue import catalogue, experiment_of
from pages.components.session.sidebar import frame
from pages.components.shared import downloads, figures, harm_text
from pages.components.shared import text as shared_text
from pages.components.shared.certainty import (
    SURE,
    advice_of,
    certainty_of,
    certainty_possible,
    median_client,
)
from pages.components.shared.charts import (
    accuracy_metric,
    chart,
    mark_on,
    metric,
    part,
    progress,
    verdict_banner,
)
from pages.components.shared.client_choice import chosen_clients
from pages.components.shared.harm import alarm_banner, recognition_part
from pages.components.shared.people import counts_of
from pages.components.shared.policy_results import collision_of
from pages.components.shared.results import (
    COARSE,
    GRID,
    accuracy_kept,
    heat_of,
    heavy,
    judged_of,
    many_margins,
    papers_region_serves,
    region_curve,
    study_of,
    summary_of,
)
from pages.components.view import NO_LIMIT, View, changed, regions_of

HEAT = "explore-heat"
SHOWN_TO_A_HALL = 8  # clients, the first in the order chosen
WELCOME = state.Setting("welcome", True, Flag())
MAP_DRAWN = state.Setting("map_drawn", False, Flag())
REGIONS_DRAWN = state.Setting("regions_drawn", False, Flag())
CERTAINTY_DRAWN = state.Setting("certainty_drawn", False, Flag())
POINTS = state.Setting("points", 1.0, Between(0.0, 20.0))
ORDER = state.Setting("order", "gap", OneOf(tuple(text.ORDERS)))


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame():
        if present.presenting():
            _presented()
        else:
            _welcome()
            _whole()


def _welcome() -> None:
    if state.get(WELCOME):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/learn.py", label=text.LESSON)
            st.button(
                text.DISMISS,
                key="welcome-away",
                help=text.DISMISS_TIP,
                type="tertiary",
                on_click=state.put,
                args=(WELCOME, False),
            )


@dataclass(frozen=True)
class _Places:
    """Where on the page stands what follows the sliders."""

    top: DeltaGenerator
    price: DeltaGenerator
    policy: DeltaGenerator
    summary: DeltaGenerator
    comparison: DeltaGenerator
    kept: DeltaGenerator
    recognition: DeltaGenerator
    clients: DeltaGenerator
    certainty: DeltaGenerator
    predictor: DeltaGenerator


def _whole() -> None:
    """All of the page: what stays when a slider moves, with places for what does not.

    These are filled before anything is drawn that takes long.
    """
    view = state.view()
    top, sliders = st.container(), st.container()
    tolerances.preset_buttons()
    price = tolerances.certainty()
    policy.asked_for()
    policy_cost, summary = st.container(), st.container()
    left, right = st.columns([3, 2], gap="large")
    with right:
        comparison = st.container()
        _options()
        kept = st.container()
    recognition, advice, clients = st.container(), st.container(), st.container()
    certainty = _certainty_choice(view)
    regions = st.container()
    predictor = downloads.predictor_part(view)
    with sliders:
        _live(
            _Places(
                top=top,
                price=price,
                policy=policy_cost,
                summary=summary,
                comparison=comparison,
                kept=kept,
                recognition=recognition,
                clients=clients,
                certainty=certainty,
                predictor=predictor,
            )
        )
    with left, part(text.MAP):
        _map(view)
    with advice, part(text.ADVICE), suppress(CollisionError):  # floors may be out of its reach
        _advice(view)
    with regions, part(text.REGIONS):
        _regions(view)


@st.fragment
def _live(places: _Places) -> None:
    """All that follows a slider: only this is re-run when one moves."""
    tolerances.sliders()
    view = state.view()
    _mark(view)
    with part(shared_text.RESULTS):
        try:
            summary = summary_of(view)
        except CollisionError:
            with places.top:
                policy.collision(view, collision_of(view))
        else:
            _results(view, summary, places)
    with places.policy:
        policy.cost(view)
    with places.price:  # three more solutions: what was asked for comes first
        tolerances.certainty_price(view)


@st.fragment
def _presented() -> None:
    """One idea a screen: the headline, the two limits, one picture."""
    view = state.view()
    place = st.container()
    tolerances.sliders()
    at = present.screen(text.SCREENS)
    with part(shared_text.RESULTS):
        summary = summary_of(view)
        with place:
            st.markdown(f"#### {shared_text.headline(summary)}")
        if at == 0:
            _map(view)
            _mark(view)
        elif at == 1:
            _clients(study_of(view))
        elif at == 2:
            recognition_part(summary)
        else:
            _three_numbers(view, summary)


def _results(view: View, summary: Summary, places: _Places) -> None:
    with places.top, part(harm_text.ALARMS):
        alarm_banner(summary.harm)
    with places.top, part(text.HEADLINE):
        verdict_banner(
            summary.verdict.word,
            shared_text.verdict_title(summary),
            shared_text.verdict(summary),
            harmless=summary.harmless,
        )
        st.markdown(f"#### {shared_text.headline(summary)}")
    with places.summary, part(text.SUMMARY):
        _metrics(summary)
    with places.comparison, part(text.COMPARISON):
        _three_numbers(view, summary)
        _prices(view, summary)
    with places.kept, part(text.COMPARISON):
        _kept_options(view, summary)
    with places.recognition, part(harm_text.RECOGNITION):
        recognition_part(summary)
    with places.clients, part(text.CLIENTS):
        _clients(study_of(view))
    with places.certainty, part(text.CERTAINTY), suppress(CollisionError):
        _certainty(view)
    with places.predictor, part(text.PREDICTOR):
        downloads.predictor_figures(view)
    with places.top, part(text.OTHER_REGION), suppress(CollisionError):
        _other_region(view, summary)


def _other_region(view: View, summary: Summary) -> None:
    """What another region would do here: another study, so it comes last."""
    if not view.answers_by_scores:
        _suggested(view, summary)
    elif papers_region_serves(view):
        st.markdown(text.approximation(summary, judged_of(view.as_the_paper())))


def _suggested(view: View, summary: Summary) -> None:
    """Where looking at scores would save more than a point: say so, with the button."""
    larger = regions_of(experiment_of(view.data), view.notion)[-1]
    exact = changed(view, catalogue(), region=larger)
    if not exact.answers_by_scores or heavy(view) or not shared_text.limited(summary):
        return
    first = view.seeds[
        0
    ]  # all runs are asked only where the first says so: each is a program more
    if accuracy_kept(view.of_seed(first), exact.of_seed(first)) <= text.WORTH_SAYING:
        return
    saved = accuracy_kept(view, exact)
    if saved > text.WORTH_SAYING:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(text.suggested(larger, saved, unseen=summary.unseen is not None))
            st.button(
                text.take_region(larger),
                key="take-region",
                on_click=state.change,
                kwargs={"region": larger},
            )


def _metrics(summary: Summary) -> None:
    judged, worst = summary.judged, summary.judged.worst
    cells = st.columns(4)
    with cells[0]:
        label = text.ACCURACY_UNSEEN if summary.unseen else text.ACCURACY
        accuracy_metric(label, judged.accuracy, -judged.cost, summary.effect)
    with cells[1]:
        metric(text.OVERALL, format.gap(judged.overall), text.was(judged.overall_before))
    with cells[2]:
        if worst is None:
            metric(*text.NOBODY_TO_COMPARE)
        else:
            metric(
                text.worst_client(worst.client),
                format.gap(worst.gap),
                text.was(worst.gap_before),
                tip=shared_text.WORST_CLIENT_TIP,
            )
    with cells[3]:
        by_group = text.changed_by_group(summary.changed_by_group)
        metric(text.CHANGED, format.percent(summary.changed), by_group)


def _map(view: View) -> None:
    many = heavy(view, map_only=True)
    if many and not st.toggle(text.DRAW_MAP, **state.bound(MAP_DRAWN)):
        return
    with progress(shared_text.SOLVING_MAP) as on_progress:
        heat = heat_of(view, COARSE if many else GRID, on_progress)
    kept = [
        (text.option(place), (one.eps_global, one.eps_local))
        for place, one in enumerate(state.options())
    ]
    chart(
        figures.heat_map(heat, None, kept, marked=True),
        reading=text.map_reading(
            own_limits=bool(view.own_limits), collides=bool(np.isnan(heat.accuracy).any())
        ),
        table=lambda: figures.map_table(heat),
        name="accuracy-map",
        key=HEAT,
        on_click=tolerances.go_to_cell(HEAT),
    )


def _mark(view: View) -> None:
    """Where the visitor stands on the map: a mark that moves while the map stays as it is."""
    grid = (*(COARSE if heavy(view, map_only=True) else GRID), NO_LIMIT)
    x, y = (figures.index_on(grid, limit) for limit in (view.eps_global, view.eps_local))
    mark_on(HEAT, x, y)


def _advice(view: View) -> None:
    """The tightest limits that hold with confidence within a price: one button."""
    if not certainty_possible(view) or many_margins(view):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            text.ADVICE_POINTS,
            0.0,
            20.0,
            step=0.1,
            format="%.1f",
            width=190,
            help=text.ADVICE_TIP,
            **state.bound(POINTS),
        )
        points = state.get(POINTS)
        advice = advice_of(view, points)
        st.button(
            text.use_advice(advice),
            key="advice-use",
            on_click=state.change,
            kwargs={
                "eps_global": advice.eps,
                "eps_local": advice.eps,
                "guarantee": view.guarantee or SURE,
            },
        )
    st.caption(text.advice(advice, points, view.guarantee or SURE))


def _certainty_choice(view: View) -> DeltaGenerator:
    """Whether to draw what certainty costs against people per client; returns its place."""
    if certainty_possible(view):
        st.markdown(text.CERTAINTY_TITLE)
        st.toggle(text.DRAW_CERTAINTY, **state.bound(CERTAINTY_DRAWN))
    return st.container()


def _certainty(view: View) -> None:
    if not certainty_possible(view) or not state.get(CERTAINTY_DRAWN):
        return
    if min(view.eps_global, view.eps_local) >= NO_LIMIT:
        st.caption(text.NOTHING_TO_BE_SURE_OF)
        return
    price = certainty_of(view)
    chart(
        certainty_line(price, median_client(view)),
        reading=text.CERTAINTY_READING,
        table=pd.DataFrame(
            {text.AXIS_PEOPLE: price.people.round(), text.AXIS_COST: (100 * price.cost).round(3)}
        ),
        name="certainty",
        key="explore-certainty",
    )


def _three_numbers(view: View, summary: Summary) -> None:
    st.markdown(text.THREE_NUMBERS, help=shared_text.WORST_CLIENT_TIP)
    rows, headings = text.three_numbers(summary)
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=headings))
    not_held = text.not_held(summary)
    if not_held:
        st.caption(not_held)
    if view.rates != "labels":
        st.caption(text.other_rates(view.rates))


def _prices(view: View, summary: Summary) -> None:
    st.markdown(text.PRICES)
    sentences = (shared_text.who_pays(summary), *shared_text.price_sentences(summary))
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    if view.own_limits:
        st.caption(text.own_limits(view))


def _options() -> None:
    """Keep up to four settings."""
    kept = state.options()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.KEEP,
            on_click=lambda: state.keep(state.view()),
            key="keep",
            disabled=len(kept) == MOST,
            help=text.KEEP_TIP,
        )
        if kept:
            st.page_link("pages/review.py", label=text.TO_REVIEW)
            st.button(text.LET_GO, on_click=state.let_go, args=kept, key="let-go", type="tertiary")


def _kept_options(view: View, summary: Summary) -> None:
    """The settings that were kept beside the one set now."""
    kept = state.options()
    if kept:
        rows = text.option_rows([*(summary_of(one) for one in kept), summary])
        headings = [
            text.kept(place, one, view, experiment_of(one.data).protocol)
            for place, one in enumerate(kept)
        ]
        table = pd.DataFrame.from_dict(rows, orient="index", columns=[*headings, text.AS_SET_NOW])
        st.table(table)


def _clients(study: Study) -> None:
    table = study.client_table(unseen=study.has_held_out)
    st.selectbox(
        text.ORDER,
        tuple(text.ORDERS),
        format_func=lambda order: text.ORDERS[order],
        width=260,
        **state.bound(ORDER),
    )
    order = state.get(ORDER)
    if order != "client":
        table = table.sort_values(order, ascending=False, kind="stable")
    within = int(within_chance(table["gap_low"]).sum())
    drawn = table.head(SHOWN_TO_A_HALL) if present.presenting() else chosen_clients(table)
    chart(
        figures.client_gaps(drawn),
        reading=shared_text.dumbbell_reading(
            within, len(table), unseen=study.has_held_out, runs=len(study.outcomes)
        ),
        table=lambda: table.round(4),
        headings=shared_text.CLIENT_COLUMNS,
        name="clients",
        key="explore-clients",
    )


def _regions(view: View) -> None:
    """Accuracy against the gap that really remains, one line a region: a fair comparison."""
    st.markdown(text.REGIONS_TITLE)
    if counts_of(view.data, view.seeds[0], "test") is None:
        st.caption(shared_text.NO_CHECK_HERE)
        return
    if not st.toggle(text.DRAW_REGIONS, **state.bound(REGIONS_DRAWN)):
        return
    runs = view.seeds[:1] if view.answers_by_scores else view.seeds
    with progress(text.SOLVING_REGIONS) as on_progress:
        table = region_curve(replace(view, seeds=runs), on_progress)
    chart(
        region_lines(table),
        reading=text.REGIONS_READING,
        table=table.round(4),
        headings=text.REGION_COLUMNS,
        name="regions",
        key="explore-regions",
    )


page()
