"""`predict`: give every row of a table its fair answer."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from fairfl_core.cli._shell import Json, print_json, say, split_names, working
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

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
    from fairfl_core._io.tables import open_table_at, read_rows, read_whole_table, write_table
    from fairfl_core.predictors.load import read_predictor

    if seed is not None and row_id is not None:
        raise InputError("give --seed or --row-id, not both.")
    fair = read_predictor(predictor)
    by_scores = fair.needs_scores
    looks = _looked_at(by_scores, prediction, scores, fair.labels)
    if row_id is None and seed is None:
        seed = secrets.randbelow(2**32)
    with working(f"Answering {rows}"):
        file = open_table_at(rows)
        if ANSWER in file.header:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        names = [client, group, *([row_id] if row_id else []), *([] if by_scores else looks)]
        frame = read_rows(file, names, looks if by_scores else ()).to_pandas()
        try:
            seen, said = (_scores if by_scores else _answers)(frame, looks, fair.labels)
            whose = (frame[client], frame[group], seen)
            answers = (
                fair.sample(*whose, seed=seed)
                if seed is not None
                else fair.decide(*whose, row_id=frame[str(row_id)])
            )
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error
        table = read_whole_table(file).append_column(ANSWER, [answers.tolist()])
        # In the dialect it came in: cells may have decimal commas.
        write_table(out, table, file.delimiter or ",")
    changed = float((said != answers).mean())
    if as_json:
        summary = {"out": str(out), "n": len(said), "changed": changed}
        print_json(summary | {"seed": seed, "row_id": row_id})
        return
    by = f"seed {seed}" if seed is not None else f"row id {row_id}"
    say(f"{out}: {len(said):,} answers drawn by {by}; {changed:.1%} differ from the model's.")


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


def _scores(
    frame: "pd.DataFrame", columns: list[str], labels: tuple[str, ...]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scores of every row, and what the model itself says."""
    from fairfl_core.people.coding import score_matrix
    from fairfl_core.people.scored import check_scores

    scores = score_matrix(frame, columns)
    check_scores(scores, labels)
    return scores, np.array(labels, dtype=object)[scores.argmax(axis=1)]


def _answers(
    frame: "pd.DataFrame", columns: list[str], labels: tuple[str, ...]
) -> tuple["pd.Series[Any]", NDArray[Any]]:
    """The model's answer of every row, as it stands and as a name."""
    from fairfl_core._io.columns import code_names

    column = frame[columns[0]]
    coded = code_names(column, columns[0])
    return column, np.array(coded.names, dtype=object)[coded.codes]
