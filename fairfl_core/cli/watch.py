"""`watch`: whether limits go on being kept, week after week."""

import re
from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import read_json
from fairfl_core._io.numbers import plural
from fairfl_core.cli._shell import (
    MOST_ROWS,
    Json,
    print_json,
    print_table,
    read_counts,
    say,
    working,
    write_apart,
)
from fairfl_core.errors import InputError, about
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.monitoring.months import differences, months_from_sql, read_months
from fairfl_core.monitoring.watch import Watch
from fairfl_core.predictors.kinds import FairPredictor, predictor_from_json


def watch(
    policy: Annotated[
        Path,
        typer.Argument(
            help="A fairfl-policy/1 file: the months count the answers that people got. Or a "
            "predictor: they count the model's answers, and its lottery is applied to them."
        ),
    ],
    months: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Counts of each week or month, named after it (month-2026-07.json), or folders."
        ),
    ] = None,
    baseline: Annotated[
        Path, typer.Option(help="Counts of the people of the decision (fairfl-counts/1).")
    ] = ...,  # type: ignore[assignment]
    cumulative: Annotated[
        bool, typer.Option("--cumulative", help="Each file holds everybody since the start.")
    ] = False,
    sql: Annotated[
        str | None,
        typer.Option(help="Read rows of this query instead of files; see --connection."),
    ] = None,
    connection: Annotated[
        str | None, typer.Option(help="postgresql://... or sqlite:///file.db")
    ] = None,
    period: Annotated[
        str, typer.Option(help="Column of the query: the week or month.")
    ] = "period",
    client: Annotated[str, typer.Option(help="Column of the query.")] = "client",
    group: Annotated[str, typer.Option(help="Column of the query.")] = "group",
    label: Annotated[
        str, typer.Option(help="Column of the query; NULL where it is not known yet.")
    ] = "label",
    answer: Annotated[
        str, typer.Option(help="Column of the query: the answer (or prediction).")
    ] = "answer",
    save: Annotated[
        Path | None, typer.Option(help="Write the months' counts into this folder.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Solve again on the months since the first break; write the predictor."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Watch whether limits go on being kept; looking every week raises no false alarms.

    Of limits that are kept in every month at most 5 % ever raise an alarm, however long and
    however often one looks. Ends with 0 where all limits are shown to be kept, with 1 where one
    broke, with 3 while that is undecided.

    Example: `fairfl watch policy.toml --baseline counts.json months/`
    """
    if (sql is None) == (not months) or (sql is None) != (connection is None):
        raise InputError("give the months' files or folders, or --sql together with --connection.")
    if out is not None:
        write_apart(out, policy, baseline, *(months or []))
    with working("Watching"):
        base = read_counts(baseline)
        columns = {"period": period, "client": client, "group": group, "label": label}
        columns["answer"] = answer
        if sql is not None and connection is not None:
            found = months_from_sql(sql, connection, columns, base)
        else:
            found = read_months(months or [])
        watched = Watch(_asked(policy), base, differences(found) if cumulative else found)
        value = watched.to_json()
        if out is not None:
            solution, predictor = watched.solve_again()
            beside = out.with_name(f"{out.stem}-counts.json")  # `fairfl verify` wants them
            predictor.write(out)
            solution.counts.write(beside)
            value["solved_again"] = {
                "accuracy": solution.accuracy,
                "before": solution.model_accuracy,
                "people": solution.counts.n,
            }
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        for month in watched.months:
            name = re.sub(r"[^\w-]+", "-", month.period)
            month.write(save / f"month-{name}.json")
    if as_json:
        print_json(value)
    else:
        _show(watched)
        if out is not None:
            say(watched.cost_sentence(solution))
            say(f"Solved again: predictor written to {out}, the people it is of to {beside}.")
    if watched.code:
        raise typer.Exit(watched.code)


def _asked(path: Path) -> PolicyFile | FairPredictor:
    """The limits, from a policy file or a predictor whose seal is whole."""
    if path.suffix != ".json":
        return PolicyFile.read(path)
    value = read_json(path)
    with about(path):
        predictor = predictor_from_json(value)
    if value.get("certificate") is not None and predictor.certificate is None:
        raise InputError(
            f"{path}: was changed after it was sealed (its fingerprint differs); get it again from "
            "whoever solved it."
        )
    return predictor  # type: ignore[return-value]


def _show(watched: Watch) -> None:
    say(
        f"{watched.word.upper()}. {plural(len(watched.months), 'month')}, {watched.periods[0]} to "
        f"{watched.periods[-1]}; an alarm ever is false with a chance of at most 5 %."
    )
    for one in watched.broken[:MOST_ROWS]:
        say(watched.sentence_of(one))
        if one.drift is not None:
            say(one.drift.sentence())
    scopes = sorted(watched.scopes, key=lambda one: (one.broke is None, -one.gap[-1]))
    print_table(
        "Limits, worst first",
        {
            "where": ["overall" if one.client is None else one.client for one in scopes],
            "verdict": [one.word for one in scopes],
            "gap": [f"{one.gap[-1]:.3f}" for one in scopes],
            "between": [f"{one.low[-1]:.3f} to {one.high[-1]:.3f}" for one in scopes],
            "allowed": [f"{one.eps:g}" for one in scopes],
            "people": [f"{one.people[-1]:,.0f}" for one in scopes],
            "broke in": [
                "" if one.broke is None else watched.periods[one.broke] for one in scopes
            ],
        },
        MOST_ROWS,
    )
    for note in watched.notes:
        say(note)
    if watched.broken:
        say("Next: `fairfl watch ... --out predictor.json` solves again from these months.")
