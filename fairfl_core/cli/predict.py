"""`predict`: give every row of a table its fair answer."""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray

from fairfl_core._io.names import listed
from fairfl_core.cli._shell import (
    Json,
    print_json,
    read_salt,
    say,
    split_names,
    working,
    write_apart,
)
from fairfl_core.data.coding import score_matrix
from fairfl_core.data.columns import Coded, code_groups, code_names, group_columns
from fairfl_core.data.score_columns import (
    as_probabilities,
    check_column,
    of_one_probability,
    says_scores,
)
from fairfl_core.data.scored import check_scores
from fairfl_core.data.splits import FoldRows
from fairfl_core.data.tables import (
    open_table_at,
    read_rows,
    read_whole_table,
    write_table,
)
from fairfl_core.errors import InputError, about
from fairfl_core.predictors.kinds import read_predictor
from fairfl_core.predictors.predictor import Predictor

ANSWER = "answer"


def predict(
    predictor: Annotated[Path, typer.Argument(help="A fairfl-predictor/1 file.")],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet table of the model's answers.")],
    client: Annotated[str, typer.Option(help="Column of the client.")],
    out: Annotated[Path, typer.Option(help="Table to write: the rows with a column 'answer'.")],
    group: Annotated[
        str | None,
        typer.Option(
            help="Column of the group, or several to cross, COL,COL; not looked at after "
            "--without-group."
        ),
    ] = None,
    prediction: Annotated[
        str | None,
        typer.Option(help="Column of the model's answer; of each fold model's, COL,COL."),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="One score column per label, COL,COL: named as the predictor's own, or after "
            "its label, or in the order of --labels; for a mixture fold model after fold model. "
            "A predictor of the exact region needs them; another takes the largest for the answer."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="The labels in the order of --scores, where their names do not tell."),
    ] = None,
    scores_are: Annotated[
        str, typer.Option(help="What the --scores are: probabilities, logits or votes.")
    ] = "probabilities",
    probability: Annotated[
        str | None,
        typer.Option(
            help="Instead of --prediction or --scores, with two labels: the column of the "
            "probability of one of them; of each fold model's, COL,COL."
        ),
    ] = None,
    probability_of: Annotated[
        str | None, typer.Option(help="The label that --probability is of.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="From which --probability on the model answers that label.")
    ] = 0.5,
    seed: Annotated[int | None, typer.Option(help="Draw with this seed.", min=0)] = None,
    row_id: Annotated[
        str | None, typer.Option(help="Or: column that names the person; same id, same answer.")
    ] = None,
    fold: Annotated[
        str | None,
        typer.Option(
            help="Of a mixture, where a person has one row of every fold instead of columns: the "
            "column of the fold. All rows of a person get the person's answer."
        ),
    ] = None,
    salt_file: Annotated[
        Path | None,
        typer.Option(help="File with the secret salt that `fairfl solve --salt-file` was given."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Apply the lottery to every row.

    Example: `fairfl predict predictor.json rows.csv --client clinic --group sex
    --prediction said --row-id patient --out fair.csv`
    """
    write_apart(out, rows, predictor, salt_file)
    if seed is not None and row_id is not None:
        raise InputError("give --seed or --row-id, not both.")
    if salt_file is not None and row_id is None:
        raise InputError("--salt-file goes with --row-id: a seed draws without it.")
    if fold is not None and row_id is None:
        raise InputError("--fold needs --row-id, the column by which a person's rows are paired.")
    fair = read_predictor(predictor)
    salt = None if salt_file is None else read_salt(salt_file)
    if fold is not None and fair.folds == 1:
        raise InputError("this predictor is for one model, so there is no --fold; leave it out.")
    models = 1 if fold is not None else fair.folds
    columns = split_names(probability)
    if columns is None:
        columns = _model_columns(fair, models, prediction, scores, labels)
    elif prediction or scores or probability_of is None or len(columns) != models:
        raise InputError(
            f"--probability takes {models} column{'s' if models > 1 else ''}, needs "
            "--probability-of with the label it is of, and no --prediction or --scores."
        )
    by_numbers = fair.needs_scores or bool(scores or probability)
    if row_id is None and seed is None:
        seed = secrets.randbelow(2**32)
    with working(f"Answering {rows}"):
        file = open_table_at(rows)
        if fair.needs_group and group is None:
            raise InputError("this predictor looks at the group: give --group with its column.")
        groups = group_columns(str(group), file.header) if fair.needs_group else []
        if ANSWER in file.header:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        names = [client, *groups, *filter(None, (row_id, fold)), *([] if by_numbers else columns)]
        frame = read_rows(file, names, columns if by_numbers else ()).combine_chunks()
        whose = _Whose(fair, client, groups, row_id, fold, seed, salt)
        with about(rows):
            code_names(frame[client], client)
            if by_numbers:
                of = probability_of if probability is not None else None
                every = _chances(frame, columns, fair.labels, of, threshold, scores_are)
            else:
                every = _answers(frame, columns)
            answers, n, changed = whose.answers(frame, every)
        table = read_whole_table(file).append_column(ANSWER, [answers.tolist()])
        # In the dialect it came in: cells may have decimal commas.
        write_table(out, table, file.delimiter or ",")
    if as_json:
        summary: dict[str, Any] = {"out": str(out), "n": n, "changed": changed}
        summary |= {"seed": seed, "row_id": row_id}
        if scores is not None:
            summary["score_columns"] = _by_label(columns, fair.labels)
        print_json(summary)
        return
    if scores is not None:
        say(says_scores(columns[: len(fair.labels)], fair.labels))
    by = f"seed {seed}" if seed is not None else f"row id {row_id}"
    blind = "" if fair.needs_group else " The group was not looked at."
    say(f"{out}: {n:,} answers drawn by {by}; {changed:.1%} differ from the model's.{blind}")


def _by_label(columns: list[str], labels: tuple[str, ...]) -> dict[str, str | list[str]]:
    """The score column of each label; a list of them where there are several fold models."""
    if len(columns) == len(labels):
        return dict(zip(labels, columns, strict=True))
    return {label: columns[place :: len(labels)] for place, label in enumerate(labels)}


def _model_columns(
    fair: Predictor,
    models: int,
    prediction: str | None,
    scores: str | None,
    labels: str | None,
) -> list[str]:
    """The columns of the answers or scores of `models` models, one beside the other."""
    each = f" for each of its {models} fold models" if models > 1 else ""
    columns = split_names(prediction) or split_names(scores) or []
    needed = models * (len(fair.labels) if scores or fair.needs_scores else 1)
    if len(columns) != needed or (prediction and (scores or fair.needs_scores)):
        raise InputError(
            "this predictor looks at scores: give --scores with one column for each of its "
            f"{len(fair.labels)} labels ({', '.join(fair.labels)}){each}, and no --prediction."
            if fair.needs_scores
            else "this predictor looks at the model's answer: give --prediction with one column"
            f"{each}, or --scores with one for each label, of which the largest is the answer."
        )
    return _in_order_of_labels(fair, columns, split_names(labels)) if scores else columns


def _in_order_of_labels(
    fair: Predictor, columns: list[str], labels: list[str] | None
) -> list[str]:
    """Score columns in the order of the predictor's labels, fold model after fold model."""
    if labels is not None and sorted(labels) != sorted(fair.labels):
        raise InputError(
            f"--labels names {listed(labels)}, and the predictor's labels are "
            f"{listed(fair.labels)}; name these, in the order of the score columns."
        )
    size = len(fair.labels)
    blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
    pairs = [fair.pair_scores(block, labels) for block in blocks]
    return [pair[label] for pair in pairs for label in fair.labels]


def _chances(
    frame: pa.Table,
    columns: list[str],
    labels: tuple[str, ...],
    probability_of: str | None,
    threshold: float,
    kind: str,
) -> NDArray[np.float64]:
    """A probability of each label by each model, shape (rows, models, labels)."""
    matrix = score_matrix(frame, columns)
    for place, column in enumerate(columns):
        check_column(matrix[:, place], column, kind)
    if probability_of is None:
        every = as_probabilities(matrix.reshape(-1, len(labels)), kind)
        return every.reshape(len(matrix), -1, len(labels))
    return np.stack(
        [of_one_probability(chance, probability_of, labels, threshold) for chance in matrix.T],
        axis=1,
    )


def _answers(frame: pa.Table, columns: list[str]) -> NDArray[Any]:
    """What each model answers, shape (rows, models)."""
    coded = [code_names(frame[column], column) for column in columns]
    return np.stack([np.array(one.names, dtype=object)[one.codes] for one in coded], axis=1)


@dataclass(frozen=True)
class _Whose:
    """Whose row each is, and by what an answer is drawn."""

    fair: Predictor
    client: str
    groups: list[str]
    row_id: str | None
    fold: str | None
    seed: int | None
    salt: str | None

    def answers(self, frame: pa.Table, every: NDArray[Any]) -> tuple[NDArray[Any], int, float]:
        """An answer for every row, how many people they are, and the share of changed ones.

        `every` is what each model says of each row: its answer, or scores (a third axis). Rows of
        a person, one a fold, get the person's answer.
        """
        fair = self.fair
        group = code_groups(frame, self.groups) if self.groups else None
        rows = np.arange(len(frame))[None] if self.fold is None else self._paired(frame, group)
        if self.fold is not None:
            every = every[rows.T, 0]
        who = frame.take(rows[0])
        people = np.arange(len(who))
        seen = predicted = every[people, self._model(who)]
        if every.ndim == 3:
            for scores in np.moveaxis(every, 1, 0):
                check_scores(scores, fair.labels)
            predicted = np.array(fair.labels, dtype=object)[seen.argmax(axis=1)]
        named = None if group is None else np.array(group.names, object)[group.codes[rows[0]]]
        given = who[self.client], named, seen if fair.needs_scores else predicted
        if self.seed is not None:
            drawn = fair.sample(*given, seed=self.seed)
        else:
            drawn = fair.decide(*given, row_id=who[str(self.row_id)], salt=self.salt)
        answers = np.empty(len(frame), object)
        answers[rows] = drawn
        return answers, len(who), float((predicted != drawn).mean())

    def _model(self, who: pa.Table) -> NDArray[np.int64]:
        """Which fold model answers each person: by the row id, or drawn with the seed."""
        if self.fair.folds == 1:
            return np.zeros(len(who), np.int64)
        if self.row_id is not None:
            return self.fair.fold_of(who[self.client], who[self.row_id], salt=self.salt)
        rng = np.random.default_rng([int(self.seed or 0), 1])
        return rng.integers(self.fair.folds, size=len(who))

    def _paired(self, frame: pa.Table, group: Coded | None) -> NDArray[np.intp]:
        """The rows of each person, shape (folds, people)."""
        fold, folds = str(self.fold), self.fair.folds
        dealt = FoldRows.of(frame, client=self.client, row_id=str(self.row_id), fold=fold)
        everybody = np.ones(len(frame), bool)
        found = dealt.folds(everybody)
        if len(found) != folds:
            raise InputError(
                f'column "{fold}" holds {len(found)} folds, but the predictor mixes {folds} '
                "fold models; give every person one row for each of them."
            )
        return dealt.paired(everybody, found, {} if group is None else {"group": group})
