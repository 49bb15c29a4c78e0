"""Step 3: local against global, on a pair of hospitals."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.people.counts import ClientCounts
from fairfl_core.teaching import hospitals as lesson
from pages.components.learn.drawn import Row, beside, shares
from pages.components.learn.widgets import Question, ask, choose, slide
from pages.components.shared import words
from pages.components.shared.charts import chart, part
from pages.components.shared.results import Choice

TITLE = "Fair in each, unfair in all"
SHARES = tuple(range(10, 100, 10))
CASES = {
    "fair": "Each fair, the whole not",
    "unfair": "Each unfair, the whole fair",
    "reversed": "Turned round",
}
QUESTION = Question(
    3,
    "Each hospital recognises its ill women and men equally often. Most women go to South, most "
    "men to North. And over both hospitals together?",
    ("Women and men are recognised equally often", "Women more often", "Men more often"),
    2,
    "Most men are in the hospital that recognises many, most women in the one that recognises "
    "few. Nobody is treated differently inside either hospital, yet overall 82 in 100 ill men "
    "are recognised and 58 in 100 ill women. This is **Simpson's paradox**.",
)


def show(choice: Choice) -> None:
    """Lay the step out."""
    left, right = beside()
    with left:
        st.markdown(
            "**Local** fairness compares women and men inside one hospital, **global** fairness "
            "over all people. Surely if each hospital is fair, the whole is?"
        )
        known = ask(QUESTION)
        if known:
            st.caption(
                "Try: equal shares of women in both hospitals. Then *each unfair, the whole "
                "fair*, and *turned round*, where women are ahead in each and behind in the whole."
            )
    with right, part("The pair of hospitals"):
        case, women = "fair", lesson.PAIRS["fair"].women
        if known:
            case = choose("step3_case", "Example", tuple(CASES), "fair", CASES)
            women = _composition(case)
        _picture(lesson.pair_of_hospitals(lesson.PAIRS[case], women), known)


def _composition(case: str) -> tuple[int, int]:
    """Who goes where; each example starts from its own shares."""
    found = []
    for cell, name, start in zip(
        st.columns(2), ("North", "South"), lesson.PAIRS[case].women, strict=True
    ):
        with cell:
            found.append(
                slide(f"step3_{case}_{name.lower()}", f"Women among the people of {name}", SHARES, start,
                      lambda share: f"{share} %")
            )  # fmt: skip
    return found[0], found[1]


def _picture(counts: ClientCounts, known: bool) -> None:
    each = lesson.untouched(counts, "eop")
    whole = lesson.untouched(lesson.together(counts), "eop")
    parts = [each, whole] if known else [each]
    table = pd.concat([_table(judged) for judged in parts], ignore_index=True)
    rows = [row for judged in parts for row in _rows(judged, _table(judged))]
    local, overall = each.gaps.local, each.gaps.overall
    reading = (
        f"**Inside the hospitals the gaps are {words.gap(local[0])} and {words.gap(local[1])}; "
        f"over both it is {words.gap(overall)}.** Thin bars: 95 % intervals."
        if known
        else "**Ill people recognised in each hospital**; thin bars are 95 % intervals."
    )
    chart(
        shares(rows, counts.groups, "ill people recognised, %", 380 if known else 290),
        reading=reading,
        table=table.round(3),
        name="pair-of-hospitals",
        key="learn-simpson",
    )


def _table(judged: Evaluation) -> pd.DataFrame:
    table = judged.rate_table().drop(columns=["rate_of", "rate_before"])
    return table.rename(columns={"n": "ill people", "rate": "recognised", "rate_low": "low",
                                 "rate_high": "high"})  # fmt: skip


def _rows(judged: Evaluation, table: pd.DataFrame) -> list[Row]:
    shape = judged.rates.shape[:2]
    share, people, low, high = (
        np.reshape(table[name].to_numpy(float), shape)
        for name in ("recognised", "ill people", "low", "high")
    )
    groups = judged.counts.groups
    return [
        Row(
            client, share[c], people[c],
            f"{', '.join(f'{people[c, a]:.0f} ill {group}' for a, group in enumerate(groups))}"
            f"; gap {words.gap(judged.gaps.local[c])}",
            low[c], high[c],
        )
        for c, client in enumerate(judged.counts.clients)
    ]  # fmt: skip
