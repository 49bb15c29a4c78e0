"""`count`: from a table of predictions to counts."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._people import (
    Columns,
    FoldColumn,
    GroupNames,
    OneGroupColumn,
    RowIdColumn,
    SplitColumn,
    say_scores,
    scores_json,
)
from fairfl_core.cli._shell import Json, print_json, say, working

__all__ = ["count"]


def count(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet; - is CSV from standard input.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: OneGroupColumn,
    label: Annotated[str, typer.Option(help="Column of the true label.")],
    prediction: Annotated[str | None, typer.Option(help="Column of the model's answer.")] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="Instead of answers: one score column per label, COL,COL: named after its label "
            "(ill, p_ill, P(ill)), or in the order of --labels."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="All labels; in the order of the score columns where their names do not tell. "
            "Default: those seen, sorted."
        ),
    ] = None,
    groups: GroupNames = None,
    clients: Annotated[str | None, typer.Option(help="All clients. Default: those seen.")] = None,
    favourable: Annotated[str | None, typer.Option(help="Label. Default: the last.")] = None,
    split: SplitColumn = None,
    fold: FoldColumn = None,
    row_id: RowIdColumn = None,
    out: Annotated[Path | None, typer.Option(help="File to write. Default: print it.")] = None,
    as_json: Json = False,
) -> None:
    """Count people by client, group, label and prediction.

    With --split only those are counted that a lottery is fitted on. Cross-fitted predictions
    (--fold, --row-id) make counts that say so, and then a predictor that mixes the fold models.

    Several columns of the group (--group sex,race) are crossed: each combination that a row has is
    a group, and the counts say of which columns.

    Example: `fairfl count rows.csv --client clinic --group sex
    --label diagnosis --prediction said --out counts.json`
    """
    columns = Columns(
        client,
        group,
        label,
        scores,
        labels,
        groups,
        clients,
        favourable,
        prediction,
        split,
        fold,
        row_id,
    )
    with working(f"Counting {rows}"):
        counts = columns.counted(rows)
    if out is None:
        print_json(counts.to_json())
        return
    counts.write(out)
    summary = {
        "out": str(out),
        "n": counts.n,
        "clients": len(counts.clients),
        "groups": list(counts.groups),
        "labels": list(counts.labels),
        "favourable": counts.favourable,
        "folds": counts.folds,
    }
    if as_json:
        print_json(summary | scores_json(counts))
        return
    say_scores(counts)
    models = f" scored by {counts.folds} fold models" if counts.folds > 1 else ""
    say(
        f"{out}: {counts.n:,} people{models} in {len(counts.clients)} clients; groups "
        f"{_first_few(counts.groups)}; labels {_first_few(counts.labels)} "
        f"(favourable: {counts.favourable}); the model is right for {counts.model_accuracy:.1%}."
    )


def _first_few(names: tuple[str, ...], most: int = 20) -> str:
    """Names for a line that a person reads; --json has them all."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
