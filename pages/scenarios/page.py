"""Scenarios: what it costs when clients differ; the paper's three, and one's own."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core.errors import InputError
from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.evaluation.study import Study
from fairfl_core.paper.printed import SCENARIOS
from pages.scenarios import text
from pages.scenarios.charts import group_shares, small_map
from pages.scenarios.results import (
    MAP,
    OwnClients,
    Scenario,
    composition,
    missing,
    most_people,
    own_heat,
    own_loss,
    own_most,
    own_people,
    own_study,
    own_summary,
    scenario_of,
)
from pages.shared import figures, state, tolerances
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.charts import chart, draw, error_boundary, progress, table_below
from pages.shared.codecs import Numbers, Whole
from pages.shared.frame import frame
from pages.shared.results import summary_of
from pages.shared.view import View

FEWEST, MOST = 2, 6  # clients of one's own
STEP = 10  # people, of the size slider
SPREADS = {  # shares of the first group, in percent: the paper's three, for up to six clients
    "alike": (40, 40, 40, 40, 40, 40),
    "little": (20, 30, 40, 50, 60, 40),
    "far": (10, 30, 50, 70, 90, 50),
}
CLIENTS = state.Setting("k", 5, Whole(FEWEST, MOST))
SIZE = state.Setting("size", 0, Whole(0, 10**9))  # 0: half of what is possible
DRAW = state.Setting("draw", 0, Whole(0, 9999))
SHARES = state.Setting("shares", SPREADS["far"], Numbers(0, 100, MOST))


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame():
        _live()


@st.fragment
def _live() -> None:
    """All that follows the two tolerances: only this is re-run when one moves."""
    view = state.view()
    place = st.container()
    tolerances.sliders()
    with error_boundary(text.PAPERS):
        _papers(view, place)
    _own()


# -------------------------------------------------------------------- the paper's three


def _papers(view: View, place: DeltaGenerator) -> None:
    lacking = missing()
    if lacking:
        st.info(text.not_here(lacking))
    with progress(text.SOLVING) as on_progress:
        there = [name for name in SCENARIOS if name not in lacking]
        scenarios = [scenario_of(name, view, on_progress) for name in there]
    if not scenarios:
        return
    with place:
        first = scenarios[0].view
        st.markdown(f"#### {text.headline(scenarios)}")
        st.markdown(text.about(first, experiment_of(first.experiment)))
    _maps(scenarios)
    with error_boundary(text.LOSSES):
        _losses(scenarios)
    with error_boundary(text.COMPOSITION):
        _composition(scenarios)


def _maps(scenarios: Sequence[Scenario]) -> None:
    here = _here(scenarios[0].view)
    st.markdown(text.maps_reading(scenarios[0].view, inside=here is not None))
    accuracy = 100 * np.stack([scenario.heat.accuracy for scenario in scenarios])
    limits = (accuracy.min(), accuracy.max())
    for column, scenario in zip(st.columns(3, gap="medium"), scenarios, strict=False):
        with column, error_boundary(text.number(scenario)):
            _now(scenario)
            key = f"map-{scenario.view.experiment}"
            figure = small_map(scenario.heat, here, limits)
            draw(figure, spoken=text.map_spoken(scenario), key=key, bare=True)
            table_below(figures.map_table(scenario.heat), name=key)


def _here(view: View) -> figures.Place | None:
    """Where the limits lie on a map; None if they lie off it."""
    here = (view.eps_global, view.eps_local)
    return here if min(here) >= MAP[0] else None


def _now(scenario: Scenario) -> None:
    """The scenario at the limits set now, on unseen people."""
    judged = summary_of(scenario.view).judged
    st.metric(
        text.now_label(scenario), format.percent(judged.accuracy), text.against_no_limit(judged)
    )
    st.caption(text.gaps_now(judged), help=shared_text.WORST_CLIENT_TIP)


def _losses(scenarios: Sequence[Scenario]) -> None:
    st.markdown(text.LOSSES_TITLE)
    names = [text.number(scenario) for scenario in scenarios]
    rows = text.loss_rows(scenarios)
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=names))
    records = [text.loss_record(scenario) for scenario in scenarios]
    table_below(pd.DataFrame(records), name="scenario-losses")


def _composition(scenarios: Sequence[Scenario]) -> None:
    groups = experiment_of(scenarios[0].view.experiment).groups
    parts = [composition(scenario.view) for scenario in scenarios]
    shares, people = (np.concatenate([pair[code] for pair in parts]) for code in (0, 1))
    sizes = [len(pair[1]) for pair in parts]
    blocks = [text.number(one) for one, n in zip(scenarios, sizes, strict=True) for _ in range(n)]
    clients = [str(client + 1) for n in sizes for client in range(n)]
    table = pd.DataFrame(
        {text.SCENARIO: blocks, text.CLIENT: clients, text.N_HELD_OUT: people.round()}
    )
    for code, group in enumerate(groups):
        table[text.share_of(group)] = (100 * shares[:, code]).round(1)
    chart(
        group_shares(blocks, clients, groups, shares),
        reading=text.composition_reading(groups[0]),
        table=table,
        name="scenario-composition",
    )


# -------------------------------------------------------------------- one's own


@st.fragment
def _own() -> None:
    """Clients of one's own: re-run alone when a share, a size or the draw changes."""
    view = state.view()
    experiment = experiment_of(view.experiment)
    st.markdown(text.OWN_TITLE)
    st.markdown(text.own_introduction(experiment.manifest["title"]))
    with error_boundary(text.OWN):
        own = _own_controls(view)
        try:
            own_people(own)
        except InputError as error:
            _impossible(own, str(error))
            return
        _own_result(own, own_study(own))


def _own_controls(view: View) -> OwnClients:
    left, middle, right = st.columns(3, gap="medium")
    left.slider(text.CLIENTS, FEWEST, MOST, **state.bound(CLIENTS))
    clients = state.get(CLIENTS)
    with middle:
        size = _size(most_people(view, clients))
    right.number_input(text.DRAW, 0, 9999, help=text.DRAW_TIP, **state.bound(DRAW))
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, spread in SPREADS.items():
            st.button(
                text.SPREADS[name],
                key=f"spread-{name}",
                on_click=state.put,
                args=(SHARES, spread),
            )
    shares = _shares(clients)
    st.markdown(text.shares_title(experiment_of(view.experiment).groups))
    # A row of columns at a time: on a phone they stand below each other in order.
    columns = [*st.columns(3, gap="medium"), *st.columns(3, gap="medium")]
    for place, share in enumerate(shares):
        columns[place].slider(
            text.client(place),
            0,
            100,
            step=5,
            format="%d %%",
            key=state.widget(f"share{place}", share),
            on_change=_share_moved,
            args=(place, shares),
        )
    state.publish_setting(SHARES)
    view = view.in_the_papers_split(catalogue())
    return OwnClients(view, tuple(share / 100 for share in shares), size, state.get(DRAW))


def _size(most: int) -> int:
    """People of each client: what is set as far as it is possible, in steps of ten."""
    if most < 2 * STEP:
        return most
    size = max(min(state.get(SIZE) or most // 2, most) // STEP * STEP, STEP)
    st.slider(
        text.SIZE,
        STEP,
        most // STEP * STEP,
        step=STEP,
        key=state.widget("size", size),
        on_change=lambda: state.put(SIZE, st.session_state["widget_size"]),
        help=text.SIZE_TIP,
    )
    state.publish_setting(SIZE)
    return size


def _shares(clients: int) -> tuple[int, ...]:
    """Shares in percent, one a client."""
    kept = state.get(SHARES)[:clients]
    return (*kept, *SHARES.start[len(kept) : clients])


def _share_moved(place: int, shares: tuple[int, ...]) -> None:
    moved = st.session_state[f"widget_share{place}"]
    state.put(SHARES, (*shares[:place], moved, *shares[place + 1 :]))


def _impossible(own: OwnClients, why: str) -> None:
    """Say why clients cannot be drawn, and offer what is possible."""
    most = own_most(own)
    most = most // STEP * STEP if most >= STEP else most
    st.info(text.impossible(why, most))
    if most:
        st.button(text.take(most), key="size-possible", on_click=state.put, args=(SIZE, most))


def _own_result(own: OwnClients, study: Study) -> None:
    summary = own_summary(own, study)
    st.markdown(f"##### {shared_text.headline(summary)}")
    st.caption(text.own_caption(own, held_out=study.has_held_out))
    left, right = st.columns([3, 2], gap="large")
    with left, error_boundary(text.OWN_MAP):
        heat, here = own_heat(own), _here(own.view)
        limits = (100 * heat.accuracy.min(), 100 * heat.accuracy.max())
        chart(
            small_map(heat, here, limits),
            reading=text.own_map_reading(inside=here is not None),
            table=figures.map_table(heat),
            name="own-map",
        )
    with right, error_boundary(text.BESIDE_EVEN):
        _beside_even(own, study)
    with error_boundary(text.OWN_GAPS):
        _own_clients(study)


def _beside_even(own: OwnClients, study: Study) -> None:
    """The same number of people of the first group, spread evenly: what difference alone costs."""
    summaries = [own_summary(own, study), own_summary(own.even, own_study(own.even))]
    group = study.first.solution.counts.groups[0]
    st.markdown(
        text.beside_even(group, shared_text.judged_on(summaries[0])),
        help=shared_text.WORST_CLIENT_TIP,
    )
    rows = text.even_rows(summaries, [own_loss(own), own_loss(own.even)])
    table = pd.DataFrame.from_dict(rows, orient="index", columns=[text.AS_DRAWN, text.EVEN])
    st.table(table)
    table_below(table.reset_index(names=text.FIGURE), name="own-beside-even")


def _own_clients(study: Study) -> None:
    table = study.client_table(unseen=study.has_held_out)
    within = int(within_chance(table["gap_low"]).sum())
    chart(
        figures.client_gaps(table),
        reading=shared_text.dumbbell_reading(
            within, len(table), unseen=study.has_held_out, runs=len(study.outcomes)
        ),
        table=table.round(4),
        headings=shared_text.CLIENT_COLUMNS,
        name="own-clients",
    )


page()
