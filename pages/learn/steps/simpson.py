"""Step 3: local against global, on a pair of hospitals."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.teaching import hospitals as lesson
from pages.learn import text
from pages.learn.charts import Row, shares
from pages.learn.widgets import ask, choose, picture, slide
from pages.shared.charts import error_boundary

SHARES = tuple(range(10, 100, 10))


def show(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.PAIR)
        known = ask(text.PAIR_QUESTION)
        if known:
            st.caption(text.PAIR_TRY)
    with shown, error_boundary(text.PICTURES[2]):
        place = st.container()
        case, women = "fair", lesson.PAIRS["fair"].women
        if known:
            case = choose("step3_case", text.PAIR_EXAMPLE, text.PAIR_CASES, "fair")
            women = _composition(case)
        _picture(place, lesson.pair_of_hospitals(lesson.PAIRS[case], women), known)


def _composition(case: str) -> tuple[int, int]:
    """Who goes where; each example starts from its own shares."""
    shares = []
    starts = lesson.PAIRS[case].women
    for cell, name, start in zip(st.columns(2), ("North", "South"), starts, strict=True):
        with cell:
            setting = f"step3_{case}_{name.lower()}"
            label = text.women_of(name)
            shares.append(slide(setting, label, SHARES, start, lambda share: f"{share} %"))
    return shares[0], shares[1]


def _picture(place: Any, counts: ClientCounts, known: bool) -> None:
    apart = lesson.untouched(counts, "eop")
    whole = lesson.untouched(lesson.together(counts), "eop")
    shown = [apart, whole] if known else [apart]
    table = pd.concat([_table(judged) for judged in shown], ignore_index=True)
    reading = text.pair_after(apart.gaps.local, apart.gaps.overall) if known else text.PAIR_BEFORE
    rows = [row for judged in shown for row in _rows(judged)]
    picture(
        place,
        shares(rows, counts.groups, text.AXIS_FOUND, 380 if known else 290),
        reading=reading,
        table=table.round(3).rename(columns=text.PAIR_COLUMNS),
        key="learn-simpson",
    )


def _table(judged: Evaluation) -> pd.DataFrame:
    return judged.rate_table().drop(columns=["rate_of", "rate_before"])


def _rows(judged: Evaluation) -> list[Row]:
    table, shape = _table(judged), judged.rates.shape[:2]
    share, people, low, high = (
        np.reshape(table[name].to_numpy(float), shape)
        for name in ("rate", "n", "rate_low", "rate_high")
    )
    return [
        Row(
            client,
            share[c],
            people[c],
            text.ill_people(
                list(zip(judged.counts.groups, people[c], strict=True)), judged.gaps.local[c]
            ),
            (low[c], high[c]),
        )
        for c, client in enumerate(judged.counts.clients)
    ]
