"""A report that stands alone: one HTML file with settings, findings, figures, tables, caveats."""

from datetime import date
from html import escape

import plotly.graph_objects as go
import plotly.io as pio
from plotly.basedatatypes import BaseFigure

from pages.components.session.catalogue import experiment_of
from pages.components.shared import figures, harm_text, report_text, text
from pages.components.shared.client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.components.shared.harm import rates_of
from pages.components.shared.harm_html import html_alarms, html_rates, html_recognition
from pages.components.shared.html import html_document, html_list, html_table
from pages.components.shared.outside_text import JOINER
from pages.components.shared.results import heat_of, heavy, study_of, summary_of
from pages.components.view import View

__all__ = ["html_report", "settings_table"]


def html_report(view: View, link: str) -> str:
    """One file that opens offline."""
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
    numbers = table.round(3).rename(columns=text.CLIENT_COLUMNS)
    return html_document(
        report_text.title(experiment_of(view.data).manifest["title"]),
        html_alarms(summary.harm)
        + "".join(f"<p>{_plain_html(finding)}</p>" for finding in findings),
        {
            report_text.SETTINGS: settings_table(view, link),
            harm_text.RECOGNISED: html_recognition(summary.harm),
            report_text.MAP: _map(view),
            report_text.CLIENTS: f"<p>{shown}</p>{clients}",
            report_text.NUMBERS: numbers.to_html(
                index=False, border=0, na_rep=report_text.NONE, escape=True
            ),
            harm_text.EVERY_RATE: html_rates(rates_of(study)),
            report_text.CAVEATS_TITLE: html_list(report_text.CAVEATS),
        },
    )


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
