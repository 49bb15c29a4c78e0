"""Step 6: why the answer is a lottery, and how one person keeps one answer."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.teaching import hospitals as lesson
from pages.learn import charts, text
from pages.learn.steps.roc import program
from pages.learn.widgets import ask, choose, picture
from pages.shared import state
from pages.shared.charts import error_boundary
from pages.shared.codecs import Whole

MEN = 100
AGAIN = state.Setting("step6_again", 0, Whole(0, 10**6))


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    predictor = lesson.reach(program(), 0.0).predictor
    with words:
        st.markdown(text.draws(100 * predictor.lottery[0, 1, 1, 1]))
        known = ask(text.DRAWS_QUESTION)
    with shown, error_boundary(text.PICTURES[5]):
        _picture(predictor, known)


def _picture(predictor: FairPredictor, known: bool) -> None:
    place = st.container()
    mode = "dice"
    if known:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            mode = choose("step6_dice", text.DRAWS_HOW, text.DRAWS_MODES, "dice")
            st.button(text.ASK_AGAIN, key="learn-again", on_click=_again)
    state.publish_setting(AGAIN)
    first, second = (_told(predictor, mode, day) for day in (1, 2 + state.get(AGAIN)))
    days = [first, second] if known else [first]
    turned = [int((day != "ill").sum()) for day in days]
    differ = int((first != second).sum()) if known else None
    table = pd.DataFrame({text.PERSON: _ids(), text.MODEL: "ill"})
    for name, day in zip(text.DAYS, days, strict=False):
        table[name] = day
    picture(
        place,
        charts.draws(days, _ids()),
        reading=text.draws_reading(turned, differ),
        table=table,
        key="learn-draws",
    )


def _again() -> None:
    state.put(AGAIN, state.get(AGAIN) + 1)


def _ids() -> list[str]:
    return [text.patient(number) for number in range(1, MEN + 1)]


def _told(predictor: FairPredictor, mode: str, day: int) -> NDArray[np.str_]:
    client, group, said = ([name] * MEN for name in (predictor.clients[0], "men", "ill"))
    if mode == "id":
        return predictor.decide(client, group, said, row_id=_ids())
    return predictor.sample(client, group, said, seed=day)
