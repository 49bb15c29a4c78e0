"""What follows the sliders: only this is re-run, and sent, when one moves."""

from contextlib import suppress
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core._io import numbers as format
from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.evaluation.summary import Summary
from pages.explore import text
from pages.explore.charts import certainty_line
from pages.explore.old_client_choice import chosen_clients
from pages.explore.old_harm import alarm_banner, recognition_part
from pages.shared import ahead, downloads, figures, harm_text, policy, present, state, tolerances
from pages.shared import text as shared_text
from pages.shared.catalogue import bundled, catalogue, experiment_of
from pages.shared.charts import (
    accuracy_metric,
    chart,
    error_boundary,
    mark_on,
    metric,
    numbers_table,
    verdict_banner,
)
from pages.shared.codecs import Flag, OneOf
from pages.shared.own_data import is_own
from pages.shared.results import (
    COARSE,
    GRID,
    accuracy_kept,
    certainty_of,
    certainty_possible,
    clients_of,
    collision_of,
    first_run_of,
    heavy,
    judged_of,
    median_client,
    papers_region_serves,
    summary_of,
)
from pages.shared.view import NO_LIMIT, View, changed, regions_of

__all__ = ["CERTAINTY_DRAWN", "HEAT", "Places", "client_gaps", "live", "mark", "three_numbers"]

HEAT = "explore-heat"
SHOWN_TO_A_HALL = 8  # clients, the first in the order chosen
CERTAINTY_DRAWN = state.Setting("certainty_drawn", False, Flag())
ORDER = state.Setting("order", "gap", OneOf(tuple(text.ORDERS)))


@dataclass(frozen=True)
class Places:
    """Where on the page stands what follows the sliders."""

    top: DeltaGenerator
    price: DeltaGenerator
    policy: DeltaGenerator
    summary: DeltaGenerator
    comparison: DeltaGenerator
    kept: DeltaGenerator
    recognition: DeltaGenerator
    clients: DeltaGenerator
    certainty: DeltaGenerator
    predictor: DeltaGenerator


@st.fragment
def live(places: Places) -> None:
    """All that follows a slider: only this is re-run when one moves."""
    tolerances.controls()
    view = state.view()
    mark(view)
    with error_boundary(shared_text.RESULTS):
        try:
            summary = summary_of(view)
        except CollisionError:
            with places.top:
                policy.collision(view, collision_of(view))
        else:
            _results(view, summary, places)
    with places.policy:
        policy.cost(view)
    with places.price:  # three more solutions: what was asked for comes first
        tolerances.certainty_price(view)
    state.publish()  # last: the browser looks at the whole page for it
    if not heavy(view):
        ahead.prepare(tolerances.one_move_from(view), _results_of)


def _results_of(view: View) -> None:
    """Make what is shown of a view, so that a move to it finds everything there."""
    summary = summary_of(view)
    clients_of(view)
    first_run_of(view)
    if not view.answers_by_scores:
        _saved_by_scores(view, summary)
    elif papers_region_serves(view):
        judged_of(view.as_the_paper())


def _results(view: View, summary: Summary, places: Places) -> None:
    with places.top, error_boundary(harm_text.ALARMS):
        alarm_banner(summary.harm)
    with places.top, error_boundary(text.HEADLINE):
        verdict_banner(
            summary.verdict,
            shared_text.verdict_title(summary),
            shared_text.verdict(summary),
            harmless=summary.harmless,
        )
        st.markdown(f"#### {shared_text.headline(summary)}")
    with places.summary, error_boundary(text.SUMMARY):
        _metrics(summary)
    with places.comparison, error_boundary(text.COMPARISON):
        three_numbers(view, summary)
        _prices(view, summary)
    with places.kept, error_boundary(text.COMPARISON):
        _kept_options(view, summary)
    with places.recognition, error_boundary(harm_text.RECOGNITION):
        recognition_part(summary)
    with places.clients, error_boundary(text.CLIENTS):
        client_gaps(view, summary)
    with places.certainty, error_boundary(text.CERTAINTY), suppress(CollisionError):
        _certainty(view)
    with places.predictor, error_boundary(text.PREDICTOR):
        downloads.predictor_figures(view)
    with places.top, error_boundary(text.OTHER_REGION), suppress(CollisionError):
        _other_region(view, summary)


def _other_region(view: View, summary: Summary) -> None:
    """What another region would do here: another study, so it comes last."""
    if not view.answers_by_scores:
        _suggested(view, summary)
    elif papers_region_serves(view):
        st.markdown(text.approximation(summary, judged_of(view.as_the_paper())))


def _suggested(view: View, summary: Summary) -> None:
    """Where looking at scores would save more than a point: say so, with the button."""
    region, saved = _saved_by_scores(view, summary)
    if saved > text.WORTH_SAYING:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(text.suggested(region, saved, unseen=summary.unseen is not None))
            st.button(
                text.take_region(region),
                key="take-region",
                on_click=state.change,
                kwargs={"region": region},
            )


def _saved_by_scores(view: View, summary: Summary) -> tuple[str, float]:
    """The region that looks at scores, and the accuracy it would save; 0 where that is little."""
    larger = regions_of(experiment_of(view.data), view.notion)[-1]
    # Also asked outside of visits (`_results_of`), where nobody has a set of their own.
    known = catalogue() if is_own(view.experiment) else bundled()
    exact = changed(view, known, region=larger)
    if not exact.answers_by_scores or heavy(view) or not shared_text.limited(summary):
        return larger, 0.0
    first = view.seeds[0]  # all runs are asked only where it says so: each is a program more
    saved = accuracy_kept(view.of_seed(first), exact.of_seed(first))
    return larger, accuracy_kept(view, exact) if saved > text.WORTH_SAYING else 0.0


def _metrics(summary: Summary) -> None:
    judged, worst = summary.judged, summary.judged.worst
    label = text.ACCURACY_UNSEEN if summary.unseen else text.ACCURACY
    accuracy_metric(label, judged.accuracy, -judged.cost, summary.effect)
    metric(text.OVERALL, format.gap(judged.overall), text.was(judged.overall_before))
    if worst is None:
        metric(*text.NOBODY_TO_COMPARE)
    else:
        metric(
            text.worst_client(worst.client),
            format.gap(worst.gap),
            text.was(worst.gap_before),
            tip=shared_text.WORST_CLIENT_TIP,
        )
    by_group = text.changed_by_group(summary.changed_by_group)
    metric(text.CHANGED, format.percent(summary.changed), by_group)


def mark(view: View) -> None:
    """Where the visitor stands on the map: a mark that moves while the map stays as it is."""
    grid = (*(COARSE if heavy(view, map_only=True) else GRID), NO_LIMIT)
    x, y = (figures.index_on(grid, limit) for limit in (view.eps_global, view.eps_local))
    mark_on(HEAT, x, y)


def _certainty(view: View) -> None:
    if not certainty_possible(view) or not state.get(CERTAINTY_DRAWN):
        return
    if min(view.eps_global, view.eps_local) >= NO_LIMIT:
        st.caption(text.NOTHING_TO_BE_SURE_OF)
        return
    price = certainty_of(view)
    chart(
        certainty_line(price, median_client(view)),
        reading=text.CERTAINTY_READING,
        table=pd.DataFrame(
            {text.AXIS_PEOPLE: price.people.round(), text.AXIS_COST: (100 * price.cost).round(3)}
        ),
        name="certainty",
        key="explore-certainty",
    )


def three_numbers(view: View, summary: Summary) -> None:
    """What was asked, what was reached, and what held on unseen people."""
    st.markdown(text.THREE_NUMBERS, help=shared_text.WORST_CLIENT_TIP)
    rows, headings = text.three_numbers(summary)
    numbers_table(rows, headings)
    rates = text.other_rates(view.rates) if view.rates != "labels" else None
    notes = [text.not_held(summary), rates]
    if any(notes):
        st.caption("\n\n".join(filter(None, notes)))


def _prices(view: View, summary: Summary) -> None:
    sentences = (shared_text.who_pays(summary), *shared_text.price_sentences(summary))
    lines = "\n".join(f"- {sentence}" for sentence in sentences)
    st.markdown(f"{text.PRICES}\n\n{lines}")
    if view.own_limits:
        st.caption(text.own_limits(view))


def _kept_options(view: View, summary: Summary) -> None:
    """The settings that were kept beside the one set now."""
    kept = state.options()
    if kept:
        rows = text.option_rows([*(summary_of(one) for one in kept), summary])
        headings = [
            text.kept(place, one, view, experiment_of(one.data).protocol)
            for place, one in enumerate(kept)
        ]
        table = pd.DataFrame.from_dict(rows, orient="index", columns=[*headings, text.AS_SET_NOW])
        st.table(table)


def client_gaps(view: View, summary: Summary) -> None:
    """Each client's gap before and after, in the order chosen."""
    table = clients_of(view)
    st.selectbox(
        text.ORDER,
        tuple(text.ORDERS),
        format_func=lambda order: text.ORDERS[order],
        width=260,
        **state.bound(ORDER),
    )
    order = state.get(ORDER)
    if order != "client":
        table = table.sort_values(order, ascending=False, kind="stable")
    within = int(within_chance(table["gap_low"]).sum())
    drawn = table.head(SHOWN_TO_A_HALL) if present.presenting() else chosen_clients(table)
    chart(
        figures.client_gaps(drawn),
        reading=shared_text.dumbbell_reading(
            within, len(table), unseen=summary.unseen is not None, runs=summary.runs
        ),
        table=lambda: table.round(4),
        headings=shared_text.CLIENT_COLUMNS,
        name="clients",
        key="explore-clients",
    )
