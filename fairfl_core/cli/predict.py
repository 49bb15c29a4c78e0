"""`predict`: give every row of a table its fair answer."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import Json, print_json, say, working
from fairfl_core.errors import InputError

__all__ = ["predict"]

ANSWER = "answer"


def predict(
    predictor: Annotated[Path, typer.Argument(help="A fairfl-predictor/1 file.")],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet table of the model's answers.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: Annotated[str, typer.Option(help="Column of the group.")],
    prediction: Annotated[str, typer.Option(help="Column of the model's answer.")],
    out: Annotated[Path, typer.Option(help="Table to write: the rows with a column 'answer'.")],
    seed: Annotated[int | None, typer.Option(help="Draw with this seed.", min=0)] = None,
    row_id: Annotated[
        str | None, typer.Option(help="Or: column that names the person; same id, same answer.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Apply the lottery to every row.

    Example: `python -m fairfl_core predict predictor.json rows.csv --client clinic --group sex
    --prediction said --row-id patient --out fair.csv`
    """
    from fairfl_core.files import read_rows, write_rows
    from fairfl_core.names import as_names
    from fairfl_core.predictor import FairPredictor

    if seed is not None and row_id is not None:
        raise InputError("give --seed or --row-id, not both.")
    fair = FairPredictor.read(predictor)
    with working(f"Answering {rows}"):
        table = read_rows(rows)
        for name in (client, group, prediction, *([row_id] if row_id else [])):
            if not len(table):
                raise InputError(f"{rows}: the table has no rows; give at least one person.")
            if name not in table.columns:
                raise InputError(f'{rows}: has no column "{name}"; check the name.')
        if ANSWER in table.columns:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        if row_id is None and seed is None:
            seed = secrets.randbelow(2**32)
        try:
            columns = (table[client], table[group], table[prediction])
            table[ANSWER] = (
                fair.sample(*columns, seed=seed)
                if seed is not None
                else fair.decide(*columns, row_id=table[str(row_id)])
            )
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error
        write_rows(out, table)
    changed = float((as_names(table[prediction]) != table[ANSWER]).mean())
    by = f"seed {seed}" if seed is not None else f"row id {row_id}"
    if as_json:
        print_json({"out": str(out), "n": len(table), "changed": changed, "seed": seed,
                    "row_id": row_id})  # fmt: skip
    else:
        say(f"{out}: {len(table):,} answers drawn by {by}; {changed:.1%} differ from the model's.")
