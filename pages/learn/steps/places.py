"""Steps on fairness inside each place and over all: 1 to 3, what it costs (8), which notion (10)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.explore.charts import map_data
from fairfl_core.lp.frontier import Frontier
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.messages import demo_log
from pages.learn import charts, text
from pages.learn.charts import Row, shares
from pages.learn.text import Question
from pages.learn.widgets import answered, ask, choose, picture, slide, start_with, switch, switched
from pages.shared import present, state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of, noun_of
from pages.shared.charts import error_boundary, map_table, progress, table_popover
from pages.shared.component import limit_map
from pages.shared.results import COARSE, GRID, heat_of, is_dear, summary_of
from pages.shared.view import View, options_of

# -------------------- 1: the network


def show_network(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.NETWORK)
        known = ask(text.NETWORK_QUESTION)
    with shown, error_boundary(text.PICTURES[0]):
        judged = lesson.untouched(lesson.network(), "eop")
        picture(
            st.container(),
            charts.network(judged, known),
            spoken=text.NETWORK_SPOKEN,
            reading=text.network_after(judged) if known else "",
            table=_sent(judged) if known else _people(judged),
            key="learn-network",
        )
        if known:
            _travelled()


def _travelled() -> None:
    """What one client of a real run sent and received."""
    log = demo_log()
    rows = [
        (text.WAYS[one.way], one.kind, one.bytes, one.purpose, one.tables) for one in log.messages
    ]
    st.markdown(text.travelled(log))
    table_popover(
        pd.DataFrame(rows, columns=list(text.TRAVELLED_COLUMNS)),
        key="learn-messages",
        label=text.TRAVELLED,
    )


def _people(judged: Evaluation) -> pd.DataFrame:
    counts = judged.counts
    return pd.DataFrame({text.HOSPITAL: counts.clients, text.PEOPLE: counts.n_client})


def _sent(judged: Evaluation) -> pd.DataFrame:
    """What each hospital sends, and the share that follows from it."""
    counts = judged.counts
    rows = [
        [client, group, *counts.table[c, a].ravel(), round(judged.rates[c, a, 0], 3)]
        for c, client in enumerate(counts.clients)
        for a, group in enumerate(counts.groups)
    ]
    return pd.DataFrame(rows, columns=list(text.NETWORK_COLUMNS))


# -------------------- 2: three notions of fairness on four people

ILL = (True, False, True, False)  # Ana, Bea, Carl, Dan
NOTIONS = ("sp", "eop", "eo")
DAN = "step2_dan_ill"


def show_people(shown: Any, words: Any) -> None:
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
        _people_picture(place, counts, known)


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


def _people_picture(place: Any, counts: ClientCounts, known: bool) -> None:
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


# -------------------- 3: local against global, on a pair of hospitals

SHARES = tuple(range(10, 100, 10))


def show_simpson(shown: Any, words: Any) -> None:
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
        _simpson_picture(place, lesson.pair_of_hospitals(lesson.PAIRS[case], women), known)


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


def _simpson_picture(place: Any, counts: ClientCounts, known: bool) -> None:
    apart = lesson.untouched(counts, "eop")
    whole = lesson.untouched(lesson.together(counts), "eop")
    shown = [apart, whole] if known else [apart]
    table = pd.concat([_simpson_table(judged) for judged in shown], ignore_index=True)
    reading = text.pair_after(apart.gaps.local, apart.gaps.overall) if known else text.PAIR_BEFORE
    rows = [row for judged in shown for row in _rows(judged)]
    picture(
        place,
        shares(rows, counts.groups, text.AXIS_FOUND, 380 if known else 290),
        reading=reading,
        table=table.round(3).rename(columns=text.PAIR_COLUMNS),
        key="learn-simpson",
    )


def _simpson_table(judged: Evaluation) -> pd.DataFrame:
    return judged.rate_table().drop(columns=["rate_of", "rate_before"])


def _rows(judged: Evaluation) -> list[Row]:
    table, shape = _simpson_table(judged), judged.rates.shape[:2]
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


# -------------------- 8: what fairness costs, read from one map of a real experiment

TIGHT = 0.01


def show_cost(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    view = state.view()
    with words:
        st.markdown(text.COST)
        _choice()
        with error_boundary(text.PICTURES[7]):
            ask(_question(view))
        st.page_link("pages/explore/page.py", label=text.GO_EXPLORE, icon=":material/explore:")
    with shown, error_boundary(text.PICTURES[7]):
        _map(view)


def _choice() -> None:
    """Whose map it is: the one setting that this step needs."""
    names: Any = options_of("experiment", state.view(), catalogue())
    st.selectbox(
        text.EXPERIMENT,
        names,
        format_func=lambda name: experiment_of(name).manifest["title"],
        label_visibility="collapsed",
        **state.bound_field("experiment"),
    )


def _question(view: View) -> Question:
    """What a tight local limit alone costs, and a tight global one: Explore's own numbers."""
    unlimited = view.without_limits()
    local = summary_of(replace(unlimited, eps_local=TIGHT)).judged
    overall = summary_of(replace(unlimited, eps_global=TIGHT)).judged
    return text.cost_question(TIGHT, local, overall, noun_of(view.data))


def _map(view: View) -> None:
    coarse, known = is_dear(view), answered(8)
    heat = _solved(view, coarse)
    loose = float(heat.eps_global[-1])
    reading = text.cost_reading(shared_text.notion_title(view.notion), coarse=coarse)
    data = map_data(heat, (loose, loose), [(loose, TIGHT), (TIGHT, loose)] if known else [])
    data["kept"] = [[mark, *place[1:]] for mark, place in zip("LG", data["kept"], strict=False)]
    limit_map(
        "learn-map",
        data,
        noun=noun_of(view.data),
        spoken=reading,
        title=text.MAP_TITLE,
        note=text.MARKS if known else "",
        large=present.presenting() or state.large_type(),
        height=420,
    )
    st.markdown(reading)
    table_popover(lambda: map_table(heat), key="learn-map")


def _solved(view: View, coarse: bool) -> Frontier:
    with progress(text.SOLVING) as on_progress:
        one = view.of_seed(view.seeds[0]) if coarse else view
        return heat_of(one, COARSE if coarse else GRID, on_progress)


# -------------------- 10: which notion, as a tree of questions

_BY_HARM = {"missed": "eop", "both": "eo", "kind": "eo-full", "meaning": "precision"}


def advised(truth: str, harm: str) -> str:
    """What the answers lead to: a notion, or precision, which no limit can be set on."""
    return "sp" if truth == "no" else _BY_HARM[harm]


def show_which_notion(shown: Any, words: Any) -> None:
    """Lay the step out: the picture, and the words beside it."""
    with words:
        st.markdown(text.WHICH)
        known = ask(text.WHICH_QUESTION)
    with shown, error_boundary(text.PICTURES[9]):
        place = st.container()
        notion = _advised() if known else ""
        picture(
            place,
            charts.tree(notion),
            key="learn-tree",
            spoken=text.TREE_SPOKEN,
            reading=text.ADVICE.get(notion, ""),
            table=_which_notion_table(),
        )


def _advised() -> str:
    """Ask both questions; what the answers lead to."""
    st.caption(text.FOR_YOURSELF)
    notion = advised(*_answers())
    if notion != "precision" and st.button(text.TO_EXPLORE, key="learn-notion"):
        state.change(notion=notion)
        st.switch_page("pages/explore/page.py")
    return notion


def _answers() -> tuple[str, str]:
    question, options = text.TREE["truth"]
    truth = choose("step10_truth", question, options, "yes")
    if truth == "no":
        return truth, "missed"
    question, options = text.TREE["harm"]
    return truth, choose("step10_harm", question, options, "missed")


def _which_notion_table() -> pd.DataFrame:
    (first, truths), (second, harms) = text.TREE.values()
    rows = [(truths["no"], "", text.BRANCHES["sp"])]
    rows += [(truths["yes"], said, text.BRANCHES[_BY_HARM[harm]]) for harm, said in harms.items()]
    return pd.DataFrame(rows, columns=[first, second, text.WHICH_COLUMN])
