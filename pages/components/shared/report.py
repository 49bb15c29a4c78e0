"""Results to take along: a report that stands alone (HTML), the predictor (JSON), tables (CSV)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any
from urllib.parse import urlencode

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from fairfl_core.evaluation.study import Study
from pages.components.shared import figures, words
from pages.components.shared.charts import csv_for_people
from pages.components.shared.client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.components.shared.results import (
    Choice,
    client_table,
    experiment_of,
    heat_of,
    heavy,
    predictor_of,
    study_of,
)

__all__ = [
    "Setting",
    "clients_csv",
    "html_report",
    "link_to",
    "predictor_json",
    "settings_table",
    "take_along",
]

CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b2733; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { border-bottom: 1px solid #d0d7de; padding: .3rem .5rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } .note { color: #57606a; font-size: .9rem; }
@media print { body { margin: 0; max-width: none; } section { break-before: page; }
               section:first-of-type { break-before: auto; } tr, figure { break-inside: avoid; } }
"""
CAVEATS = (
    "Limits are met in expectation on the people the lottery was fitted on. On unseen people gaps "
    "are larger, most of all in small clients; the report gives both.",
    "The answer is a lottery: two people alike in everything may get different answers. Decided "
    "by row id, the same person always gets the same one.",
    "The group of each person must be known when the answer is given.",
    "The notion chosen here cannot settle whether labels themselves are fair, nor which notion "
    "a case calls for. Other notions may be violated while this one holds.",
    "Prices are local: they hold for a small change from this setting.",
)


@dataclass(frozen=True)
class Setting:
    """All that a view depends on, taken at the moment of a download."""

    choice: Choice
    eps_global: float
    eps_local: float
    own: tuple[tuple[str, float], ...]
    link: str

    @property
    def study(self) -> Study:
        """The results of this setting."""
        return study_of(self.choice, self.eps_global, self.eps_local, self.own)


def take_along(current: Callable[[], Setting]) -> None:
    """Download buttons; what they give is made on the click, from the setting of that moment."""
    st.markdown("**Take along**")
    name = "fairfl"
    for label, made, file, mime in (
        ("Report (HTML)", html_report, f"{name}-report.html", "text/html"),
        ("Predictor (JSON)", predictor_json, f"{name}-predictor.json", "application/json"),
        ("Clients (CSV)", clients_csv, f"{name}-clients.csv", "text/csv"),
    ):
        st.download_button(
            label,
            lambda made=made: made(current()),
            file_name=file,
            mime=mime,
            key=f"take-{file}",
            on_click="ignore",
            width="stretch",
        )


def predictor_json(setting: Setting) -> str:
    """The fair predictor of the first chosen run, as `fairfl-predictor/1`."""
    fair = predictor_of(setting.choice, setting.eps_global, setting.eps_local, setting.own)
    return json.dumps(fair.to_json(), ensure_ascii=False)


def clients_csv(setting: Setting) -> str:
    """The clients' table."""
    return csv_for_people(client_table(setting.study))


def html_report(setting: Setting) -> str:
    """One file: settings, findings in sentences, figures, tables, caveats. Opens offline."""
    study, choice = setting.study, setting.choice
    experiment = experiment_of(choice.experiment)
    table = client_table(study).sort_values("after", ascending=False)
    clients = figures.client_gaps(worst_and_largest(table))
    title = f"What fairness costs: {experiment.manifest['title']}"
    return "".join(
        [
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
            f"<title>{escape(title)}</title><style>{CSS}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            _findings(study),
            settings_table(setting, experiment.manifest),
            "<section><h2>Accuracy over both limits</h2>",
            _map(setting),
            "</section><section><h2>Each client, before and after</h2>",
            _shown(len(table)),
            _figure(clients, first=heavy(choice, map_only=True)),
            "</section><section><h2>The clients in numbers</h2>",
            table.round(3).to_html(index=False, border=0, na_rep="none", escape=True),
            "</section><section><h2>What this does not say</h2><ul>",
            *(f"<li>{escape(caveat)}</li>" for caveat in CAVEATS),
            "</ul></section></body></html>",
        ]
    )


def _map(setting: Setting) -> str:
    """The map, where it can be solved in reasonable time; it brings Plotly along."""
    if heavy(setting.choice, map_only=True):
        return "<p>Not drawn: with so many clients every pair of limits takes long to solve.</p>"
    heat = figures.heat_map(heat_of(setting.choice), (setting.eps_global, setting.eps_local))
    return (
        "<p>Fitted on validation, mean over runs. Lighter is more accurate; inside the dotted "
        "line fairness costs nothing.</p>" + _figure(heat, first=True)
    )


def _shown(clients: int) -> str:
    """Say so where a figure does not show all clients."""
    if clients <= ALL_UP_TO:
        return ""
    return f"<p>The {MOST} worst and the {MOST} largest of {clients:,} clients.</p>"


def _findings(study: Study) -> str:
    """The headline and the prices, as plain paragraphs."""
    sentences = [words.headline(study), *words.price_sentences(study)]
    return "".join(f"<p>{_plain_html(sentence)}</p>" for sentence in sentences)


def _plain_html(markdown: str) -> str:
    """Undo our own marks (bold, a backslash before signs in names), and escape all the rest."""
    text = ""
    position = 0
    while position < len(markdown):
        if markdown[position] == "\\" and position + 1 < len(markdown):
            text += markdown[position + 1]
            position += 2
        elif markdown.startswith("**", position):
            position += 2
        else:
            text += markdown[position]
            position += 1
    return escape(text)


def settings_table(setting: Setting, manifest: Mapping[str, Any]) -> str:
    """Everything the results depend on, as a section."""
    study = setting.study
    notion, region = setting.choice.notion, setting.choice.region
    splits = (False, True) if study.has_held_out else (False,)
    n = [words.count(study.over(lambda e: e.counts.n, unseen=each).mean) for each in splits]
    n += [] if study.has_held_out else ["none (no held-out check possible)"]
    rows = {
        "Experiment": f"{manifest['title']} ({manifest['dataset']['sample']})",
        "Notion": words.NOTIONS[notion][0],
        "Region": words.REGIONS[region][0],
        "Rates": words.RATES[setting.choice.rates][0],
        "Runs": ", ".join(map(str, setting.choice.seeds)),
        "Gap allowed overall": words.epsilon(setting.eps_global),
        "Gap allowed inside each client": words.epsilon(setting.eps_local),
        "Clients with a limit of their own": ", ".join(f"{a} {b:g}" for a, b in setting.own)
        or "none",
        "People (fitted on, unseen)": " and ".join(n),
        "Data": f"{manifest['dataset']['source']}, {manifest['dataset']['licence']}",
        "Scores, sha256": manifest["scores"]["sha256"],
        "Made": date.today().isoformat(),
        "Link": setting.link,
    }
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<section><h2>Settings and data</h2><table>{body}</table></section>"


def _figure(figure: go.Figure, *, first: bool) -> str:
    """A figure with its own script inside: the first brings Plotly along."""
    figure = go.Figure(figure).update_layout(template="plotly_white", width=900)
    return "<figure>" + pio.to_html(
        figure, full_html=False, include_plotlyjs=first, config={"displaylogo": False}
    ) + "</figure>"  # fmt: skip


def link_to(base: str, settings: Mapping[str, str]) -> str:
    """The address that reopens the view."""
    return f"{base.split('?')[0]}?{urlencode(settings)}"
