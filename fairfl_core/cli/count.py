"""`count`: from a table of predictions to counts."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import Json, print_json, say, split_names, working

__all__ = ["count"]


def count(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet; - is CSV from standard input.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: Annotated[str, typer.Option(help="Column of the group.")],
    label: Annotated[str, typer.Option(help="Column of the true label.")],
    prediction: Annotated[str | None, typer.Option(help="Column of the model's answer.")] = None,
    scores: Annotated[
        str | None, typer.Option(help="Instead of answers: one score column per label, COL,COL.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="All labels, in the order of the score columns. Default: sorted."),
    ] = None,
    groups: Annotated[str | None, typer.Option(help="All groups. Default: those seen.")] = None,
    clients: Annotated[str | None, typer.Option(help="All clients. Default: those seen.")] = None,
    favourable: Annotated[str | None, typer.Option(help="Label. Default: the last.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write. Default: print it.")] = None,
    as_json: Json = False,
) -> None:
    """Count people by client, group, label and prediction.

    Example: `fairfl count rows.csv --client clinic --group sex
    --label diagnosis --prediction said --out counts.json`
    """
    from fairfl_core._io.tables import open_table_at, read_rows
    from fairfl_core.errors import InputError
    from fairfl_core.people.counts import ClientCounts

    score_columns = split_names(scores)
    with working(f"Counting {rows}"):
        names = [client, group, label, *([prediction] if prediction else [])]
        table = read_rows(open_table_at(rows), names, [] if prediction else score_columns or [])
        try:
            counts = ClientCounts.from_table(
                table,
                client=client,
                group=group,
                label=label,
                prediction=prediction,
                scores=score_columns,
                labels=split_names(labels),
                groups=split_names(groups),
                clients=split_names(clients),
                favourable=favourable,
            )
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error
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
    }
    if as_json:
        print_json(summary)
        return
    say(
        f"{out}: {counts.n:,} people in {len(counts.clients)} clients; groups "
        f"{', '.join(counts.groups)}; labels {', '.join(counts.labels)} "
        f"(favourable: {counts.favourable}); the model is right for {counts.model_accuracy:.1%}."
    )
