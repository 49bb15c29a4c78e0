"""`check`: what *Your data* would say of a file, before anyone uploads it."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core._io.files import read_whole
from fairfl_core._io.names import listed
from fairfl_core.cli._options import ColumnOptions
from fairfl_core.cli._shell import (
    Json,
    print_json,
    print_table,
    say,
    split_names,
    with_options,
    working,
)
from fairfl_core.data.coding import check_scores_fit
from fairfl_core.data.columns import group_columns
from fairfl_core.data.score_columns import event_of, label_by_name, order_columns
from fairfl_core.data.weighting import MissingGroup, check_rule
from fairfl_core.errors import InputError
from fairfl_core.intake import (
    Check,
    ColumnRoles,
    Intake,
    TableFile,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    labels_of,
    open_table,
)

_ROLES = ("client", "group", "label", "prediction", "split", "fold", "row_id")


@with_options
def check(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet of predictions, or counts (JSON).")],
    options: ColumnOptions,
    join: Annotated[
        bool, typer.Option("--join", help="Take names alike but for case and spaces as one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what *Your data* would say of a file: which column holds what, and what to look at.

    Columns that are not named are guessed, as the page guesses them; those that are named are
    named as for `count`. Nothing is written.

    Example: `fairfl check rows.csv`
    """
    named = {role: getattr(options, role) or "" for role in (*_ROLES, "scores", "probability")}
    favourable = options.favourable or ""
    data = read_whole(rows)
    checks: list[Check] = []
    with working(f"Looking at {rows}"):
        if rows.suffix == ".json":
            taken, roles = experiment_from_counts([(rows.name, data)], favourable=favourable), None
        else:
            table = open_table(rows.name, data)
            roles = _roles(table, named)
            missing = next((one for one in _ROLES[:3] if not getattr(roles, one)), None)
            if missing:
                raise InputError(
                    f"{rows}: no column looks like the {missing}'s; name it with --{missing}."
                )
            if named["scores"]:
                roles = replace(
                    roles, scores=_pairs(table, roles.label, named["scores"], options.labels)
                )
            if named["probability"]:
                of = options.probability_of
                if not of:
                    labels = labels_of(table, roles.label)
                    of = label_by_name(named["probability"], labels) or event_of(labels) or ""
                roles = replace(roles, probability_of=of, threshold=options.threshold)
            rule = check_rule(options.missing_group) if options.missing_group else ""
            own = "own" if rule == "own" else "drop"
            try:
                taken = experiment_from_table(
                    table, roles, favourable=favourable, join=join, missing=own
                )
            except InputError as error:
                if str(error).startswith(f"{rows.name}: "):
                    raise
                raise InputError(f"{rows}: {error}") from error
            if taken.missing is not None:
                checks = [_without_group(taken.missing, taken.rows, rule)]
    guessed = [role for role, name in named.items() if roles and getattr(roles, role) and not name]
    if as_json:
        print_json(_summary(taken, roles, guessed, checks))
    else:
        _show(taken, roles, guessed, checks)


def _roles(table: TableFile, named: dict[str, str]) -> ColumnRoles:
    """The roles as they are named, and guessed where they are not."""
    changes: dict[str, Any] = {role: name for role, name in named.items() if name}
    if "group" in changes:
        first, *others = group_columns(named["group"], table.header)
        changes |= {"group": first, "crossed_with": tuple(others)}
    if changes.keys() & {"prediction", "scores", "probability"}:  # then nothing else is guessed
        changes = {"prediction": "", "probability": "", **changes, "scores": ()}
    return replace(guess_roles(table), **changes)


def _pairs(
    table: TableFile, label: str, scores: str, declared: str | None
) -> tuple[tuple[str, str], ...]:
    """Each label with its score column: by name, or by the order of declared labels."""
    columns = split_names(scores) or []
    labels = tuple(split_names(declared) or ()) or labels_of(table, label)
    check_scores_fit(columns, labels, label)
    ordered = order_columns(columns, labels, ordered=bool(declared))
    if ordered is None:
        raise InputError(
            f"the names of the score columns {listed(columns)} do not tell which label each is of "
            f"({listed(labels)}); name the labels in the order of the columns with --labels."
        )
    return tuple(zip(labels, ordered, strict=True))


def _without_group(missing: MissingGroup, rows: int, rule: str) -> Check:
    """What `count` makes of rows without a group."""
    if rule:
        return Check(replace(missing, rule=rule).sentence(rows - missing.rows))
    return Check(
        f"{missing.share}: left out here; `fairfl count` refuses unless "
        "--missing-group says drop, own (a group of their own) or bound (the worst of what "
        "they may be).",
        look=True,
    )


def _summary(
    taken: Intake, roles: ColumnRoles | None, guessed: list[str], checks: list[Check]
) -> dict[str, Any]:
    experiment = taken.experiment
    return {
        "columns": None if roles is None else asdict(roles),
        "guessed": guessed,
        "clients": len(experiment.clients),
        "groups": list(experiment.groups),
        "labels": list(experiment.labels),
        "favourable": experiment.favourable,
        "checks": [asdict(one) for one in (*checks, *taken.checks)],
    }


def _show(
    taken: Intake, roles: ColumnRoles | None, guessed: list[str], checks: list[Check]
) -> None:
    experiment = taken.experiment

    if roles is not None:
        held = [(role, role, str(getattr(roles, role))) for role in _ROLES]
        held += [("scores", f"score of {name}", column) for name, column in roles.scores]
        held += [("probability", f"probability of {roles.probability_of}", roles.probability)]
        held = [one for one in held if one[2]]
        print_table(
            "Which column holds what",
            {
                "what": [what for _, what, _ in held],
                "column": [column for _, _, column in held],
                "how": ["guessed" if role in guessed else "named" for role, _, _ in held],
            },
        )
    say(
        f"{len(experiment.clients):,} clients; groups {', '.join(experiment.groups)}; labels "
        f"{', '.join(experiment.labels)} (favourable: {experiment.favourable})."
    )
    if guessed:
        say(
            f"Guessed: the columns of {listed(guessed)}. Name them with --{guessed[0].replace('_', '-')} "
            "and so on where that is wrong; `count` asks for them."
        )
    for one in (*checks, *taken.checks):
        say(f"{'LOOK: ' if one.look else ''}{one.sentence}")
