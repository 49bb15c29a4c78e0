"""Step 9: calibration and precision, and why not everything can be equal."""

from typing import Any

import pandas as pd
import streamlit as st

from fairfl_core.teaching.precision import equalising_rate, precision
from pages.learn import charts, text
from pages.learn.widgets import ask, picture, slide
from pages.shared.charts import error_boundary

SHARES = tuple(place / 20 for place in range(1, 16))
RATES = tuple(place / 20 for place in range(21))


def show(shown: Any, words: Any) -> None:
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
        _picture(place, (women, men), found, alarms, known)


def _picture(
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
