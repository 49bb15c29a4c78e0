"""Compare: up to four settings beside the model as it is, with notes, and one report."""

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from fairfl_core._io.names import plain
from fairfl_core.errors import FairflError
from fairfl_core.report.board import Board
from fairfl_core.report.render import comparison_css, comparison_html, html_of, pdf_of
from fairfl_core.report.review import MOST, parse_review
from pages.compare import text
from pages.compare.files import (
    LETTERS,
    board_for,
    review_of,
    starting_options,
    take_along,
    view_of,
)
from pages.shared import state
from pages.shared.catalogue import experiment_of
from pages.shared.codecs import free_text
from pages.shared.frame import experiment_choice, frame, view_settings
from pages.shared.results import proof_of
from pages.shared.text import refused
from pages.shared.view import View
from pages.shared.widgets import download, error_boundary, lazy, log_refusal

QUESTION = state.Setting("question", "", free_text(2000))
_LOADED = "review-loaded"
_TITLES = 14  # per cent of the table's width that its row titles take


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(_settings) as view:
        state.get(QUESTION)  # the link tells it, whether or not the report is open
        kept = state.options()
        views = kept or starting_options(view)
        _top(view, kept)
        with error_boundary(text.SIDE_BY_SIDE):
            board = board_for(views)
            st.html(text.decision(board.decision))
            st.html(f"<style>{comparison_css()}</style>")
            st.html(f'<div class="fairfl-wide">{comparison_html(board)}</div>')
            _below(views, kept)


def _settings() -> None:
    if state.options():
        st.caption(text.EACH_ITS_OWN)
    else:
        view_settings()


# -------------------------------------------------------------------- above and below the table


def _top(view: View, kept: tuple[View, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="top"):
        if kept:
            st.markdown(
                f"**{plain(experiment_of(view.data).manifest['title'], 120)}**", width="content"
            )
        else:
            experiment_choice(width=400)
            st.caption(text.STARTED, width="content")
        st.space("stretch")
        views = starting_options(view)
        lazy(st.popover, text.LOAD, "load", _load, type="tertiary")
        lazy(st.popover, text.PROOF, "proof", lambda: _proofs(kept or views), type="tertiary")
        lazy(st.popover, text.REPORT, "report", lambda: _report(kept, views))


def _proofs(views: tuple[View, ...]) -> None:
    """Of each option whether it is proved optimal, in exact arithmetic, and its fingerprint."""
    st.caption(text.PROOF_TIP)
    for letter, one in zip(LETTERS, views, strict=False):
        with error_boundary(text.PROOF), st.spinner(text.PROVING, show_time=True):
            failed, figures = proof_of(one)
            st.markdown(text.proof(letter, failed, figures, one.guarantee))


def _below(views: tuple[View, ...], kept: tuple[View, ...]) -> None:
    """Under each option what reviewers say of it, and what can be done with it."""
    width = (100 - _TITLES) / (len(views) + 1)
    first, *cells = st.columns([_TITLES + width, *[width] * len(views)])
    with first:
        if not kept:
            st.button(text.KEEP_THESE, key="keep-these", on_click=state.keep, args=views)
        elif len(kept) < MOST:
            st.page_link("pages/explore/page.py", label=text.TO_EXPLORE)
    for place, (cell, one) in enumerate(zip(cells, views, strict=True)):
        with cell:
            if kept:
                _note(place, one)
            with st.container(horizontal=True, gap="small"):
                if st.button(text.OPEN, key=f"use-{place}", help=text.OPEN_TIP):
                    state.change(**vars(one))
                    st.switch_page("pages/explore/page.py")
                if kept:
                    st.button(
                        text.REMOVE,
                        key=f"go-{place}",
                        help=text.REMOVE_TIP,
                        type="tertiary",
                        on_click=state.let_go,
                        args=(one,),
                    )


def _note(place: int, one: View) -> None:
    key = f"note-{place}"

    def noted() -> None:
        state.notes()[one] = st.session_state[key]

    st.session_state[key] = state.notes().get(one, "")
    label = text.NOTE_ON.format(LETTERS[place])
    st.text_area(
        label,
        key=key,
        placeholder=label,
        label_visibility="collapsed",
        height=88,
        max_chars=4000,
        on_change=noted,
    )


# -------------------------------------------------------------------- the report, and files


def _report(kept: tuple[View, ...], starting: tuple[View, ...]) -> None:
    if not kept:
        st.caption(text.NOTHING_TO_REPORT)
        st.button(text.KEEP_THESE, key="keep-to-report", on_click=state.keep, args=starting)
        return
    st.text_area(text.QUESTION, help=text.QUESTION_TIP, height=72, **state.bound(QUESTION))
    question, notes, link = state.get(QUESTION), dict(state.notes()), state.link_for_others()

    def report(write: Callable[[Board], str | bytes]) -> str | bytes:
        return write(board_for(kept, question=question, notes=notes, link=link))

    review = review_of(kept, question, notes)
    with st.container(horizontal=True, gap="small"):
        for label, write, suffix in (
            (text.REPORT_HTML, html_of, "html"),
            (text.REPORT_PDF, pdf_of, "pdf"),
        ):
            made = partial(report, write)
            download(label, made, f"fairfl-report.{suffix}", f"review-{suffix}", width="stretch")
    as_json = partial(json.dumps, review.to_json(), ensure_ascii=False, indent=1)
    file = "fairfl-review.json"
    download(text.REVIEW_FILE, as_json, file, "review-json", help=text.REVIEW_TIP, width="stretch")
    names = LETTERS[: len(kept)]
    chosen = st.segmented_control(
        text.OF_OPTION, list(names), default=names[0], required=True, key="of-option"
    )
    one = kept[names.index(chosen or names[0])]
    take_along(one, "option")


def _load() -> None:
    """Take a review file's options, notes and question in the place of those here."""
    file = st.file_uploader(text.LOAD, type=["json"], help=text.LOAD_TIP, key="review-upload")
    if file is None or st.session_state.get(_LOADED) == file.file_id:
        return
    st.session_state[_LOADED] = file.file_id
    try:
        review = parse_review(file.getvalue(), file.name)
        views = [view_of(option, review.reading) for option in review.options]
    except FairflError as error:
        log_refusal("review", [file], error)
        st.warning(refused(str(error)))
        return
    state.change(**vars(views[0]))
    state.let_go(*state.options())
    state.keep(*views)
    state.notes().update({one: o.note for one, o in zip(views, review.options, strict=True)})
    state.put(QUESTION, review.question)
    st.rerun()


page()
