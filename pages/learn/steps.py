"""The ten steps of the lesson: each function lays one out, its picture and the words beside it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairfl_core._io import numbers as format
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.explore.charts import map_data
from fairfl_core.lp.frontier import Frontier
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.hospitals import equalising_rate, precision
from fairfl_core.teaching.messages import demo_log
from pages.learn import charts, text
from pages.learn.charts import Row, shares
from pages.learn.text import Question
from pages.learn.widgets import answered, ask, choose, picture, slide, start_with, switch, switched
from pages.shared import present, state
from pages.shared import text as shared_text
from pages.shared.catalogue import catalogue, experiment_of, noun_of
from pages.shared.codecs import whole
from pages.shared.component import limit_map
from pages.shared.results import COARSE, GRID, heat_of, is_dear, summary_of
from pages.shared.view import View, options_of
from pages.shared.widgets import error_boundary, map_table, progress, table_popover

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
        (text.WAYS[one["way"]], one["kind"], one["bytes"], one["purpose"], text.tables(one))
        for one in log.messages
    ]
    st.markdown(text.TRAVELLED_OF.format(log))
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
        table[text.OF_GROUP.format(group, "%")] = (100 * rates[a]).round(1)
    for a, group in enumerate(counts.groups):
        table[text.OF_GROUP.format(group, text.PEOPLE)] = people[a].astype(int)
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
            label = text.WOMEN_OF.format(name)
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
AGAIN = state.Setting("step6_again", 0, whole(0, 10**6))


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
    return [text.PATIENT.format(number) for number in range(1, MEN + 1)]


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

ILL_SHARES = tuple(place / 20 for place in range(1, 16))
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
                women = slide("step9_women", text.ILL_WOMEN, ILL_SHARES, women, text.share)
                men = slide("step9_men", text.ILL_MEN, ILL_SHARES, men, text.share)
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


STEPS = (
    *(show_network, show_people, show_simpson, show_roc, show_solid),
    *(show_draws, show_chance, show_cost, show_precision, show_which_notion),
)
