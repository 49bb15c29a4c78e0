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

    from fairfl_core.predictors.predictor import Predictor

__all__ = ["predict"]

ANSWER = "answer"


def predict(
    predictor: Annotated[Path, typer.Argument(help="A fairfl-predictor/1 file.")],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet table of the model's answers.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    group: Annotated[str, typer.Option(help="Column of the group.")],
    out: Annotated[Path, typer.Option(help="Table to write: the rows with a column 'answer'.")],
    prediction: Annotated[
        str | None,
        typer.Option(help="Column of the model's answer; of each fold model's, COL,COL."),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="For a predictor of the exact region: one score column per label, COL,COL, in "
            "the order of the predictor's labels; for a mixture fold model after fold model."
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
    looks = _looked_at(fair, prediction, scores)
    if row_id is None and seed is None:
        seed = secrets.randbelow(2**32)
    with working(f"Answering {rows}"):
        file = open_table_at(rows)
        if ANSWER in file.header:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        names = [client, group, *([row_id] if row_id else []), *([] if by_scores else looks)]
        frame = read_rows(file, names, looks if by_scores else ()).to_pandas()
        try:
            model = _models(frame, client, row_id, seed, fair.folds)
            seen, said = (_scores if by_scores else _answers)(frame, looks, fair.labels, model)
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


def _looked_at(fair: "Predictor", prediction: str | None, scores: str | None) -> list[str]:
    """The columns a predictor looks at, fold model after fold model."""
    each = f" for each of its {fair.folds} fold models" if fair.folds > 1 else ""
    if fair.needs_scores:
        columns = split_names(scores) or []
        if prediction is not None or len(columns) != fair.folds * len(fair.labels):
            raise InputError(
                "this predictor looks at scores: give --scores with one column for each of its "
                f"{len(fair.labels)} labels ({', '.join(fair.labels)}){each}, and no --prediction."
            )
        return columns
    columns = split_names(prediction) or []
    if scores is not None or len(columns) != fair.folds:
        raise InputError(
            "this predictor looks at the model's answer: give --prediction with one column"
            f"{each}, and no --scores."
        )
    return columns


def _models(
    frame: "pd.DataFrame", client: str, row_id: str | None, seed: int | None, folds: int
) -> NDArray[np.int64]:
    """Which fold model answers each row: by its row id, or drawn with the seed."""
    from fairfl_core.predictors.row_uniforms import fold_draws

    if folds == 1:
        return np.zeros(len(frame), np.int64)
    if row_id is not None:
        return fold_draws(frame[client], frame[row_id], folds)
    return np.random.default_rng([int(seed or 0), 1]).integers(folds, size=len(frame))


def _scores(
    frame: "pd.DataFrame", columns: list[str], labels: tuple[str, ...], model: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scores of every row by its fold model, and what that model itself says."""
    from fairfl_core.people.coding import score_matrix
    from fairfl_core.people.scored import check_scores

    every = score_matrix(frame, columns).reshape(len(frame), -1, len(labels))
    scores = every[np.arange(len(frame)), model]
    check_scores(scores, labels)
    return scores, np.array(labels, dtype=object)[scores.argmax(axis=1)]


def _answers(
    frame: "pd.DataFrame", columns: list[str], labels: tuple[str, ...], model: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The answer of every row's fold model."""
    from fairfl_core._io.columns import code_names

    names = []
    for column in columns:
        coded = code_names(frame[column], column)
        names.append(np.array(coded.names, dtype=object)[coded.codes])
    said = np.stack(names)[model, np.arange(len(frame))]
    return said, said
