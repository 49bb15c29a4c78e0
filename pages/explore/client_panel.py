"""Clients: one at a time. Its size, rates, lottery, price, and a limit of its own."""

from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.harm import Effect, Harm, effect_of
from fairfl_core.evaluation.impact_ratios import impact_ratios_of
from fairfl_core.evaluation.study import Study
from fairfl_core.evaluation.summary import ClientRow, Payer, client_rows
from pages.components.clients import figures, text
from pages.explore.client_results import effect_of_limit, every_rate, rate_table
from pages.explore.old_harm import client_alarm, label_choice, rates_of
from pages.shared import harm_text, policy, state, tolerances
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of
from pages.shared.charts import (
    accuracy_metric,
    chart,
    error_boundary,
    metric,
    table_below,
    verdict_banner,
)
from pages.shared.codecs import Flag, OneOf, PerName
from pages.shared.frame import frame
from pages.shared.results import collision_of, study_of, summary_of
from pages.shared.view import View

LEAVE_OUT = state.Setting("leave_out", False, Flag())
SMALL = 0.02  # a share of all people: smaller groups may be left out of ratios


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame():
        _live()


@st.fragment
def _live() -> None:
    """All that follows a slider: only this is re-run when one moves."""
    view = state.view()
    clients = experiment_of(view.experiment).clients
    place = st.container()
    client = _pick(clients)
    tolerances.sliders()
    price = tolerances.certainty()
    _own_limit(view, client)
    with error_boundary(shared_text.RESULTS):
        try:
            study = study_of(view)
        except CollisionError:
            with place:
                policy.collision(view, collision_of(view))
        else:
            _results(view, study, client, place)
    with price:  # three more solutions: what was asked for comes first
        tolerances.certainty_price(view)


def _results(view: View, study: Study, client: str, place: DeltaGenerator) -> None:
    at = experiment_of(view.experiment).clients.index(client)
    (row,) = client_rows(study, at=(at,))
    summary = summary_of(view)
    with place, error_boundary(harm_text.ALARMS):
        client_alarm(summary.harm, client)
    with place, error_boundary(text.HEADLINE):
        judged_on = shared_text.judged_on(summary)
        verdict_banner(
            summary.verdict,
            shared_text.verdict_title(summary),
            shared_text.verdict(summary),
            harmless=summary.harmless,
        )
        payer = summary.payers[at]
        effect = effect_of(payer.change, summary.harm, client)
        st.markdown(f"#### {text.headline(row, payer, judged_on, effect)}")
    with error_boundary(text.FIGURES):
        _metrics(study, at, row, payer, effect)
    left, right = st.columns([3, 2], gap="large")
    with left, error_boundary(text.RATES):
        _rates(study, at)
    with right, error_boundary(text.LOTTERY):
        _lottery(study, at)
    if client in dict(view.own_limits):
        with error_boundary(text.EFFECT):
            _effect(view, study, at)
    with error_boundary(harm_text.RATES):
        _every_rate(study, summary.harm, client)
    with error_boundary(text.RATIOS):
        _impact_ratios(study, client)


def _impact_ratios(study: Study, client: str) -> None:
    """How often each group is selected beside the highest, overall and in this client."""
    st.markdown(text.RATIOS_TITLE)
    st.toggle(text.LEAVE_OUT, **state.bound(LEAVE_OUT))
    small = SMALL if state.get(LEAVE_OUT) else 0.0
    ratios = impact_ratios_of(study.evaluations(unseen=study.has_held_out), leave_out=small)
    table = ratios.table()
    shown = table[table["client"].isna() | (table["client"] == client)]
    cells = [text.ratio_cells(row) for row in shown.to_dict("records")]
    st.table(pd.DataFrame(cells, columns=list(text.RATIO_COLUMNS)))
    st.caption(text.ratios_reading(ratios, unseen=study.has_held_out))
    table_below(lambda: table.round(4), name="impact-ratios", title=text.RATIOS_ALL)


def _pick(clients: tuple[str, ...]) -> str:
    setting = state.Setting("client", clients[0], OneOf(clients))
    st.selectbox(text.CLIENT, clients, width=320, **state.bound(setting))
    return state.get(setting)


def _own_limit(view: View, client: str) -> None:
    """A limit for this client alone: a switch, and a slider once it is on."""
    switch, slider = st.columns([1, 2], vertical_alignment="center")
    own = dict(view.own_limits)
    names = PerName(experiment_of(view.experiment).clients)

    def switched() -> None:
        others = {name: limit for name, limit in own.items() if name != client}
        on = {client: view.eps_local} if st.session_state["widget_own_on"] else {}
        state.change(own_limits=names.ordered(others | on))

    def moved() -> None:
        limit = {client: st.session_state["widget_own_value"]}
        state.change(own_limits=names.ordered(own | limit))

    switch.toggle(
        text.OWN_LIMIT,
        key=state.widget("own_on", client in own),
        on_change=switched,
        help=text.OWN_LIMIT_TIP,
    )
    if client in own:
        slider.select_slider(
            text.allowed_inside(client),
            tolerances.LEVELS,
            format_func=format.epsilon,
            key=state.widget("own_value", tolerances.nearest_level(own[client])),
            on_change=moved,
        )


def _metrics(study: Study, at: int, row: ClientRow, payer: Payer, effect: Effect) -> None:
    people = [row.n]
    if study.has_held_out:
        people.insert(0, client_rows(study, unseen=False, at=(at,))[0].n)
    cells = st.columns(4)
    with cells[0]:
        metric(text.PEOPLE_BOTH if study.has_held_out else text.PEOPLE, text.people(people))
    with cells[1]:
        accuracy_metric(text.ACCURACY, row.accuracy, payer.change, effect)
    with cells[2]:
        floor = format.gap(row.noise_floor)
        metric(text.CHANCE, floor, text.one_draw(row.gap_one_draw), tip=text.CHANCE_TIP)
    with cells[3]:
        metric(text.PRICE, text.price(row.price), text.PRICE_OF, tip=text.PRICE_TIP)


def _rates(study: Study, at: int) -> None:
    unseen, counts = study.has_held_out, study.first.solution.counts
    client = counts.clients[at]
    names = {str(rate): shared_text.rate(rate) for rate in study.first.solution.notion.rates}
    table = rate_table(study, client)
    table["rate_of"] = table["rate_of"].map(names)
    chart(
        figures.rates(table, counts.groups),
        reading=text.rates_reading(unseen=unseen),
        table=table.round(4),
        headings=text.RATE_COLUMNS,
        name=f"rates-{at}",
        key="clients-rates",
    )
    for cell in study.evaluations(unseen=unseen)[0].not_assessable:
        if cell.client == client:
            st.caption(text.nobody(cell))


def _every_rate(study: Study, harm: Harm, client: str) -> None:
    """Every rate of a label, here and overall, what becomes of every notion, and why."""
    closed = [gap for gap in harm.closed if gap.client == client]
    if closed:
        st.markdown(harm_text.CLOSED)
        st.markdown("\n".join(f"- {line}" for line in harm_text.closed_lines(closed)))
    label, rates = label_choice(harm), rates_of(study)
    table = rates.table()
    for column, place in zip(st.columns(2, gap="large"), (client, None), strict=True):
        with column:
            mine = table[table["client"].isna() if place is None else table["client"] == place]
            chart(
                figures.rates(every_rate(mine, label), rates.groups),
                reading=harm_text.rates_reading(label, place, unseen=study.has_held_out),
                table=mine.assign(client=harm_text.where(place)).round(4),
                headings=harm_text.RATE_COLUMNS,
                name="every-rate" if place else "every-rate-overall",
            )
            few = [name for name, one in mine.groupby("group") if not one["assessable"].all()]
            if few:
                st.caption(harm_text.not_assessable(few))
            st.markdown(harm_text.NOTIONS)
            rows = [harm_text.notion_cells(one) for one in rates.notions_of(place)]
            st.table(pd.DataFrame(rows, columns=list(harm_text.NOTION_HEADER)))
            st.markdown(harm_text.why_not_all(rates.base.sentence(place)))


def _lottery(study: Study, at: int) -> None:
    """Of the first run shown: the one whose predictor can be taken along."""
    outcome = study.first
    st.markdown(text.lottery_title(outcome.seed, runs=len(study.outcomes)))
    rows = []
    for place, group in enumerate(outcome.solution.counts.groups):
        shares = outcome.solution.lottery_of(at, place)
        st.markdown(f"- {text.lottery(group, shares)}")
        rows += [{"group": group, "rule": one.rule, "share": one.share} for one in shares]
    table_below(pd.DataFrame(rows).round(4), name=f"lottery-{at}", key="clients-lottery")


def _effect(view: View, study: Study, at: int) -> None:
    client = study.first.solution.counts.clients[at]
    others = tuple(pair for pair in view.own_limits if pair[0] != client)
    effect = effect_of_limit(study, study_of(replace(view, own_limits=others)), client)
    st.markdown(text.effect(effect, shared_text.judged_on(summary_of(view))))
    table_below(
        effect.table.round(4),
        headings=text.EFFECT_COLUMNS,
        name=f"own-limit-{at}",
        key="clients-effect",
    )


page()
