"""A report that stands alone: two pages to decide by, then an annex of figures and tables."""

from collections.abc import Callable
from datetime import date
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from plotly.basedatatypes import BaseFigure

from fairfl_core._io import numbers as format
from fairfl_core.review import Review, html_of, pdf_of
from pages.compare.harm_html import html_alarms, html_rates, html_recognition
from pages.compare.review import board_for
from pages.explore.old_client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.explore.old_harm import rates_of
from pages.shared import figures, harm_text, report_text, text
from pages.shared.catalogue import experiment_of
from pages.shared.html import html_list, html_sections, html_table
from pages.shared.outside_text import JOINER
from pages.shared.results import heat_of, heavy, study_of, summary_of
from pages.shared.view import View

__all__ = ["html_report", "pdf_report", "review_report", "settings_table"]


def html_report(view: View, link: str) -> str:
    """The report on the view set now, beside what else could be asked; opens offline."""
    return review_report(Review(""), view, link)


def review_report(review: Review, view: View, link: str) -> str:
    """The report on some options; the annex is on the view set now."""
    return html_of(board_for(review, view, link), annex=_annex(view, link))


def pdf_report(review: Review, view: View, link: str) -> bytes:
    """The same on paper."""
    return pdf_of(board_for(review, view, link))


def _annex(view: View, link: str) -> str:
    """Settings, figures and long tables."""
    study = study_of(view)
    summary = summary_of(view)
    table = study.client_table(unseen=study.has_held_out).sort_values("gap", ascending=False)
    findings = [
        f"**{text.verdict_title(summary)}** {text.verdict(summary)}",
        text.headline(summary),
        *text.price_sentences(summary),
    ]
    clients = _figure(
        figures.client_gaps(worst_and_largest(table)), first=heavy(view, map_only=True)
    )
    shown = report_text.shown(MOST, len(table)) if len(table) > ALL_UP_TO else ""
    before = html_alarms(summary.harm) + "".join(
        f"<p>{_plain_html(finding)}</p>" for finding in findings
    )
    return before + html_sections(
        {
            report_text.SETTINGS: settings_table(view, link),
            harm_text.RECOGNISED: html_recognition(summary.harm),
            report_text.MAP: _map(view),
            report_text.CLIENTS: f"<p>{shown}</p>{clients}",
            report_text.NUMBERS: html_table(
                [text.CLIENT_COLUMNS[name] for name in table.columns], _cells(table)
            ),
            harm_text.EVERY_RATE: html_rates(rates_of(study)),
            report_text.CAVEATS_TITLE: html_list(report_text.CAVEATS),
        }
    )


def _cells(table: pd.DataFrame) -> list[list[str]]:
    """A client table as text: whole people, rates with three decimals, a name where it is one."""
    kinds: dict[str, Callable[[Any], str]]
    kinds = {"client": str, "n": format.count, "eps_local": format.epsilon}
    return [
        [kinds.get(name, _three)(value) for name, value in row.items()]
        for row in table.to_dict("records")
    ]


def _three(value: float) -> str:
    return report_text.NONE if value != value else f"{value:.3f}"


def settings_table(view: View, link: str) -> str:
    """Everything the results depend on."""
    experiment = experiment_of(view.data)
    rows = report_text.settings(
        view,
        summary_of(view),
        experiment.manifest,
        protocol=experiment.protocol,
        link=link,
        made=date.today().isoformat(),
    )
    return html_table((), [(name, str(value)) for name, value in rows.items()])


def _map(view: View) -> str:
    """The map, where it can be solved in reasonable time; it brings Plotly along."""
    if heavy(view, map_only=True):
        return f"<p>{report_text.MAP_TOO_LONG}</p>"
    heat = figures.heat_map(heat_of(view), (view.eps_global, view.eps_local))
    reading = report_text.map_reading(own_limits=bool(view.own_limits))
    return f"<p>{escape(reading)}</p>" + _figure(heat, first=True)


def _plain_html(markdown: str) -> str:
    """Undo our own marks (bold, those that part signs in names), and escape all the rest."""
    signs = ""
    markdown = markdown.replace(JOINER, "")
    position = 0
    while position < len(markdown):
        if markdown[position] == "\\" and position + 1 < len(markdown):
            signs += markdown[position + 1]
            position += 2
        elif markdown.startswith("**", position):
            position += 2
        else:
            signs += markdown[position]
            position += 1
    return escape(signs)


def _figure(figure: BaseFigure, *, first: bool) -> str:
    """A figure with its own script inside: the first brings Plotly along."""
    figure = go.Figure(figure.to_dict()).update_layout(template="plotly_white", width=900)
    drawn = pio.to_html(
        figure, full_html=False, include_plotlyjs=first, config={"displaylogo": False}
    )
    return f"<figure>{drawn}</figure>"
