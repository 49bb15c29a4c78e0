"""Explore: move two limits and see what fairness costs, for whom, and whether it is met."""

from dataclasses import replace
from html import escape
from time import monotonic
from typing import cast

import numpy as np
import streamlit as st

from fairfl_core.errors import FairflError, InfeasibleError
from fairfl_core.evaluation.study import Summary
from fairfl_core.explore import charts
from fairfl_core.explore import text as core_text
from fairfl_core.explore.charts import Picture
from fairfl_core.explore.text import Chip
from fairfl_core.report.review import MOST
from pages.compare.files import take_along
from pages.explore import details, more_limits, text
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of, noun_of
from pages.shared.codecs import one_of
from pages.shared.component import client_chart, limit_map
from pages.shared.frame import experiment_choice, frame, presenting, screen, view_settings
from pages.shared.results import (
    COARSE,
    GRID,
    OnProgress,
    collision_of,
    heat_of,
    is_dear,
    model_accuracy,
    study_of,
    summary_of,
)
from pages.shared.view import NO_LIMIT, View
from pages.shared.widgets import error_boundary, go_to_cell, lazy, limit_slider, progress

MAP, CLIENTS = "explore-map", "explore-clients"  # keys of the two charts
PLAY = "explore-play"  # in the session: the limits still to be shown
SWEEP = (NO_LIMIT, 0.3, 0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.03, 0.02, 0.01, 0.0)
SECONDS = 0.8  # between two of them
TURN = 1.0  # seconds of work on a map between two runs of the page
PICTURE = state.Setting("picture", "", one_of(("", *core_text.PICTURES)))
PICTURE_BEGUN = "explore-picture"  # in the session: experiment, and its first picture
MAP_FINE = "explore-map-fine"  # in the session: whose map, of those that take long, is refined


def page() -> None:
    """Lay the page out: what follows a slider is one fragment."""
    with frame(view_settings, hall=True):
        playing = st.session_state.get(PLAY)
        st.fragment(_live, run_every=SECONDS if playing else None)()


def _live() -> None:
    if st.session_state.get(PLAY):
        _next_of_sweep()
    view = state.view()
    noun = noun_of(view.data)
    if presenting():
        _presented(view, noun)
    else:
        _whole(view, noun)
    if not st.session_state.get(PLAY):  # a sweep is no dozen of steps for the browser's Back
        state.publish()


def _whole(view: View, noun: str) -> None:
    top = st.container(horizontal=True, vertical_alignment="center", gap="small", key="top")
    with top:
        experiment_choice(width=400)
        with st.container(key="lesson", width="content"):
            st.page_link("pages/learn/page.py", label=text.LESSON, icon=":material/school:")
        st.space("stretch")
    summary, error = _numbers_row(view, noun)
    left, right = st.columns([10, 13], gap="medium")
    if summary is not None:
        with right, error_boundary(text.CLIENTS):
            _clients(view, summary, noun)
        with top:
            _chips(summary)
    elif isinstance(error, InfeasibleError):
        with right:
            more_limits.collision(view, collision_of(view))
    with top:
        _keep(view)
    if summary is not None or isinstance(error, InfeasibleError):
        with left, error_boundary(text.MAP):
            _map(view, noun)  # last of what is on the screen: it may take a while
    details.tabs(view, summary)
    if summary is not None:
        details.panel(view)


def _numbers_row(view: View, noun: str) -> tuple[Summary | None, FairflError | None]:
    """The sliders beside the four numbers, and the sentence; or why there are none, said here."""
    sliders, numbers = st.columns([10, 13], gap="medium", vertical_alignment="center")
    with sliders:
        _sliders(noun)
    try:
        summary = summary_of(view)
    except InfeasibleError as error:
        with numbers:
            st.markdown(more_limits.COLLIDES)
        return None, error
    except FairflError as error:
        with numbers:
            st.warning(shared_text.CANNOT_BE_SHOWN.format(text.NUMBERS, error))
        return None, error
    with numbers:
        st.html(_numbers(summary, noun))
    words = escape(core_text.sentence(summary))
    with st.container(horizontal=True, key="said"):
        if presenting():
            chips = " ".join(text.BADGE.format(chip) for chip in _chips_of(summary))
            st.markdown(chips, width="content")
        st.html(f'<p class="fairfl-sentence" aria-live="polite">{words}</p>')
    return summary, None


def _sliders(noun: str) -> None:
    with st.container(horizontal=True, gap="medium", key="limits", vertical_alignment="bottom"):
        limit_slider("eps_global")
        limit_slider("eps_local", noun)
        playing = bool(st.session_state.get(PLAY))
        st.button(
            text.STOP if playing else text.PLAY,
            key="play",
            help=text.PLAY_TIP,
            type="tertiary",
            on_click=_play,
        )


def _numbers(summary: Summary, noun: str) -> str:
    cells = "".join(
        f'<div title="{escape(one.tip)}"><span>{escape(one.label)}</span>'
        + (f"<em>{escape(one.was)}</em>" if one.was else "")
        + f'<b>{escape(one.now)}</b><small class="{one.tone}">{escape(one.note) or "&nbsp;"}'
        "</small></div>"
        for one in core_text.numbers(summary, noun)
    )
    return f'<div class="fairfl-numbers">{cells}</div>'


# -------------------------------------------------------------------- chips and files


def _chips(summary: Summary) -> None:
    verdict, harm = _chips_of(summary)
    for chip, key, why in (
        (verdict, "verdict", lambda: st.markdown(shared_text.verdict(summary))),
        (harm, "harm", lambda: st.markdown(text.harm_lines(summary))),
    ):
        lazy(st.popover, text.BADGE.format(chip), key, why, type="tertiary")


def _chips_of(summary: Summary) -> tuple[Chip, Chip]:
    return core_text.verdict_chip(summary), core_text.harm_chip(summary)


def _keep(view: View) -> None:
    kept = state.options()
    st.button(
        text.KEEP,
        key="keep",
        help=text.KEEP_TIP,
        disabled=len(kept) == MOST or view in kept,
        on_click=state.keep,
        args=(view,),
    )
    lazy(
        st.popover,
        text.FILES,
        "take",
        lambda: take_along(view, "take", state.link_for_others()),
    )


# -------------------------------------------------------------------- the map


def _map(view: View, noun: str) -> None:
    dear = is_dear(view)
    with st.container(key="map-place"):
        place = st.container(height="stretch")
        one = view.of_seed(view.seeds[0]) if dear else view
        fine = _is_fine(one) if dear else True
        with place, progress(shared_text.SOLVING_MAP) as on_progress:
            on_row = _in_turns(on_progress) if dear and fine else on_progress
            heat = heat_of(one, GRID if fine else COARSE, on_row)
        here = view.eps_global, view.eps_local
        own = model_accuracy(one.without_limits())
        costs = charts.alone(heat, here, own)
        with place:
            limit_map(
                MAP,
                charts.map_data(
                    heat, here, [(v.eps_global, v.eps_local) for v in state.options()]
                ),
                on_go=lambda: go_to_cell(MAP, heat),
                noun=noun,
                title=shared_text.MAP_TITLE,
                note=core_text.map_note(
                    coarse=not fine,
                    one_run=dear,
                    flat=charts.is_flat(heat, own),
                    own_limits=bool(view.own_limits),
                    collides=bool(np.isnan(heat.accuracy).any()),
                ),
                alone=core_text.alone(noun, costs),
                spoken=core_text.map_spoken(noun, costs),
                large=presenting() or state.large_type(),
            )


def _in_turns(on_progress: OnProgress) -> OnProgress:
    """Let the page run anew after a second of work: a click in a fragment is heard between its runs.

    What is solved is kept.
    """
    begun = monotonic()

    def on_row(share: float) -> None:
        on_progress(share)
        if share < 1 and monotonic() - begun > TURN:
            st.rerun()

    return on_row


def _is_fine(view: View) -> bool:
    """Whether a map that takes long was asked for in full; the button asks, or stops it."""
    asked = view.without_limits()
    fine = st.session_state.get(MAP_FINE) == asked
    st.button(
        text.COARSE_MAP if fine else text.REFINE_MAP,
        key="refine-map",
        help=text.COARSE_MAP_TIP if fine else text.REFINE_MAP_TIP,
        type="tertiary",
        on_click=st.session_state.update,
        args=({MAP_FINE: None if fine else asked},),
    )
    return fine


# -------------------------------------------------------------------- the clients


def _clients(view: View, summary: Summary, noun: str, picture: Picture | None = None) -> None:
    """One of four pictures; the one of who is found first where somebody's loss is sure."""
    study = study_of(view)
    columns = study.client_columns(unseen=study.has_held_out)
    clients = experiment_of(view.data).clients
    label = summary.harm.favourable
    if picture is None:
        with st.container(horizontal=True, vertical_alignment="center", key="views", gap="small"):
            picture = _picture(summary, clients)
            if picture == "found":
                label = _label(summary)
    before = np.asarray(columns["gap_before"], float)
    if picture == "found":
        data = charts.found(summary, label, before)
    elif picture == "price":
        data = charts.prices(summary, columns)
    else:
        data = charts.gaps(columns, summary.verdict, summary.harm.groups)
    with st.container(key="clients-place"):
        client_chart(
            CLIENTS,
            data,
            view=picture,
            spoken=core_text.clients_spoken(picture, noun, label),
            note=core_text.clients_note(picture, len(data["clients"]), len(clients)),
            large=presenting() or state.large_type(),
            on_client=lambda: _open_client(view),
        )


def _open_client(view: View) -> None:
    """Open the drawer of the client that was clicked; in a hall there is none."""
    if not presenting():
        state.put(details.chosen_client(view), st.session_state[CLIENTS].client)


def _picture(summary: Summary, clients: tuple[str, ...]) -> Picture:
    offered = [
        name for name in core_text.PICTURES if name != "map" or set(clients) <= charts.STATES
    ]
    chosen, experiment = state.get(PICTURE), state.view().experiment
    begun = st.session_state.get(PICTURE_BEGUN, ("", ""))
    if begun[0] != experiment:  # chosen once, so that no slider turns it round
        begun = experiment, "found" if summary.harm.proved else "gaps"
        st.session_state[PICTURE_BEGUN] = begun
    value = cast(Picture, chosen if chosen in offered else begun[1])
    key = state.widget("picture", value)
    st.segmented_control(
        text.PICTURE,
        offered,
        format_func=lambda name: core_text.PICTURES[name],
        key=key,
        label_visibility="collapsed",
        required=True,
        on_change=lambda: state.put(PICTURE, st.session_state[key]),
    )
    return value


def _label(summary: Summary) -> str:
    harm = summary.harm
    labels = (harm.favourable, *(label for label in harm.labels if label != harm.favourable))
    setting = state.Setting("label", labels[0], one_of(labels))
    st.selectbox(
        text.LABEL, labels, label_visibility="collapsed", width=200, **state.bound(setting)
    )
    return state.get(setting)


# -------------------------------------------------------------------- play


def _play() -> None:
    """Start the sweep of the limit in each client, or stop it."""
    if st.session_state.pop(PLAY, None):
        return
    st.session_state[PLAY] = ["first", *SWEEP]


def _next_of_sweep() -> None:
    """Show the sweep's next limit; all are solved before the first is shown."""
    left = st.session_state[PLAY]
    if left[0] == "first":
        with progress(text.PLAYING) as on_progress:
            for done, limit in enumerate(SWEEP, 1):
                try:
                    summary_of(_at(limit))
                except InfeasibleError:
                    break
                on_progress(done / len(SWEEP))
        left.pop(0)
        st.rerun()  # from now on the fragment runs by itself
    state.change(eps_local=left.pop(0))
    if not left:
        st.session_state.pop(PLAY)
        st.rerun()


def _at(limit: float) -> View:
    return replace(state.view(), eps_local=limit)


# -------------------------------------------------------------------- in a hall


def _presented(view: View, noun: str) -> None:
    """The same screen for a hall, one picture at a time: map, gaps, found, compare."""
    summary, error = _numbers_row(view, noun)
    if isinstance(error, InfeasibleError):
        more_limits.collision(view, collision_of(view))
    if summary is None:
        return
    at = screen(text.SCREENS)
    with error_boundary(text.RESULTS):
        if at == 0:
            _map(view, noun)
        elif at in (1, 2):
            _clients(view, summary, noun, "gaps" if at == 1 else "found")
        else:
            details.compared(view)


page()
