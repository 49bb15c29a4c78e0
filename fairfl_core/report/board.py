"""All that Compare and a report tell, as plain values; HTML and PDF are made of the same.

The model as it is stands first, then the options in their order, and nothing that nobody kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

import fairfl_core
from fairfl_core._io import numbers
from fairfl_core._io.frames import rows_of, take_rows
from fairfl_core.data.datasets import DATASETS
from fairfl_core.evaluation.checks import CHANCE, LimitCheck
from fairfl_core.evaluation.harm import FEW
from fairfl_core.evaluation.study import Summary
from fairfl_core.evaluation.verdict import MET
from fairfl_core.fairness.notions import notion_kind
from fairfl_core.lp.regions import region_kind
from fairfl_core.report import text
from fairfl_core.report.review import Result, check_clients, fingerprint_of

AS_IT_IS = text.AS_IT_IS
_PICTURED = 10  # groups in the picture: those that lose most
_RECOGNITION, _LIMITS = 12, 8  # rows of an option's page; all are in the annex
_LONG = 180  # letters of a note beside others


@dataclass(frozen=True)
class Mark:
    """A number on its row's axis: where it stands, its interval, what it was, what was asked."""

    value: float
    low: float | None = None
    high: float | None = None
    before: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Cell:
    """What a row says of an option: the number or word, where, a line below it, its mark."""

    text: str
    note: str = ""
    mark: Mark | None = None

    @property
    def in_one_line(self) -> str:
        """The cell in one line."""
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True)
class Row:
    """A row of the table: one axis for all options, from `low` to `high`; None: no axis."""

    code: str
    title: str
    low: float | None = None
    high: float | None = None
    low_text: str = ""
    high_text: str = ""

    def place(self, value: float) -> float:
        """Where a number stands on the axis, from 0 to 100."""
        if self.low is None or self.high is None:
            raise ValueError(f"{self.code} has no axis")
        return round(100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0), 2)


@dataclass(frozen=True)
class Column:
    """One option as it stands beside the others."""

    name: str  # A, B, C, D; "The model as it is"
    title: str  # what differs
    cells: dict[str, Cell]  # by the codes of `text.ROWS`
    note: str
    recommended: bool


@dataclass(frozen=True)
class Table:
    """A table of the report."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Detail:
    """What is reported of one option after the first page."""

    title: str
    verdict: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Found:
    """One group in the picture: how often its label is found before, and by each option."""

    where: str
    before: float
    after: tuple[float, ...]


@dataclass(frozen=True)
class Board:
    """What is reported; every field is plain text or a number, nothing in it is markup."""

    title: str
    question: str
    recommended: str  # empty where none of them can be
    decision: str
    reasons: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    label: str
    found: tuple[Found, ...]
    details: tuple[Detail, ...]
    sure: tuple[str, ...]
    rests: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    caveats: tuple[str, ...]
    annex: tuple[Table, ...]
    made: str

    @property
    def options(self) -> tuple[Column, ...]:
        """The columns but for the model as it is."""
        return self.columns[1:]


# -------------------------------------------------------------------- what is recommended


def recommended(results: Sequence[Result]) -> Result | None:
    """Choose by harm, then limits, then cost, then the looser gap; None where none may be.

    Never an ✕, and never one whose worst gap is no smaller than before.
    """

    def order(result: Result) -> tuple[float, ...]:
        summary = result.summary
        assert summary.verdict is not None  # else it may not be
        harm = sum(alarm.beyond_chance for alarm in summary.harm.alarms)
        cost = round(100 * summary.judged.cost, 1)
        widest = max(summary.eps_global, summary.eps_local[1])
        return harm, float(summary.verdict.word != MET), cost, widest

    able = [
        one
        for one in results
        if one.summary.verdict is not None
        and one.summary.verdict.is_recommendable
        and worst_gap_is_smaller(one)
    ]
    return min(able, key=order, default=None)


def worst_gap_is_smaller(result: Result) -> bool:
    """Whether the worst gap inside a client is smaller than before; the overall one without any."""
    checks = result.checks
    if not checks:
        judged = result.summary.judged
        return bool(judged.overall < judged.before.overall - CHANCE)
    shown = [one for one in checks if text.enough(one)]  # what is shown must not say otherwise
    return all(
        max(one.gap for one in part) < np.nanmax([one.before for one in part]) - CHANCE
        for part in (checks, shown)
        if part
    )


# -------------------------------------------------------------------- the board


def board_of(results: Sequence[Result], *, question: str = "", link: str = "") -> Board:
    """Compare some options, in their order, with the model as it is."""
    first, best = results[0], recommended(results)
    noun = text.noun_of(first.experiment)
    titles = text.titles([result.option for result in results], noun)
    columns = [_as_it_is(first)] + [
        _column(result, title, noun, chosen=result is best)
        for result, title in zip(results, titles, strict=True)
    ]
    label = first.summary.harm.favourable
    # Whether the widest gap of some client is not shown, for fewer than 10 people are behind it.
    shown = [(one.checks, worst) for one in results if (worst := _worst(one.checks)) is not None]
    left_out = any(check.gap > worst.gap for checks, worst in shown for check in checks)
    reasons = [
        f"{one.option.name}: {text.word(one.summary.verdict)}. {text.why(one.summary)}"
        for one in results
    ]
    return Board(
        title=f"What fairness costs: {first.experiment.manifest['title']}",
        question=question.strip() or text.DEFAULT_QUESTION,
        recommended="" if best is None else best.option.name,
        decision=_decision(results, best, noun),
        reasons=(*reasons, text.ORDER),
        rows=_rows(columns, label, noun, left_out=left_out),
        columns=tuple(columns),
        label=label,
        found=_found_rows(results),
        details=tuple(
            _detail(result, f"{result.option.name}: {text.asked(result.option, noun)}")
            for result in results
        ),
        sure=_sure(first.summary),
        rests=tuple(rests_on(first, link)),
        words=text.WORDS,
        caveats=text.CAVEATS,
        annex=tuple(_annex(results)),
        made=f"{date.today():%Y-%m-%d}, fairfl {fairfl_core.__version__}",
    )


def _sure(summary: Summary) -> tuple[str, str]:
    """On whom all is judged, and over how many runs figures are means."""
    people = "new people" if summary.unseen else "people it was fitted on: there are no others"
    runs = "One run."
    if summary.runs > 1:
        runs = f"Means over {summary.runs} runs, each with its own split and training."
    return f"Judged on {numbers.count(summary.judged.n)} {people}.", runs


def _decision(results: Sequence[Result], best: Result | None, noun: str) -> str:
    if best is None:
        return text.none_of([(result.option.name, result.summary) for result in results])
    judged = best.summary.judged
    cost = numbers.before_after(judged.before.accuracy, judged.accuracy, text.percent)
    summary_text = f"{text.word(best.summary.verdict)}; accuracy {cost}"
    return f"We recommend {best.option.name}: {text.asked(best.option, noun)}. {summary_text}."


def _worst(checks: Sequence[LimitCheck]) -> LimitCheck | None:
    """The worst client with at least 10 people of each group behind its gap."""
    return max((one for one in checks if text.enough(one)), key=lambda one: one.gap, default=None)


def _column(result: Result, title: str, noun: str, *, chosen: bool) -> Column:
    summary, option = result.summary, result.option
    judged, verdict = summary.judged, summary.verdict
    cells = {
        "asked": Cell(text.asked(option, noun)),
        "verdict": Cell(text.word(verdict), text.brief_why(verdict)),
        "worst": _worst_cell(result),
        "overall": Cell(
            text.gap(judged.overall),
            text.interval(*judged.overall_interval, option.eps_global),
        ),
        "found": _found_cell(result, after=True),
        "accuracy": Cell(
            text.percent(judged.accuracy),
            text.signed(-judged.cost),
            Mark(judged.accuracy, before=judged.before.accuracy),
        ),
        "cost": Cell(
            text.points(judged.cost) if judged.cost > 0 else f"gains {text.points(judged.cost)}"
        ),
        "pays": Cell(*text.pays(result)),
        "worse_off": Cell(text.worse_off(summary)),
        "changed": Cell(text.percent(summary.changed)),
    }
    note = option.note if len(option.note) <= _LONG else option.note[: _LONG - 1] + "…"
    return Column(option.name, title, cells, note, chosen)


def _as_it_is(first: Result) -> Column:
    """The model's own answers, on the people the first option is judged on."""
    judged = first.summary.judged
    runs = [one.before for one in first.judged]
    worst = _worst(check_clients(runs))
    interval = [float(np.mean([one.global_interval[k] for one in runs])) for k in (0, 1)]
    cells = dict.fromkeys(dict(text.ROWS), Cell(text.NOTHING_TO_SAY)) | {
        "verdict": Cell(text.NOTHING_ASKED),
        "worst": Cell(text.TOO_FEW)
        if worst is None
        else Cell(
            f"{text.gap(worst.gap)} in {worst.client}",
            text.between(worst.low, worst.high),
            Mark(worst.gap, worst.low, worst.high),
        ),
        "overall": Cell(text.gap(judged.before.overall), text.between(*interval)),
        "found": _found_cell(first, after=False),
        "accuracy": Cell(text.percent(judged.before.accuracy), "", Mark(judged.before.accuracy)),
    }
    return Column(AS_IT_IS, "", cells, "", False)


def _worst_cell(result: Result) -> Cell:
    worst, judged_worst = _worst(result.checks), result.summary.judged.worst
    if worst is None:
        return Cell(text.TOO_FEW)
    low, high = worst.low, worst.high
    if (
        judged_worst is not None and judged_worst.client == worst.client
    ):  # the verdict's own interval
        low, high = judged_worst.gap_low, judged_worst.gap_high
    eps = dict(result.option.own_limits).get(str(worst.client), result.option.eps_local)
    limit = eps if eps < 1 else None
    mark = Mark(worst.gap, low, high, worst.before, limit)
    return Cell(f"{text.gap(worst.gap)} in {worst.client}", text.interval(low, high, eps), mark)


def _found_cell(result: Result, *, after: bool) -> Cell:
    """Where the favourable label is found least, of groups with at least 10 people who have it."""
    harm = result.summary.harm
    before = harm.recognition.before
    shares = harm.recognition.after if after else before
    label = harm.labels.index(harm.favourable)
    share = np.where(before.n.round() >= FEW, shares.share, np.nan)[1:, :, label]
    if np.isnan(share).all():
        return Cell(text.TOO_FEW)
    scope, group = np.unravel_index(np.nanargmin(share), share.shape)
    at = int(scope) + 1, int(group), label
    low, found, high = (float(part[at]) for part in (shares.low, shares.share, shares.high))
    was = float(before.share[at]) if after else None
    where = f"{harm.groups[at[1]]}, {harm.scopes[at[0]]}"
    shown = text.percent(found) if was is None else numbers.before_after(was, found, text.percent)
    return Cell(shown, where, Mark(found, low, high, was))


def _rows(columns: Sequence[Column], label: str, noun: str, *, left_out: bool) -> tuple[Row, ...]:
    """The rows that are shown, each number row with one axis for all options."""
    worst = f"Worst gap in one {noun}" + (f", {FEW} or more behind it" if left_out else "")
    ends = {code: _ends(columns, code) for code in ("worst", "found", "accuracy")}
    low, high = ends["accuracy"]
    middle, span = (low + high) / 2, max(high - low, 0.02)  # two points at least, as on maps
    low, high = max(middle - 0.6 * span, 0.0), min(middle + 0.6 * span, 1.0)
    gap_end = max(0.1, ends["worst"][1])
    found_end = max(0.1, ends["found"][1])
    return (
        Row("verdict", "Verdict"),
        Row("worst", worst, 0.0, gap_end, "0", text.gap(gap_end)),
        Row(
            "found", f"“{label}” found, worst group", 0.0, found_end, "0", text.percent(found_end)
        ),
        Row("accuracy", "Accuracy", low, high, text.percent(low), text.percent(high)),
        Row("pays", "Who pays"),
    )


def _ends(columns: Sequence[Column], code: str) -> tuple[float, float]:
    marks = [column.cells[code].mark for column in columns]
    values = [
        value
        for mark in marks
        if mark is not None
        for value in (mark.value, mark.low, mark.high, mark.before, mark.limit)
        if value is not None and value == value
    ]
    return (min(values), max(values)) if values else (0.0, 1.0)


def _found_rows(results: Sequence[Result]) -> tuple[Found, ...]:
    """Groups that lose most of the favourable label under some option, largest loss first."""
    first = results[0].summary.harm
    label = first.labels.index(first.favourable)
    before = first.recognition.before
    after = np.stack([one.summary.harm.recognition.after.share[:, :, label] for one in results])
    was, n = before.share[:, :, label], before.n[:, :, label].round()
    there = (n >= FEW) & ~np.isnan(was) & ~np.isnan(after).any(axis=0)
    there[0] = False  # everyone together: of whom single groups are reported
    fall = np.where(there, (was - after).max(axis=0), -np.inf)
    order = np.argsort(-fall, axis=None, kind="stable")[: min(_PICTURED, int(there.sum()))]
    places = zip(*np.unravel_index(order, fall.shape), strict=True)
    return tuple(
        Found(
            f"{first.groups[group]}, {first.scopes[scope]}",
            float(was[scope, group]),
            tuple(float(one) for one in after[:, scope, group]),
        )
        for scope, group in places
    )


# -------------------------------------------------------------------- pages after the first


def _detail(result: Result, title: str) -> Detail:
    summary = result.summary
    whose = ", ".join(f"{text.percent(share)} of {g}" for g, share in summary.changed_by_group)
    changed = f"Answers change for {whose}."
    sentences = (text.why(summary), *text.hurt(summary), changed, *summary.remarks)
    tables = (
        recognition_table(result, summary.harm.favourable, _RECOGNITION),
        _limits(result, _LIMITS),
    )
    return Detail(
        title,
        text.word(summary.verdict),
        sentences,
        tuple(table for table in tables if table.rows),
    )


def recognition_table(result: Result, label: str | None = None, most: int | None = None) -> Table:
    """How often a label (None: each) is found; overall first, then the worst clients."""
    harm = result.summary.harm
    found = rows_of(harm.recognition_columns())
    if label is not None:
        found = [row for row in found if row["label"] == label]
    order = [None, *harm.clients, *(name for name in harm.scopes if name is not None)]
    place = {name: at for at, name in reversed(list(enumerate(order)))}
    records = sorted(found, key=lambda row: place[row["client"]])
    rows = [
        (
            "overall" if row["client"] is None else row["client"],
            row["group"],
            *(() if label is not None else (row["label"],)),
            numbers.count(row["n"]),
            _share(row, "before"),
            _share(row, "after"),
            text.recognised(
                row["change"], alarm=bool(row["alarm"]), beyond_chance=bool(row["beyond_chance"])
            ),
        )
        for row in records
        if row["n"] >= FEW
    ]
    names = ("where", "group", *(() if label is not None else ("label",)), "people")
    header = (*names, "before (95 %)", "after (95 %)", "")
    title = (
        f"{result.option.name}: every label found, before and after"
        if label is None
        else f"How often “{label}” is found, before and after"
    )
    return Table(title, header, tuple(rows[:most]))


def _share(row: dict[str, Any], side: str) -> str:
    share, low, high = (row[name] for name in (side, f"{side}_low", f"{side}_high"))
    return f"{text.percent(share)} ({100 * low:.0f} to {100 * high:.0f})"


def _limits(result: Result, most: int) -> Table:
    verdict = result.summary.verdict
    shown = None if verdict is None else text.without_few(verdict)
    checks = () if shown is None else shown.limits
    rows = [
        (
            "overall" if check.client is None else check.client,
            numbers.epsilon(check.eps),
            f"{text.gap(check.gap)} ({text.gaps(check.low, check.high)})",
            text.gap(check.before),
            str(check.behind),
            text.conclusion(check),
        )
        for check in checks[:most]
    ]
    rows += [
        (
            check.where,
            f"{check.what} {'≥' if check.at_least else '≤'} {check.bound:g}",
            f"{text.gap(check.value)} ({text.gaps(check.low, check.high)})",
            "",
            numbers.count(check.n),
            text.conclusion(check),
        )
        for check in (() if shown is None else shown.besides[:most])
    ]
    header = (
        "where",
        "asked",
        "here (95 %, all limits at once)",
        "before",
        "people behind it",
        "",
    )
    return Table("Limits and the people behind each, worst first", header, tuple(rows))


def rests_on(result: Result, link: str = "") -> list[tuple[str, str]]:
    """What the numbers rest on."""
    option, summary, manifest = result.option, result.summary, result.experiment.manifest
    dataset, unseen = manifest["dataset"], summary.unseen
    people = numbers.count(summary.reached.n) + " fitted on"
    people += f", {numbers.count(unseen.n)} new" if unseen else ", none new"
    declared = DATASETS.get(dataset.get("dataset", ""))
    of = "people" if declared is None else declared.rows_are
    rows = f"{numbers.count(dataset['rows_used'])} {of}"
    lines = [
        ("Data", f"{manifest['title']}; {dataset['source']}; {dataset['licence']}"),
        ("Rows", f"{rows}; {dataset['sample']}"),
        ("Split", f"{result.experiment.protocol}; {people} (per run)"),
        (
            "Notion, region, rates",
            f"{notion_kind(option.notion).title}, {region_kind(option.region).title}, "
            f"{option.rates}",
        ),
        ("Runs", ", ".join(map(str, option.seeds))),
        ("Certainty", text.sure(option.guarantee)),
        ("Scores, sha256", option.sha256),
        ("Proof of the optimum, fingerprint (fairfl verify)", fingerprint_of(result) or "none"),
    ]
    return [*lines, ("Link", link)] if link else lines


def _annex(results: Sequence[Result]) -> list[Table]:
    notes = [(one.option.name, one.option.note) for one in results if one.option.note]
    tables = [Table("Notes of the reviewers", ("option", "note"), tuple(notes))] if notes else []
    for result in results:
        tables += [clients_table(result), recognition_table(result)]
    return tables


def clients_table(result: Result) -> Table:
    """Every client, worst gap first; of gaps with fewer than 10 people behind them nothing."""
    conclusive = {str(check.client) for check in result.checks if text.enough(check)}
    columns = result.client_columns
    largest_first = np.argsort(-columns["gap"], kind="stable")
    table = take_rows(columns, largest_first[columns["n"][largest_first] >= FEW])
    rows = [
        (
            row["client"],
            numbers.count(row["n"]),
            text.percent(row["accuracy_before"]),
            text.percent(row["accuracy"]),
            *(
                (
                    text.gap(row["gap_before"]),
                    text.gap(row["gap"]),
                    text.gaps(row["gap_low"], row["gap_high"]),
                )
                if row["client"] in conclusive
                else (text.NOTHING_TO_SAY, text.TOO_FEW, text.NOTHING_TO_SAY)
            ),
            numbers.epsilon(row["eps_local"]),
        )
        for row in rows_of(table)
    ]
    header = (
        *("client", "people", "accuracy before", "after"),
        *("gap before", "after", "95 %", "asked"),
    )
    return Table(f"{result.option.name}: every client", header, tuple(rows))
