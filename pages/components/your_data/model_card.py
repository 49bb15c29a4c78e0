"""The model card of a fair predictor: what was requested, what was reached, what held."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Study
from pages.components.session import own_data
from pages.components.shared import words
from pages.components.shared.client_choice import ALL_UP_TO, MOST, worst_and_largest
from pages.components.shared.report import CAVEATS, CSS, Setting, settings_table
from pages.components.shared.results import client_table, experiment_of

__all__ = ["APPLY", "model_card"]

APPLY = Path(__file__).resolve().parents[3] / "docs" / "apply_predictor.py"
_CELLS = 20  # cells that cannot be judged, listed by name


def model_card(setting: Setting) -> str:
    """One HTML file that stands alone."""
    study = setting.study
    manifest = experiment_of(setting.choice.experiment).manifest
    title = f"Model card: a fair predictor. {manifest['title']}"
    sections = {
        "What it is": _what_it_is(study, setting.choice.rates),
        "Requested, reached, held out": _three_columns(study),
        "Groups": _groups(study),
        "Clients": _clients(study),
        "What could not be judged": _not_assessable(study),
        "The data": _checks(setting),
        "Limits of use": "<ul>"
        + "".join(f"<li>{escape(each)}</li>" for each in CAVEATS)
        + "</ul>",
        "How a client applies it": _how(setting.choice.region),
    }
    body = "".join(f"<section><h2>{name}</h2>{text}</section>" for name, text in sections.items())
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}"
        f"</title><style>{CSS} pre {{ background: #f4f6f8; padding: .8rem; overflow-x: auto; "
        f"font-size: .8rem; }}</style></head><body><h1>{escape(title)}</h1>{body}"
        f"{settings_table(setting, manifest)}</body></html>"
    )


def _how(region: str) -> str:
    command = "<p>With <code>fairfl predict</code>"
    if region == "exact":
        return f"{command}, which looks at the model's scores.</p>"
    code = escape(APPLY.read_text(encoding="utf-8"))
    return f"{command}, or in Python without any package:</p><pre>{code}</pre>"


def _what_it_is(study: Study, rates: str) -> str:
    solution = study.first.solution
    notion = words.NOTIONS[solution.notion.name]
    region = words.REGIONS[solution.region]
    favourable = solution.counts.favourable
    return "".join(
        f"<p>{escape(sentence)}</p>"
        for sentence in (
            "A lottery that stands behind a model. It takes the client, the group and the "
            "model's answer for a person and gives the answer that person gets. Decided by row "
            "id, the same person always gets the same answer. The model itself is not changed.",
            f"Notion: {notion[0]}. {notion[1].format(favourable=favourable)}",
            f"Region: {region[0]}. {region[1]}",
            f"Rates: {words.RATES[rates][0]}. {words.RATES[rates][1]}"
            + (
                ""
                if rates == "labels"
                else " What was reached is counted by labels all the same, so it may lie above "
                "what was requested."
            ),
        )
    )


def _three_columns(study: Study) -> str:
    solution, unseen = study.first.solution, study.has_held_out

    def row(
        name: str, asked: str, figure: Callable[[Study, bool], str]
    ) -> tuple[str, str, str, str]:
        return name, asked, figure(study, False), figure(study, True) if unseen else words.NO_CHECK

    def mean(
        figure: Callable[[Evaluation], float], show: Callable[[float], str]
    ) -> Callable[[Study, bool], str]:
        return lambda of, held: show(of.over(figure, unseen=held).mean)

    local = solution.eps_local
    asked = words.epsilon(float(local.max()))
    if local.min() < local.max():
        asked = f"{words.epsilon(float(local.min()))} to {asked}"
    rows = [
        row("People", "", mean(lambda e: e.counts.n, words.count)),
        row("Accuracy, the model's own", "", mean(lambda e: e.before.accuracy, words.percent)),
        row("Accuracy, fair", "most within the limits", mean(lambda e: e.accuracy, words.percent)),
        row("Overall gap, the model's own", "", mean(lambda e: e.before.gaps.overall, words.gap)),
        row("Overall gap, fair", words.epsilon(solution.eps_global), _overall),
        row("Worst client's gap, fair", asked, _worst),
        row("Mean client's gap, the model's own", "",
            mean(lambda e: e.before.gaps.local_mean, words.gap)),
        row("Mean client's gap, fair", "", mean(lambda e: e.gaps.local_mean, words.gap)),
    ]  # fmt: skip
    held = "held out (test)" if unseen else "held out"
    return _html_table(("", "requested", "reached (validation)", held), rows)


def _overall(study: Study, held: bool) -> str:
    value = study.over(lambda e: e.gaps.overall, unseen=held).mean
    low = study.over(lambda e: e.global_interval[0], unseen=held).mean
    high = study.over(lambda e: e.global_interval[1], unseen=held).mean
    return f"{words.gap(value)} (95 %: {words.gap(low)} to {words.gap(high)})"


def _worst(study: Study, held: bool) -> str:
    gaps = study.client_mean(lambda e: e.gaps.local, unseen=held)
    if np.isnan(gaps).all():
        return "no client has two groups"
    at = int(np.nanargmax(gaps))
    n = study.client_mean(lambda e: e.counts.n_client.astype(float), unseen=held)[at]
    low, high = (
        study.client_mean(lambda e, i=i: e.local_interval[i], unseen=held)[at] for i in (0, 1)
    )
    name = study.first.solution.counts.clients[at]
    return (
        f"{words.gap(gaps[at])} (95 %: {words.gap(low)} to {words.gap(high)}) in {name}, "
        f"n = {words.count(n)}"
    )


def _groups(study: Study) -> str:
    unseen = study.has_held_out
    table = study.evaluations(unseen=unseen)[0].group_table()
    rows = [
        (row.group, words.count(row.n), words.percent(row.accuracy_before),
         words.percent(row.accuracy), words.percent(row.changed))
        for row in table.itertuples()
    ]  # fmt: skip
    people = "held-out people" if unseen else f"the people it was fitted on; {words.NO_CHECK}"
    return f"<p>On {people}.</p>" + _html_table(
        ("group", "n", "accuracy, the model's own", "accuracy, fair", "answers changed"), rows
    )


def _clients(study: Study) -> str:
    table = client_table(study).sort_values("after", ascending=False)
    some = worst_and_largest(table)
    rows = [
        (row[0], words.count(row[1]), words.gap(row[2]), words.gap(row[3]),
         f"{words.gap(row[4])} to {words.gap(row[5])}", words.gap(row[6]))
        for row in some[["client", "n", "before", "after", "low", "high", "chance alone"]]
        .itertuples(index=False)
    ]  # fmt: skip
    shown = (
        f"<p>The {MOST} worst and the {MOST} largest of {len(table):,}.</p>"
        if len(table) > ALL_UP_TO
        else ""
    )
    header = ("client", "n", "gap, the model's own", "gap, fair", "95 % interval", "chance alone")
    return shown + _html_table(header, rows)


def _not_assessable(study: Study) -> str:
    cells = study.evaluations(unseen=study.has_held_out)[0].not_assessable
    if not cells:
        return "<p>Every comparison has people behind it.</p>"
    said = [
        f"nobody of group “{cell.group}”"
        + (f" with label “{cell.label}”" if cell.label else "")
        + f" in “{cell.client}”"
        for cell in cells[:_CELLS]
    ]
    more = f"; and {len(cells) - _CELLS:,} more" if len(cells) > _CELLS else ""
    sentence = "; ".join(said) + more
    return f"<p>{escape(sentence[0].upper() + sentence[1:])}.</p>"


def _checks(setting: Setting) -> str:
    """What intake said of an uploaded set; where a bundled one comes from."""
    name = setting.choice.experiment
    if not own_data.is_own(name):
        dataset = experiment_of(name).manifest["dataset"]
        return f"<p>{escape(dataset['source'])}, {escape(dataset['licence'])}.</p>"
    checks = own_data.find(name).taken.checks
    return "<ul>" + "".join(f"<li>{escape(check.sentence)}</li>" for check in checks) + "</ul>"


def _html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
