"""Step 2: three notions of fairness on four people."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.people.counts import ClientCounts
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import Row, beside, shares
from pages.components.learn.widgets import Question, ask, start_with, switch
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.results import Choice

TITLE = "Three ways to say fair"
ILL = (True, False, True, False)  # Ana, Bea, Carl, Dan
NOTIONS = ("sp", "eop", "eo")
QUESTION = Question(
    2,
    "Bea is healthy. Let the model call her ill as well. Which notion still holds?",
    ("Statistical parity", "Equal opportunity", "Equalized odds"),
    1,
    "Equal opportunity looks only at people who are ill, and both are still recognised. Now two "
    "of two women but one of two men are told “ill”, and a healthy woman is wronged where a "
    "healthy man is not: the other two break.",
)


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "- **Statistical parity**: each group is told “ill” equally often.\n"
            "- **Equal opportunity**: of those *truly ill*, each group is recognised equally "
            "often.\n"
            "- **Equalized odds**: the same, and of those *truly healthy* too."
        )
        ask(QUESTION, then=lambda: start_with("step2_bea", True))
    with right, part("The four people"):
        counts = _people()
        _verdicts(counts)
        _picture(counts)


def _people() -> ClientCounts:
    """Switch each person's answer; Dan's illness makes the groups' base rates differ."""
    st.markdown("**Whom does the model tell “ill”?** Flip the switches and see what breaks.")
    dan = switch("step2_dan_ill", "Dan is truly ill too: more men than women are ill", False)
    ill = (*ILL[:3], dan)
    said = []
    halves = st.columns(2)
    for place, (name, group) in enumerate(lesson.PEOPLE):
        one = {"women": "woman", "men": "man"}[group]
        truth = "ill" if ill[place] else "healthy"
        with halves[place // 2]:
            said.append(switch(f"step2_{name.lower()}", f"{name} ({one}, {truth})", ILL[place]))
    return lesson.four_people(ill, said)


def _verdicts(counts: ClientCounts) -> None:
    for cell, notion in zip(st.columns(3), NOTIONS, strict=True):
        gap = lesson.untouched(counts, notion).gaps.overall
        verdict = "holds" if gap < 1e-9 else "broken"
        cell.markdown(f"{words.NOTIONS[notion][0]}  \n**{verdict}**, gap {words.gap(gap)}")


def _picture(counts: ClientCounts) -> None:
    parity, odds = (lesson.untouched(counts, name) for name in ("sp", "eo"))
    rates = np.concatenate([parity.rates[0], odds.rates[0][:, ::-1]], axis=1)  # sp, ill, healthy
    people = np.concatenate([parity.people[0], odds.people[0][:, ::-1]], axis=1)
    names = ("Of all, told ill", "Of the ill, told ill", "Of the healthy, told healthy")
    rows = [
        Row(name, rates[:, r], people[:, r],
            "" if people[:, r].all() else "(no healthy man: nothing to compare)")
        for r, name in enumerate(names)
    ]  # fmt: skip
    table = pd.DataFrame(
        {"share": names}
        | {f"{group}, %": (100 * rates[a]).round(1) for a, group in enumerate(counts.groups)}
        | {f"{group}, people": people[a].astype(int) for a, group in enumerate(counts.groups)}
    )
    chart(
        shares(rows, counts.groups, "share of the group's people, %", 270),
        reading="**Where the two marks part, the groups are treated differently.** With one "
        "person behind most marks this is an example, not evidence.",
        table=table,
        name="four-people",
        key="learn-people",
    )
