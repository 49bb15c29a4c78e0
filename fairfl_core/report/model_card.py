"""The model card of a fair predictor: what was requested, what was reached, what held.

One card, of a result with several runs (the dashboard's) or of one evaluation, as HTML, Markdown
or Markdown with Hugging Face's block of metadata.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

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
from fairfl_core.report.board import clients_table, recognition_table, rests_on
from fairfl_core.report.render import html_card, markdown_card
from fairfl_core.report.review import Option, Result

if TYPE_CHECKING:
    import pandas as pd

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


# ------------------------------------------------------------------- texts

HOW = "How a client applies it"
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


# -------------------------------------------------------------------- the card


def _sections(
    judged: Sequence[Evaluation],
    *,
    verdict: Sequence[str],
    what_it_is: Sequence[str],
    figures: Sequence[Section],
    groups: Section,
    clients: Rows,
    data: Sequence[str],
    how: Section,
    settings: list[tuple[str, ...]],
) -> tuple[Section, ...]:
    """All sections in their order; those that need no telling apart are made here."""
    return (
        Section("Verdict", tuple(verdict)),
        Section("What it is", tuple(what_it_is)),
        *figures,
        _rates(all_rates_of(judged)),
        groups,
        Section("Clients", tables=(clients,)),
        Section("What could not be judged", (_not_assessable(judged[0].not_assessable),)),
        Section("The data", tuple(data)),
        Section("Limits of use", review_text.CAVEATS),
        how,
        Section("Settings and data", tables=(((), settings),)),
    )


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
    asked = judged.asked
    settings: list[tuple[str, ...]] = [
        ("Notion", notion_kind(judged.notion.name).title),
        ("Made", f"{date.today():%Y-%m-%d}, fairfl {fairfl_core.__version__}"),
    ]
    if asked is not None:
        settings += [
            ("Certainty", review_text.sure(asked.guarantee)),
            ("Asked beyond the two limits", review_text.policy(asked.policy)),
        ]
    found = "No limit was asked for, so there is none to be met."
    if judged.verdict is not None:
        found = f"{review_text.word(judged.verdict)}. {judged.verdict.why}"
    sections = _sections(
        [judged],
        verdict=(found,),
        what_it_is=(RANDOM_RULE, _notion(judged.notion.name, judged.counts.favourable)),
        figures=[
            Section("Requested and reached", tables=((FIGURES_HEADER, _figures_rows(judged)),))
        ],
        groups=_groups(judged.group_table()),
        clients=(CLIENT_HEADER, list(judged.client_rows())),
        data=(dataset,),
        how=Section(HOW, (HOW_IN_PYTHON,), code=CODE),
        settings=settings,
    )
    return Card(title, sections, _metadata(judged, title, dataset, license))


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


def _figures_rows(judged: Evaluation) -> list[tuple[str, ...]]:
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
    asked = [
        ("Asked", review_text.asked(result.option, review_text.noun_of(experiment))),
        ("Made", date.today().isoformat()),
    ]
    header = ("", "requested", "reached (fitted)", "held out (test)" if held_out else "held out")
    found, clients = recognition_table(result), clients_table(result)
    whom = "On new people." if held_out else f"On {FITTED}; {NO_CHECK}."
    folds = experiment.folds
    which_model = (
        f"There are {folds} fold models; the one whose answer is given for a person has the number "
        f'int({folds} * draw(client, f"fold\\x1f{{row_id}}")), counted from 0 in the order of the '
        "folds."
    )
    models = (which_model,) if folds > 1 else ()
    sections = _sections(
        study.evaluations(unseen=held_out),
        verdict=(
            f"{review_text.word(summary.verdict)}. {review_text.why(summary)}",
            *review_text.hurt(summary),
            *summary.remarks,
        ),
        what_it_is=_what_it_is(result.option, experiment.favourable),
        figures=[
            Section("Requested, reached, held out", tables=((header, _requested_rows(summary)),)),
            Section(
                "How often each label is found, before and after",
                tables=((found.header, list(found.rows)),),
            ),
        ],
        groups=_groups(study.group_table(unseen=held_out), whom),
        clients=(clients.header, list(clients.rows)),
        data=data,
        how=Section(HOW, (WITHOUT_PACKAGE, *models) if code else (WITH_SCORES,), code=code),
        settings=[*rests_on(result, link), *asked],
    )
    return Card(f"Model card: a fair predictor. {experiment.manifest['title']}", sections)


def _what_it_is(option: Option, favourable: str) -> tuple[str, ...]:
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
        _notion(option.notion, favourable),
        f"Region: {region.title}. {region.meaning}",
        f"Rates: {rates[0]}. {rates[1]}{by_labels}",
    )


def _requested_rows(summary: Summary) -> list[tuple[str, ...]]:
    """What was requested, what was reached on the fitted people, what held on test."""
    low, high = summary.eps_local
    local = format.epsilon(high)
    if low < high:
        local = f"{format.epsilon(low)} to {local}"
    rows: dict[str, tuple[str, Callable[[Figures], str]]] = {
        "People": ("", lambda f: format.count(f.n)),
        "Accuracy, as it is": ("", lambda f: format.percent(f.before.accuracy)),
        "Accuracy, fair": ("most within the limits", lambda f: format.percent(f.accuracy)),
        "Overall gap, as it is": ("", lambda f: format.gap(f.before.overall)),
        "Overall gap, fair": (
            format.epsilon(summary.eps_global),
            lambda f: f"{format.gap(f.overall)} (95 %: {format.gaps(*f.overall_interval)})",
        ),
        "Worst client's gap, fair": (local, _worst),
        "Mean client's gap, as it is": ("", lambda f: format.gap(f.before.local_mean)),
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


def _worst(figures: Figures) -> str:
    worst = figures.worst
    if worst is None:
        return "no client has two groups"
    several = f", worst of {worst.worst_of:,}" if worst.worst_of > 1 else ""
    return (
        f"{format.gap(worst.gap)} (95 %: {format.gaps(worst.gap_low, worst.gap_high)}) in "
        f"{worst.client}{several}, n = {format.count(worst.n)}"
    )


# -------------------------------------------------------------------- parts of both


def _groups(table: "pd.DataFrame", *sentences: str) -> Section:
    rows: list[tuple[str, ...]] = []
    for row in table.itertuples():
        shares = (row.accuracy_before, row.accuracy, row.changed)
        cells = (format.percent(share) for share in shares)
        rows.append((row.group, format.count(row.n), *cells))
    return Section("Groups", sentences, ((GROUP_HEADER, rows),))


def _rates(rates: AllRates) -> Section:
    """Every rate overall, what becomes of every notion, and why not all can be equal."""
    table = rates.table()
    rows = [_rate_cells(row) for row in table[table["client"].isna()].itertuples()]
    notions = [notion_cells(one) for one in rates.notions_of()]
    tables = ((RATE_HEADER, rows), (NOTION_HEADER, notions))
    return Section("Every rate, overall", (rates.base.sentence(),), tables)


def _notion(notion: str, favourable: str) -> str:
    """A notion by name, and what it asks."""
    kind = notion_kind(notion)
    return f"Notion: {kind.title}. {kind.meaning.format(favourable=favourable)}"


def _rate_cells(row: Any) -> tuple[str, ...]:
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


def _not_assessable(cells: Sequence[NotAssessable]) -> str:
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
