"""What the steps share: a question asked before it is answered, and settings that a link keeps.

The reader's answers stay out of the link: whoever opens it is to think first.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.components.session import state

__all__ = ["Question", "answered", "ask", "choose", "forget", "slide", "start_with", "switch"]


@dataclass(frozen=True)
class Question:
    """A question of one step: its options, which of them is right, and why."""

    step: int
    text: str
    options: tuple[str, ...]
    right: int
    because: str


def answered(step: int) -> bool:
    """Whether the reader has answered this step's question."""
    return state.get(f"said{step}", None, _no_link) is not None


def ask(question: Question, then: Callable[[], None] | None = None) -> bool:
    """Ask; once answered, say whether it was right and why. `then` changes the picture."""
    name = f"said{question.step}"
    said = state.get(name, None, _no_link)

    def told() -> None:
        state.give_back(name)
        if then:
            then()

    st.radio(
        question.text,
        question.options,
        index=None,
        key=state.take_from(name, said if said in question.options else None),
        on_change=told,
    )
    if said is None:
        st.caption("Choose first; then the picture answers.")
    elif said == question.options[question.right]:
        st.success(f"**Right.** {question.because}")
    else:
        answer = question.options[question.right]
        st.info(f"**Not quite: {answer[0].lower()}{answer[1:]}.** {question.because}")
    return said is not None


def forget() -> None:
    """Start anew: the first step, no question answered, every setting at its start."""
    settings = state.kept()
    for name in [name for name in settings if re.match(r"said\d|step\d_", name)]:
        del settings[name]
    state.put("step", 1)


def start_with(name: str, value: Any) -> None:
    """Move a setting that the reader has not moved: one that is not in the link."""
    if name not in st.query_params:
        state.put(name, value)


def choose(name: str, label: str, options: Sequence[str], start: str, show: dict[str, str]) -> str:
    """One of a few named things."""
    value, key = _setting(name, start, options)
    st.pills(
        label, options, format_func=lambda option: show[option], key=key, required=True, wrap=True,
        on_change=state.give_back, args=(name,),
    )  # fmt: skip
    return value


def slide(
    name: str, label: str, options: Sequence[Any], start: Any, show: Callable[[Any], str] = str
) -> Any:
    """One of an ordered few."""
    value, key = _setting(name, start, options)
    st.select_slider(
        label, options, format_func=show, key=key,
        on_change=state.give_back, args=(name,),
    )  # fmt: skip
    return value


def switch(name: str, label: str, start: bool) -> bool:
    """Yes or no."""
    value, key = _setting(name, start, (False, True))
    st.toggle(label, key=key, on_change=state.give_back, args=(name,))
    return value


def _setting(name: str, start: Any, options: Sequence[Any]) -> tuple[Any, str]:
    """A setting's value, and the key of its widget; other than at its start it is in the link."""

    def read(text: str) -> Any:
        return next((option for option in options if str(option) == text), start)

    value = state.get(name, start, read)
    state.write_link({name: None if value == start else str(value)})
    return value, state.take_from(name, value)


def _no_link(text: str) -> None:
    return None
