"""The ten steps of the lesson: each draws its picture at a place, and the words beside it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.explore.charts import map_data
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.hospitals import demo_log, equalising_rate, precision
from pages.learn import charts, text
from pages.learn.charts import Row, shares
from pages.learn.text import Question
from pages.learn.widgets import ask, choose, picture, slide, start_with, switch, switched
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import noun_of
from pages.shared.codecs import whole
from pages.shared.component import limit_map
from pages.shared.frame import experiment_choice, presenting
from pages.shared.results import COARSE, GRID, heat_of, is_dear, summary_of
from pages.shared.view import View
from pages.shared.widgets import map_table, progress, table_popover

# -------------------- 1: the network


def show_network(place: Any, words: Any) -> None:
    """Show what a hospital sends, and the gaps that follow from it."""
    known = ask(words, text.NETWORK, text.NETWORK_QUESTION)
    judged = lesson.untouched(lesson.network(), "eop")
    counts = judged.counts
    sent = [
        [client, group, *counts.table[c, a].ravel(), round(judged.rates[c, a, 0], 3)]
        for c, client in enumerate(counts.clients)
        for a, group in enumerate(counts.groups)
    ]
    table = pd.DataFrame(sent, columns=list(text.NETWORK_COLUMNS))
    people = pd.DataFrame({text.HOSPITAL: counts.clients, text.PEOPLE: counts.n_client})
    picture(
        place,
        charts.network(judged, known),
        spoken=text.NETWORK_SPOKEN,
        reading=text.network_after(judged) if known else "",
        table=table if known else people,
        key="learn-network",
    )
    if known:
        _travelled()


def _travelled() -> None:
    """What one client of a real run sent and received."""
    log = demo_log()
    rows = [
        (text.WAYS[one["way"]], one["kind"], one["bytes"], one["purpose"], text.tables(one))
        for one in log.messages
    ]
    st.markdown(text.TRAVELLED_OF.format(log))
    table = pd.DataFrame(rows, columns=list(text.TRAVELLED_COLUMNS))
    table_popover(table, key="learn-messages", label=text.TRAVELLED)


# -------------------- 2: three notions of fairness on four people

ILL = (True, False, True, False)  # Ana, Bea, Carl, Dan
NOTIONS = ("sp", "eop", "eo")
DAN = "step2_dan_ill"


def show_people(place: Any, words: Any) -> None:
    """Show which notions hold of four people, whose answers the reader can change."""
    switches = {
        f"step2_{name.lower()}": start for (name, _), start in zip(lesson.PEOPLE, ILL, strict=True)
    }
    ill = (*ILL[:3], switched(DAN, False))
    counts = lesson.four_people(ill, [switched(*one) for one in switches.items()])
    gaps = {notion: lesson.untouched(counts, notion).gaps.overall for notion in NOTIONS}
    said = "\n".join(f"- {text.notion_line(n, gap)}" for n, gap in gaps.items())
    known = ask(words, said, text.FOUR_QUESTION, lambda: start_with("step2_bea", True))
    st.markdown(text.FLIP)
    columns = st.columns(2)
    for at, (name, start) in enumerate(switches.items()):
        with columns[at // 2]:
            switch(name, text.person(*lesson.PEOPLE[at], ill=ill[at]), start)
    if known:  # Dan's illness makes the groups' base rates differ
        switch(DAN, text.DAN_ILL, False)
    parity, odds = (lesson.untouched(counts, name) for name in ("sp", "eo"))
    rates = np.concatenate([parity.rates[0], odds.rates[0][:, ::-1]], axis=1)  # sp, ill, healthy
    people = np.concatenate([parity.people[0], odds.people[0][:, ::-1]], axis=1)
    rows = [
        Row(name, rate, n, "" if n.all() else text.NOTHING_TO_COMPARE)
        for name, rate, n in zip(text.FOUR_RATES, rates.T, people.T, strict=True)
    ]
    table = pd.DataFrame({text.SHARE: text.FOUR_RATES})
    for a, group in enumerate(counts.groups):
        table[text.OF_GROUP.format(group, "%")] = (100 * rates[a]).round(1)
        table[text.OF_GROUP.format(group, text.PEOPLE)] = people[a].astype(int)
    picture(
        place,
        shares(rows, counts.groups, text.AXIS_OF_GROUP),
        key="learn-people",
        spoken=text.FOUR_READING,
        reading=text.FOUR_READING if known else "",
        table=table,
    )


# -------------------- 3: local against global, on a pair of hospitals

SHARES = tuple(range(10, 100, 10))


def show_simpson(place: Any, words: Any) -> None:
    """Show each hospital's gap beside that of both; who goes where can be changed."""
    known = ask(words, text.PAIR, text.PAIR_QUESTION)
    case = "fair"
    women = lesson.PAIRS[case].women
    if known:
        words.caption(text.PAIR_TRY)
        case = choose("step3_case", text.PAIR_EXAMPLE, text.PAIR_CASES, case)
        women = _composition(case)
    counts = lesson.pair_of_hospitals(lesson.PAIRS[case], women)
    apart = lesson.untouched(counts, "eop")
    shown = [apart, lesson.untouched(lesson.together(counts), "eop")] if known else [apart]
    tables = [one.rate_table().drop(columns=["rate_of", "rate_before"]) for one in shown]
    rows = [row for one in zip(shown, tables, strict=True) for row in _rows(*one)]
    picture(
        place,
        shares(rows, counts.groups, text.AXIS_FOUND),
        reading=text.pair_after(apart.gaps.local, apart.gaps.overall)
        if known
        else text.PAIR_BEFORE,
        table=pd.concat(tables, ignore_index=True).round(3).rename(columns=text.PAIR_COLUMNS),
        key="learn-simpson",
    )


def _composition(case: str) -> tuple[int, int]:
    """Who goes where; each example starts from its own shares."""
    north, south = (
        slide(
            f"step3_{case}_{name.lower()}",
            text.WOMEN_OF.format(name),
            SHARES,
            start,
            "{} %".format,
            cell,
        )
        for cell, name, start in zip(
            st.columns(2), ("North", "South"), lesson.PAIRS[case].women, strict=True
        )
    )
    return north, south


def _rows(judged: Evaluation, table: pd.DataFrame) -> list[Row]:
    share, people, low, high = (
        np.reshape(table[name].to_numpy(float), judged.rates.shape[:2])
        for name in ("rate", "n", "rate_low", "rate_high")
    )
    behind = [list(zip(judged.counts.groups, n, strict=True)) for n in people]
    said = map(text.ill_people, behind, judged.gaps.local)
    return [*map(Row, judged.counts.clients, share, people, said, np.stack([low, high], axis=1))]


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


def show_roc(place: Any, words: Any) -> None:
    """Show two triangles under two curves, and where a limit puts the groups."""
    limit = 1.0
    if ask(words, text.CURVE, text.CURVE_QUESTION, lambda: start_with("step4_limit", 0.0)):
        with words.expander(text.WHY_NOT_THRESHOLD):
            fair = lesson.reach(program(), 0.0)
            st.markdown(text.moved_thresholds(_by_thresholds(), fair.accuracy))
        words.caption(text.CURVE_KERNEL)
        limit = slide("step4_limit", text.GAP_ALLOWED, ROC_LIMITS, limit, format.epsilon)
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
def _in_space() -> FairnessProgram:
    return FairnessProgram(lesson.skin_clinic(), "eo", "simplex")


def show_solid(place: Any, words: Any) -> None:
    """Show two tetrahedra, and where a limit puts the groups."""
    limit = 1.0
    known = ask(words, text.SPACE, text.SPACE_QUESTION, lambda: start_with("step5_limit", 0.05))
    if known:
        limit = slide("step5_limit", text.GAP_ALLOWED, SOLID_LIMITS, limit, format.epsilon)
    reach, counts = lesson.reach(_in_space(), limit), _in_space().counts
    corners = lesson.corners(counts, "simplex")
    table = pd.DataFrame({"group": lesson.GROUPS})
    for y, label in enumerate(counts.labels):
        table[text.BY_MODEL_SHARE.format(label)] = 100 * corners[:, 0, y]
        table[text.BY_LOTTERY_SHARE.format(label)] = 100 * reach.share[:, y]
    picture(
        place,
        charts.in_space(corners, reach, counts.labels, known),
        spoken=text.SPACE_SPOKEN,
        reading=text.space_after(limit, reach) if known else "",
        table=table.round(1),
        key="learn-solid",
    )


# -------------------- 6: why the answer is a lottery, and how one person keeps one answer

IDS = [f"patient {number:03d}" for number in range(1, 101)]  # a hundred men
AGAIN = state.Setting("step6_again", 0, whole(0, 10**6))


def show_draws(place: Any, words: Any) -> None:
    """Show who of a hundred men is told what, today and tomorrow."""
    predictor = lesson.reach(program(), 0.0).predictor
    kept = text.draws(100 * predictor.lottery[0, 1, 1, 1])
    known = ask(words, kept, text.DRAWS_QUESTION)
    mode = "dice"
    if known:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            mode = choose("step6_dice", text.DRAWS_HOW, text.DRAWS_MODES, mode)
            again = (AGAIN, state.get(AGAIN) + 1)
            st.button(text.ASK_AGAIN, key="learn-again", on_click=state.put, args=again)
    first, second = (_told(predictor, mode, day) for day in (1, 2 + state.get(AGAIN)))
    days = [first, second] if known else [first]
    turned = [int((day != "ill").sum()) for day in days]
    columns = dict(zip(text.DAYS, days, strict=False))
    picture(
        place,
        charts.draws(days, IDS),
        reading=text.draws_reading(turned, int((first != second).sum()) if known else None),
        table=pd.DataFrame({text.PERSON: IDS, text.MODEL: "ill", **columns}),
        key="learn-draws",
    )


def _told(predictor: FairPredictor, mode: str, day: int) -> NDArray[np.str_]:
    client, group, said = ([name] * len(IDS) for name in (predictor.clients[0], "men", "ill"))
    if mode == "id":
        return predictor.decide(client, group, said, row_id=IDS)
    return predictor.sample(client, group, said, seed=day)


# -------------------- 7: what a limit is worth that was met on a hundred people

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
CHANCE_LIMITS = (0.01, 0.05, 0.1)


@st.cache_data(show_spinner=False, max_entries=len(SIZES) * len(CHANCE_LIMITS))
def _carried(n: int, epsilon: float) -> lesson.Carried:
    return lesson.carried_over(n, epsilon)


def show_chance(place: Any, words: Any) -> None:
    """Show the gap on everybody of a limit that was met on some."""
    known = ask(words, text.CHANCE, text.CHANCE_QUESTION)
    n, limit = 100, CHANCE_LIMITS[0]
    if known:
        left, right = st.columns(2)
        n = slide("step7_people", text.CHANCE_PEOPLE, SIZES, n, format.count, left)
        limit = slide(
            "step7_limit", text.CHANCE_LIMIT, CHANCE_LIMITS, limit, format.epsilon, right
        )
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


# -------------------- 8: what fairness costs, read from one map of a real experiment

TIGHT = 0.01


def show_cost(place: Any, words: Any) -> None:
    """Show one map of a real experiment, whose costs Explore tells alike."""
    view = state.view()
    with words:
        st.markdown(text.COST)
        experiment_choice()
    known = ask(words, "", _cost_question(view))
    coarse = is_dear(view)
    with progress(text.SOLVING) as on_progress:
        one = view.of_seed(view.seeds[0]) if coarse else view
        heat = heat_of(one, COARSE if coarse else GRID, on_progress)
    loose = float(heat.eps_global[-1])
    reading = text.cost_reading(shared_text.notion_title(view.notion), coarse=coarse)
    data = map_data(heat, (loose, loose), [(loose, TIGHT), (TIGHT, loose)] if known else [])
    data["kept"] = [[mark, *at[1:]] for mark, at in zip("LG", data["kept"], strict=False)]
    with place:
        limit_map(
            "learn-map",
            data,
            noun=noun_of(view.data),
            spoken=reading,
            title=shared_text.MAP_TITLE,
            note=text.MARKS if known else "",
            large=presenting() or state.large_type(),
        )
    st.markdown(reading)
    table_popover(lambda: map_table(heat), key="learn-map")


def _cost_question(view: View) -> Question:
    """What a tight local limit alone costs, and a tight global one: Explore's own numbers."""
    unlimited = view.without_limits()
    local = summary_of(replace(unlimited, eps_local=TIGHT)).judged
    overall = summary_of(replace(unlimited, eps_global=TIGHT)).judged
    return text.cost_question(TIGHT, local, overall, noun_of(view.data))


# -------------------- 9: calibration and precision, and why not everything can be equal

ILL_SHARES = tuple(place / 20 for place in range(1, 16))
RATES = tuple(place / 20 for place in range(21))


def show_precision(place: Any, words: Any) -> None:
    """Show the precision that equal errors give two groups."""
    known = ask(words, text.PRECISION, text.PRECISION_QUESTION)
    women, men, found, alarms = 0.2, 0.4, 0.7, 0.1
    if known:
        left, right = st.columns(2)
        women = slide("step9_women", text.ILL_WOMEN, ILL_SHARES, women, shared_text.share, left)
        men = slide("step9_men", text.ILL_MEN, ILL_SHARES, men, shared_text.share, left)
        found = slide("step9_tpr", text.FOUND, RATES, found, shared_text.share, right)
        alarms = slide("step9_fpr", text.FALSE_ALARMS, RATES, alarms, shared_text.share, right)
    precise = [precision(share, found, alarms) for share in (women, men)]
    rows = [
        (group, share, found, alarms, value)
        for group, share, value in zip(text.SEXES, (women, men), precise, strict=True)
    ]
    table = pd.DataFrame(rows, columns=list(text.PRECISION_COLUMNS))
    needed = equalising_rate(women, found, precise[1])
    picture(
        place,
        charts.precision(rows, known=known),
        spoken=text.PRECISION_SPOKEN,
        reading=text.precision_after(precise[0], precise[1], needed) if known else "",
        table=(table if known else table.iloc[:, :4]).round(3),
        key="learn-precision",
    )


# -------------------- 10: which notion, as a tree of questions

_BY_HARM = {"missed": "eop", "both": "eo", "kind": "eo-full", "meaning": "precision"}


def show_which_notion(place: Any, words: Any) -> None:
    """Show a tree of two questions, and the notion that the reader's answers lead to."""
    notion = _advised() if ask(words, text.WHICH, text.WHICH_QUESTION) else ""
    (first, truths), (second, harms) = text.TREE.values()
    rows = [(truths["no"], "", text.BRANCHES["sp"])]
    rows += [(truths["yes"], said, text.BRANCHES[_BY_HARM[harm]]) for harm, said in harms.items()]
    picture(
        place,
        charts.tree(notion),
        key="learn-tree",
        spoken=text.TREE_SPOKEN,
        reading=text.ADVICE.get(notion, ""),
        table=pd.DataFrame(rows, columns=[first, second, text.WHICH_COLUMN]),
    )


def _advised() -> str:
    """Ask both questions: a notion, or precision, which no limit can be set on."""
    st.caption(text.FOR_YOURSELF)
    notion = "sp"
    if choose("step10_truth", *text.TREE["truth"], "yes") == "yes":
        notion = _BY_HARM[choose("step10_harm", *text.TREE["harm"], "missed")]
    if notion != "precision" and st.button(text.TO_EXPLORE, key="learn-notion"):
        state.change(notion=notion)
        st.switch_page("pages/explore/page.py")
    return notion


STEPS = (
    *(show_network, show_people, show_simpson, show_roc, show_solid),
    *(show_draws, show_chance, show_cost, show_precision, show_which_notion),
)
