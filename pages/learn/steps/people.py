"""Step 2: three notions of fairness on four people."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.teaching import hospitals as lesson
from pages.learn import text
from pages.learn.charts import Row, shares
from pages.learn.widgets import ask, picture, start_with, switch, switched
from pages.shared.charts import error_boundary

ILL = (True, False, True, False)  # Ana, Bea, Carl, Dan
NOTIONS = ("sp", "eop", "eo")
DAN = "step2_dan_ill"


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    ill = (*ILL[:3], switched(DAN, False))
    said = [switched(_switch(n), ILL[place]) for place, (n, _) in enumerate(lesson.PEOPLE)]
    counts = lesson.four_people(ill, said)
    with words:
        gaps = {notion: lesson.untouched(counts, notion).gaps.overall for notion in NOTIONS}
        st.markdown("\n".join(f"- {text.notion_line(n, gap)}" for n, gap in gaps.items()))
        known = ask(text.FOUR_QUESTION, then=lambda: start_with("step2_bea", True))
    with shown, error_boundary(text.PICTURES[1]):
        place = st.container()
        _switches(ill, known)
        _picture(place, counts, known)


def _switch(name: str) -> str:
    return f"step2_{name.lower()}"


def _switches(ill: tuple[bool, ...], known: bool) -> None:
    """Each person's answer; Dan's illness makes the groups' base rates differ."""
    st.markdown(text.FLIP)
    columns = st.columns(2)
    for place, (name, group) in enumerate(lesson.PEOPLE):
        with columns[place // 2]:
            switch(_switch(name), text.person(name, group, ill=ill[place]), ILL[place])
    if known:
        switch(DAN, text.DAN_ILL, False)


def _picture(place: Any, counts: ClientCounts, known: bool) -> None:
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
    picture(
        place,
        shares(rows, counts.groups, text.AXIS_OF_GROUP, 250),
        key="learn-people",
        spoken=text.FOUR_READING,
        reading=text.FOUR_READING if known else "",
        table=table,
    )
