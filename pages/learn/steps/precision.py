"""Step 9: calibration and precision, and why not everything can be equal."""

import pandas as pd
import streamlit as st

from fairfl_core.teaching.precision import equalising_rate, precision
from pages.learn import figures
from pages.learn import notions_text as text
from pages.learn.text import PICTURES
from pages.learn.widgets import ask, beside, slide
from pages.shared.charts import chart, error_boundary

__all__ = ["show"]

SHARES = tuple(place / 20 for place in range(1, 16))
RATES = tuple(place / 20 for place in range(21))


def show() -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(text.PRECISION)
        known = ask(text.PRECISION_QUESTION)
    with right, error_boundary(PICTURES[8]):
        women, men, recognised, alarms = 0.2, 0.4, 0.7, 0.1
        if known:
            cells = st.columns(2)
            with cells[0]:
                women = slide("step9_women", text.ILL_WOMEN, SHARES, women, text.share)
                men = slide("step9_men", text.ILL_MEN, SHARES, men, text.share)
            with cells[1]:
                recognised = slide("step9_tpr", text.RECOGNISED, RATES, recognised, text.share)
                alarms = slide("step9_fpr", text.FALSE_ALARMS, RATES, alarms, text.share)
        _picture((women, men), recognised, alarms, known)


def _picture(ill: tuple[float, float], recognised: float, alarms: float, known: bool) -> None:
    found = [precision(share, recognised, alarms) for share in ill]
    rows = [
        (group, share, recognised, alarms, value)
        for group, share, value in zip((text.WOMEN, text.MEN), ill, found, strict=True)
    ]
    table = pd.DataFrame(rows, columns=list(text.PRECISION_COLUMNS))
    needed = equalising_rate(ill[0], recognised, found[1])
    chart(
        figures.precision(rows, known=known),
        reading=text.precision_after(found[0], found[1], needed)
        if known
        else text.PRECISION_BEFORE,
        table=(table if known else table.iloc[:, :4]).round(3),
        name="precision",
        key="learn-precision",
    )
