"""`compare`: several models of one table, each with its frontier on unseen people."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import read_whole
from fairfl_core.cli._shell import Json, print_json, print_table, say, split_names, working
from fairfl_core.errors import InputError
from fairfl_core.evaluation.methods import frontier, model_settings
from fairfl_core.intake import ColumnRoles, experiment_from_table, open_table
from fairfl_core.lp.regions import default_region


def compare(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet, one row a person.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: Annotated[str, typer.Option(help="Column of the group; several are crossed.")],
    label: Annotated[str, typer.Option(help="Column of the true label.")],
    model: Annotated[
        list[str],
        typer.Option(
            help="A model's column: its answers or, of two labels, a probability; repeat."
        ),
    ],
    split: Annotated[str, typer.Option(help="Column that says validation or test.")] = "",
    notion: Annotated[str, typer.Option(help="One of {notions}.")] = "eo",
    region: Annotated[
        str | None,
        typer.Option(
            help="What a lottery may mix. Default: exact where every model has scores of two "
            "labels, else simplex."
        ),
    ] = None,
    favourable: Annotated[str, typer.Option(help="Label. Default: the last.")] = "",
    as_json: Json = False,
) -> None:
    """Compare models on the same people: accuracy against the gap that unseen people see.

    Each is made fair at the same limits, on half of each client's people (or those that --split
    says), and judged on the others; people whom not every model answers are left out.

    Example: `fairfl compare rows.csv --client hospital --group sex --label diagnosis --model first --model second`
    """
    if len(model) < 2:
        raise InputError("one model is nothing to compare; name two or more with --model.")
    first, *crossed = split_names(group) or [""]
    roles = ColumnRoles(
        client, first, label, split=split, crossed_with=tuple(crossed), models=tuple(model)
    )
    table = open_table(rows.name, read_whole(rows))
    with working(f"Comparing {len(model)} models"):
        taken = experiment_from_table(table, roles, favourable=favourable)
        if region is None:
            every = [one.experiment for one in taken.models]
            scored = all(one.has_scores for one in every)
            region = default_region(notion, len(every[0].labels), scores=scored)
        settings = [
            model_settings(one.name, one.experiment, notion, region) for one in taken.models
        ]
    if as_json:
        print_json([setting.to_json() for own in settings for setting in own])
        return
    for check in taken.checks[:1]:
        say(check.sentence)
    best = [setting for own in settings for setting in frontier(own, "gap_global")]
    n = settings[0][0].unseen
    print_table(
        f"{notion}, {region}, on {n:,.0f} unseen people (95 % limits); what no other limit beats",
        {
            "model": [one.model for one in best],
            "limit": ["as it is" if one.epsilon is None else f"{one.epsilon:g}" for one in best],
            "accuracy": [
                _between(one.evaluation.accuracy, one.evaluation.accuracy_interval) for one in best
            ],
            "overall gap": [
                _between(one.gap("gap_global"), one.evaluation.global_interval) for one in best
            ],
            "worst client": [f"{one.gap('gap_local_worst'):.3f}" for one in best],
        },
    )


def _between(value: float, limits: tuple[float, float]) -> str:
    return f"{value:.3f} ({limits[0]:.3f}-{limits[1]:.3f})"
