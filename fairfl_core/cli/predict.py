"""`predict`: give every row of a table its fair answer."""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
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
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from fairfl_core.data.columns import Coded
    from fairfl_core.data.tables import TableFile
    from fairfl_core.predictors.predictor import Predictor

__all__ = ["predict"]

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
    from fairfl_core.data.columns import code_names
    from fairfl_core.data.score_columns import says_scores
    from fairfl_core.data.tables import open_table_at, read_whole_table, write_table
    from fairfl_core.predictors.load import read_predictor

    write_apart(out, rows, predictor, salt_file)
    if seed is not None and row_id is not None:
        raise InputError("give --seed or --row-id, not both.")
    fair = read_predictor(predictor)
    salt = None if salt_file is None else read_salt(salt_file)
    if salt is not None and row_id is None:
        raise InputError("--salt-file goes with --row-id: a seed draws without it.")
    numbers = _Numbers(bool(scores or probability), scores_are, probability_of, threshold)
    if probability is None:
        looks = _looked_at(fair, prediction, scores, labels, fold)
    else:
        looks = numbers.columns(fair, probability, fold, alone=not (prediction or scores))
    if fold is not None and row_id is None:
        raise InputError("--fold needs --row-id, the column by which a person's rows are paired.")
    if row_id is None and seed is None:
        seed = secrets.randbelow(2**32)
    with working(f"Answering {rows}"):
        file = open_table_at(rows)
        groups = _group_columns(fair, group, file)
        asked = _Asked(client, groups, looks, seed, row_id, fold, numbers, salt)
        if ANSWER in file.header:
            raise InputError(f'{rows}: has a column "{ANSWER}" already; rename it.')
        frame = asked.read(fair, file)
        try:
            code_names(frame[client], client)  # whatever is missing is named by its header
            answers, n, changed = asked.answers(fair, frame)
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error
        table = read_whole_table(file).append_column(ANSWER, [answers.tolist()])
        # In the dialect it came in: cells may have decimal commas.
        write_table(out, table, file.delimiter or ",")
    if as_json:
        summary: dict[str, Any] = {"out": str(out), "n": n, "changed": changed}
        summary |= {"seed": seed, "row_id": row_id}
        if scores is not None:
            summary["score_columns"] = _by_label(looks, fair.labels)
        print_json(summary)
        return
    if scores is not None:
        say(says_scores(looks[: len(fair.labels)], fair.labels))
    by = f"seed {seed}" if seed is not None else f"row id {row_id}"
    blind = "" if fair.needs_group else " The group was not looked at."
    say(f"{out}: {n:,} answers drawn by {by}; {changed:.1%} differ from the model's.{blind}")


def _group_columns(fair: "Predictor", group: str | None, file: "TableFile") -> list[str]:
    """The columns of the group; none where the predictor does not look at it."""
    from fairfl_core.data.grouping import group_columns

    if not fair.needs_group:
        return []
    if group is None:
        raise InputError("this predictor looks at the group: give --group with its column.")
    return group_columns(group, file.header)


def _by_label(columns: list[str], labels: tuple[str, ...]) -> dict[str, str | list[str]]:
    """The score column of each label; a list of them where there are several fold models."""
    if len(columns) == len(labels):
        return dict(zip(labels, columns, strict=True))
    return {label: columns[place :: len(labels)] for place, label in enumerate(labels)}


def _looked_at(
    fair: "Predictor",
    prediction: str | None,
    scores: str | None,
    labels: str | None,
    fold: str | None,
) -> list[str]:
    """The columns a predictor looks at: of every fold model, or of the one each row is by."""
    if fold is not None and fair.folds == 1:
        raise InputError("this predictor is for one model, so there is no --fold; leave it out.")
    models = 1 if fold is not None else fair.folds
    each = f" for each of its {models} fold models" if models > 1 else ""
    if fair.needs_scores:
        columns = split_names(scores) or []
        if prediction is not None or len(columns) != models * len(fair.labels):
            raise InputError(
                "this predictor looks at scores: give --scores with one column for each of its "
                f"{len(fair.labels)} labels ({', '.join(fair.labels)}){each}, and no --prediction."
            )
        return _in_order_of_labels(fair, columns, split_names(labels))
    columns = split_names(prediction) or split_names(scores) or []
    needed = models * (len(fair.labels) if scores else 1)
    if (prediction and scores) or len(columns) != needed:
        raise InputError(
            "this predictor looks at the model's answer: give --prediction with one column"
            f"{each}, or --scores with one for each label, of which the largest is the answer."
        )
    return _in_order_of_labels(fair, columns, split_names(labels)) if scores else columns


def _in_order_of_labels(
    fair: "Predictor", columns: list[str], labels: list[str] | None
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


@dataclass(frozen=True)
class _Numbers:
    """What the model's numbers are: of every label some kind, or the probability of one.

    Not `given` where it gave its answer.
    """

    given: bool
    kind: str
    probability_of: str | None
    threshold: float

    def columns(
        self, fair: "Predictor", probability: str, fold: str | None, *, alone: bool
    ) -> list[str]:
        """The columns of the probability, one of each fold model."""
        columns = split_names(probability) or []
        models = 1 if fold is not None else fair.folds
        if not alone or self.probability_of is None or len(columns) != models:
            raise InputError(
                f"--probability takes {models} column{'s' if models > 1 else ''}, needs "
                "--probability-of with the label it is of, and no --prediction or --scores."
            )
        return columns

    def scores(
        self, matrix: NDArray[np.float64], columns: list[str], labels: tuple[str, ...]
    ) -> NDArray[np.float64]:
        """A probability for each label and model, shape (rows, models, labels)."""
        from fairfl_core.data.score_columns import (
            as_probabilities,
            check_column,
            of_one_probability,
        )

        for place, column in enumerate(columns):
            check_column(matrix[:, place], column, self.kind)
        if self.probability_of is None:
            every = matrix.reshape(-1, len(labels))
            return as_probabilities(every, self.kind).reshape(len(matrix), -1, len(labels))
        of, threshold = self.probability_of, self.threshold
        by_model = [of_one_probability(chance, of, labels, threshold) for chance in matrix.T]
        return np.stack(by_model, axis=1)


@dataclass(frozen=True)
class _Asked:
    """Which columns say what, and by what an answer is drawn."""

    client: str
    groups: list[str]
    looks: list[str]
    seed: int | None
    row_id: str | None
    fold: str | None
    numbers: _Numbers
    salt: str | None

    def read(self, fair: "Predictor", file: "TableFile") -> "pa.Table":
        """The columns that are looked at."""
        from fairfl_core.data.tables import read_rows

        names = [self.client, *self.groups, *filter(None, (self.row_id, self.fold))]
        scored = self.looks if self._by_numbers(fair) else []
        answered = [] if scored else self.looks
        return read_rows(file, [*names, *answered], scored).combine_chunks()

    def _by_numbers(self, fair: "Predictor") -> bool:
        """Whether the columns hold numbers; else the model's answers."""
        return fair.needs_scores or self.numbers.given

    def answers(self, fair: "Predictor", frame: "pa.Table") -> tuple[NDArray[Any], int, float]:
        """An answer for every row, how many people they are, and the share of changed ones."""
        model = self._models(fair, frame)
        # In long form the model is a matter of the row, else of the column.
        column = np.zeros_like(model) if self.fold else model
        if self._by_numbers(fair):
            scores, predicted = _scores(frame, self.looks, fair.labels, column, self.numbers)
            seen = scores if fair.needs_scores else predicted
        else:
            seen = predicted = _answers(frame, self.looks, column)
        answers = self._drawn(fair, frame, seen)
        if not self.fold:
            return answers, len(frame), float((predicted != answers).mean())
        rows = self._paired(fair, frame)
        mine = rows[model[rows[0]], np.arange(rows.shape[1])]
        changed = float((predicted[mine] != answers[mine]).mean())
        answers[rows] = answers[mine]
        return answers, rows.shape[1], changed

    def _models(self, fair: "Predictor", frame: "pa.Table") -> NDArray[np.int64]:
        """Which fold model answers each row: by its row id, or drawn with the seed."""
        if fair.folds == 1:
            return np.zeros(len(frame), np.int64)
        if self.row_id is not None:
            return fair.fold_of(frame[self.client], frame[self.row_id], salt=self.salt)
        rng = np.random.default_rng([int(self.seed or 0), 1])
        return rng.integers(fair.folds, size=len(frame))

    def _drawn(self, fair: "Predictor", frame: "pa.Table", seen: NDArray[Any]) -> NDArray[Any]:
        group = self._group(frame)
        named = None if group is None else np.array(group.names, object)[group.codes]
        whose = (frame[self.client], named, seen)
        if self.seed is not None:
            return fair.sample(*whose, seed=self.seed)
        return fair.decide(*whose, row_id=frame[str(self.row_id)], salt=self.salt)

    def _group(self, frame: "pa.Table") -> "Coded | None":
        from fairfl_core.data.grouping import code_groups

        return code_groups(frame, self.groups) if self.groups else None

    def _paired(self, fair: "Predictor", frame: "pa.Table") -> NDArray[np.intp]:
        """The rows of each person, shape (folds, people)."""
        from fairfl_core.data.splits import FoldRows

        fold = str(self.fold)
        dealt = FoldRows.of(frame, client=self.client, row_id=str(self.row_id), fold=fold)
        everybody = np.ones(len(frame), bool)
        folds = dealt.folds(everybody)
        if len(folds) != fair.folds:
            raise InputError(
                f'column "{fold}" holds {len(folds)} folds, but the predictor mixes {fair.folds} '
                "fold models; give every person one row for each of them."
            )
        group = self._group(frame)
        alike = {} if group is None else {"group": group}
        return dealt.paired(everybody, folds, alike)


def _scores(
    frame: "pa.Table",
    columns: list[str],
    labels: tuple[str, ...],
    model: NDArray[np.int64],
    numbers: _Numbers,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scores of every row by its fold model, and what that model itself says."""
    from fairfl_core.data.coding import score_matrix
    from fairfl_core.data.scored import check_scores

    every = numbers.scores(score_matrix(frame, columns), columns, labels)
    scores = every[np.arange(len(frame)), model]
    check_scores(scores, labels)
    return scores, np.array(labels, dtype=object)[scores.argmax(axis=1)]


def _answers(frame: "pa.Table", columns: list[str], model: NDArray[np.int64]) -> NDArray[Any]:
    """The answer of every row's fold model."""
    from fairfl_core.data.columns import code_names

    names = []
    for column in columns:
        coded = code_names(frame[column], column)
        names.append(np.array(coded.names, dtype=object)[coded.codes])
    return np.asarray(np.stack(names)[model, np.arange(len(frame))])
