"""Results to take along: buttons, the predictor (JSON) and the clients' table (CSV).

What a button gives is made on the click, from the view of that moment.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairfl_core.errors import CollisionError
from fairfl_core.review import Review
from pages.compare.model_card import model_card
from pages.compare.report import html_report, pdf_report
from pages.shared import own_data, state, text
from pages.shared.charts import csv_for_people
from pages.shared.results import first_run_of, predictor_of, study_of, summary_of
from pages.shared.view import View

__all__ = [
    "PREDICTOR",
    "Download",
    "clients_csv",
    "offer",
    "pdf_now",
    "predictor_figures",
    "predictor_json",
    "predictor_part",
    "take_along",
]

PREDICTOR = "fairfl-predictor.json"
Download = tuple[
    str, Callable[[View, str], str | bytes], str, str
]  # label, how, file name, media type


def take_along() -> None:
    """The downloads that every page offers."""
    st.markdown(text.TAKE_ALONG)
    offer(
        [
            (text.REPORT_FILE, html_report, "fairfl-report.html", "text/html"),
            (text.PDF_FILE, pdf_now, "fairfl-report.pdf", "application/pdf"),
            (text.CARD_FILE, model_card, "fairfl-model-card.html", "text/html"),
            (text.CLIENTS_FILE, clients_csv, "fairfl-clients.csv", "text/csv"),
        ],
        key="take",
    )


def offer(downloads: Sequence[Download], *, key: str) -> None:
    """One button a download."""
    current = state.link_of_the_moment()

    def made(make: Callable[[View, str], str | bytes]) -> str | bytes:
        try:
            return make(*current())
        except CollisionError as error:  # there is nothing to take along but why
            return str(error)

    for label, make, file, media in downloads:
        st.download_button(
            label,
            partial(made, make),
            file_name=file,
            mime=media,
            key=f"{key}-{file}",
            on_click="ignore",
            width="stretch",
        )


def pdf_now(view: View, link: str = "") -> bytes:
    """The report on the view set now, on paper."""
    return pdf_report(Review(""), view, link)


def predictor_part(view: View) -> DeltaGenerator:
    """The predictor to take along: of which run it is, and the button; returns the figures' place."""
    st.markdown(text.predictor_title(view.seeds, own=own_data.is_own(view.experiment)))
    figures = st.empty()
    offer([(text.PREDICTOR_FILE, predictor_json, PREDICTOR, "application/json")], key="take")
    return figures


def predictor_figures(view: View) -> None:
    """What the predictor reaches, on whom."""
    people = text.judged_on(summary_of(view))
    st.markdown(text.predictor_figures(first_run_of(view), people))


def predictor_json(view: View, link: str = "") -> str:
    """The fair predictor of the first chosen run, as `fairfl-predictor/1`."""
    return json.dumps(predictor_of(view).to_json(), ensure_ascii=False)


def clients_csv(view: View, link: str = "") -> str:
    """The clients' table."""
    study = study_of(view)
    return csv_for_people(study.client_table(unseen=study.has_held_out))
