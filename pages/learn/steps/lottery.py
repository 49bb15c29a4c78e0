"""Steps on the lottery: what it can reach (4, 5), its dice (6), what chance does (7), precision (9)."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.hospitals import equalising_rate, precision
from pages.learn import charts, text
from pages.learn.widgets import answered, ask, choose, picture, slide, start_with
from pages.shared import state
from pages.shared.charts import error_boundary
from pages.shared.codecs import Whole

# -------------------- 4: what a lottery can reach, under the ROC curve of one hospital

ROC_LIMITS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 1.0)


@st.cache_resource(show_spinner=False)
def program() -> FairnessProgram:
    """The example's program: equalized odds, the paper's region."""
    return FairnessProgram(lesson.one_hospital(), "eo", "simplex")


@st.cache_data(show_spinner=False)
def _by_thresholds() -> float:
    """Accuracy at a gap of zero where every group's thresholds may be moved and mixed."""
    return FairnessProgram(lesson.scored_hospital(), "eo", "exact").solve(0.0, 0.0).accuracy


def show_roc(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.CURVE)
        if ask(text.CURVE_QUESTION, then=lambda: start_with("step4_limit", 0.0)):
            with st.expander(text.WHY_NOT_THRESHOLD):
                fair = lesson.reach(program(), 0.0)
                st.markdown(text.moved_thresholds(_by_thresholds(), fair.accuracy))
            st.caption(text.CURVE_KERNEL)
    with shown, error_boundary(text.PICTURES[3]):
        _roc_limited()


def _roc_limited() -> None:
    place = st.container()
    limit = 1.0
    if answered(4):
        limit = slide("step4_limit", text.GAP_ALLOWED, ROC_LIMITS, 1.0, format.epsilon)
    reach = lesson.reach(program(), limit)
    triangle, kernel = (lesson.corners(program().counts, name) for name in ("simplex", "kernel"))
    columns = (
        lesson.GROUPS,
        100 * (1 - triangle[:, 0, 0]),
        100 * triangle[:, 0, 1],
        100 * (1 - reach.share[:, 0]),
        100 * reach.share[:, 1],
    )
    picture(
        place,
        charts.under_the_curve(triangle, kernel, reach, limit),
        reading=text.curve_reading(limit, reach),
        table=pd.DataFrame(dict(zip(text.CURVE_COLUMNS, columns, strict=True))).round(1),
        key="learn-roc",
    )


# -------------------- 5: the same region with three answers, in space

SOLID_LIMITS = (0.0, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 1.0)


@st.cache_resource(show_spinner=False)
def _program() -> FairnessProgram:
    return FairnessProgram(lesson.skin_clinic(), "eo", "simplex")


def show_solid(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.SPACE)
        ask(text.SPACE_QUESTION, then=lambda: start_with("step5_limit", 0.05))
    with shown, error_boundary(text.PICTURES[4]):
        _solid_limited()


def _solid_limited() -> None:
    known = answered(5)
    place = st.container()
    limit = 1.0
    if known:
        limit = slide("step5_limit", text.GAP_ALLOWED, SOLID_LIMITS, 1.0, format.epsilon)
    reach = lesson.reach(_program(), limit)
    counts = _program().counts
    corners = lesson.corners(counts, "simplex")
    table = pd.DataFrame({"group": lesson.GROUPS})
    for y, label in enumerate(counts.labels):
        model, lottery = text.space_columns(label)
        table[model] = 100 * corners[:, 0, y]
        table[lottery] = 100 * reach.share[:, y]
    picture(
        place,
        charts.in_space(corners, reach, counts.labels, known),
        spoken=text.SPACE_SPOKEN,
        reading=text.space_after(limit, reach) if known else "",
        table=table.round(1),
        key="learn-solid",
    )


# -------------------- 6: why the answer is a lottery, and how one person keeps one answer

MEN = 100
AGAIN = state.Setting("step6_again", 0, Whole(0, 10**6))


def show_draws(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    predictor = lesson.reach(program(), 0.0).predictor
    with words:
        st.markdown(text.draws(100 * predictor.lottery[0, 1, 1, 1]))
        known = ask(text.DRAWS_QUESTION)
    with shown, error_boundary(text.PICTURES[5]):
        _draws_picture(predictor, known)


def _draws_picture(predictor: FairPredictor, known: bool) -> None:
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


# -------------------- 7: what a limit is worth that was met on a hundred people

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
CHANCE_LIMITS = (0.01, 0.05, 0.1)


@st.cache_data(show_spinner=False, max_entries=len(SIZES) * len(CHANCE_LIMITS))
def _carried(n: int, epsilon: float) -> lesson.Carried:
    return lesson.carried_over(n, epsilon)


def show_chance(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.CHANCE)
        known = ask(text.CHANCE_QUESTION)
    with shown, error_boundary(text.PICTURES[6]):
        place = st.container()
        n, limit = 100, CHANCE_LIMITS[0]
        if known:
            cells = st.columns(2)
            with cells[0]:
                n = slide("step7_people", text.CHANCE_PEOPLE, SIZES, n, format.count)
            with cells[1]:
                limit = slide(
                    "step7_limit", text.CHANCE_LIMIT, CHANCE_LIMITS, limit, format.epsilon
                )
        _chance_picture(place, n, limit, known)


def _chance_picture(place: Any, n: int, limit: float, known: bool) -> None:
    carried = [_carried(size, limit) for size in SIZES]
    rows = [(c.n, limit, c.typical, *c.range, c.floor, c.low, c.high) for c in carried]
    table = pd.DataFrame(rows, columns=list(text.CHANCE_COLUMNS))
    here = carried[SIZES.index(n)]
    picture(
        place,
        charts.chance(carried, n, limit, known),
        spoken=text.CHANCE_SPOKEN,
        reading=text.chance_after(n, limit, here) if known else "",
        table=(table if known else table.iloc[:, :2]).round(3),
        key="learn-chance",
    )


# -------------------- 9: calibration and precision, and why not everything can be equal

SHARES = tuple(place / 20 for place in range(1, 16))
RATES = tuple(place / 20 for place in range(21))


def show_precision(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.PRECISION)
        known = ask(text.PRECISION_QUESTION)
    with shown, error_boundary(text.PICTURES[8]):
        place = st.container()
        women, men, found, alarms = 0.2, 0.4, 0.7, 0.1
        if known:
            cells = st.columns(2)
            with cells[0]:
                women = slide("step9_women", text.ILL_WOMEN, SHARES, women, text.share)
                men = slide("step9_men", text.ILL_MEN, SHARES, men, text.share)
            with cells[1]:
                found = slide("step9_tpr", text.FOUND, RATES, found, text.share)
                alarms = slide("step9_fpr", text.FALSE_ALARMS, RATES, alarms, text.share)
        _precision_picture(place, (women, men), found, alarms, known)


def _precision_picture(
    place: Any, ill: tuple[float, float], found: float, alarms: float, known: bool
) -> None:
    precise = [precision(share, found, alarms) for share in ill]
    rows = [
        (group, share, found, alarms, value)
        for group, share, value in zip((text.WOMEN, text.MEN), ill, precise, strict=True)
    ]
    table = pd.DataFrame(rows, columns=list(text.PRECISION_COLUMNS))
    needed = equalising_rate(ill[0], found, precise[1])
    picture(
        place,
        charts.precision(rows, known=known),
        spoken=text.PRECISION_SPOKEN,
        reading=text.precision_after(precise[0], precise[1], needed) if known else "",
        table=(table if known else table.iloc[:, :4]).round(3),
        key="learn-precision",
    )
