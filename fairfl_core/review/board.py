"""All that a report tells, as plain text in a plain value; HTML and PDF are made of the same."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

import fairfl_core
from fairfl_core._io import numbers
from fairfl_core.datasets import DATASETS
from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.summary import Summary
from fairfl_core.evaluation.verdict import MET
from fairfl_core.people.experiments import Experiment
from fairfl_core.review import text
from fairfl_core.review.file import MOST, Option
from fairfl_core.review.result import Result
from fairfl_core.solving.policy import Floor

__all__ = ["Board", "board_of", "rank", "recommended"]

KEEPS = 0.05  # what nobody may lose where floors are tried: the rule of an alarm
_RECOGNITION = 9  # rows on the second page; all of them are in the annex
_BEHIND = 6
_LONG = 180  # letters of a note on the first page


@dataclass(frozen=True)
class Column:
    """One option as it stands beside the others."""

    name: str
    title: str
    cells: tuple[str, ...]  # in the order of `text.ROWS`
    note: str
    recommended: bool
    under_review: bool
    picture: dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A table of the report."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Board:
    """What the report says; every field is plain text, nothing in it is markup."""

    title: str
    question: str
    verdict: str
    sentence: str
    headline: str
    alarm: str
    recommended: str  # empty where none of them can be
    decision: str
    reasons: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    pays: tuple[str, ...]
    label: str
    recognition: Table
    behind: Table
    sure: tuple[str, ...]
    rests: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    caveats: tuple[str, ...]
    annex: tuple[Table, ...]
    made: str

    def to_json(self) -> dict[str, Any]:
        """The values a template takes."""
        return asdict(self)


def board_of(
    results: Sequence[Result],
    solve: Callable[[Option], Result],
    *,
    question: str = "",
    link: str = "",
) -> Board:
    """What is told of some options: the first is under review, the others are beside it.

    `solve` judges an option: where fewer than three are given, the same limits with floors and
    twice the limits are tried too, so that a recommendation has something beside it.
    """
    first = results[0]
    every = _with_others(list(results), solve)
    ranked, best = rank(every), recommended(every)
    beside = ranked[: max(len(results), MOST - 1)]
    baseline = solve(replace(first.option.unlimited, name=text.NO_LIMIT, note=""))
    columns = [_column(result, best, first) for result in (*beside, baseline)]
    summary, experiment = first.summary, first.experiment
    named = [(result.option.name, result.summary) for result in ranked]
    if best is None:
        reasons = [text.refused(*one) for one in named[:3]]
    else:
        reasons = text.reasons(best.summary, named[1:3])
    return Board(
        title=f"What fairness costs: {experiment.manifest['title']}",
        question=question.strip() or text.DEFAULT_QUESTION,
        verdict=text.verdict(summary).upper(),
        sentence=text.why(summary),
        headline=text.headline(summary, _rows_are(experiment).split(" (")[0]),
        alarm=f"{summary.harm.title}. {summary.harm.sentence()}" if summary.harm.alarms else "",
        recommended="" if best is None else best.option.name,
        decision=text.decision(None if best is None else best.option),
        reasons=tuple(reasons),
        rows=tuple(title for _, title in text.ROWS),
        columns=tuple(columns),
        pays=tuple(text.who_pays(summary)),
        label=summary.harm.favourable,
        recognition=_recognition(summary, summary.harm.favourable, _RECOGNITION),
        behind=_behind(summary),
        sure=tuple(text.how_sure(summary, first.option)),
        rests=tuple(_rests(first, link)),
        words=text.WORDS,
        caveats=text.CAVEATS,
        annex=tuple(_annex(first, every)),
        made=f"{date.today():%Y-%m-%d}, fairfl {fairfl_core.__version__}",
    )


def rank(results: Sequence[Result]) -> list[Result]:
    """Options in the order in which they may be chosen, best first."""
    return sorted(results, key=lambda result: _rank(result.summary))


def recommended(results: Sequence[Result]) -> Result | None:
    """Choose the best option that may be recommended; None where there is none."""
    return next((one for one in rank(results) if _may_be_recommended(one.summary)), None)


def _may_be_recommended(summary: Summary) -> bool:
    """Never an ✕, and never one whose worst gap is no smaller than before."""
    return summary.verdict is not None and summary.verdict.is_recommendable


def _rank(summary: Summary) -> tuple[float, ...]:
    """Harm outranks whether limits are met, that outranks cost, and cost outranks the gap."""
    judged, verdict = summary.judged, summary.verdict
    return (
        float(not _may_be_recommended(summary)),
        sum(alarm.beyond_chance for alarm in summary.harm.alarms),
        float(verdict is None or verdict.word != MET),
        round(100 * judged.cost, 1),
        max(summary.eps_global, summary.eps_local[1]),
    )


def _with_others(results: list[Result], solve: Callable[[Option], Result]) -> list[Result]:
    """The options and, where there are few, what else could be asked."""
    option = results[0].option
    labels = results[0].experiment.labels
    floors = tuple(Floor(label, keeps=KEEPS) for label in labels)
    if option.policy.floors:
        floors = option.policy.floors
    tried = (
        replace(option, name=text.WITH_FLOORS, policy=replace(option.policy, floors=floors)),
        *(
            _widened(option, name, times)
            for name, times in ((text.TWICE, 2), (text.FOUR_TIMES, 4))
        ),
    )
    known = {replace(result.option, name="", note="") for result in results}
    for other in tried:
        if len(results) >= MOST - 1 or replace(other, name="", note="") in known:
            continue
        try:
            results.append(solve(replace(other, note="")))
        except CollisionError:
            continue  # these floors are out of reach of these limits
    return results


def _widened(option: Option, name: str, times: int) -> Option:
    limits = (min(times * eps, 1.0) for eps in (option.eps_global, option.eps_local))
    return replace(option, name=name, eps_global=next(limits), eps_local=next(limits))


def _column(result: Result, best: Result | None, first: Result) -> Column:
    summary, option = result.summary, result.option
    judged, worst = summary.judged, summary.judged.worst
    cells = {
        "asked": text.asked(option),
        "verdict": text.verdict(summary),
        "accuracy": numbers.percent(judged.accuracy),
        "cost": text.cost(judged),
        "overall": text.overall(judged),
        "worst": text.worst(judged),
        "pays": text.pays(summary),
        "worse_off": text.worse_off(summary.harm),
        "changed": numbers.percent(summary.changed),
    }
    picture = {
        "accuracy": judged.accuracy,
        "overall": judged.overall,
        "overall_low": judged.overall_low,
        "overall_high": judged.overall_high,
        "worst": None if worst is None else worst.gap,
        "worst_low": None if worst is None else worst.gap_low,
        "worst_high": None if worst is None else worst.gap_high,
    }
    return Column(
        name=option.name,
        title=option.name,
        cells=tuple(cells[name] for name, _ in text.ROWS),
        note=option.note if len(option.note) <= _LONG else option.note[: _LONG - 1] + "…",
        recommended=result is best,
        under_review=result is first,
        picture=picture,
    )


def _recognition(summary: Summary, label: str | None, most: int | None) -> Table:
    """How often a label (None: each) is recognised; overall first, then the worst clients."""
    harm = summary.harm
    table = harm.recognition_table()
    if label is not None:
        table = table[table["label"] == label]
    order = [None, *harm.clients, *(name for name in harm.scopes if name is not None)]
    place = {name: at for at, name in reversed(list(enumerate(order)))}
    records = sorted(table.to_dict("records"), key=lambda row: place[row["client"]])
    rows = [
        (
            "overall" if row["client"] is None else row["client"],
            row["group"],
            *(() if label is not None else (row["label"],)),
            numbers.count(row["n"]),
            _limits(row, "before"),
            _limits(row, "after"),
            text.recognised(
                row["change"], alarm=bool(row["alarm"]), beyond_chance=bool(row["beyond_chance"])
            ),
        )
        for row in records
        if row["n"] > 0
    ]
    names = ("where", "group", *(() if label is not None else ("label",)), "n")
    header = (*names, "before (95 %)", "after (95 %)", "")
    title = "Every label" if label is None else f"How often “{label}” is recognised"
    return Table(title, header, tuple(rows[:most]))


def _limits(row: dict[str, Any], side: str) -> str:
    share, low, high = (row[name] for name in (side, f"{side}_low", f"{side}_high"))
    return f"{numbers.percent(share)} ({100 * low:.0f} to {100 * high:.0f})"


def _behind(summary: Summary) -> Table:
    rows = [
        (
            "overall" if check.client is None else check.client,
            numbers.epsilon(check.eps),
            f"{numbers.gap(check.gap)} ({numbers.gaps(check.low, check.high)})",
            str(check.behind),
            text.told(check),
        )
        for check in (() if summary.verdict is None else summary.verdict.limits[:_BEHIND])
    ]
    header = ("where", "asked", "gap (95 %, all limits at once)", "people behind it", "")
    return Table("The people behind each gap, worst first", header, tuple(rows))


def _rows_are(experiment: Experiment) -> str:
    declared = DATASETS.get(experiment.manifest["dataset"].get("dataset", ""))
    return "people" if declared is None else declared.rows_are


def _rests(result: Result, link: str) -> list[tuple[str, str]]:
    """What the numbers rest on."""
    option, summary, manifest = result.option, result.summary, result.experiment.manifest
    dataset, unseen = manifest["dataset"], summary.unseen
    people = numbers.count(summary.reached.n) + " fitted on"
    people += f", {numbers.count(unseen.n)} unseen" if unseen else ", none unseen"
    said = [
        ("Data", f"{manifest['title']}; {dataset['source']}; {dataset['licence']}"),
        (
            "Rows",
            f"{numbers.count(dataset['rows_used'])} {_rows_are(result.experiment)}; "
            f"{dataset['sample']}",
        ),
        ("Split", f"{result.experiment.protocol}; {people} (per run)"),
        ("Notion, region, rates", f"{option.notion}, {option.region}, {option.rates}"),
        ("Runs", ", ".join(map(str, option.seeds))),
        ("Scores, sha256", option.sha256),
    ]
    return [*said, ("Link", link)] if link else said


def _annex(first: Result, every: Sequence[Result]) -> list[Table]:
    unseen = first.study.has_held_out
    clients = first.study.client_table(unseen=unseen).sort_values("gap", ascending=False)
    rows = [
        (
            row.client,
            numbers.count(row.n),
            numbers.percent(row.accuracy_before),
            numbers.percent(row.accuracy),
            numbers.gap(row.gap_before),
            numbers.gap(row.gap),
            numbers.gaps(row.gap_low, row.gap_high),
            numbers.epsilon(row.eps_local),
        )
        for row in clients.itertuples()
    ]
    header = (
        *("client", "n", "accuracy before", "after"),
        *("gap before", "after", "95 %", "asked"),
    )
    notes = [(result.option.name, result.option.note) for result in every if result.option.note]
    tables = [
        Table("Every client", header, tuple(rows)),
        _recognition(first.summary, None, None),
    ]
    return (
        [Table("Notes of the reviewers", ("option", "note"), tuple(notes)), *tables]
        if notes
        else tables
    )
