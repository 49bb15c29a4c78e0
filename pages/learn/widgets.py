"""What the steps share: a question asked before it is answered, a picture, settings in a link.

The reader's answers stay out of the link: whoever opens it is to think first.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from plotly.basedatatypes import BaseFigure

from pages.learn import text
from pages.learn.text import Question
from pages.shared import state
from pages.shared.codecs import FLAG, one_of, whole
from pages.shared.widgets import chart, table_popover

T = TypeVar("T")
STEP = state.Setting("step", 1, whole(1, len(text.TITLES)))


def picture(
    place: Any,
    figure: BaseFigure,
    *,
    key: str,
    reading: str,
    table: pd.DataFrame,
    spoken: str = "",
) -> None:
    """Draw a picture at its place; here what it shows (if anything is said yet) and its table.

    What moves the picture is drawn before, so that it stands between both.
    """
    with place:
        chart(figure, key=key, spoken=reading or spoken, height="stretch")
    if reading:
        st.markdown(reading)
    table_popover(table, key=key)


def ask(place: Any, said: str, question: Question, then: Callable[[], None] | None = None) -> bool:
    """Say something at a place and ask; once answered, tell whether it was right and why.

    `then` changes the picture. The first guess is kept for the score.
    """
    setting = _guess(question.step)
    if state.get(setting) not in (None, *question.options):
        state.put(setting, None)

    def guessed() -> None:
        guesses().setdefault(question.step, state.get(setting) == question.answer)
        if then is not None:
            then()

    with place:
        if said:
            st.markdown(said)
        st.radio(question.text, question.options, index=None, **state.bound(setting, guessed))
        guess = state.get(setting)
        if guess is None:
            st.caption(text.CHOOSE_FIRST)
        elif guess == question.answer:
            st.success(text.RIGHT.format(question))
        else:
            st.info(text.NOT_QUITE.format(question))
    return guess is not None


def guesses() -> dict[int, bool]:
    """By step that was answered, whether the first guess was right: the very dictionary."""
    kept: dict[int, bool] = state.kept().setdefault("guesses", {})
    return kept


def _guess(step: int) -> state.Setting[str | None]:
    return state.Setting(f"said{step}", None)


def forget() -> None:
    """Start anew: the first step, no question answered, every setting at its start."""
    state.forget(lambda name: re.match(r"said\d|step\d+_|guesses$", name) is not None)
    state.put(STEP, 1)


def start_with(name: str, value: Any) -> None:
    """Move a setting that the reader has not moved: one that is not in the link."""
    if name not in st.query_params:
        state.kept()[name] = value


def choose(name: str, label: str, options: dict[str, str], start: str) -> str:
    """One of a few named things; `options` tells what each is called."""
    setting = state.Setting(name, start, one_of(tuple(options)))
    st.pills(
        label,
        tuple(options),
        format_func=options.__getitem__,
        required=True,
        wrap=True,
        **state.bound(setting),
    )
    return state.get(setting)


def slide(
    name: str,
    label: str,
    options: Sequence[T],
    start: T,
    title: Callable[[T], str] = str,
    place: Any = st,
) -> T:
    """One of an ordered few."""
    setting = state.Setting(name, start, one_of(options))
    place.select_slider(label, options, format_func=title, **state.bound(setting))
    return state.get(setting)


def switch(name: str, label: str, start: bool) -> None:
    """Yes or no, as `switched` reads it."""
    st.toggle(label, **state.bound(state.Setting(name, start, FLAG)))


def switched(name: str, start: bool) -> bool:
    """Whether a switch is on, before or after it is drawn."""
    return state.get(state.Setting(name, start, FLAG))
