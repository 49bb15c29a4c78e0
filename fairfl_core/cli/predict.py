"""`predict`: give every row of a table its fair answer."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from fairfl_core.cli._shell import Json, print_json, say, split_names, working
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairfl_core.predictors.predictor import FairPredictor
    from fairfl_core.predictors.score_predictor import ScorePredictor

__all__ = ["predict"]

ANSWER = "answer"


def predict(
    predictor: Annotated[Path, typer.Argument(help="A fairfl-predictor/1 file.")],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet table of the model's answers.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: Annotated[str, typer.Option(help="Column of the group.")],
    out: Annotated[Path, typer.Option(help="Table to write: the rows with a column 'answer'.")],
    prediction: Annotated[str | None, typer.Option(help="Column of the model's answer.")] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="For a predictor of the exact region: one score column per label, COL,COL, in "
            "the order of the predictor's labels."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw with this seed.", min=0)] = None,
    row_id: Annotated[
        str | None, typer.Option(help="Or: column that names the person; same id, same answer.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Apply the lottery to every row.

    Example: `fairfl predict predictor.json rows.csv --client clinic --group sex
    --prediction said --row-id patient --out fair.csv`
    """
    from fairfl_core._io.tables import read_rows, write_rows
    from fairfl_core.predictors.score_predictor import ScorePredictor, read_predictor

    if seed is not None and row_id is not None:
        raise InputError("give --seed or --row-id, not both.")
    fair = read_predictor(predictor)
    looks = _looked_at(isinstance(fair, ScorePredictor), prediction, scores, fair.labels)
    with working(f"Answering {rows}"):
        table = read_rows(rows)
        for name in (client, group, *looks, *([row_id] if row_id else [])):
            if not len(table):
                raise InputError(f"{rows}: the table has no rows; give at least one person.")
            if name not in table.columns:
                raise InputError(f'{rows}: has no column "{name}"; check the name.')
        if ANSWER in table.columns:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        if row_id is None and seed is None:
            seed = secrets.randbelow(2**32)
        try:
            seen, said = _seen(table, looks, fair)
            columns = (table[client], table[group], seen)
            table[ANSWER] = (
                fair.sample(*columns, seed=seed)
                if seed is not None
                else fair.decide(*columns, row_id=table[str(row_id)])
            )
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error
        write_rows(out, table)
    changed = float((said != table[ANSWER]).mean())
    by = f"seed {seed}" if seed is not None else f"row id {row_id}"
    if as_json:
        print_json({"out": str(out), "n": len(table), "changed": changed, "seed": seed,
                    "row_id": row_id})  # fmt: skip
    else:
        say(f"{out}: {len(table):,} answers drawn by {by}; {changed:.1%} differ from the model's.")


def _looked_at(
    exact: bool, prediction: str | None, scores: str | None, labels: tuple[str, ...]
) -> list[str]:
    """The columns a predictor looks at: the model's answer, or the scores."""
    if exact:
        columns = split_names(scores) or []
        if prediction is not None or len(columns) != len(labels):
            raise InputError(
                "this predictor looks at scores: give --scores with one column for each of its "
                f"{len(labels)} labels ({', '.join(labels)}), and no --prediction."
            )
        return columns
    if prediction is None or scores is not None:
        raise InputError("this predictor looks at the model's answer: give --prediction.")
    return [prediction]


def _seen(
    table: "pd.DataFrame", looks: list[str], fair: "FairPredictor | ScorePredictor"
) -> tuple[Any, Any]:
    """What the predictor looks at in each row, and what the model itself says."""
    from fairfl_core._io.names import as_names
    from fairfl_core.people.scored import check_scores, score_matrix

    if len(looks) == 1:
        return table[looks[0]], as_names(table[looks[0]])
    scores = score_matrix(table, looks)
    check_scores(scores, fair.labels)
    return scores, np.array(fair.labels, dtype=object)[scores.argmax(axis=1)]
