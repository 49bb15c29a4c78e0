"""Your data: bring a model's predictions or counts, check them, go on to Explore with them."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core._io.files import APP_ROOT
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.methods import MODEL_GAPS, ModelSetting, frontier, model_settings
from fairfl_core.intake import Intake
from pages.compare.files import predictor_json
from pages.shared import own_data, state
from pages.shared.catalogue import cached, catalogue
from pages.shared.frame import frame
from pages.shared.results import counts_of
from pages.shared.view import View, changed
from pages.shared.widgets import chart, download, error_boundary, lazy, table_popover
from pages.your_data import steps, text
from pages.your_data.charts import model_frontiers, people_bars, people_key

MOST_BARS = 60  # clients in the picture; the table has all
PREDICTOR, SCRIPT = "fairfl-predictor.json", APP_ROOT / "docs" / "apply_predictor.py"


def page() -> None:
    """Lay the page out, top to bottom."""
    with frame(brings_data=True) as view:
        held = own_data.current()
        st.markdown(text.TITLE)
        boxes = [
            column.container(border=True, height="stretch", key=f"step-{place}")
            for place, column in enumerate(st.columns(3, gap="small"))
        ]
        for box, title in zip(boxes, text.STEPS, strict=True):
            box.markdown(title)
        brought, request = None, None
        with boxes[0], steps.refusing():
            brought = steps.choose_file(held)
        with boxes[1], steps.refusing():
            if brought is not None:
                request = steps.confirm(brought)
            else:
                _columns_read(held)
        with boxes[2], steps.refusing():
            if request is not None and not steps.taken(request):
                st.caption(text.NOTHING_YET)
                steps.take(request)
            elif held is not None and (brought is None or request is not None):
                _checked(held)
            else:
                st.caption(text.NOTHING_YET)
        if held is not None:
            _details(view, held)
        st.page_link("pages/watch/page.py", label=text.WATCH)


def _columns_read(held: own_data.Held | None) -> None:
    """How the set at hand was read, where its file lies no longer on the page."""
    if held is None:
        st.caption(text.NO_FILE_YET)
    elif held.intake.roles is None:
        st.caption(text.NO_COLUMNS)
    else:
        st.markdown(text.columns_read(held.intake.roles))
        st.caption(text.further(held.intake.roles))


def _checked(held: own_data.Held) -> None:
    """What to know before trusting a number, who is in the set, and the way on."""
    checks = held.intake.checks
    st.markdown(text.TRUST)
    st.markdown(text.first_checks(checks))
    with error_boundary(text.PICTURE):
        tables = _tables(held)
        _people_picture(tables)
    with st.container(horizontal=True):
        if st.button(text.OPEN, type="primary", key="open-explore"):
            state.change(experiment=held.name)
            # With its link, or Explore would write one: a step more for the browser's Back.
            st.switch_page("pages/explore/page.py", query_params=st.query_params.to_dict())
        with st.popover(text.EVERY_CHECK.format(len(checks)), type="tertiary"):
            st.markdown(text.checks(checks))
        table_popover(lambda: people_table(tables), key="your-people")


def _tables(held: own_data.Held) -> list[ClientCounts]:
    """The counts of every split there is."""
    experiment = held.intake.experiment
    (seed,) = experiment.seeds
    tables = [counts_of(held.name, seed, split) for split in experiment.splits]
    return [counts for counts in tables if counts is not None]


def _people_picture(tables: list[ClientCounts]) -> None:
    first, people = tables[0], _people(tables)
    shown = np.sort(np.argsort(-people.sum(axis=1), kind="stable")[:MOST_BARS])
    title = text.people_title(len(people), len(shown), noise=first.has_noise)
    st.html(people_key(title, first.groups))
    clients = [first.clients[place] for place in shown]
    whom = text.people(noise=first.has_noise)
    chart(
        people_bars(clients, first.groups, people[shown], whom),
        key="your-people-picture",
        spoken=title,
        height=180,
    )


def _people(tables: list[ClientCounts]) -> np.ndarray:
    """People of each client and group over all splits."""
    total: np.ndarray = np.sum([counts.table.sum(axis=(2, 3)) for counts in tables], axis=0)
    return total


def people_table(tables: list[ClientCounts]) -> pd.DataFrame:
    """People of each client, in all and by group, over all splits."""
    people = _people(tables)
    table = pd.DataFrame({"client": tables[0].clients, "n": people.sum(axis=1)})
    for place, group in enumerate(tables[0].groups):
        table[text.OF_GROUP.format(group)] = people[:, place]
    return table.round()


# -------------------------------------------------------------------- below


def _details(view: View, held: own_data.Held) -> None:
    """Models side by side, what travelled in a federation, the predictor at a client."""
    mine = (
        view if view.experiment == held.name else changed(view, catalogue(), experiment=held.name)
    )
    intake = held.intake
    if intake.models:
        show = partial(show_models, mine)
        lazy(st.expander, text.MODELS_TITLE, "expander-models", show, expanded=True)
    if intake.messages:
        lazy(st.expander, text.TRAVELLED, "expander-messages", lambda: _travelled(intake))
    lazy(st.expander, text.APPLY, "expander-apply", lambda: _apply(mine, intake))


def _travelled(intake: Intake) -> None:
    """The log of the run: who sent what to whom, how large it was, and what for."""
    st.dataframe(messages_table(intake), hide_index=True, height=260, key="your-messages")
    predictor = intake.predictor
    if predictor is not None:
        file = partial(json.dumps, predictor.to_json())
        name = "fairfl-federation-predictor.json"
        download(text.RUN_PREDICTOR, file, name, "your-run-predictor")


def messages_table(intake: Intake) -> pd.DataFrame:
    """One row a message."""
    rows = [
        (
            one.time,
            text.WAYS[one.way].format(one.whom),
            one.kind,
            one.bytes,
            one.purpose,
            one.arrays,
        )
        for one in intake.messages
    ]
    return pd.DataFrame(rows, columns=list(text.TRAVELLED_COLUMNS))


def _apply(view: View, intake: Intake) -> None:
    """The fair predictor as a file, and the command that applies it to new rows."""
    by_bins = view.answers_by_scores and view.policy.without_group  # whose rules only we apply
    st.markdown(text.AT_A_CLIENT)
    command = text.predict_command(intake.roles, PREDICTOR, intake.experiment.folds)
    st.code(command, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        made = partial(predictor_json, view)
        download(text.PREDICTOR_FILE, made, PREDICTOR, "your-predictor")
        if by_bins:
            st.caption(text.ONLY_THE_PACKAGE)
            return
        download(text.SCRIPT_FILE, SCRIPT.read_bytes, SCRIPT.name, "your-script")


LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
Settings = tuple[ModelSetting, ...]


@cached(4)
def settings_for(experiment: str, notion: str, region: str) -> tuple[Settings, ...]:
    """Every model of a visitor's table, as it is and under each limit."""
    models = own_data.find(experiment).intake.models
    return tuple(model_settings(model.name, model.experiment, notion, region) for model in models)


def best_at(settings: Settings, which: str, gap: float) -> ModelSetting | None:
    """A model's most accurate setting whose gap on new people is at most this."""
    within = [one for one in frontier(settings, which) if one.gap(which) <= gap]
    return within[-1] if within else None


def overlapping(settings: Sequence[ModelSetting]) -> bool:
    """Whether the intervals of some two neighbours' accuracies overlap, the best first."""
    ranked = sorted(settings, key=lambda one: -one.evaluation.accuracy)
    return any(
        worse.evaluation.accuracy_interval[1] > better.evaluation.accuracy_interval[0]
        for better, worse in pairwise(ranked)
    )


def settings_table(models: Sequence[Settings]) -> pd.DataFrame:
    """One row a model and limit, as `fairfl compare --json` tells it."""
    rows = [setting.to_json() for own in models for setting in own]
    for row in rows:
        for name in ("accuracy", "gap_global"):
            row[f"{name}_low"], row[f"{name}_high"] = row.pop(f"{name}_interval")
    return pd.DataFrame(rows)


@st.fragment
def show_models(view: View) -> None:
    """The choice of a gap, who is ahead there, and the picture."""
    left, right, _ = st.columns([2, 2, 5])
    which = left.selectbox(
        text.GAP,
        tuple(MODEL_GAPS),
        format_func=lambda gap: MODEL_GAPS[gap].capitalize(),
        key="your-models-gap",
    )
    gap = right.selectbox(text.AT, LEVELS, LEVELS.index(0.05), key="your-models-at")
    models = settings_for(view.experiment, view.notion, view.region)
    shown = [own for own in models if own]
    best = {own[0].model: best_at(own, which, gap) for own in shown}
    there = [one for one in best.values() if one is not None]
    st.markdown(text.headline(best, which, gap, overlap=len(there) > 1 and overlapping(there)))
    chart(
        model_frontiers([frontier(own, which) for own in shown], which, gap),
        key="your-models",
        spoken=text.reading(shown, which),
        table=lambda: settings_table(shown).round(5),
        height=340,
    )
    st.caption(text.reading(shown, which))


page()
