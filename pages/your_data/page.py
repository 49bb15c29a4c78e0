"""Your data: bring a model's predictions or counts, check them, leave with a fair predictor."""

import json

import numpy as np
import pandas as pd
import streamlit as st

from fairfl_core.intake import Intake
from fairfl_core.people.counts import ClientCounts
from pages.compare.model_card import APPLY, model_card
from pages.compare.report import html_report
from pages.shared import card_text, downloads, own_data, state, tolerances
from pages.shared import text as shared_text
from pages.shared.charts import table_below
from pages.shared.frame import frame
from pages.shared.results import counts_of, summary_of
from pages.shared.view import View
from pages.your_data import models_text, text, upload
from pages.your_data.models import show_models


def page() -> None:
    """Lay the page out, top to bottom."""
    held = own_data.current()
    with frame(brings_data=True, chooses=held is not None) as view:
        if held is None:
            st.markdown(text.TITLE)
            _bring()
        else:
            _your_set(view, held)


def _bring() -> None:
    st.markdown(text.PROMISE)
    with error_boundary(text.UPLOAD):
        upload.bring()


def _your_set(view: View, held: own_data.Held) -> None:
    mine = view.experiment == held.name
    if mine:
        _live()
    else:
        st.markdown(text.ANOTHER_CHOSEN)
        st.button(text.CHOOSE_YOURS, on_click=state.change, kwargs={"experiment": held.name})
    with error_boundary(text.CHECKS):
        _checks(held)
    if mine and held.intake.models:
        with error_boundary(models_text.PART):
            st.markdown(models_text.TITLE)
            show_models(view)
    if held.intake.messages:
        with error_boundary(text.TRAVELLED):
            _travelled(held.intake)
    if mine:
        with error_boundary(text.TAKE_ALONG):
            _take_along(view, held.intake)
    with st.expander(text.ANOTHER_SET):
        st.button(text.REMOVE, on_click=upload.remove, key="remove-set")
        _bring()


@st.fragment
def _live() -> None:
    """The result and the two tolerances: only this is re-run when one moves."""
    view = state.view()
    place = st.container()
    tolerances.sliders()
    tolerances.preset_buttons()
    with place, error_boundary(text.HEADLINE):
        summary = summary_of(view)
        st.markdown(f"#### {shared_text.headline(summary)}")
        if summary.unseen is None:
            st.markdown(text.ONLY_COUNTS)
    with st.container(horizontal=True):
        for path, label in text.LINKS.items():
            st.page_link(path, label=label)


def _checks(held: own_data.Held) -> None:
    experiment = held.intake.experiment
    st.markdown(text.CHECKS_TITLE)
    st.markdown(text.checks(held.intake.checks))
    (seed,) = experiment.seeds
    tables = [counts_of(held.name, seed, split) for split in experiment.splits]
    table_below(
        people_table([counts for counts in tables if counts is not None]),
        name="people",
        key="your-people",
        title=text.PEOPLE_TABLE,
    )


def _travelled(intake: Intake) -> None:
    """The log of the run: who sent what to whom, how large it was, and what for."""
    table_below(
        lambda: messages_table(intake),
        name="messages",
        key="your-messages",
        title=text.TRAVELLED_TABLE,
    )
    predictor = intake.predictor
    if predictor is not None:
        st.download_button(
            text.RUN_PREDICTOR,
            lambda: json.dumps(predictor.to_json()),
            file_name="fairfl-federation-predictor.json",
            mime="application/json",
            key="your-run-predictor",
            on_click="ignore",
        )


def messages_table(intake: Intake) -> pd.DataFrame:
    """One row a message."""
    rows = [
        (one.time, text.way(one.way, one.whom), one.kind, one.bytes, one.purpose, one.arrays)
        for one in intake.messages
    ]
    return pd.DataFrame(rows, columns=list(text.TRAVELLED_COLUMNS))


def people_table(tables: list[ClientCounts]) -> pd.DataFrame:
    """People of each client, in all and by group, over all splits."""
    people = np.sum([counts.table.sum(axis=(2, 3)) for counts in tables], axis=0)
    table = pd.DataFrame({"client": tables[0].clients, "n": people.sum(axis=1)})
    for place, group in enumerate(tables[0].groups):
        table[text.people_of_group(group)] = people[:, place]
    return table.round()


def _take_along(view: View, intake: Intake) -> None:
    by_bins = view.answers_by_scores and view.policy.without_group  # whose rules only we apply
    st.markdown(text.TAKE_ALONG_TITLE)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown(text.WHAT_IS_WHAT)
        summary = summary_of(view)
        people = shared_text.judged_on(summary)
        st.markdown(shared_text.predictor_figures(summary.judged, people))
        downloads.offer(
            [
                (
                    text.PREDICTOR_FILE,
                    downloads.predictor_json,
                    downloads.PREDICTOR,
                    "application/json",
                ),
                (text.CARD_FILE, model_card, "fairfl-model-card.html", "text/html"),
                (text.REPORT_FILE, html_report, "fairfl-report.html", "text/html"),
            ],
            key="yours",
        )
    with right:
        st.markdown(text.AT_A_CLIENT)
        folds = intake.experiment.folds
        command = text.predict_command(intake.roles, downloads.PREDICTOR, folds)
        st.code(command, language=None, wrap_lines=True)
        st.markdown(text.ONLY_THE_PACKAGE if by_bins else text.ANY_PYTHON)
    if not by_bins:
        st.code(APPLY.read_text(encoding="utf-8"), language="python", height=330)
        if folds > 1:
            st.markdown(card_text.which_model(folds))


page()
