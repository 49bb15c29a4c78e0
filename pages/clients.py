"""Clients: one at a time. Its size, rates, lottery, price, and a limit of its own."""

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.evaluation.study import Study
from pages.components.session import controls, state
from pages.components.shared import figures, words
from pages.components.shared.charts import chart, part, table_below
from pages.components.shared.results import GRID, Choice, experiment_of, study_of


def page() -> None:
    """Lay the page out, top to bottom."""
    choice = controls.sidebar()
    _live(choice)


@st.fragment
def _live(choice: Choice) -> None:
    clients = experiment_of(choice.experiment).clients
    place = st.container()
    client = _pick(clients)
    eps_global, eps_local = controls.epsilons()
    own = controls.own_epsilons(clients)
    own_limit = _own_limit(clients, client, own, eps_local)
    study = study_of(choice, eps_global, eps_local, tuple(own.items()))
    at = clients.index(client)
    with place, part("The client's headline"):
        st.markdown(f"#### {_headline(study, at)}")
    with part("The client's figures"):
        _metrics(study, at)
    left, right = st.columns([3, 2], gap="large")
    with left, part("The client's rates"):
        _rates(study, at)
    with right, part("The client's lottery"):
        _lottery(study, at)
    if own_limit:
        with part("The effect on the others"):
            without = tuple((name, value) for name, value in own.items() if name != client)
            _effect(study, study_of(choice, eps_global, eps_local, without), at)


def _pick(clients: tuple[str, ...]) -> str:
    value = state.get("client", clients[0])
    if value not in clients:
        value = clients[0]
        state.put("client", value)
    st.selectbox(
        "Client",
        clients,
        key=state.take_from("client", value),
        on_change=state.give_back,
        args=("client",),
        width=320,
    )
    state.write_link({"client": value})
    return value


def _own_limit(
    clients: tuple[str, ...], client: str, own: dict[str, float], eps_local: float
) -> bool:
    """A limit for this client alone: a switch, and a slider once it is on."""
    switch, slider = st.columns([1, 2], vertical_alignment="center")
    has = client in own

    def switched() -> None:
        on = st.session_state["widget_own_on"]
        controls.set_own_epsilon(clients, client, eps_local if on else None)

    def moved() -> None:
        controls.set_own_epsilon(clients, client, st.session_state["widget_own_value"])

    switch.toggle(
        "Its own limit εc",
        key=state.take_from("own_on", has),
        on_change=switched,
        help="A limit for this client alone; the others keep theirs.",
    )
    if has:
        options = [*GRID, controls.NO_LIMIT]
        nearest = min(options, key=lambda option: abs(option - own[client]))
        slider.select_slider(
            f"Gap allowed inside {words.plain(client)}",
            options,
            format_func=words.epsilon,
            key=state.take_from("own_value", nearest),
            on_change=moved,
        )
    return has


def _headline(study: Study, at: int) -> str:
    solution = study.first.solution
    name = words.plain(solution.counts.clients[at])
    unseen = study.has_held_out

    def mean(figure):  # noqa: ANN001, ANN202
        return float(study.client_mean(figure, unseen=unseen)[at])

    after, before = mean(lambda e: e.gaps.local), mean(lambda e: e.before.gaps.local)
    if np.isnan(after):
        return f"**{name}** has no two groups to compare: it has no local gap."
    said = words.sure(
        after,
        mean(lambda e: e.local_interval[0]),
        mean(lambda e: e.local_interval[1]),
        mean(lambda e: e.noise_floor),
        mean(lambda e: e.counts.n_client.astype(float)),
    )
    people = words.people(study)
    return (
        f"**{name}**: gap {words.gap(before)} → **{words.gap(after)}** on {people} ({said}); "
        f"asked {words.epsilon(float(solution.eps_local[at]))}."
    )


def _metrics(study: Study, at: int) -> None:
    unseen = study.has_held_out
    n = [
        study.client_mean(lambda e: e.counts.n_client.astype(float), unseen=each)[at]
        for each in ((False, True) if unseen else (False,))
    ]
    accuracy = study.client_mean(lambda e: e.client_accuracy, unseen=unseen)[at]
    before = study.client_mean(lambda e: e.before.client_accuracy, unseen=unseen)[at]
    floor = study.client_mean(lambda e: e.noise_floor, unseen=unseen)[at]
    draw = study.client_mean(lambda e: e.one_draw, unseen=unseen)[at]
    cells = st.columns(4)
    cells[0].metric(
        "People (fitted · unseen)" if unseen else "People",
        " · ".join(words.count(each) for each in n),
        border=True,
        height="stretch",
    )
    cells[1].metric(
        "Accuracy here",
        words.percent(accuracy),
        f"{100 * (accuracy - before):+.2f} points",
        border=True,
        height="stretch",
    )
    cells[2].metric(
        "Chance alone",
        words.gap(floor),
        f"one draw of the lottery: {words.gap(draw)}",
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
        help="The gap a perfectly fair predictor would show on so few people; and the gap to "
        "expect in one realised draw of the lottery, luck included.",
    )
    price = float(study.price_local[at])
    cells[3].metric(
        "Local price",
        f"{price:.3f} points" if price >= 0.0005 else "none",
        "for one more hundredth here",
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
        help="Points of accuracy, over everyone, that one more hundredth of tolerance in this "
        "client would buy. One-sided at kinks.",
    )


def _rates(study: Study, at: int) -> None:
    unseen = study.has_held_out
    client = study.first.solution.counts.clients[at]
    tables = [each.rate_table() for each in study.evaluations(unseen=unseen)]
    mine = pd.concat([table[table.client == client] for table in tables])
    mean = mine.groupby(["rate_of", "group"], sort=False, as_index=False)[
        ["n", "rate_before", "rate", "rate_low", "rate_high"]
    ].mean()
    mean["n"] = mean["n"].round()
    said = {str(rate): words.rate(rate) for rate in study.first.solution.notion.rates}
    order = {name: place for place, name in enumerate(said)}
    mean = mean.sort_values("rate_of", key=lambda names: names.map(order), kind="stable")
    mean["rate_of"] = mean["rate_of"].map(said)
    figure = figures.rates(mean, list(study.first.solution.counts.groups))
    chart(
        figures.size_of_type(figure, controls.large_type()),
        reading="**The rates that are compared, group by group**, with 95 % intervals, on "
        + ("unseen people" if unseen else "the people it was fitted on")
        + ". Hollow: the model's own answers; filled: after the lottery.",
        table=mean.round(4),
        name=f"rates-{at}",
        key="clients-rates",
    )
    missing = [
        cell
        for cell in study.evaluations(unseen=unseen)[0].not_assessable
        if cell.client == client
    ]
    for cell in missing:
        with_label = f" with label “{words.plain(cell.label)}”" if cell.label else ""
        st.caption(
            f"Nobody of group “{words.plain(cell.group)}”{with_label} here: not assessable."
        )


def _lottery(study: Study, at: int) -> None:
    solution = study.first.solution
    if solution.needs_scores:
        _score_lottery(study, at)
        return
    beta = np.mean([one.solution.beta[at] for one in study.outcomes], axis=0)
    st.markdown(
        "**Its lottery, in words**" + (" (mean over runs)" if len(study.outcomes) > 1 else "")
    )
    for group, weights in zip(solution.counts.groups, beta, strict=True):
        for sentence in words.lottery(weights, solution.rules, group):
            st.markdown(f"- {sentence}")
    table = pd.DataFrame(beta.T, columns=list(solution.counts.groups))
    table.insert(0, "rule", solution.rules.names)
    table_below(table.round(4), name=f"lottery-{at}", key="clients-lottery")


def _score_lottery(study: Study, at: int) -> None:
    """The exact region: rules of the scores and their shares, of the first run shown."""
    outcome = study.first
    counts, rules = outcome.solution.counts, outcome.solution.rules
    st.markdown(
        "**Its lottery, in words**" + (f" (run {outcome.seed})" if len(study.outcomes) > 1 else "")
    )
    rows = []
    for place, group in enumerate(counts.groups):
        mine = np.flatnonzero((rules.client == at) & (rules.group == place))
        mine = mine[np.argsort(-outcome.solution.beta[mine])]
        parts = []
        for rule in mine:
            said = rules.sentence(int(rule), counts.labels)
            share = outcome.solution.beta[rule]
            rows.append({"group": group, "rule": said, "share": share})
            if share >= 0.0005:
                parts.append(f"{words.hundred(share)} in 100: {words.plain(said, 160)}")
        st.markdown(f"- **{words.plain(group)}** – " + "; ".join(parts) + ".")
    table_below(pd.DataFrame(rows).round(4), name=f"lottery-{at}", key="clients-lottery")


def _effect(now: Study, without: Study, at: int) -> None:
    unseen = now.has_held_out
    clients = now.first.solution.counts.clients

    def change(figure):  # noqa: ANN001, ANN202
        return now.over(figure, unseen=unseen).mean - without.over(figure, unseen=unseen).mean

    accuracy, overall = change(lambda e: e.accuracy), change(lambda e: e.gaps.overall)
    local = now.client_mean(lambda e: e.gaps.local, unseen=unseen)
    before = without.client_mean(lambda e: e.gaps.local, unseen=unseen)
    moved = np.abs(np.nan_to_num(local - before)) > 0.0005
    others = int(moved.sum()) - int(moved[at])
    st.markdown(
        f"**What its own limit does to everyone**: accuracy {100 * accuracy:+.3f} points, overall "
        f"gap {overall:+.4f}; {others} other "
        f"client{'s' if others != 1 else ''} change{'s' if others == 1 else ''} "
        f"by more than 0.0005 (on {words.people(now)})."
    )
    table = pd.DataFrame(
        {
            "client": clients,
            "gap with its own limit": local,
            "gap without": before,
            "change": local - before,
            "price now": now.price_local,
        }
    )
    table = table[moved].sort_values("change", key=lambda column: -column.abs())
    table_below(table.round(4), name=f"own-limit-{at}", key="clients-effect")


page()
