"""What Explore has below its pictures, and a client's drawer; what is closed is not computed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.errors import InfeasibleError
from fairfl_core.evaluation.all_rates import all_rates_of, impact_ratios_of
from fairfl_core.evaluation.study import Study, Summary, client_row, effect_of
from fairfl_core.explore import text as core_text
from fairfl_core.lp.frontier import Frontier
from fairfl_core.lp.guarantee import Guarantee
from pages.explore import charts, more_limits, text
from pages.shared import state
from pages.shared import text as shared_text
from pages.shared.catalogue import experiment_of, noun_of
from pages.shared.codecs import FLAG, between, in_order, one_of
from pages.shared.results import (
    CERTAINTIES,
    COARSE,
    LEVELS,
    SURE,
    advice_of,
    certainty_costs,
    certainty_of,
    certainty_possible,
    clients_of,
    counts_of,
    heat_of,
    is_dear,
    median_client,
    plan_of,
    region_curve,
    study_of,
    summary_of,
)
from pages.shared.view import NO_LIMIT, View
from pages.shared.widgets import (
    bring_into_sight,
    chart,
    error_boundary,
    lazy,
    map_table,
    numbers_table,
    open_below,
    progress,
    table_popover,
)

POINTS = state.Setting("points", 1.0, between(0.0, 20.0))
LEAVE_OUT = state.Setting("leave_out", False, FLAG)
SMALL = 0.02  # a share of all people: smaller groups may be left out of ratios


def tabs(view: View, summary: Summary | None) -> None:
    """What is below the pictures; without a summary (what is asked collides) what can be asked."""
    shown: dict[str, Callable[[], None]] = {
        "sure": lambda: _sure(view),
        "more": lambda: more_limits.asked_for(view, solved=summary is not None),
    }
    if summary is not None:
        shown |= {
            "reached": lambda: _held(view, summary),
            "pays": lambda: _pays(view, summary),
            "rates": lambda: _rates(view, summary),
        }
    titles = {name: title for name, title in text.TABS.items() if name in shown}
    chosen = open_below("details", titles, text.BELOW)
    if chosen is not None:
        with error_boundary(titles[chosen]):
            shown[chosen]()
        bring_into_sight("details")


def _held(view: View, summary: Summary) -> None:
    numbers_table(*text.three_numbers(summary))
    notes = [
        shared_text.NO_CHECK_HERE if summary.unseen is None else "",
        text.other_rates(view.rates) if view.rates != "labels" else "",
        text.own_limits(view) if view.own_limits else "",
    ]
    if any(notes):
        st.caption("\n\n".join(filter(None, notes)))
    st.markdown(text.CLOSED)
    st.markdown(text.closed_lines(summary.harm.closed))
    table_popover(lambda: map_table(_heat(view)), key="map", label=text.MAP_TABLE)


def _heat(view: View) -> Frontier:
    """The map as it is drawn before anybody refines it."""
    return heat_of(view.of_seed(view.seeds[0]), COARSE) if is_dear(view) else heat_of(view)


def _pays(view: View, summary: Summary) -> None:
    sentences = (shared_text.who_pays(summary), *shared_text.price_sentences(summary))
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    st.dataframe(clients_of(view).round(3).rename(columns=shared_text.heading), hide_index=True)


# -------------------------------------------------------------------- how sure


def _sure(view: View) -> None:
    """With what confidence limits are to hold, what that costs, and what to ask for."""
    if not certainty_possible(view):
        st.caption(text.NO_CERTAINTY)
        return
    names = [name for name in text.CERTAINTIES if name in CERTAINTIES]
    now = next(name for name in names if CERTAINTIES[name] == _kind(view.guarantee))
    key = state.widget("certainty", now)
    st.radio(
        text.CERTAINTY,
        names,
        format_func=text.CERTAINTIES.get,
        key=key,
        horizontal=True,
        help=text.CERTAINTY_TIP,
        on_change=lambda: state.change(guarantee=CERTAINTIES[st.session_state[key]]),
    )
    if min(view.eps_global, view.eps_local) >= NO_LIMIT:
        st.caption(text.NOTHING_TO_BE_SURE_OF)
        return
    for place, label, name, draw in zip(
        st.columns(4, gap="medium"),
        (text.CERTAINTY_COSTS, text.DRAW_CERTAINTY, text.ADVICE, text.PLAN),
        ("certainty-costs", "certainty-people", "advice", "plan"),
        (_costs, _price_of_certainty, _advice, _plan),
        strict=True,
    ):
        lazy(place.popover, label, name, partial(_waited_for, draw, view))


def _waited_for(draw: Callable[[View], None], view: View) -> None:
    with st.spinner(text.SOLVING, show_time=True):
        draw(view)


def _costs(view: View) -> None:
    st.markdown(text.certainty_costs(certainty_costs(view)))


def _plan(view: View) -> None:
    """Which people to see next, where some limit is not sure yet."""
    plan = plan_of(view)
    if plan is None:
        st.caption(text.NO_NEW_PEOPLE)
        return
    st.markdown(text.plan(plan))
    if plan.cells:
        st.dataframe(pd.DataFrame([vars(cell) for cell in plan.cells]), hide_index=True)
        curve = pd.DataFrame(plan.curve, columns=list(text.PLAN_AXES))
        st.line_chart(curve, x=text.PLAN_AXES[0], y=text.PLAN_AXES[1], height=160)


def _kind(guarantee: Guarantee | None) -> Guarantee | None:
    """The offer nearest to a guarantee that a link may have brought: its scope and proof."""
    if guarantee is None:
        return None
    return CERTAINTIES["proved" if guarantee.proof == "proved" else guarantee.scope]


def _price_of_certainty(view: View) -> None:
    price = certainty_of(view)
    chart(
        charts.certainty_line(price, median_client(view)),
        key="certainty",
        spoken=text.CERTAINTY_SPOKEN,
        table=pd.DataFrame(
            {text.AXIS_PEOPLE: price.people.round(), text.AXIS_COST: (100 * price.cost).round(3)}
        ),
    )
    st.caption(text.CERTAINTY_SPOKEN)


def _advice(view: View) -> None:
    """The tightest limits that hold with confidence within a price: one button."""
    st.number_input(
        text.ADVICE_POINTS,
        0.0,
        20.0,
        step=0.1,
        format="%.1f",
        help=text.ADVICE_TIP,
        **state.bound(POINTS),
    )
    points = state.get(POINTS)
    try:
        found = advice_of(view, points)
    except InfeasibleError as error:
        st.caption(str(error))
        return
    st.markdown(text.advice(found, points, view.guarantee or SURE))
    if found.eps <= text.MOST_ADVISED:
        st.button(
            text.USE_ADVICE.format(format.epsilon(found.eps)),
            key="advice-use",
            on_click=state.change,
            kwargs={
                "eps_global": found.eps,
                "eps_local": found.eps,
                "guarantee": view.guarantee or SURE,
            },
        )


# -------------------------------------------------------------------- every rate


def _rates(view: View, summary: Summary) -> None:
    """Every rate of everyone, every notion, impact ratios, and other regions."""
    left, right = st.columns(2, gap="medium")
    every_rate_of(study_of(view), summary.harm.favourable, None, left, right)
    lazy(right.popover, text.IMPACT_RATIOS, "impact-ratios", lambda: impact_ratios(view, None))
    if counts_of(view.data, view.seeds[0], "test") is not None:
        lazy(right.popover, text.REGIONS, "compare-regions", lambda: _regions(view))


def every_rate_of(
    study: Study, label: str, client: str | None, picture: DeltaGenerator, notions: DeltaGenerator
) -> None:
    """Every rate of a label, overall or in a client, and what becomes of every notion there."""
    rates = all_rates_of(study.evaluations(unseen=study.has_held_out))
    table = rates.table()
    mine = table[table["client"].isna() if client is None else table["client"] == client]
    with picture:
        blank = {"client": text.EVERYBODY, "label": ""}
        chart(
            charts.rates(every_rate(mine, label), rates.groups),
            key="every-rate" if client is None else "client-every-rate-chart",
            spoken=text.rates_spoken(label, client),
            table=lambda: (table if client is None else mine).fillna(blank).round(4),
        )
        few = [name for name, one in mine.groupby("group") if not one["assessable"].all()]
        if few:
            st.caption(text.not_assessable(few))
    with notions:
        rows = {
            shared_text.notion_title(one.notion): shared_text.notion_cells(one)
            for one in rates.notions_of(client)
        }
        numbers_table(rows, shared_text.NOTION_HEADER)
        st.caption(plain(rates.base.sentence(client), 1200))


def impact_ratios(view: View, client: str | None) -> None:
    """How often each group is selected beside the highest, overall and in a client."""
    study = study_of(view)
    if client is None:  # one switch for both places
        st.toggle(text.LEAVE_OUT, **state.bound(LEAVE_OUT))
    small = SMALL if state.get(LEAVE_OUT) else 0.0
    ratios = impact_ratios_of(study.evaluations(unseen=study.has_held_out), leave_out=small)
    table = ratios.table()
    shown = table[table["client"].isna() | (table["client"] == client)]
    cells = [text.ratio_cells(row) for row in shown.to_dict("records")]
    st.table(pd.DataFrame(cells, columns=list(text.RATIO_COLUMNS)))
    st.caption(text.ratios_reading(ratios, unseen=study.has_held_out))


def _regions(view: View) -> None:
    """Accuracy against the gap that really remains, one line a region."""
    runs = view.seeds[:1] if view.answers_by_scores else view.seeds
    with progress(text.SOLVING_REGIONS) as on_progress:
        table = region_curve(replace(view, seeds=runs), on_progress)
    chart(
        charts.region_lines(table),
        key="regions",
        spoken=text.REGIONS_SPOKEN,
        table=table.round(4),
    )
    st.caption(text.REGIONS_SPOKEN)


# -------------------------------------------------------------------- a client's drawer


def chosen_client(view: View) -> state.Setting[str]:
    """Whose drawer is open; empty for nobody's."""
    return state.Setting("client", "", one_of(("", *experiment_of(view.data).clients)))


def panel(view: View) -> None:
    """Open the drawer of the client chosen, if there is one; closing it lets go of the choice."""
    chosen = chosen_client(view)
    client = state.get(chosen)
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
    row = client_row(study, at)
    payer = summary.payers[at]
    effect = effect_of(payer.change, summary.harm, client)
    st.markdown(text.sentence(row, payer, shared_text.judged_on(summary), effect))
    own = summary.harm.by_client.get(client)
    if own is not None:
        st.markdown(text.alarm(own))
    with error_boundary(text.CLIENT_RATES):
        _client_rates(study, at)
    with error_boundary(text.LOTTERY):
        _lottery(study, at)
    _own_limit(view, client)
    with st.container(horizontal=True):
        lazy(
            st.popover,
            text.TABS["rates"],
            "client-every-rate",
            lambda: every_rate_of(
                study, summary.harm.favourable, client, st.container(), st.container()
            ),
        )
        ratios = partial(impact_ratios, view, client)
        lazy(st.popover, text.IMPACT_RATIOS, "client-ratios", ratios)


def _client_rates(study: Study, at: int) -> None:
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
    run = text.OF_RUN.format(outcome.seed) if len(study.outcomes) > 1 else ""
    st.markdown("\n".join([text.ITS_LOTTERY + run, "", *lines]))


def _own_limit(view: View, client: str) -> None:
    """A limit for this client alone: a switch, and a slider once it is on."""
    own = dict(view.own_limits)
    clients = experiment_of(view.data).clients
    switch = state.widget("own_on", client in own)

    def switched() -> None:
        others = {name: limit for name, limit in own.items() if name != client}
        on = {client: view.eps_local} if st.session_state[switch] else {}
        state.change(own_limits=in_order(others | on, clients))

    st.toggle(text.OWN_LIMIT, key=switch, on_change=switched, help=text.OWN_LIMIT_TIP)
    if client in own:
        slider = state.widget("own_value", own[client])

        def moved() -> None:
            limit = {client: st.session_state[slider]}
            state.change(own_limits=in_order(own | limit, clients))

        st.select_slider(
            text.ALLOWED_INSIDE.format(plain(client)),
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


# -------------------------------------------------------------------- in a hall


def compared(view: View) -> None:
    """The model as it is, the settings kept, and the one set now."""
    kept = {"ABCD"[at]: one for at, one in enumerate(state.options()) if one != view}
    summaries = [summary_of(one) for one in (*kept.values(), view)]
    rows = {
        number.label: [was]
        for number, was in zip(
            core_text.numbers(summaries[-1], noun_of(view.data)),
            core_text.model_numbers(summaries[-1]),
            strict=True,
        )
    } | {"Verdict": [text.NOTHING_ASKED]}
    for summary in summaries:
        for number in core_text.numbers(summary, noun_of(view.data)):
            rows[number.label].append(number.now)
        rows["Verdict"].append(core_text.verdict_chip(summary).text)
    numbers_table(rows, [text.AS_IT_IS, *kept, text.NOW])
