"""Results to take along as files, each made on the click, from the view of that moment."""

import json
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from fairfl_core.errors import FairflError
from fairfl_core.report import html_of, pdf_of
from pages.compare import text
from pages.compare.model_card import model_card
from pages.compare.review import board_for
from pages.shared import state
from pages.shared.charts import csv_for_people
from pages.shared.policy import policy_file_of
from pages.shared.results import clients_of, predictor_of
from pages.shared.view import View

# label, how it is made of a view and its link, file name, media type
Download = tuple[str, Callable[[View, str], str | bytes], str, str]


def html_report(view: View, link: str = "") -> str:
    """The report on a single setting, beside the model as it is: one HTML file that stands alone."""
    return html_of(board_for([view], link=link))


def pdf_report(view: View, link: str = "") -> bytes:
    """The same on paper."""
    return pdf_of(board_for([view], link=link))


def predictor_json(view: View, link: str = "") -> str:
    """The fair predictor of the first chosen run, as `fairfl-predictor/1`."""
    return json.dumps(predictor_of(view).to_json(), ensure_ascii=False)


def clients_csv(view: View, link: str = "") -> str:
    """The clients' table."""
    return csv_for_people(clients_of(view))


def policy_toml(view: View, link: str = "") -> str:
    """What the view asks for, as `fairfl-policy/1`."""
    return policy_file_of(view).to_toml()


TAKE_ALONG: tuple[Download, ...] = (
    (text.THIS_HTML, html_report, "fairfl-this-setting.html", "text/html"),
    (text.THIS_PDF, pdf_report, "fairfl-this-setting.pdf", "application/pdf"),
    (text.MODEL_CARD, model_card, "fairfl-model-card.html", "text/html"),
    (text.PREDICTOR, predictor_json, "fairfl-predictor.json", "application/json"),
    (text.CLIENTS, clients_csv, "fairfl-clients.csv", "text/csv"),
    (text.POLICY, policy_toml, "policy.toml", "application/toml"),
)


def offer(downloads: Sequence[Download], *, key: str) -> None:
    """Draw one button a download; a setting that cannot be solved gives a file that says why."""
    current = state.link_of_the_moment()

    def made(make: Callable[[View, str], str | bytes]) -> str | bytes:
        try:
            return make(*current())
        except FairflError as error:
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
