"""`check`: what *Your data* would say of a file, before anyone uploads it."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core._io.files import read_whole
from fairfl_core._io.names import listed
from fairfl_core.cli._shell import Json, print_json, print_table, say, split_names, working
from fairfl_core.data.coding import check_scores_fit
from fairfl_core.data.grouping import group_columns
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


def check(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet of predictions, or counts (JSON).")],
    client: Annotated[str, typer.Option(help="Column of the client.")] = "",
    group: Annotated[str, typer.Option(help="Column of the group; several are crossed.")] = "",
    label: Annotated[str, typer.Option(help="Column of the true label.")] = "",
    prediction: Annotated[str, typer.Option(help="Column of the model's answer.")] = "",
    scores: Annotated[str, typer.Option(help="Or a score column for each label, COL,COL.")] = "",
    labels: Annotated[
        str, typer.Option(help="The labels in the order of --scores, where names do not tell.")
    ] = "",
    probability: Annotated[str, typer.Option(help="Or, of two labels, one's probability.")] = "",
    probability_of: Annotated[str, typer.Option(help="The label it is the probability of.")] = "",
    threshold: Annotated[
        float, typer.Option(help="From which --probability on the model answers that label.")
    ] = 0.5,
    split: Annotated[str, typer.Option(help="Column that says validation or test.")] = "",
    fold: Annotated[str, typer.Option(help="Column of the fold.")] = "",
    row_id: Annotated[str, typer.Option(help="Column of the row id.")] = "",
    favourable: Annotated[str, typer.Option(help="Label. Default: the last.")] = "",
    join: Annotated[
        bool, typer.Option("--join", help="Take names alike but for case and spaces as one.")
    ] = False,
    missing_group: Annotated[
        str, typer.Option(help="What becomes of rows without a group: drop, own or bound.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Say what *Your data* would say of a file: which column holds what, and what to look at.

    Columns that are not named are guessed, as the page guesses them; those that are named are
    named as for `count`. Nothing is written.

    Example: `fairfl check rows.csv`
    """
    named = {"client": client, "group": group, "label": label, "prediction": prediction}
    named |= {"split": split, "fold": fold, "row_id": row_id, "probability": probability}
    data = read_whole(rows)
    checks: list[Check] = []
    with working(f"Looking at {rows}"):
        if rows.suffix == ".json":
            taken, roles = experiment_from_counts([(rows.name, data)], favourable=favourable), None
        else:
            table = open_table(rows.name, data)
            roles = _roles(
                table,
                {role: name for role, name in named.items() if name},
                has_scores=bool(scores),
            )
            missing = next((one for one in _ROLES[:3] if not getattr(roles, one)), None)
            if missing:
                raise InputError(
                    f"{rows}: no column looks like the {missing}'s; name it with --{missing}."
                )
            if scores:
                roles = replace(roles, scores=_pairs(table, roles.label, scores, labels))
            if probability:
                of = probability_of or _event(table, roles.label, probability)
                roles = replace(roles, probability_of=of, threshold=threshold)
            missing = check_rule(missing_group) if missing_group else "drop"
            own = "own" if missing == "own" else "drop"
            try:
                taken = experiment_from_table(
                    table, roles, favourable=favourable, join=join, missing=own
                )
            except InputError as error:
                if str(error).startswith(f"{rows.name}: "):
                    raise
                raise InputError(f"{rows}: {error}") from error
            if taken.missing is not None:
                checks = [_without_group(taken.missing, taken.rows, missing_group)]
    named |= {"scores": scores}
    guessed = [role for role, name in named.items() if roles and getattr(roles, role) and not name]
    if as_json:
        print_json(_summary(taken, roles, guessed, checks))
    else:
        _show(taken, roles, guessed, checks)


def _roles(table: TableFile, named: dict[str, str], *, has_scores: bool) -> ColumnRoles:
    """The roles as they are named, and guessed where they are not."""
    changes: dict[str, Any] = dict(named)
    if "group" in named:
        first, *others = group_columns(named["group"], table.header)
        changes |= {"group": first, "crossed_with": tuple(others)}
    if has_scores or named.keys() & {"prediction", "probability"}:  # then nothing else is guessed
        changes = {"prediction": "", "scores": (), "probability": "", **changes}
    return replace(guess_roles(table), **changes)


def _pairs(
    table: TableFile, label: str, scores: str, declared: str
) -> tuple[tuple[str, str], ...]:
    """Each label with its score column: by name, or by the order of declared labels."""
    columns = split_names(scores) or []
    labels = tuple(split_names(declared) or ()) if declared else labels_of(table, label)
    check_scores_fit(columns, labels, label)
    ordered = order_columns(columns, labels, ordered=bool(declared))
    if ordered is None:
        raise InputError(
            f"the names of the score columns {listed(columns)} do not tell which label each is of "
            f"({listed(labels)}); name the labels in the order of the columns with --labels."
        )
    return tuple(zip(labels, ordered, strict=True))


def _event(table: TableFile, label: str, probability: str) -> str:
    """The label that a probability is of, as far as names tell."""
    labels = labels_of(table, label)
    return label_by_name(probability, labels) or event_of(labels) or ""


def _without_group(missing: MissingGroup, rows: int, rule: str) -> Check:
    """What `count` makes of rows without a group."""
    if rule:
        return Check(replace(missing, rule=rule).sentence(rows - missing.rows))
    return Check(
        f"{missing.rows:,} rows have no group. Here they are left out; `fairfl count` refuses them unless "
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

    def how(role: str) -> str:
        return "guessed" if role in guessed else "named"

    if roles is not None:
        print_table(
            "Which column holds what",
            ["what", "column", "how"],
            [
                [role, str(getattr(roles, role)), how(role)]
                for role in _ROLES
                if getattr(roles, role)
            ]
            + [[f"score of {name}", column, how("scores")] for name, column in roles.scores]
            + [
                [f"probability of {of}", column, how("probability")]
                for of, column in [(roles.probability_of, roles.probability)]
                if column
            ],
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
