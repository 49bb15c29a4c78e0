"""Scenarios: what it costs when clients differ; the paper's three, and one's own."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Study
from fairfl_core.solving.frontier import Frontier
from pages.components.scenarios.figures import group_shares, small_map
from pages.components.scenarios.results import (
    MAP,
    SCENARIOS,
    Own,
    Scenario,
    composition,
    missing,
    most_people,
    own_heat,
    own_most,
    own_study,
    scenario_of,
)
from pages.components.session import controls, state
from pages.components.shared import figures, words
from pages.components.shared.charts import chart, part, table_below
from pages.components.shared.results import Choice, client_table, experiment_of, study_of

FEWEST, MOST = 2, 6  # clients of one's own
STEP = 10  # people, of the size slider
SPREADS = {  # shares of the first group, in percent: the paper's three, for up to six clients
    "All alike": (40, 40, 40, 40, 40, 40),
    "A little apart": (20, 30, 40, 50, 60, 40),
    "Far apart": (10, 30, 50, 70, 90, 50),
}
WIDE, NARROW = MAP[-1], MAP[0]


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    _live(choice)


@st.fragment
def _live(choice: Choice) -> None:
    """All that follows the two tolerances: only this is re-run when one moves."""
    place = st.container()
    here = controls.epsilons()
    with part("The paper's scenarios"):
        _papers(choice, here, place)
    _own(choice, here)


# -------------------------------------------------------------------- the paper's three


def _papers(choice: Choice, here: tuple[float, float], place) -> None:  # noqa: ANN001
    lacking = missing()
    if lacking:
        st.info(
            f"Not among the experiments here: {', '.join(map(words.plain, lacking))}. Train one "
            "with `fairfl train`, and it appears in this place."
        )
    bar = st.empty()
    found = [
        scenario_of(name, choice, lambda share: bar.progress(share, "Solving every pair of a map"))
        for name in SCENARIOS
        if name not in lacking
    ]
    bar.empty()
    if not found:
        return
    with place:
        st.markdown(f"#### {_headline(found)}")
    _maps(found, here)
    with part("The losses"):
        _losses(found)
    with part("The composition of the clients"):
        _composition(found)


def _number(scenario: Scenario) -> str:
    return f"Scenario {list(SCENARIOS).index(scenario.choice.experiment) + 1}"


def _loss(corners: dict[tuple[float, float], float]) -> tuple[float, float]:
    """What is lost from both limits at .3 to both at .05: in accuracy, and as a share of it."""
    lost = corners[WIDE, WIDE] - corners[NARROW, NARROW]
    return lost, lost / corners[WIDE, WIDE]


def _headline(found: list[Scenario]) -> str:
    ours = ", ".join(
        f"**{words.percent(_loss(each.unseen)[1])}** in {_number(each).lower()}" for each in found
    )
    theirs = ", ".join(f"{words.percent(each.paper.loss)}" for each in found)
    return (
        f"Tightening both limits from {words.epsilon(WIDE)} to {words.epsilon(NARROW)} costs, of "
        f"the accuracy on unseen people, {ours} (the paper: {theirs})."
    )


def _maps(found: list[Scenario], here: tuple[float, float]) -> None:
    notion = words.NOTIONS[found[0].choice.notion][0].lower()
    inside = all(NARROW <= value <= WIDE for value in here)
    runs = ", mean over runs" if len(found[0].choice.seeds) > 1 else ""
    st.markdown(
        f"**What each pair of limits leaves of accuracy, %** ({notion}, region "
        f"{found[0].choice.region}, fitted on validation{runs}). All maps share one "
        "scale: lighter is more accurate; from the dotted line up and right fairness costs nothing. "
        + ("The cross is where the limits are set." if inside
           else "The limits set now lie off these maps, so no cross is drawn.")
    )  # fmt: skip
    every = np.stack([each.heat.accuracy for each in found])
    limits = (100 * every.min(), 100 * every.max())
    columns = st.columns(3, gap="medium")
    for column, each in zip(columns, found, strict=False):
        with column, part(_number(each)):
            study = study_of(each.choice, *here)
            _now(each, study)
            figure = small_map(each.heat, here if inside else None, limits)
            key = f"map-{each.choice.experiment}"
            st.plotly_chart(figures.size_of_type(figure, controls.large_type()), key=key,
                            config={"displayModeBar": False},
                            alt=f"Accuracy over both limits, {_number(each)}")  # fmt: skip
            table_below(_map_table(each.heat), name=key, key=key)


def _now(scenario: Scenario, study: Study) -> None:
    """The scenario at the limits set now, on unseen people."""
    unseen = study.has_held_out
    after = study.over(lambda e: e.accuracy, unseen=unseen).mean
    before = study.over(lambda e: e.before.accuracy, unseen=unseen).mean
    st.metric(
        f"{_number(scenario)}, unseen people",
        words.percent(after),
        f"{100 * (after - before):+.2f} points against FedAvg",
    )
    overall = study.over(lambda e: e.gaps.overall, unseen=unseen).mean
    worst = words.worst_client(study)
    said = f"Overall gap {words.gap(overall)}"
    if worst is not None:
        local = study.client_mean(lambda e: e.gaps.local, unseen=unseen)[worst]
        name = words.plain(study.first.solution.counts.clients[worst])
        said += f"; worst {name}: {words.gap(local)}"
    st.caption(said + ".")


def _map_table(heat: Frontier) -> pd.DataFrame:
    table = pd.DataFrame(
        100 * heat.accuracy, columns=[f"overall {value:g}" for value in heat.eps_global]
    )
    table.insert(0, "inside each client", heat.eps_local)
    return table.round(2)


def _losses(found: list[Scenario]) -> None:
    st.markdown(
        "**What is lost, ours and the paper's.** Both limits from 0.30 to 0.05; then only the "
        "overall one, with the one inside clients at 0.05."
    )
    rows: dict[str, list[str]] = {}
    flat = []
    for each in found:
        plain: dict[str, object] = {"scenario": _number(each)}
        for name, corners in (("unseen people", each.unseen), ("validation", each.fitted)):
            lost, share = _loss(corners)
            before, after = corners[WIDE, NARROW], corners[NARROW, NARROW]
            _append(rows, f"Both, {name}", f"{words.percent(share)} ({words.points(lost)})")
            _append(rows, f"Overall only, {name}", _from_to(before, after))
            plain |= {f"lost, points, {name}": round(100 * lost, 3),
                      f"lost, % of accuracy, {name}": round(100 * share, 3),
                      f"overall .3, {name}": round(before, 5),
                      f"overall .05, {name}": round(after, 5)}  # fmt: skip
        paper = each.paper
        _append(rows, "Both, the paper", words.percent(paper.loss))
        _append(rows, "Overall only, the paper", _from_to(paper.before, paper.after))
        plain |= {"lost, % of accuracy, paper": 100 * paper.loss, "overall .3, paper": paper.before,
                  "overall .05, paper": paper.after}  # fmt: skip
        flat.append(plain)
    names = [_number(each) for each in found]
    st.table(pd.DataFrame.from_dict(dict(sorted(rows.items())), orient="index", columns=names))
    table_below(pd.DataFrame(flat), name="scenario-losses", key="scenario-losses")


def _append(rows: dict[str, list[str]], name: str, text: str) -> None:
    rows.setdefault(name, []).append(text)


def _from_to(before: float, after: float) -> str:
    return f"{words.percent(before)} → {words.percent(after)}"


def _composition(found: list[Scenario]) -> None:
    groups = experiment_of(found[0].choice.experiment).groups
    blocks, clients, shares, people = [], [], [], []
    for each in found:
        share, n = composition(each.choice)
        blocks += [_number(each)] * len(n)
        clients += [str(c + 1) for c in range(len(n))]
        shares.append(share)
        people.append(n)
    share = np.concatenate(shares)
    table = pd.DataFrame({"scenario": blocks, "client": clients,
                          "n held out": np.concatenate(people).round()})  # fmt: skip
    for code, group in enumerate(groups):
        table[f"{group}, %"] = (100 * share[:, code]).round(1)
    chart(
        figures.size_of_type(group_shares(blocks, clients, groups, share), controls.large_type()),
        reading=f"**Who is in which client**: share of {words.plain(groups[0])} and the rest. "
        "From left to right the clients grow apart.",
        table=table, name="scenario-composition", key="scenario-composition",
    )  # fmt: skip


# -------------------------------------------------------------------- one's own


@st.fragment
def _own(choice: Choice, here: tuple[float, float]) -> None:
    """Clients of one's own: re-run alone when a share, a size or the draw changes."""
    experiment = experiment_of(choice.experiment)
    title, first = words.plain(experiment.manifest["title"]), experiment.groups[0]
    rest = experiment.groups[1] if len(experiment.groups) == 2 else "the others, as they come"
    st.markdown("#### Make your own")
    st.markdown(
        f"New clients from the people of *{title}* that training held out: those of validation "
        "to make the lottery, those of test to judge it. **Scores are not retrained**: each person "
        "keeps the answer the model gave in the client they came from. The experiment is chosen "
        "in the sidebar."
    )
    with part("Clients of your own"):
        own = _own_controls(choice, first, words.plain(rest))
        try:
            study = own_study(own, *here)
        except InputError as error:
            _impossible(own, error)
            return
        _own_result(own, study, here)


def _own_controls(choice: Choice, first: str, rest: str) -> Own:
    left, middle, right = st.columns(3, gap="medium")
    clients = state.get("k", 5, lambda text: _within(int(text), FEWEST, MOST))
    left.slider("Clients", FEWEST, MOST, key=state.take_from("k", clients),
                on_change=state.give_back, args=("k",))  # fmt: skip
    most = most_people(choice, clients)
    size = state.get("size", 0, lambda text: _within(int(text), 0, 10**9))
    size = max(min(size or most // 2, most) // STEP * STEP, STEP) if most >= 2 * STEP else most
    if most >= 2 * STEP:
        middle.slider("People in each client", STEP, most // STEP * STEP, step=STEP,
                      key=state.take_from("size", size), on_change=state.give_back,
                      args=("size",), help="In validation, and as many in test.")  # fmt: skip
    draw = state.get("draw", 0, lambda text: _within(int(text), 0, 9999))
    right.number_input("Draw", 0, 9999, key=state.take_from("draw", draw),
                       on_change=state.give_back, args=("draw",),
                       help="Who comes into which client is drawn with this seed: the same "
                       "number, the same clients.")  # fmt: skip
    shares = _shares()
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, values in SPREADS.items():
            st.button(name, key=f"spread-{name}", on_click=_put_shares, args=(values,))
    st.markdown(f"Share of **{words.plain(first)}** in each client, % (the rest: {rest})")
    # A row of columns at a time: on a phone they stand below each other in order.
    columns = [*st.columns(3, gap="medium"), *st.columns(3, gap="medium")]
    for place in range(clients):
        columns[place].slider(
            f"Client {place + 1}", 0, 100, step=5, format="%d %%",
            key=state.take_from(f"share{place}", shares[place]), on_change=_share_moved,
            args=(place,),
        )  # fmt: skip
    state.write_link({"k": clients, "size": size, "draw": draw,
                      "shares": ",".join(map(str, shares[:clients]))})  # fmt: skip
    return Own(choice, tuple(share / 100 for share in shares[:clients]), size, draw)


def _within(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise ValueError(value)
    return value


def _shares() -> list[int]:
    """Shares in percent, as many as there may be clients; kept as text ``10,30,50``."""
    start = SPREADS["Far apart"]
    try:
        kept = [_within(int(each), 0, 100) for each in state.get("shares", "").split(",")]
    except ValueError:
        kept = []
    return [*kept[:MOST], *start[len(kept) :]]


def _put_shares(values: tuple[int, ...]) -> None:
    state.put("shares", ",".join(map(str, values)))


def _share_moved(place: int) -> None:
    shares = _shares()
    shares[place] = st.session_state[f"widget_share{place}"]
    _put_shares(tuple(shares))


def _impossible(own: Own, error: InputError) -> None:
    """Say why, and what is possible."""
    most = own_most(own)
    most = most // STEP * STEP if most >= STEP else most
    possible = (
        f" With these shares {words.count(most)} people in each client are possible."
        if most
        else " With these shares no client can be drawn: choose others."
    )
    sentence = str(error)
    st.info(words.plain(sentence[0].upper() + sentence[1:], longest=300) + possible)
    if most:
        st.button(f"Take {words.count(most)} people in each client", key="size-possible",
                  on_click=state.put, args=("size", most))  # fmt: skip


def _own_result(own: Own, study: Study, here: tuple[float, float]) -> None:
    st.markdown(f"##### {words.headline(study)}")
    runs = len(own.choice.seeds)
    also = " in validation and as many in test" if study.has_held_out else f" ({words.NO_CHECK})"
    st.caption(
        f"{len(own.shares)} clients of {words.count(own.size)} people{also}, "
        f"draw {own.draw}" + (f", drawn anew in each of {runs} runs; means." * (runs > 1) or ".")
    )  # fmt: skip
    left, right = st.columns([3, 2], gap="large")
    with left, part("The map of your clients"):
        heat = own_heat(own)
        inside = all(NARROW <= value <= WIDE for value in here)
        figure = small_map(heat, here if inside else None,
                           (100 * heat.accuracy.min(), 100 * heat.accuracy.max()))  # fmt: skip
        chart(
            figures.size_of_type(figure, controls.large_type()),
            reading="**What each pair of limits leaves of accuracy in these clients, %**, fitted "
            "on validation" + (". The cross is where the limits are set." if inside else "."),
            table=_map_table(heat), name="own-map", key="own-map",
        )  # fmt: skip
    with right, part("The comparison with even clients"):
        _beside_even(own, study, here)
    with part("The clients' gaps"):
        _own_clients(study)


def _beside_even(own: Own, study: Study, here: tuple[float, float]) -> None:
    """The same number of people of the first group, spread evenly: what difference alone costs."""
    even = own_study(own.even, *here)
    group = words.plain(study.first.solution.counts.groups[0])
    st.markdown(f"**As drawn, and with as many {group} spread evenly** ({words.people(study)})")

    def row(figure, show):  # noqa: ANN001, ANN202
        return [show(each.over(figure, unseen=each.has_held_out).mean) for each in (study, even)]

    def lost(this: Own) -> str:
        accuracy = own_heat(this).accuracy
        return words.percent(float(1 - accuracy[0, 0] / accuracy[-1, -1]))

    rows = {
        "Accuracy, FedAvg": row(lambda e: e.before.accuracy, words.percent),
        "Accuracy, fair": row(lambda e: e.accuracy, words.percent),
        "Cost": row(lambda e: e.before.accuracy - e.accuracy, _signed),
        "Overall gap": row(lambda e: e.gaps.overall, words.gap),
        "Mean client's gap": row(lambda e: e.gaps.local_mean, words.gap),
        "Worst client's gap in a run": row(lambda e: e.gaps.local_worst, words.gap),
        "Lost from 0.30 to 0.05, both (validation)": [lost(own), lost(own.even)],
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["as drawn", "spread evenly"])
    st.table(table)
    table_below(table.reset_index(names="figure"), name="own-beside-even", key="own-beside-even")


def _signed(cost: float) -> str:
    return words.points(cost) if cost >= 0 else f"gains {words.points(cost)}"


def _own_clients(study: Study) -> None:
    table = client_table(study)
    figure = figures.dumbbell(
        [f"{name}, n = {words.count(n)}" for name, n in zip(table.client, table.n, strict=True)],
        *(table[name].to_numpy() for name in ("before", "after", "low", "high",
          "reached on validation", "asked", "chance alone")),
    )  # fmt: skip
    within = int((table["after"] <= table["chance alone"]).sum())
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading=f"**Each of your clients' gap, before and after**, on {words.people(study)}. In "
        f"{within} of {len(table)} clients the gap left is no larger than chance alone would show.",
        table=table.round(4), name="own-clients", key="own-clients",
    )  # fmt: skip


page()
