"""Review: up to four settings side by side, with notes, for people who decide."""

import json

import pandas as pd
import streamlit as st

from fairfl_core.errors import FairflError
from fairfl_core.review import Board, Review
from fairfl_core.review.file import parse_review
from pages.compare import text
from pages.compare.charts import options_figure
from pages.compare.report import pdf_report, review_report
from pages.compare.review import board_for, review_of, view_of
from pages.shared import refusals, state
from pages.shared.charts import chart, error_boundary
from pages.shared.codecs import Text
from pages.shared.frame import frame
from pages.shared.view import View

QUESTION = state.Setting("question", "", Text(2000))
_LOADED = "review-loaded"


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame() as view:
        st.markdown(text.TITLE)
        views = state.options()
        if views:
            st.text_area(text.QUESTION, help=text.QUESTION_TIP, height=80, **state.bound(QUESTION))
            _compared(view, views)
        else:
            st.markdown(text.NOTHING_KEPT)
            st.page_link("pages/explore.py", label=text.TO_EXPLORE)
        with error_boundary(text.LOADING):
            _load()


def _compared(view: View, views: tuple[View, ...]) -> None:
    review = review_of(views, state.get(QUESTION))
    with error_boundary(text.SIDE_BY_SIDE):
        board = board_for(review, view)
        st.markdown(text.decision(board.decision))
        st.markdown(text.why(board.reasons))
        table = pd.DataFrame(
            {column.name: column.cells for column in board.columns}, index=list(board.rows)
        )
        st.table(table)
        st.caption(text.FIRST)
        _notes(views)
        with error_boundary(text.PICTURE):
            _picture(board, table)
        _take_along(review)


def _notes(views: tuple[View, ...]) -> None:
    """A column an option: what reviewers say, and two buttons."""
    for place, (cell, one) in enumerate(zip(st.columns(len(views)), views, strict=True)):
        key = f"note-{place}"
        with cell:
            st.markdown(text.heading("ABCD"[place], recommended=False))
            st.session_state[key] = state.notes().get(one, "")
            st.text_area(
                text.NOTE,
                key=key,
                height=110,
                max_chars=4000,
                on_change=_noted,
                args=(one, key),
            )
            with st.container(horizontal=True):
                st.button(text.USE, key=f"use-{place}", on_click=_use, args=(one,))
                st.button(
                    text.LET_GO,
                    key=f"go-{place}",
                    on_click=state.let_go,
                    args=(one,),
                    type="tertiary",
                )


def _noted(one: View, key: str) -> None:
    state.notes()[one] = st.session_state[key]


def _use(one: View) -> None:
    state.change(**{name: getattr(one, name) for name in vars(one)})


def _picture(board: Board, table: pd.DataFrame) -> None:
    chart(
        options_figure(board),
        reading=text.PICTURE_READING,
        table=table.reset_index(names=""),
        name="options",
        key="review-options",
    )


def _take_along(review: Review) -> None:
    st.markdown(text.TAKE)
    current = state.link_of_the_moment()
    with st.container(horizontal=True):
        st.download_button(
            text.HTML_FILE,
            lambda: review_report(review, *current()),
            file_name="fairfl-report.html",
            mime="text/html",
            key="review-html",
            on_click="ignore",
        )
        st.download_button(
            text.PDF_FILE,
            lambda: pdf_report(review, *current()),
            file_name="fairfl-report.pdf",
            mime="application/pdf",
            key="review-pdf",
            on_click="ignore",
        )
        st.download_button(
            text.REVIEW_FILE,
            lambda: json.dumps(review.to_json(), ensure_ascii=False, indent=1),
            file_name="fairfl-review.json",
            mime="application/json",
            key="review-file",
            on_click="ignore",
        )
    st.caption(text.SHELL)


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
        refusals.log_refusal("review", [file], error)
        st.warning(text.refused(str(error)))
        return
    _use(views[0])
    state.let_go(*state.options())
    state.keep(*views)
    state.notes().update({one: o.note for one, o in zip(views, review.options, strict=True)})
    state.put(QUESTION, review.question)
    st.rerun()


page()
