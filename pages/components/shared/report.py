"""A report that stands alone: one HTML file with settings, findings, figures, tables, caveats."""

from collections.abc import Sequence
from datetime import date
from html import escape

import plotly.graph_objects as go
import plotly.io as pio

from pages.components.session.catalogue import experiment_of
from pages.components.shared import figures, report_text, text
from pages.components.shared.client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.components.shared.results import heat_of, heavy, study_of
from pages.components.shared.summary import summary_of
from pages.components.view import View

__all__ = ["html_document", "html_list", "html_report", "html_table", "settings_table"]

CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b2733; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { border-bottom: 1px solid #d0d7de; padding: .3rem .5rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } .note { color: #57606a; font-size: .9rem; }
pre { background: #f4f6f8; padding: .8rem; overflow-x: auto; font-size: .8rem; }
@media print { body { margin: 0; max-width: none; } section { break-before: page; }
               section:first-of-type { break-before: auto; } tr, figure { break-inside: avoid; } }
"""


def html_report(view: View, link: str) -> str:
    """One file that opens offline."""
    study = study_of(view)
    summary = summary_of(study)
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
        "".join(f"<p>{_plain_html(finding)}</p>" for finding in findings),
        {
            report_text.SETTINGS: settings_table(view, link),
            report_text.MAP: _map(view),
            report_text.CLIENTS: f"<p>{shown}</p>{clients}",
            report_text.NUMBERS: numbers.to_html(
                index=False, border=0, na_rep=report_text.NONE, escape=True
            ),
            report_text.CAVEATS_TITLE: html_list(report_text.CAVEATS),
        },
    )


def html_document(title: str, before: str, sections: dict[str, str]) -> str:
    """A whole file: a title, what comes before the sections, and the sections (of safe HTML)."""
    body = "".join(
        f"<section><h2>{escape(name)}</h2>{content}</section>"
        for name, content in sections.items()
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>"
        f"<h1>{escape(title)}</h1>{before}{body}</body></html>"
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of text; the names in it are only text."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in rows
    )
    thead = f"<thead><tr>{head}</tr></thead>" if header else ""
    return f"<table>{thead}<tbody>{body}</tbody></table>"


def html_list(sentences: Sequence[str]) -> str:
    """Sentences one below the other."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def settings_table(view: View, link: str) -> str:
    """Everything the results depend on."""
    experiment = experiment_of(view.data)
    rows = report_text.settings(
        view,
        summary_of(study_of(view)),
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
    """Undo our own marks (bold, a backslash before signs in names), and escape all the rest."""
    signs = ""
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


def _figure(figure: go.Figure, *, first: bool) -> str:
    """A figure with its own script inside: the first brings Plotly along."""
    figure = go.Figure(figure).update_layout(template="plotly_white", width=900)
    drawn = pio.to_html(
        figure, full_html=False, include_plotlyjs=first, config={"displaylogo": False}
    )
    return f"<figure>{drawn}</figure>"
