"""One client in a drawer: its sentence, what its groups are answered, its rule, its own limit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.evaluation.harm import effect_of
from fairfl_core.evaluation.study import Study, client_rows
from fairfl_core.lp.frontier import FREE
from pages.explore import charts, details, text
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of, noun_of
from pages.shared.codecs import OneOf, PerName
from pages.shared.results import LEVELS, study_of, summary_of
from pages.shared.view import View
from pages.shared.widgets import chart, error_boundary, lazy_popover


def chosen_client(view: View) -> state.Setting[str]:
    """Whose drawer is open; empty for nobody's."""
    return state.Setting("client", "", OneOf(("", *experiment_of(view.data).clients)))


def panel(view: View) -> None:
    """Open the drawer of the client chosen, if there is one; closing it lets go of the choice."""
    chosen = chosen_client(view)
    client = state.get(chosen)
    state.publish_setting(chosen)
    if client:
        st.dialog(
            plain(client),
            width="medium",
            position="right",
            on_dismiss=lambda: state.put(chosen, ""),
        )(_panel)(view, client)


def _panel(view: View, client: str) -> None:
    view = state.view()  # an own limit set in here changes it
    study, summary = study_of(view), summary_of(view)
    at = experiment_of(view.data).clients.index(client)
    (row,) = client_rows(study, at=(at,))
    payer = summary.payers[at]
    effect = effect_of(payer.change, summary.harm, client)
    st.markdown(text.sentence(row, payer, shared_text.judged_on(summary), effect))
    own = summary.harm.by_client.get(client)
    if own is not None:
        st.markdown(text.alarm(own))
    with error_boundary(text.CLIENT_RATES):
        _rates(study, at)
    with error_boundary(text.LOTTERY):
        _lottery(study, at)
    _own_limit(view, client)
    if client in dict(view.own_limits):
        with error_boundary(text.EFFECT):
            others = tuple(pair for pair in view.own_limits if pair[0] != client)
            without = study_of(replace(view, own_limits=others))
            st.caption(
                text.effect(*effect_of_limit(study, without, client), summary, noun_of(view.data))
            )
    with st.container(horizontal=True):
        with lazy_popover(text.RATES, "client-every-rate") as is_open:
            if is_open:
                label = summary.harm.favourable
                details.every_rate_of(study, label, client, st.container(), st.container())
        with lazy_popover(text.IMPACT_RATIOS, "client-ratios") as is_open:
            if is_open:
                details.impact_ratios(view, client)


def _rates(study: Study, at: int) -> None:
    counts = study.first.solution.counts
    client = counts.clients[at]
    names = {str(rate): shared_text.rate(rate) for rate in study.first.solution.notion.rates}
    table = rate_table(study, client)
    table["rate_of"] = table["rate_of"].map(names)
    chart(
        charts.rates(table, counts.groups),
        key="client-rates",
        spoken=text.rates_reading(unseen=study.has_held_out),
        table=table.round(4),
        headings=text.RATE_COLUMNS,
    )
    for cell in study.evaluations(unseen=study.has_held_out)[0].not_assessable:
        if cell.client == client:
            st.caption(text.nobody(cell))


def _lottery(study: Study, at: int) -> None:
    """Of the first run shown: the one whose predictor can be taken along."""
    outcome = study.first
    lines = [
        f"- {text.lottery(group, outcome.solution.lottery_of(at, place))}"
        for place, group in enumerate(outcome.solution.counts.groups)
    ]
    title = text.lottery_title(outcome.seed, runs=len(study.outcomes))
    st.markdown("\n".join([title, "", *lines]))


def _own_limit(view: View, client: str) -> None:
    """A limit for this client alone: a switch, and a slider once it is on."""
    own = dict(view.own_limits)
    names = PerName(experiment_of(view.data).clients)
    switch = state.widget("own_on", client in own)

    def switched() -> None:
        others = {name: limit for name, limit in own.items() if name != client}
        on = {client: view.eps_local} if st.session_state[switch] else {}
        state.change(own_limits=names.ordered(others | on))

    st.toggle(text.OWN_LIMIT, key=switch, on_change=switched, help=text.OWN_LIMIT_TIP)
    if client in own:
        slider = state.widget("own_value", own[client])

        def moved() -> None:
            limit = {client: st.session_state[slider]}
            state.change(own_limits=names.ordered(own | limit))

        st.select_slider(
            text.allowed_inside(client),
            tuple(sorted({*LEVELS, own[client]})),
            format_func=format.epsilon,
            key=slider,
            on_change=moved,
        )


def rate_table(study: Study, client: str) -> pd.DataFrame:
    """The compared rates of one client, mean over runs, in the notion's order."""
    tables = [each.rate_table() for each in study.evaluations(unseen=study.has_held_out)]
    mine = pd.concat([table[table["client"] == client] for table in tables])
    mean = mine.groupby(["rate_of", "group"], sort=False, as_index=False).mean(numeric_only=True)
    mean["n"] = mean["n"].round()
    order = {str(rate): place for place, rate in enumerate(study.first.solution.notion.rates)}
    return mean.sort_values("rate_of", key=lambda names: names.map(order), kind="stable")


def every_rate(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """The rates of one label, and the accuracy, of those who can be judged, for the figure."""
    mine = table[((table["label"] == label) | table["label"].isna()) & table["assessable"]]
    names = {"rate": "rate_of", "before": "rate_before", "after": "rate"}
    limits = {"after_low": "rate_low", "after_high": "rate_high"}
    return mine.rename(columns=names | limits)


def effect_of_limit(now: Study, without: Study, client: str) -> tuple[float, float, int]:
    """Compare a study with the same one in which the client has no limit of its own.

    Returns the change of accuracy and of the overall gap, and how many other clients' gaps change.
    """
    unseen = now.has_held_out
    accuracy, overall = (
        now.over(figure, unseen=unseen).mean - without.over(figure, unseen=unseen).mean
        for figure in (lambda e: e.accuracy, lambda e: e.gaps.overall)
    )
    table, before = (study.client_table(unseen=unseen) for study in (now, without))
    moved = np.abs((table["gap"] - before["gap"]).fillna(0.0)) > FREE
    return accuracy, overall, int((table["client"][moved] != client).sum())
