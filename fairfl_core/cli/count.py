"""`count`: from a table of predictions to counts."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._options import TableOptions, say_scores, scores_json
from fairfl_core.cli._shell import Json, print_json, say, with_options, working, write_apart
from fairfl_core.intake import people_as_clients


@with_options
def count(
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet; - is CSV from standard input.")],
    columns: TableOptions,
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
    columns.check_complete()
    if out is not None:
        write_apart(out, rows)
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
    for sentence in counts.remarks():
        say(sentence)
    looks_like_ids = people_as_clients(len(counts.clients), counts.n)
    if looks_like_ids is not None:
        say(looks_like_ids)
    models = f" scored by {counts.folds} fold models" if counts.folds > 1 else ""
    say(
        f"{out}: {counts.n:,.0f} {counts.whom}{models} in {len(counts.clients)} clients; groups "
        f"{_first_few(counts.groups)}; labels {_first_few(counts.labels)} "
        f"(favourable: {counts.favourable}); the model is right for {counts.model_accuracy:.1%}."
    )


def _first_few(names: tuple[str, ...], most: int = 20) -> str:
    """Names for a line that a person reads; --json has them all."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
