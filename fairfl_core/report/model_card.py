"""The model card of a fair predictor: what was requested, what was reached, what held.

One card, of a result with several runs (the dashboard's) or of one evaluation, as HTML, Markdown
or Markdown with Hugging Face's block of metadata.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import fairfl_core
from fairfl_core._io import numbers as format
from fairfl_core._io.names import listed
from fairfl_core.errors import InputError
from fairfl_core.evaluation.all_rates import (
    BREAKS,
    MENDS,
    UNCHANGED,
    UNTOLD,
    AllRates,
    NotionGap,
    all_rates_of,
)
from fairfl_core.evaluation.before_after import NOT_ASSESSABLE
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Figures, Summary
from fairfl_core.fairness.notions import NotAssessable, notion_kind
from fairfl_core.lp.regions import region_kind
from fairfl_core.report import text as review_text
from fairfl_core.report.board import Table, clients_table, recognition_table, rests_on
from fairfl_core.report.render import html_card, markdown_card
from fairfl_core.report.review import Option, Result

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
        Section(VERDICT, verdict_of(judged)),
        Section(
            WHAT_IT_IS,
            (
                RANDOM_RULE,
                f"Notion: {notion_sentence(judged.notion.name, counts.favourable)}",
            ),
        ),
        Section(FIGURES, tables=((FIGURES_HEADER, figures_rows(judged)),)),
        _rates(all_rates_of([judged])),
        Section(
            GROUPS,
            tables=(
                (
                    GROUP_HEADER,
                    [group_cells(row) for row in judged.group_table().itertuples()],
                ),
            ),
        ),
        Section(
            CLIENTS,
            tables=(
                (
                    CLIENT_HEADER,
                    [client_cells(row) for row in judged.client_table().itertuples()],
                ),
            ),
        ),
        Section(NOT_JUDGED, (not_assessable(judged.not_assessable),)),
        Section(DATA, (dataset,)),
        Section(LIMITS_OF_USE, CAVEATS),
        Section(HOW, (HOW_IN_PYTHON,), code=CODE),
        Section(SETTINGS, tables=(((), settings_of(judged, made)),)),
    ]
    return Card(title, tuple(sections), _metadata(judged, title, dataset, license))


def _metadata(judged: Evaluation, title: str, dataset: str, license: str | None) -> dict[str, Any]:
    """The block that Hugging Face's hub reads: tags, and the results in its model index."""
    task = {"type": "tabular-classification"}
    metrics = [
        {"type": name, "value": round(value, 6), "name": METRICS[name]}
        for name, value in judged.metrics().items()
        if name in METRICS
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
        What is reported of the people.
    link : str
        Where it can be seen again.
    code : str
        A program that applies the predictor without any package; empty where there is none.
    """
    study, summary, experiment = result.study, result.summary, result.experiment
    held_out = study.has_held_out
    judged = study.evaluations(unseen=held_out)
    groups = study.group_table(unseen=held_out)
    asked = [
        ("Asked", review_text.asked(result.option, review_text.noun_of(experiment))),
        ("Made", date.today().isoformat()),
    ]
    sections = [
        Section(VERDICT, verdict(summary)),
        Section(WHAT_IT_IS, what_it_is(result.option, experiment.favourable)),
        Section(
            REQUESTED,
            tables=((requested_header(held_out=held_out), requested_rows(summary)),),
        ),
        Section(FOUND, tables=(_rows(recognition_table(result)),)),
        _rates(all_rates_of(judged)),
        Section(
            GROUPS,
            (groups_on(held_out=held_out),),
            ((GROUP_HEADER, [group_cells(row) for row in groups.itertuples()]),),
        ),
        Section(CLIENTS, tables=(_rows(clients_table(result)),)),
        Section(NOT_JUDGED, (not_assessable(judged[0].not_assessable),)),
        Section(DATA, tuple(data)),
        Section(LIMITS_OF_USE, CAVEATS),
        _how(experiment.folds, code),
        Section(SETTINGS, tables=(((), [*rests_on(result, link), *asked]),)),
    ]
    return Card(title(experiment.manifest["title"]), tuple(sections))


def _rows(table: Table) -> Rows:
    return table.header, list(table.rows)


def _rates(rates: AllRates) -> Section:
    """Every rate overall, what becomes of every notion, and why not all can be equal."""
    table = rates.table()
    rows = [rate_cells(row) for row in table[table["client"].isna()].itertuples()]
    notions = [notion_cells(one) for one in rates.notions_of()]
    return Section(
        EVERY_RATE,
        (rates.base.sentence(),),
        ((RATE_HEADER, rows), (NOTION_HEADER, notions)),
    )


def _how(folds: int, code: str) -> Section:
    if not code:
        return Section(HOW, (WITH_SCORES,))
    models = (which_model(folds),) if folds > 1 else ()
    return Section(HOW, (WITHOUT_PACKAGE, *models), code=code)


# ------------------------------------------------------------------- texts

VERDICT, WHAT_IT_IS, REQUESTED = "Verdict", "What it is", "Requested, reached, held out"
FOUND = "How often each label is found, before and after"
EVERY_RATE, GROUPS, CLIENTS = "Every rate, overall", "Groups", "Clients"
NOT_JUDGED, DATA, SETTINGS = "What could not be judged", "The data", "Settings and data"
LIMITS_OF_USE, HOW = "Limits of use", "How a client applies it"
CAVEATS = review_text.CAVEATS
FIGURES = "Requested and reached"
METRICS = {
    "accuracy": "accuracy, in expectation",
    "gap_global": "gap between groups, overall",
    "gap_local_worst": "gap between groups, worst client",
}
FIGURES_HEADER = ("", "requested", "model as it is", "fair answers")
CLIENT_HEADER = ("client", "people", "accuracy before", "after", "gap before", "after", "95 %")
HOW_IN_PYTHON = (
    "Read its file with fairfl, or apply it to a table with `fairfl predict`; "
    "docs/apply_predictor.py applies it without any package."
)
CODE = """from fairfl_core import read_predictor

fair = read_predictor("predictor.json")
answers = fair.decide(client, group, seen, row_id=row_id)"""
GROUP_HEADER = ("group", "people", "accuracy, as it is", "accuracy, fair", "answers changed")
RATE_HEADER = ("rate", "label", "group", "before (95 %)", "people", "after (95 %)", "people")
NOTION_HEADER = ("notion", "gap before (95 %)", "gap after (95 %)", "this setting")
NOTION_WORDS = {
    MENDS: "mends it",
    BREAKS: "breaks it",
    UNCHANGED: "leaves it",
    UNTOLD: "too few people to tell",
}
NO_CHECK = "there are no new people to check on"
FITTED = "the people the rule was set on"
RATE_KINDS = {
    "labels": ("counted labels", "As counted on the fitted people; noisy in small clients."),
    "scores": (
        "recalibrated scores",
        "Every person counts for each label by how likely it is; steadier in small clients.",
    ),
    "shrunk": (
        "labels, shrunk",
        "A small client's rates borrow from its group in the other clients.",
    ),
}
WITH_SCORES = "With fairfl predict, which looks at the model's scores."
RANDOM_RULE = (
    "A random rule behind a model. It takes the client, the group and the model's answer for a "
    "person and gives the answer that person gets. Decided by row id, the same person always gets "
    "the same answer. The model itself is not changed."
)
WITHOUT_PACKAGE = "With fairfl predict, or in Python without any package:"
_CELLS = 20  # cells that cannot be judged, listed by name


def title(experiment: str) -> str:
    """The card's title."""
    return f"Model card: a fair predictor. {experiment}"


def verdict(summary: Summary) -> tuple[str, ...]:
    """The verdict's word and reason, who else is hurt, and what certainty was bought with."""
    return (
        f"{review_text.word(summary.verdict)}. {review_text.why(summary)}",
        *review_text.hurt(summary),
        *summary.remarks,
    )


def what_it_is(option: Option, favourable: str) -> tuple[str, ...]:
    """The predictor and its settings in sentences."""
    rates, region = RATE_KINDS[option.rates], region_kind(option.region)
    by_labels = (
        ""
        if option.rates == "labels"
        else " What was reached is counted by labels all the same, so it may lie above what was "
        "requested."
    )
    return (
        RANDOM_RULE,
        f"Notion: {notion_sentence(option.notion, favourable)}",
        f"Region: {region.title}. {region.meaning}",
        f"Rates: {rates[0]}. {rates[1]}{by_labels}",
    )


def notion_sentence(notion: str, favourable: str) -> str:
    """A notion by name, and what it asks."""
    kind = notion_kind(notion)
    return f"{kind.title}. {kind.meaning.format(favourable=favourable)}"


def requested_header(*, held_out: bool) -> tuple[str, ...]:
    """Headings of the table of what was requested, reached, and held."""
    return "", "requested", "reached (fitted)", "held out (test)" if held_out else "held out"


def requested_rows(summary: Summary) -> list[tuple[str, ...]]:
    """What was requested, what was reached on the fitted people, what held on test."""
    low, high = summary.eps_local
    local = format.epsilon(high)
    if low < high:
        local = f"{format.epsilon(low)} to {local}"
    rows: dict[str, tuple[str, Callable[[Figures], str]]] = {
        "People": ("", lambda f: format.count(f.n)),
        "Accuracy, as it is": ("", lambda f: format.percent(f.accuracy_before)),
        "Accuracy, fair": ("most within the limits", lambda f: format.percent(f.accuracy)),
        "Overall gap, as it is": ("", lambda f: format.gap(f.overall_before)),
        "Overall gap, fair": (format.epsilon(summary.eps_global), _overall),
        "Worst client's gap, fair": (local, _worst),
        "Mean client's gap, as it is": ("", lambda f: format.gap(f.local_mean_before)),
        "Mean client's gap, fair": ("", lambda f: format.gap(f.local_mean)),
    }
    return [
        (
            name,
            asked,
            tell(summary.reached),
            tell(summary.unseen) if summary.unseen else NO_CHECK,
        )
        for name, (asked, tell) in rows.items()
    ]


def _overall(figures: Figures) -> str:
    limits = format.gaps(figures.overall_low, figures.overall_high)
    return f"{format.gap(figures.overall)} (95 %: {limits})"


def _worst(figures: Figures) -> str:
    worst = figures.worst
    if worst is None:
        return "no client has two groups"
    several = f", worst of {worst.worst_of:,}" if worst.worst_of > 1 else ""
    return (
        f"{format.gap(worst.gap)} (95 %: {format.gaps(worst.gap_low, worst.gap_high)}) in "
        f"{worst.client}{several}, n = {format.count(worst.n)}"
    )


def which_model(folds: int) -> str:
    """Which of several models' answers is the one to give to the rule."""
    return (
        f"There are {folds} fold models; the one whose answer is given for a person has the number "
        f'int({folds} * draw(client, f"fold\\x1f{{row_id}}")), counted from 0 in the order of the '
        "folds."
    )


def groups_on(*, held_out: bool) -> str:
    """On whom the groups are judged."""
    return "On new people." if held_out else f"On {FITTED}; {NO_CHECK}."


def group_cells(row: Any) -> tuple[str, ...]:
    """A row of the groups' table."""
    shares = (row.accuracy_before, row.accuracy, row.changed)
    return row.group, format.count(row.n), *(format.percent(share) for share in shares)


def rate_cells(row: Any) -> tuple[str, ...]:
    """A rate before and after with limits, each with its people."""
    texts = [
        _limits(*(getattr(row, f"{side}{end}") for end in ("", "_low", "_high")))
        if row.assessable
        else NOT_ASSESSABLE
        for side in ("before", "after")
    ]
    people = [format.count(n) for n in (row.n_before, row.n)]
    return (row.rate, row.label or "", row.group, texts[0], people[0], texts[1], people[1])


def _limits(share: float, low: float, high: float) -> str:
    if share != share:
        return "nobody"
    return f"{format.percent(share)} ({format.percent(low)} to {format.percent(high)})"


def notion_cells(one: NotionGap) -> tuple[str, ...]:
    """A notion's gap before and after with limits, and what becomes of it."""
    return (
        notion_kind(one.notion).title,
        f"{format.gap(one.before)} ({format.gaps(*one.before_limits)})",
        f"{format.gap(one.after)} ({format.gaps(*one.limits)})",
        NOTION_WORDS[one.word],
    )


def not_assessable(cells: Sequence[NotAssessable]) -> str:
    """Comparisons with nobody behind them."""
    if not cells:
        return "Every comparison has people behind it."
    parts = [
        f"nobody of group “{cell.group}”"
        + (f" with label “{cell.label}”" if cell.label else "")
        + f" in “{cell.client}”"
        for cell in cells[:_CELLS]
    ]
    more = f"; and {len(cells) - _CELLS:,} more" if len(cells) > _CELLS else ""
    sentence = "; ".join(parts) + more
    return f"{sentence[0].upper()}{sentence[1:]}."


# -------------------------------------------------------------------- of one evaluation


def verdict_of(judged: Evaluation) -> tuple[str, ...]:
    """The verdict of an evaluation's people, taken as new ones."""
    if judged.verdict is None:
        return ("No limit was asked for, so there is none to be met.",)
    return (f"{review_text.word(judged.verdict)}. {judged.verdict.why}",)


def figures_rows(judged: Evaluation) -> list[tuple[str, ...]]:
    """What was requested, what the model does itself, and what the fair answers do."""
    asked, before = judged.asked, judged.before
    low, high = judged.global_interval
    local = [] if asked is None else [format.epsilon(each) for each in asked.eps_local]
    span = local[:1] if len(set(local)) == 1 else ["by client"] if local else ["–"]
    worst = judged.gaps.worst
    name = "" if worst is None else f" in {judged.counts.clients[worst]}"
    return [
        ("People", "", "", format.count(judged.counts.n)),
        ("Accuracy", "", *(format.percent(one.accuracy) for one in (before, judged))),
        (
            "Overall gap",
            "–" if asked is None else format.epsilon(asked.eps_global),
            format.gap(before.gaps.overall),
            f"{format.gap(judged.gaps.overall)} (95 %: {format.gaps(low, high)})",
        ),
        (
            "Worst client's gap",
            span[0],
            format.gap(before.gaps.local_worst),
            f"{format.gap(judged.gaps.local_worst)}{name}",
        ),
        (
            "Mean client's gap",
            "",
            *(format.gap(one.gaps.local_mean) for one in (before, judged)),
        ),
    ]


def client_cells(row: Any) -> tuple[str, ...]:
    """A row of an evaluation's table of clients."""
    return (
        row.client,
        format.count(row.n),
        *(format.percent(share) for share in (row.accuracy_before, row.accuracy)),
        *(format.gap(gap) for gap in (row.gap_before, row.gap)),
        format.gaps(row.gap_low, row.gap_high),
    )


def settings_of(judged: Evaluation, made: str) -> list[tuple[str, ...]]:
    """What was asked, by name."""
    asked = judged.asked
    rows: list[tuple[str, ...]] = [
        ("Notion", notion_kind(judged.notion.name).title),
        ("Made", made),
    ]
    if asked is not None:
        rows += [
            ("Certainty", review_text.sure(asked.guarantee)),
            ("Asked beyond the two limits", review_text.policy(asked.policy)),
        ]
    return rows
