"""The model card of a fair predictor: what was requested, what was reached, what held."""

from html import escape
from pathlib import Path

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.study import Study
from fairfl_core.evaluation.summary import ClientRow
from pages.compare.harm_html import html_alarms, html_rates, html_recognition
from pages.compare.report import settings_table
from pages.explore.old_client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.explore.old_harm import rates_of
from pages.shared import card_text as text
from pages.shared import harm_text, own_data, report_text
from pages.shared.catalogue import experiment_of
from pages.shared.html import (
    html_document,
    html_list,
    html_paragraphs,
    html_table,
)
from pages.shared.results import study_of, summary_of
from pages.shared.view import View

__all__ = ["APPLY", "model_card"]

APPLY = Path(__file__).resolve().parents[3] / "docs" / "apply_predictor.py"


def model_card(view: View, link: str) -> str:
    """One HTML file that stands alone."""
    study = study_of(view)
    experiment = experiment_of(view.data)
    header = text.requested_header(held_out=study.has_held_out)
    summary = summary_of(view)
    sections = {
        harm_text.WHO_IS_WORSE_OFF: html_alarms(summary.harm),
        text.VERDICT: html_paragraphs(text.verdict(summary)),
        text.WHAT_IT_IS: html_paragraphs(text.what_it_is(view, experiment.favourable)),
        text.REQUESTED: html_table(header, text.requested_rows(summary)),
        harm_text.RECOGNISED: html_recognition(summary.harm),
        harm_text.EVERY_RATE: html_rates(rates_of(study)),
        text.GROUPS: _groups(study),
        text.CLIENTS: _clients(study),
        text.NOT_JUDGED: _not_judged(study),
        text.DATA: _data(view),
        text.LIMITS_OF_USE: html_list(report_text.CAVEATS),
        text.HOW: _how(view),
        report_text.SETTINGS: settings_table(view, link),
    }
    return html_document(text.title(experiment.manifest["title"]), "", sections)


def _groups(study: Study) -> str:
    table = study.group_table(unseen=study.has_held_out)
    rows = [
        (
            row.group,
            format.count(row.n),
            format.percent(row.accuracy_before),
            format.percent(row.accuracy),
            format.percent(row.changed),
        )
        for row in table.itertuples()
    ]
    on = html_paragraphs([text.groups_on(held_out=study.has_held_out)])
    return on + html_table(text.GROUP_HEADER, rows)


def _clients(study: Study) -> str:
    table = study.client_table(unseen=study.has_held_out).sort_values("gap", ascending=False)
    some = worst_and_largest(table).to_dict("records")
    rows = [text.client_cells(ClientRow(**record)) for record in some]
    shown = [text.shown(MOST, len(table))] if len(table) > ALL_UP_TO else []
    return html_paragraphs(shown) + html_table(text.CLIENT_HEADER, rows)


def _not_judged(study: Study) -> str:
    cells = study.evaluations(unseen=study.has_held_out)[0].not_assessable
    return html_paragraphs([text.not_assessable(cells)])


def _data(view: View) -> str:
    """What intake said of an uploaded set; where a bundled one comes from."""
    if own_data.is_own(view.experiment):
        checks = own_data.find(view.experiment).intake.checks
        return html_list([check.sentence for check in checks])
    dataset = experiment_of(view.data).manifest["dataset"]
    return html_paragraphs([f"{dataset['source']}, {dataset['licence']}."])


def _how(view: View) -> str:
    by_bins = view.answers_by_scores and view.policy.without_group  # whose rules only we apply
    told = text.WITH_SCORES if by_bins else text.WITHOUT_PACKAGE
    sentence = escape(told).format(command=f"<code>{text.COMMAND}</code>")
    if by_bins:
        return f"<p>{sentence}</p>"
    code = escape(APPLY.read_text(encoding="utf-8"))
    folds = experiment_of(view.data).folds
    models = html_paragraphs([text.which_model(folds).replace("`", "")]) if folds > 1 else ""
    return f"<p>{sentence}</p><pre>{code}</pre>{models}"
