"""The model card of a fair predictor: what was requested, what was reached, what held."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.report import Result, Table
from fairfl_core.report.board import clients_table, recognition_table
from pages.compare import card_text as text
from pages.compare.review import result_of
from pages.shared import own_data
from pages.shared.catalogue import experiment_of
from pages.shared.view import View

APPLY = Path(__file__).resolve().parents[2] / "docs" / "apply_predictor.py"
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]  # a header and the rows below it


@dataclass(frozen=True)
class Section:
    """A part of the card: sentences, tables and code, all of it plain text."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Rows, ...] = ()
    code: str = ""


@cache
def _environment() -> Environment:
    templates = FileSystemLoader(Path(__file__).parent / "templates")
    return Environment(loader=templates, autoescape=True, undefined=StrictUndefined)


def model_card(view: View, link: str = "") -> str:
    """One HTML file that stands alone."""
    result = result_of(view)
    study, summary, experiment = result.study, result.summary, result.experiment
    held_out = study.has_held_out
    cells = study.evaluations(unseen=held_out)[0].not_assessable
    sections = [
        Section(text.VERDICT, text.verdict(summary)),
        Section(text.WHAT_IT_IS, text.what_it_is(view, experiment.favourable)),
        Section(
            text.REQUESTED,
            tables=((text.requested_header(held_out=held_out), text.requested_rows(summary)),),
        ),
        Section(text.FOUND, tables=(_rows(recognition_table(result)),)),
        _rates(result),
        Section(text.GROUPS, (text.groups_on(held_out=held_out),), (_groups(result),)),
        Section(text.CLIENTS, tables=(_rows(clients_table(result)),)),
        Section(text.NOT_JUDGED, (text.not_assessable(cells),)),
        Section(text.DATA, _data(view)),
        Section(text.LIMITS_OF_USE, text.CAVEATS),
        _how(view),
        Section(
            text.SETTINGS,
            tables=(((), text.settings(view, result, link, date.today().isoformat())),),
        ),
    ]
    title = text.title(experiment.manifest["title"])
    return _environment().get_template("model_card.html").render(title=title, sections=sections)


def _rows(table: Table) -> Rows:
    return table.header, list(table.rows)


def _rates(result: Result) -> Section:
    """Every rate overall, what becomes of every notion, and why not all can be equal."""
    study = result.study
    rates = all_rates_of(study.evaluations(unseen=study.has_held_out))
    table = rates.table()
    rows = [text.rate_cells(row) for row in table[table["client"].isna()].itertuples()]
    notions = [text.notion_cells(one) for one in rates.notions_of()]
    return Section(
        text.EVERY_RATE,
        (rates.base.sentence(),),
        ((text.RATE_HEADER, rows), (text.NOTION_HEADER, notions)),
    )


def _groups(result: Result) -> Rows:
    table = result.study.group_table(unseen=result.study.has_held_out)
    return text.GROUP_HEADER, [text.group_cells(row) for row in table.itertuples()]


def _data(view: View) -> tuple[str, ...]:
    """What intake said of an uploaded set; where a bundled one comes from."""
    if own_data.is_own(view.experiment):
        checks = own_data.find(view.experiment).intake.checks
        return tuple(check.sentence for check in checks)
    dataset = experiment_of(view.data).manifest["dataset"]
    return (f"{dataset['source']}, {dataset['licence']}.",)


def _how(view: View) -> Section:
    if view.answers_by_scores and view.policy.without_group:  # whose rules only we apply
        return Section(text.HOW, (text.WITH_SCORES,))
    folds = experiment_of(view.data).folds
    models = (text.which_model(folds),) if folds > 1 else ()
    code = APPLY.read_text(encoding="utf-8")
    return Section(text.HOW, (text.WITHOUT_PACKAGE, *models), code=code)
