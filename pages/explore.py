"""Explore: move two tolerances and see what fairness costs, for whom, and how sure that is."""

from dataclasses import replace
from time import monotonic

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.evaluation.study import Study
from pages.components.session import controls, state
from pages.components.shared import figures, words
from pages.components.shared.charts import chart, part
from pages.components.shared.client_choice import few_of
from pages.components.shared.results import (
    COARSE,
    GRID,
    Choice,
    client_table,
    counts_of,
    experiment_of,
    heat_of,
    heavy,
    region_curve,
    study_of,
)

HEAT = "explore-heat"
ORDERS = {
    "largest gap after": lambda t: -t["after"],
    "largest gap before": lambda t: -t["before"],
    "largest client": lambda t: -t["n"],
    "dearest": lambda t: -t["price"],
    "name": None,
}


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    _welcome()
    _live(choice)


def _welcome() -> None:
    if state.get("welcome", "yes") == "yes":
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/learn.py", label="New here? Start with the lesson (5 min)")
            st.button("✕", key="welcome-away", help="Do not show this line", type="tertiary",
                    on_click=lambda: state.put("welcome", "no"))  # fmt: skip


@st.fragment
def _live(choice: Choice) -> None:
    """All that follows a slider: only this is re-run when one moves."""
    place = st.container()
    eps_global, eps_local = controls.epsilons()
    controls.preset_buttons()
    own = controls.own_epsilons(experiment_of(choice.experiment).clients)
    study = study_of(choice, eps_global, eps_local, tuple(own.items()))
    with place, part("The headline"):
        st.markdown(f"#### {words.headline(study)}")
        if choice.region == "exact":
            paper = replace(choice, region="simplex", rates="labels")
            other = study_of(paper, eps_global, eps_local, tuple(own.items()))
            st.markdown(words.approximation(study, other))
    with part("The summary"):
        _metrics(study)
    here = (eps_global, eps_local)
    left, right = st.columns([3, 2], gap="large")
    with left, part("The map"):
        _map(choice, here)
    with right, part("The comparison of asked, reached and unseen"):
        _three_numbers(study, choice.rates)
        _prices(study, own)
        _pin(choice, study, here)
    with part("The clients' gaps"):
        _clients(study)
    with part("What the region costs"):
        _regions(choice)


def _metrics(study: Study) -> None:
    unseen = study.has_held_out
    after = study.over(lambda e: e.accuracy, unseen=unseen)
    before = study.over(lambda e: e.before.accuracy, unseen=unseen).mean
    overall = study.over(lambda e: e.gaps.overall, unseen=unseen)
    overall_before = study.over(lambda e: e.before.gaps.overall, unseen=unseen).mean
    worst = words.worst_client(study)
    changed = study.client_mean(lambda e: e.changed, unseen=unseen)
    groups = study.first.solution.counts.groups
    cells = st.columns(4)
    cells[0].metric(
        "Accuracy, unseen people" if unseen else "Accuracy",
        words.percent(after.mean),
        f"{100 * (after.mean - before):+.2f} points",
        border=True,
        height="stretch",
    )
    cells[1].metric(
        "Overall gap",
        words.gap(overall.mean),
        f"was {words.gap(overall_before)}",
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
    )
    if worst is None:
        cells[2].metric("Worst client", "none to compare", border=True, height="stretch")
    else:
        local = study.client_mean(lambda e: e.gaps.local, unseen=unseen)[worst]
        local_before = study.client_mean(lambda e: e.before.gaps.local, unseen=unseen)[worst]
        name = words.plain(study.first.solution.counts.clients[worst], 24)
        cells[2].metric(
            f"Worst client: {name}",
            words.gap(local),
            f"was {words.gap(local_before)}",
            delta_color="off",
            delta_arrow="off",
            border=True,
            height="stretch",
        )
    shares = [
        f"{words.percent(share)} {words.plain(group, 18)}"
        for group, share in zip(groups, changed, strict=True)
    ]
    total = study.over(
        lambda e: float((e.changed * e.counts.table.sum(axis=(0, 2, 3))).sum() / e.counts.n),
        unseen=unseen,
    )
    cells[3].metric(
        "Answers changed",
        words.percent(total.mean),
        " · ".join(shares),
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
    )


def _map(choice: Choice, here: tuple[float, float]) -> None:
    many = heavy(choice, map_only=True)
    if many and not st.toggle(
        "Draw the map (36 pairs of limits; with so many clients this takes minutes)",
        key=state.take_from("map_drawn", state.get("map_drawn", False)),
        on_change=state.give_back,
        args=("map_drawn",),
    ):
        return
    bar = st.empty()
    begun = monotonic()

    def told(share: float) -> None:
        if share < 1 and monotonic() - begun > 0.3:  # no flicker for what is quick
            bar.progress(share, "Solving every pair of the map")

    found = heat_of(choice, COARSE if many else GRID, told)
    bar.empty()
    pinned = _pinned()
    figure = figures.heat_map(found, here, pinned[2:] if pinned else None)
    table = pd.DataFrame(
        100 * found.accuracy, columns=[f"overall {value:g}" for value in found.eps_global]
    )
    table.insert(0, "inside each client", found.eps_local)
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading="**What each pair of limits leaves of accuracy**, fitted on validation. Lighter is "
        "more accurate; inside the dotted line fairness costs nothing. Click a cell to go there.",
        table=table.round(2),
        name="accuracy-map",
        key=HEAT,
        on_select=controls.move_to(HEAT),
    )


def _three_numbers(study: Study, rates: str) -> None:
    solution = study.first.solution
    unseen = study.has_held_out
    columns = [False, True] if unseen else [False]

    def row(figure, show):  # noqa: ANN001, ANN202
        return [show(study.over(figure, unseen=each).mean) for each in columns]

    asked_local = float(solution.eps_local.max())
    rows = {
        "Accuracy": ["", *row(lambda e: e.accuracy, words.percent)],
        "The model's own accuracy": ["", *row(lambda e: e.before.accuracy, words.percent)],
        "Overall gap (ε0)": [
            words.epsilon(solution.eps_global), *row(lambda e: e.gaps.overall, words.gap)
        ],
        "Worst client (εc)": [
            words.epsilon(asked_local),
            *(words.gap(words.worst_gap(study, unseen=each)) for each in columns),
        ],
        "Mean client": ["", *row(lambda e: e.gaps.local_mean, words.gap)],
        "Larger half, chance taken out": [
            "", *row(lambda e: e.debiased(e.larger_half).gap, _debiased)
        ],
    }  # fmt: skip
    n = [words.count(study.over(lambda e: e.counts.n, unseen=each).mean) for each in columns]
    names = ["asked", f"reached (validation, n = {n[0]})"]
    names += [f"unseen (test, n = {n[1]})"] if unseen else []
    st.markdown("**Asked, reached, and what held on people it had not seen**")
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=names))
    worst = words.worst_gap(study, unseen=unseen)
    overall = study.over(lambda e: e.gaps.overall, unseen=unseen).mean
    above = [
        f"{what} is {words.gap(value)}, above the {words.epsilon(asked)} asked"
        for what, value, asked in (
            ("the overall gap", overall, solution.eps_global),
            ("the worst client's gap", worst, asked_local),
        )
        if unseen and value > asked + 0.0005
    ]
    if above:
        st.caption(
            f"On unseen people {' and '.join(above)}: a limit met on few people does not carry "
            "over to others, the less the smaller the client."
        )
    if rates != "labels":
        st.caption(
            "The limits hold for the program's own rates "
            f"({words.RATES[rates][0]}); counted by labels, even the fitted people may exceed them."
        )
    if not unseen:
        st.caption("No held-out check possible: there are no unseen people in this set.")


def _debiased(value: float) -> str:
    return "none" if np.isnan(value) else "fair within chance" if value < 0 else words.gap(value)


def _prices(study: Study, own: dict[str, float]) -> None:
    st.markdown("**Who pays, what binds, and its local price**")
    for sentence in (words.who_pays(study), *words.price_sentences(study)):
        st.markdown(f"- {sentence}")
    if own:
        said = ", ".join(f"{words.plain(name)} {value:g}" for name, value in own.items())
        st.caption(f"Own limits set on the Clients page: {said}.")


def _pinned() -> tuple[str, str, float, float] | None:
    """The pinned setting A: notion, region, eps_global, eps_local."""
    parts = state.get("pinned", "").split(",")
    try:
        notion, region, overall, local = parts
        return notion, region, float(overall), float(local)
    except ValueError:
        return None


def _pin(choice: Choice, study: Study, here: tuple[float, float]) -> None:
    text = f"{choice.notion},{choice.region},{here[0]:g},{here[1]:g}"
    with st.container(horizontal=True):
        st.button("Pin this as A", on_click=state.put, args=("pinned", text), key="pin")
        pinned = _pinned()
        if pinned:
            st.button("Unpin", on_click=state.put, args=("pinned", ""), key="unpin",
                      type="tertiary")  # fmt: skip
    state.write_link({"pinned": state.get("pinned", "")})
    if not pinned or pinned[0] not in words.NOTIONS or pinned[1] not in words.REGIONS:
        return
    other = study_of(Choice(choice.experiment, pinned[0], pinned[1], choice.seeds), *pinned[2:])
    rows = {
        name: [show(each.over(figure, unseen=each.has_held_out).mean) for each in (other, study)]
        for name, figure, show in (
            ("Accuracy", lambda e: e.accuracy, words.percent),
            ("Overall gap", lambda e: e.gaps.overall, words.gap),
            ("Worst client", lambda e: e.gaps.local_worst, words.gap),
            ("Mean client", lambda e: e.gaps.local_mean, words.gap),
        )
    }
    columns = [
        f"A: {pinned[0]}, {pinned[1]}, ε0 {words.epsilon(pinned[2])}, εc {words.epsilon(pinned[3])}",
        "B: as set now",
    ]
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))


def _clients(study: Study) -> None:
    unseen = study.has_held_out
    table = client_table(study)
    order = st.selectbox(
        "Order of the clients", list(ORDERS), key=state.take_from("order", state.get("order", list(ORDERS)[0])),
        on_change=state.give_back, args=("order",), width=260,
    )  # fmt: skip
    by = ORDERS.get(order)
    if by is not None:
        table = table.iloc[np.argsort(by(table).fillna(np.inf).to_numpy(), kind="stable")]
    figure = figures.client_gaps(few_of(table))
    inside = int((table["after"] <= table["chance alone"]).sum())
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading="**Each client's gap, before and after**, on "
        + ("unseen people" if unseen else "the people it was fitted on")
        + (", mean over runs" if len(study.outcomes) > 1 else "")
        + f". In {inside} of {len(table)} clients the gap left is no larger than chance alone "
        "would show on so few people (pale squares).",
        table=table.round(4),
        name="clients",
        key="explore-clients",
    )


def _regions(choice: Choice) -> None:
    """Accuracy against the gap that really remains, one line a region: a fair comparison."""
    st.markdown("**What the region costs**, at an equal gap on unseen people")
    if counts_of(choice.experiment, choice.seeds[0], "test") is None:
        st.caption(f"{words.NO_CHECK.capitalize()}: there are no unseen people in this set.")
        return
    if not st.toggle(
        "Draw it (solves every region at eight limits)",
        key=state.take_from("regions_drawn", state.get("regions_drawn", False)),
        on_change=state.give_back,
        args=("regions_drawn",),
    ):
        return
    bar = st.empty()
    table = region_curve(
        replace(choice, seeds=choice.seeds[:1] if choice.region == "exact" else choice.seeds),
        lambda share: bar.progress(share, "Solving every region at eight limits"),
    )
    bar.empty()
    chart(
        figures.size_of_type(figures.region_lines(table), controls.large_type()),
        reading="Up is more accurate, left is fairer: **a line further up and left is the better "
        "region**. Each point is one limit, the same overall and inside each client; gaps and "
        "accuracy are of unseen people.",
        table=table.round(4),
        name="regions",
        key="explore-regions",
    )


page()
