"""Scenarios: what it costs when clients differ; the paper's three, and one's own."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.data.experiments import Experiment
from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Study, Summary
from fairfl_core.explore.charts import colour_limits, gaps, map_data
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.frontier import Frontier
from fairfl_core.lp.rate_estimates import rate_names
from pages.scenarios import text
from pages.scenarios.results import (
    KINDS,
    OwnClients,
    composition,
    cost_difference,
    map_of,
    most_people,
    own_heat,
    own_most,
    own_people,
    own_study,
    own_summary,
    scenario_view,
)
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.codecs import ALL, numbers, one_of, whole
from pages.shared.component import client_chart, limit_map
from pages.shared.frame import experiment_choice, frame, view_settings
from pages.shared.results import is_dear, study_of, summary_of
from pages.shared.theme import CIVIDIS
from pages.shared.view import View, regions_of
from pages.shared.widgets import (
    error_boundary,
    go_to_cell,
    limit_slider,
    map_table,
    progress,
    table_popover,
)

FEWEST, MOST = 2, 6  # clients of one's own
STEP = 10  # people, of the size slider
MAP_HEIGHT, CLIENTS_HEIGHT = 250, 300
SPREADS = {  # shares of the first group, in per cent: the paper's three, for up to six clients
    "alike": (40, 40, 40, 40, 40, 40),
    "little": (20, 30, 40, 50, 60, 40),
    "far": (10, 30, 50, 70, 90, 50),
}
CLIENTS = state.Setting("k", 5, whole(FEWEST, MOST))
SIZE = state.Setting("size", 0, whole(0, 10**9))  # 0: half of what is possible
DRAW = state.Setting("draw", 0, whole(0, 9999))
SHARES = state.Setting("shares", SPREADS["far"], numbers(0, 100, MOST))
OF_OWN = (CLIENTS, SIZE, DRAW, SHARES)


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(_settings):
        kind = state.get(_kind())
        _top(kind)
        with error_boundary(text.OWN if kind == "own" else text.PAPERS):
            if kind == "own":
                _own()
            else:
                _papers(kind)


def _kind() -> state.Setting[str]:
    """Which scenario is looked at; a link that tells of clients of one's own opens those."""
    own = any(setting.name in st.query_params for setting in OF_OWN)
    return state.Setting("apart", "own" if own else "alike", one_of(tuple(text.KINDS)))


def _top(kind: str) -> None:
    """The question, the choice of a scenario, and the two limits."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"#### {text.TITLE}", width="content")
        st.segmented_control(
            text.KIND,
            tuple(text.KINDS),
            format_func=text.KINDS.__getitem__,
            label_visibility="collapsed",
            required=True,
            wrap=True,
            **state.bound(_kind()),
        )
        if kind == "own":
            experiment_choice(width=400)
    for place, name in zip(st.columns(2, wrap=False), ("eps_global", "eps_local"), strict=True):
        with place:
            limit_slider(name)


def _settings() -> None:
    """Settings of what is shown: the three scenarios' own, or the view that clients come from."""
    if state.get(_kind()) == "own":
        view_settings()
        st.caption(text.OWN_SPLIT)
        return
    experiment = experiment_of(KINDS["alike"])
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


def _own_settings(
    experiment: Experiment,
) -> dict[str, tuple[state.Setting[str], Sequence[str]]]:
    """What the three are solved by: settings of this page, by their names in the link of a view."""
    notions, rates = notion_names(), rate_names(scores=experiment.has_scores)
    notion = state.Setting("scenario_notion", experiment.notion, one_of(notions))
    regions = regions_of(experiment, state.get(notion))
    runs = (ALL, *map(str, experiment.seeds))
    return {
        "notion": (notion, notions),
        "region": (state.Setting("scenario_region", regions[0], one_of(regions)), regions),
        "rates": (state.Setting("scenario_rates", rates[0], one_of(rates)), rates),
        "seed": (state.Setting("scenario_seed", ALL, one_of(runs)), runs),
    }


def _views() -> dict[str, View]:
    """Each scenario by this page's settings, which are written into the link."""
    settings = {}
    for name, (setting, _) in _own_settings(experiment_of(KINDS["alike"])).items():
        settings[name] = state.get(setting)
    return {one: scenario_view(name, settings, state.view()) for one, name in KINDS.items()}


def _papers(kind: str) -> None:
    views = _views()
    more, error = cost_difference(views["alike"], views["far"])
    st.markdown(f"**{text.answer(more, error, len(views['far'].seeds))}**")
    _maps(kind, views)
    with error_boundary(text.CLIENTS_GAPS):
        title, view = text.GAPS_TITLE.format(text.KINDS[kind].capitalize()), views[kind]
        st.markdown(title)
        _clients("scenario-clients", study_of(view), summary_of(view), title)
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
            _bars_over_map(one, composition(view)[0][:, 0].tolist(), group, heats[one], limits)
            said = f"{text.kind_title(one, chosen=one == kind)} {text.result(summary)}"
            st.markdown(said, help=shared_text.verdict(summary))
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
        spoken=text.MAP_SPOKEN.format(text.KINDS[kind]),
        large=state.large_type(),
        height=MAP_HEIGHT,
    )


def _clients(key: str, study: Study, summary: Summary, spoken: str) -> None:
    """Each client's gap before and after, and its table."""
    unseen = study.has_held_out
    client_chart(
        key,
        gaps(study.client_columns(unseen=unseen), summary.verdict, summary.harm.groups),
        view="gaps",
        spoken=spoken,
        large=state.large_type(),
        height=CLIENTS_HEIGHT,
    )
    table_popover(
        lambda: study.client_table(unseen=unseen).round(4),
        key=key,
    )


def _details(views: Mapping[str, View]) -> None:
    """What the pictures show as tables, and what the paper found; made once opened."""
    with st.container(horizontal=True):
        for one, view in views.items():
            table_popover(
                lambda view=view: map_table(map_of(view)),  # type: ignore[misc]
                key=f"map-{one}",
                label=text.TABLE_OF.format(text.KINDS[one]),
            )
        table_popover(lambda: _composition(views), key="scenario-composition", label=text.WHO)


def _composition(views: Mapping[str, View]) -> pd.DataFrame:
    """One row a client of each scenario: how many people, and each group's share."""
    parts = []
    for one, view in views.items():
        shares, people = composition(view)
        names = {text.SCENARIO: text.KINDS[one], text.CLIENT: np.arange(1, len(people) + 1)}
        groups = map(text.SHARE_OF.format, experiment_of(view.data).groups)
        columns = dict(zip(groups, (100 * shares).round(1).T, strict=True))
        parts.append(pd.DataFrame({**names, text.N_HELD_OUT: people.round(), **columns}))
    return pd.concat(parts, ignore_index=True)


# -------------------------------------------------------------------- one's own


def _own() -> None:
    """Pictures first, controls beside them: on a phone the pictures stand above."""
    view = state.view().in_the_papers_split(catalogue())
    pictures, controls = st.columns([5, 2], gap="large")
    with controls:
        own = _own_controls(view)
    with pictures:
        try:
            own_people(own)
        except InputError as error:
            _impossible(own, str(error))
            return
        _own_result(own)


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
            text.ONE_CLIENT.format(place + 1),
            0,
            100,
            step=5,
            format="%d %%",
            key=state.widget(f"share{place}", share),
            on_change=_share_moved,
            args=(place, shares),
        )
    st.number_input(text.DRAW, 0, 9999, help=text.DRAW_TIP, **state.bound(DRAW))
    return OwnClients(view, _shares(clients), _size(most_people(view, clients)), state.get(DRAW))


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
        st.button(
            text.TAKE.format(format.count(most)),
            key="size-possible",
            on_click=state.put,
            args=(SIZE, most),
        )


def _own_result(own: OwnClients) -> None:
    summary, study = own_summary(own), own_study(own)
    st.markdown(text.own_sentence(own.view, summary), help=shared_text.verdict(summary))
    left, right = st.columns(2, gap="medium")
    with left, error_boundary(text.OWN_MAP):
        heat = own_heat(own)
        limits = colour_limits(100 * heat.accuracy)
        st.html(colour_key(text.OWN_MAP_KEY, *limits))
        group = experiment_of(own.view.data).groups[0]
        _bars_over_map("own", list(own.shares), group, heat, limits)
        table_popover(lambda: map_table(heat), key="map-own")
    with right, error_boundary(text.CLIENTS_GAPS):
        _clients("own-clients", study, summary, text.own_spoken(summary))
    st.caption(text.own_note(own, held_out=study.has_held_out))


_TALL = 2.4  # height of a whole bar, in letters


def share_bars(shares: Sequence[float], group: str) -> str:
    """Bars of a group's share in each client, as HTML in which names are only text."""
    bars = "".join(
        f'<div><b>{shared_text.share(share)}</b><i style="height:{_TALL * share:.2f}em"></i>{client}</div>'
        for client, share in enumerate(shares, 1)
    )
    return f'<div class="fairfl-bars" role="img" aria-label="{escape(text.SHARE_OF.format(group))}">{bars}</div>'


def colour_key(words: str, low: float, high: float) -> str:
    """What a map shows and its scale, as HTML: the lowest accuracy, the colours, the highest."""
    colours = ",".join(colour for _, colour in CIVIDIS)
    bar = (
        "display:inline-block;width:8rem;height:.7rem;margin:0 .4rem;vertical-align:middle;"
        f"background:linear-gradient(90deg,{colours})"
    )
    return (
        f'<div class="fairfl-title"><div>{escape(words)}</div><span>{text.OF_SCALE.format(low)}'
        f'<i style="{bar}"></i>{text.OF_SCALE.format(high)}</span></div>'
    )


page()
