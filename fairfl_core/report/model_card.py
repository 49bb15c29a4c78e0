"""The model card of a fair predictor: what was requested, what was reached, what held.

One card, of a result with several runs (the dashboard's) or of one evaluation, as HTML, Markdown
or Markdown with Hugging Face's block of metadata.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import fairfl_core
from fairfl_core._io.names import listed
from fairfl_core.errors import InputError
from fairfl_core.evaluation.all_rates import AllRates, all_rates_of
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.report import card_text as text
from fairfl_core.report.board import Table, clients_table, recognition_table
from fairfl_core.report.render import html_card, markdown_card
from fairfl_core.report.result import Result

__all__ = ["FORMATS", "Card", "Section", "card_of_evaluation", "card_of_result"]

FORMATS = ("html", "md", "hf")
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]  # a header and the rows below it


@dataclass(frozen=True)
class Section:
    """A part of the card: sentences, tables and code, all of it plain text."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Rows, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Card:
    """A model card before it is written.

    Attributes
    ----------
    title : str
    sections : tuple of Section
    metadata : dict
        What Hugging Face's hub reads above the text.
    """

    title: str
    sections: tuple[Section, ...]
    metadata: dict[str, Any] = field(default_factory=dict)

    def write(self, format: str) -> str:
        """Write it as ``"html"``, ``"md"``, or ``"hf"``: Markdown with the metadata above."""
        if format not in FORMATS:
            raise InputError(
                f'there is no format "{format}" of a model card; it is {listed(FORMATS)}.'
            )
        if format == "html":
            return html_card(self.title, self.sections)
        body = markdown_card(self.title, self.sections)
        if format == "md":
            return body
        # A value in JSON is one in YAML; ASCII, so that no sign of another alphabet ends a line.
        lines = [f"{name}: {json.dumps(value)}" for name, value in self.metadata.items()]
        return "\n".join(["---", *lines, "---", "", body])


# -------------------------------------------------------------------- of one evaluation


def card_of_evaluation(
    judged: Evaluation, *, title: str, dataset: str, license: str | None = None
) -> Card:
    """The card of answers as they were judged on some people.

    Parameters
    ----------
    judged : Evaluation
    title : str
        What the predictor is called.
    dataset : str
        What the people are called that it was judged on.
    license : str, optional
        For Hugging Face: an identifier such as ``apache-2.0``.
    """
    made = f"{date.today():%Y-%m-%d}, fairfl {fairfl_core.__version__}"
    counts = judged.counts
    sections = [
        Section(text.VERDICT, text.verdict_of(judged)),
        Section(
            text.WHAT_IT_IS,
            (
                text.RANDOM_RULE,
                f"Notion: {text.notion_sentence(judged.notion.name, counts.favourable)}",
            ),
        ),
        Section(text.FIGURES, tables=((text.FIGURES_HEADER, text.figures_rows(judged)),)),
        _rates(all_rates_of([judged])),
        Section(
            text.GROUPS,
            tables=(
                (
                    text.GROUP_HEADER,
                    [text.group_cells(row) for row in judged.group_table().itertuples()],
                ),
            ),
        ),
        Section(
            text.CLIENTS,
            tables=(
                (
                    text.CLIENT_HEADER,
                    [text.client_cells(row) for row in judged.client_table().itertuples()],
                ),
            ),
        ),
        Section(text.NOT_JUDGED, (text.not_assessable(judged.not_assessable),)),
        Section(text.DATA, (dataset,)),
        Section(text.LIMITS_OF_USE, text.CAVEATS),
        Section(text.HOW, (text.HOW_IN_PYTHON,), code=text.CODE),
        Section(text.SETTINGS, tables=(((), text.settings_of(judged, made)),)),
    ]
    return Card(title, tuple(sections), _metadata(judged, title, dataset, license))


def _metadata(judged: Evaluation, title: str, dataset: str, license: str | None) -> dict[str, Any]:
    """The block that Hugging Face's hub reads: tags, and the results in its model index."""
    task = {"type": "tabular-classification"}
    metrics = [
        {"type": name, "value": round(value, 6), "name": text.METRICS[name]}
        for name, value in judged.metrics().items()
        if name in text.METRICS
    ]
    data = {"type": "tabular", "name": dataset}
    result = {"task": task, "dataset": data, "metrics": metrics}
    return {
        "library_name": "fairfl",
        "pipeline_tag": task["type"],
        "tags": ["fairness", "post-processing", "federated-learning"],
        **({} if license is None else {"license": license}),
        "model-index": [{"name": title, "results": [result]}],
    }


# -------------------------------------------------------------------- of a result


def card_of_result(result: Result, *, data: Sequence[str], link: str = "", code: str = "") -> Card:
    """The card of an option that was solved and judged, mean over its runs.

    Parameters
    ----------
    result : Result
    data : sequence of str
        What is told of the people.
    link : str
        Where it can be seen again.
    code : str
        A program that applies the predictor without any package; empty where there is none.
    """
    study, summary, experiment = result.study, result.summary, result.experiment
    held_out = study.has_held_out
    judged = study.evaluations(unseen=held_out)
    groups = study.group_table(unseen=held_out)
    sections = [
        Section(text.VERDICT, text.verdict(summary)),
        Section(text.WHAT_IT_IS, text.what_it_is(result.option, experiment.favourable)),
        Section(
            text.REQUESTED,
            tables=((text.requested_header(held_out=held_out), text.requested_rows(summary)),),
        ),
        Section(text.FOUND, tables=(_rows(recognition_table(result)),)),
        _rates(all_rates_of(judged)),
        Section(
            text.GROUPS,
            (text.groups_on(held_out=held_out),),
            ((text.GROUP_HEADER, [text.group_cells(row) for row in groups.itertuples()]),),
        ),
        Section(text.CLIENTS, tables=(_rows(clients_table(result)),)),
        Section(text.NOT_JUDGED, (text.not_assessable(judged[0].not_assessable),)),
        Section(text.DATA, tuple(data)),
        Section(text.LIMITS_OF_USE, text.CAVEATS),
        _how(experiment.folds, code),
        Section(
            text.SETTINGS, tables=(((), text.settings(result, link, date.today().isoformat())),)
        ),
    ]
    return Card(text.title(experiment.manifest["title"]), tuple(sections))


def _rows(table: Table) -> Rows:
    return table.header, list(table.rows)


def _rates(rates: AllRates) -> Section:
    """Every rate overall, what becomes of every notion, and why not all can be equal."""
    table = rates.table()
    rows = [text.rate_cells(row) for row in table[table["client"].isna()].itertuples()]
    notions = [text.notion_cells(one) for one in rates.notions_of()]
    return Section(
        text.EVERY_RATE,
        (rates.base.sentence(),),
        ((text.RATE_HEADER, rows), (text.NOTION_HEADER, notions)),
    )


def _how(folds: int, code: str) -> Section:
    if not code:
        return Section(text.HOW, (text.WITH_SCORES,))
    models = (text.which_model(folds),) if folds > 1 else ()
    return Section(text.HOW, (text.WITHOUT_PACKAGE, *models), code=code)
