"""Scenarios: what it costs when clients differ; the paper's three, and one's own."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.data.experiments import Experiment
from fairfl_core.errors import InputError
from fairfl_core.evaluation.paper_numbers import SCENARIOS
from fairfl_core.evaluation.study import Study, Summary
from fairfl_core.explore.charts import colour_limits, gaps, map_data
from fairfl_core.explore.text import gap_axis
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.frontier import Frontier
from fairfl_core.lp.rate_estimates import rate_names
from pages.scenarios import text
from pages.scenarios.charts import colour_key, share_bars
from pages.scenarios.results import (
    KINDS,
    OwnClients,
    composition,
    cost_difference,
    fitted_loss,
    map_of,
    missing,
    most_people,
    own_heat,
    own_loss,
    own_most,
    own_people,
    own_study,
    own_summary,
    scenario_view,
    unseen_loss,
)
from pages.shared import present, state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.charts import (
    error_boundary,
    lazy_expander,
    map_table,
    numbers_table,
    progress,
    table_popover,
)
from pages.shared.codecs import ALL, Numbers, OneOf, Whole
from pages.shared.component import client_chart, limit_map
from pages.shared.frame import experiment_choice, frame, view_settings
from pages.shared.limits import go_to_cell, limit_slider
from pages.shared.results import is_dear, study_of, summary_of
from pages.shared.view import View, regions_of

FEWEST, MOST = 2, 6  # clients of one's own
STEP = 10  # people, of the size slider
MAP_HEIGHT, CLIENTS_HEIGHT, HALL = 250, 300, 400  # the last where a picture has the screen alone
SPREADS = {  # shares of the first group, in per cent: the paper's three, for up to six clients
    "alike": (40, 40, 40, 40, 40, 40),
    "little": (20, 30, 40, 50, 60, 40),
    "far": (10, 30, 50, 70, 90, 50),
}
CLIENTS = state.Setting("k", 5, Whole(FEWEST, MOST))
SIZE = state.Setting("size", 0, Whole(0, 10**9))  # 0: half of what is possible
DRAW = state.Setting("draw", 0, Whole(0, 9999))
SHARES = state.Setting("shares", SPREADS["far"], Numbers(0, 100, MOST))
OF_OWN = (CLIENTS, SIZE, DRAW, SHARES)


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(_settings):
        kind = state.get(_kind())
        there = {one: name for one, name in KINDS.items() if name not in missing()}
        at = present.screen(text.SCREENS) if present.presenting() else None
        _top(kind, presenting=at is not None)
        with error_boundary(text.OWN if kind == "own" else text.PAPERS):
            if kind == "own":
                _own(at)
            else:
                _papers(kind, there, at)


def _kind() -> state.Setting[str]:
    """Which scenario is looked at; a link that tells of clients of one's own opens those."""
    own = any(setting.name in st.query_params for setting in OF_OWN)
    return state.Setting("apart", "own" if own else "alike", OneOf(tuple(text.KINDS)))


def _top(kind: str, *, presenting: bool) -> None:
    """The question, the choice of a scenario, and the two limits."""
    bound = state.bound(_kind())
    if presenting:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"#### {text.TITLE}", width="content")
        st.segmented_control(
            text.KIND,
            tuple(text.KINDS),
            format_func=text.KINDS.__getitem__,
            label_visibility="collapsed",
            required=True,
            wrap=True,
            **bound,
        )
        if kind == "own":
            experiment_choice(width=330)
    for place, name in zip(st.columns(2, wrap=False), ("eps_global", "eps_local"), strict=True):
        with place:
            limit_slider(name)


def _settings() -> None:
    """Settings of what is shown: the three scenarios' own, or the view that clients come from."""
    if state.get(_kind()) == "own":
        view_settings()
        st.caption(text.OWN_SPLIT)
        return
    there = {one: name for one, name in KINDS.items() if name not in missing()}
    if not there:
        return
    experiment = _first(there)
    write: dict[str, tuple[str, Callable[[str], str]]] = {
        "notion": (shared_text.NOTION, shared_text.notion_title),
        "region": (shared_text.REGION, shared_text.region_title),
        "rates": (shared_text.RATES, lambda name: shared_text.RATE_KINDS[name][0]),
        "seed": (shared_text.SEEDS, lambda seed: text.run(seed, len(experiment.seeds))),
    }
    for name, (setting, options) in _own_settings(experiment).items():
        label, title = write[name]
        st.selectbox(label, options, format_func=title, **state.bound(setting))
    st.caption(text.about(experiment))


# -------------------------------------------------------------------- the paper's three


def _first(there: Mapping[str, str]) -> Experiment:
    return experiment_of(next(iter(there.values())))


def _own_settings(
    experiment: Experiment,
) -> dict[str, tuple[state.Setting[str], Sequence[str]]]:
    """What the three are solved by: settings of this page, by their names in the link of a view."""
    notions, rates = notion_names(), rate_names(scores=experiment.has_scores)
    notion = state.Setting("scenario_notion", experiment.notion, OneOf(notions))
    regions = regions_of(experiment, state.get(notion))
    runs = (ALL, *map(str, experiment.seeds))
    return {
        "notion": (notion, notions),
        "region": (state.Setting("scenario_region", regions[0], OneOf(regions)), regions),
        "rates": (state.Setting("scenario_rates", rates[0], OneOf(rates)), rates),
        "seed": (state.Setting("scenario_seed", ALL, OneOf(runs)), runs),
    }


def _views(there: Mapping[str, str]) -> list[View]:
    """Each scenario by this page's settings, which are written into the link."""
    settings = {}
    for name, (setting, _) in _own_settings(_first(there)).items():
        settings[name] = state.get(setting)
        state.publish_setting(setting)
    return [scenario_view(name, settings, state.view()) for name in there.values()]


def _papers(kind: str, there: Mapping[str, str], at: int | None) -> None:
    lacking = missing()
    if lacking:
        st.info(text.not_here(lacking))
    if not there:
        return
    views = dict(zip(there, _views(there), strict=True))
    if {"alike", "far"} <= set(views):
        more, error = cost_difference(views["alike"], views["far"])
        answer = text.answer(more, error, len(views["far"].seeds))
        st.markdown(f"**{answer}**")
    if at != 1:
        _maps(kind, views)
    if at != 0 and kind in views:
        with error_boundary(text.CLIENTS_GAPS):
            st.markdown(text.gaps_title(kind))
            view = views[kind]
            _clients("scenario-clients", study_of(view), summary_of(view), text.gaps_title(kind))
    if at is None:
        _details(views)


def _maps(kind: str, views: Mapping[str, View]) -> None:
    """The three side by side: who is in which client, the map, and what the limits do."""
    with progress(text.SOLVING) as on_progress:
        heats = {one: map_of(view, on_progress) for one, view in views.items()}
    limits = colour_limits(*(100 * heat.accuracy for heat in heats.values()))
    group = experiment_of(next(iter(views.values())).data).groups[0]
    for column, (one, view) in zip(st.columns(3, gap="medium"), views.items(), strict=False):
        with column, error_boundary(text.KINDS[one]):
            summary = summary_of(view)
            st.markdown(text.kind_title(one, chosen=one == kind))
            _bars_over_map(one, composition(view)[0][:, 0].tolist(), group, heats[one], limits)
            st.markdown(text.result(summary), help=shared_text.verdict(summary) or None)
    one_run = text.FIRST_RUN if any(map(is_dear, views.values())) else ""
    st.html(colour_key(text.MAPS.format(group) + one_run, *limits))
    first = next(iter(views.values()))
    experiment = experiment_of(first.data)
    st.caption(text.whose(first, experiment), help=text.about(experiment))


def _bars_over_map(
    kind: str, shares: list[float], group: str, heat: Frontier, limits: tuple[float, float]
) -> None:
    """Who is in which client, and below it what each pair of limits leaves; a cell can be taken."""
    st.html(share_bars(shares, group))
    view, key, (low, high) = state.view(), f"map-{kind}", limits
    limit_map(
        key,
        map_data(heat, (view.eps_global, view.eps_local)) | {"low": low, "high": high},
        on_go=lambda: go_to_cell(key, heat),
        noun=text.CLIENT,
        spoken=text.map_spoken(kind),
        large=_large(),
        height=HALL if present.presenting() else MAP_HEIGHT,
    )


def _large() -> bool:
    return present.presenting() or state.large_type()


def _clients(key: str, study: Study, summary: Summary, spoken: str) -> None:
    """Each client's gap before and after, and its table."""
    unseen = study.has_held_out
    client_chart(
        key,
        gaps(study.client_columns(unseen=unseen), summary, gap_axis(summary.harm.groups)),
        view="gaps",
        spoken=spoken,
        large=_large(),
        height=HALL if present.presenting() else CLIENTS_HEIGHT,
    )
    if not present.presenting():
        table_popover(
            lambda: study.client_table(unseen=unseen).round(4),
            key=key,
            headings=shared_text.CLIENT_COLUMNS,
        )


def _details(views: Mapping[str, View]) -> None:
    """What the pictures show as tables, and what the paper found; made once opened."""
    with st.container(horizontal=True):
        for one, view in views.items():
            table_popover(
                lambda view=view: map_table(map_of(view)),  # type: ignore[misc]
                key=f"map-{one}",
                label=text.table_of(one),
            )
        table_popover(lambda: _composition(views), key="scenario-composition", label=text.WHO)
    with lazy_expander(text.LOST, "losses") as opened, error_boundary(text.LOSSES):
        if opened:
            _losses(views)


def _losses(views: Mapping[str, View]) -> None:
    st.caption(text.LOSSES_NOTE)
    with progress(text.SOLVING) as on_progress:
        fitted = [fitted_loss(map_of(view, on_progress)) for view in views.values()]
        unseen = [unseen_loss(view) for view in views.values()]
    papers = [SCENARIOS[KINDS[one]] for one in views]
    numbers_table(text.loss_rows(fitted, unseen, papers), [text.KINDS[one] for one in views])


def _composition(views: Mapping[str, View]) -> pd.DataFrame:
    """One row a client of each scenario: how many people, and each group's share."""
    parts = []
    for one, view in views.items():
        shares, people = composition(view)
        names = {text.SCENARIO: text.KINDS[one], text.CLIENT: np.arange(1, len(people) + 1)}
        groups = map(text.share_of, experiment_of(view.data).groups)
        columns = dict(zip(groups, (100 * shares).round(1).T, strict=True))
        parts.append(pd.DataFrame({**names, text.N_HELD_OUT: people.round(), **columns}))
    return pd.concat(parts, ignore_index=True)


# -------------------------------------------------------------------- one's own


def _own(at: int | None) -> None:
    """Pictures first, controls beside them: on a phone the pictures stand above."""
    view = state.view().in_the_papers_split(catalogue())
    pictures, controls = st.columns([5, 2], gap="large") if at is None else (st.container(), None)
    if controls is None:
        own = OwnClients(view, *_set(view))
    else:
        with controls:
            own = _own_controls(view)
    with pictures:
        try:
            own_people(own)
        except InputError as error:
            _impossible(own, str(error))
            return
        _own_result(own, at)


def _set(view: View) -> tuple[tuple[float, ...], int, int]:
    """Shares, size and draw as they are set."""
    clients = state.get(CLIENTS)
    return _shares(clients), _size(most_people(view, clients)), state.get(DRAW)


def _own_controls(view: View) -> OwnClients:
    groups = experiment_of(view.experiment).groups
    left, right = st.columns(2, wrap=False)
    left.slider(text.CLIENTS, FEWEST, MOST, **state.bound(CLIENTS))
    clients = state.get(CLIENTS)
    with right:
        _size_slider(most_people(view, clients))
    st.markdown(text.shares_title(groups), help=text.shares_tip(groups))
    with st.container(horizontal=True, gap="small"):
        for name, spread in SPREADS.items():
            st.button(
                text.KINDS[name],
                key=f"spread-{name}",
                type="tertiary",
                on_click=state.put,
                args=(SHARES, spread),
            )
    shares = _percents(clients)
    for place, share in enumerate(shares):
        if place % 2 == 0:
            columns = st.columns(2, wrap=False)
        columns[place % 2].slider(
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
    st.number_input(text.DRAW, 0, 9999, help=text.DRAW_TIP, **state.bound(DRAW))
    return OwnClients(view, *_set(view))


def _size(most: int) -> int:
    """People of each client: what is set as far as it is possible, in steps of ten."""
    if most < 2 * STEP:
        return most
    return max(min(state.get(SIZE) or most // 2, most) // STEP * STEP, STEP)


def _size_slider(most: int) -> None:
    if most < 2 * STEP:
        return
    st.slider(
        text.SIZE,
        STEP,
        most // STEP * STEP,
        step=STEP,
        key=state.widget("size", _size(most)),
        on_change=lambda: state.put(SIZE, st.session_state["widget_size"]),
        help=text.SIZE_TIP,
    )
    state.publish_setting(SIZE)


def _percents(clients: int) -> tuple[int, ...]:
    """Shares in per cent, one a client."""
    kept = state.get(SHARES)[:clients]
    return (*kept, *SHARES.start[len(kept) : clients])


def _shares(clients: int) -> tuple[float, ...]:
    return tuple(share / 100 for share in _percents(clients))


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


def _own_result(own: OwnClients, at: int | None) -> None:
    summary, study = own_summary(own), own_study(own)
    st.markdown(text.own_sentence(own.view, summary), help=shared_text.verdict(summary) or None)
    places = st.columns(2, gap="medium") if at is None else [st.container()] * 2
    if at != 1:
        with places[0], error_boundary(text.OWN_MAP):
            heat = own_heat(own)
            limits = colour_limits(100 * heat.accuracy)
            st.html(colour_key(text.OWN_MAP_KEY, *limits))
            group = experiment_of(own.view.data).groups[0]
            _bars_over_map("own", list(own.shares), group, heat, limits)
            if at is None:
                table_popover(lambda: map_table(heat), key="map-own")
    if at != 0:
        with places[1], error_boundary(text.CLIENTS_GAPS):
            _clients("own-clients", study, summary, text.own_spoken(summary))
    if at is not None:
        return
    st.caption(text.own_note(own, held_out=study.has_held_out))
    with lazy_expander(text.EVEN_TITLE, "even") as opened, error_boundary(text.BESIDE_EVEN):
        if opened:
            _beside_even(own)


def _beside_even(own: OwnClients) -> None:
    """The same number of people of the first group, spread evenly: what difference alone costs."""
    both = (own, own.even)
    rows = text.even_rows([own_summary(one) for one in both], [own_loss(one) for one in both])
    numbers_table(rows, [text.AS_DRAWN, text.EVEN])


page()
