"""Step 2: three notions of fairness on four people."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.people.counts import ClientCounts
from fairfl_core.teaching import hospitals as lesson
from pages.learn import text
from pages.learn.charts import Row, shares
from pages.learn.widgets import ask, beside, start_with, switch
from pages.shared import text as shared_text
from pages.shared.charts import chart, error_boundary

__all__ = ["show"]

ILL = (True, False, True, False)  # Ana, Bea, Carl, Dan
NOTIONS = ("sp", "eop", "eo")


def show() -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(text.FOUR_PEOPLE)
        ask(text.FOUR_QUESTION, then=lambda: start_with("step2_bea", True))
    with right, error_boundary(text.PICTURES[1]):
        counts = _people()
        _verdicts(counts)
        _picture(counts)


def _people() -> ClientCounts:
    """Switch each person's answer; Dan's illness makes the groups' base rates differ."""
    st.markdown(text.FLIP)
    dan = switch("step2_dan_ill", text.DAN_ILL, False)
    ill = (*ILL[:3], dan)
    said = []
    halves = st.columns(2)
    for place, (name, group) in enumerate(lesson.PEOPLE):
        with halves[place // 2]:
            label = text.person(name, group, ill=ill[place])
            said.append(switch(f"step2_{name.lower()}", label, ILL[place]))
    return lesson.four_people(ill, said)


def _verdicts(counts: ClientCounts) -> None:
    for cell, notion in zip(st.columns(3), NOTIONS, strict=True):
        gap = lesson.untouched(counts, notion).gaps.overall
        cell.markdown(text.verdict(shared_text.notion_title(notion), gap))


def _picture(counts: ClientCounts) -> None:
    parity, odds = (lesson.untouched(counts, name) for name in ("sp", "eo"))
    rates = np.concatenate([parity.rates[0], odds.rates[0][:, ::-1]], axis=1)  # sp, ill, healthy
    people = np.concatenate([parity.people[0], odds.people[0][:, ::-1]], axis=1)
    rows = [
        Row(
            name,
            rates[:, r],
            people[:, r],
            "" if people[:, r].all() else text.NOTHING_TO_COMPARE,
        )
        for r, name in enumerate(text.FOUR_RATES)
    ]
    table = pd.DataFrame({text.SHARE: text.FOUR_RATES})
    for a, group in enumerate(counts.groups):
        table[text.of_group(group, "%")] = (100 * rates[a]).round(1)
    for a, group in enumerate(counts.groups):
        table[text.of_group(group, text.PEOPLE)] = people[a].astype(int)
    chart(
        shares(rows, counts.groups, text.AXIS_OF_GROUP, 270),
        reading=text.FOUR_READING,
        table=table,
        name="four-people",
        key="learn-people",
    )
