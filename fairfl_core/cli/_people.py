"""Options of the commands that take a table of predictions, and how it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl_core.cli._shell import read_counts, say, split_names
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from fairfl_core.data.counts import ClientCounts
    from fairfl_core.data.folded import FoldedData
    from fairfl_core.data.scored import ScoredData
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Policy
    from fairfl_core.lp.program import FairnessProgram

__all__ = [
    "ClientColumn",
    "ClientNames",
    "Columns",
    "Confidence",
    "ConfidenceProof",
    "ConfidenceScope",
    "Favourable",
    "FoldColumn",
    "GroupColumn",
    "GroupNames",
    "LabelColumn",
    "LabelNames",
    "OneGroupColumn",
    "RatesName",
    "RowIdColumn",
    "ScoreColumns",
    "Source",
    "SplitColumn",
    "guarantee_of",
    "read_program",
    "say_scores",
    "scores_json",
]

Source = Annotated[
    Path,
    typer.Argument(
        help="A fairfl-counts/1 file, or with --scores a CSV or Parquet table of scores.",
        metavar="COUNTS|ROWS",
    ),
]
RatesName = Annotated[
    str | None,
    typer.Option(
        "--rates",
        help="Where rates come from: labels, scores or shrunk. Default: labels; for exact without "
        "folds: shrunk.",
    ),
]
ClientColumn = Annotated[str | None, typer.Option("--client", help="Column of the client.")]
_GROUP = "Column of the group; several, COL,COL, are crossed."
GroupColumn = Annotated[str | None, typer.Option("--group", help=_GROUP)]
OneGroupColumn = Annotated[str, typer.Option("--group", help=_GROUP)]
LabelColumn = Annotated[str | None, typer.Option("--label", help="Column of the true label.")]
ScoreColumns = Annotated[
    str | None,
    typer.Option(
        "--scores",
        help="One score column per label, COL,COL: named after its label (ill, p_ill, P(ill)), or "
        "in the order of --labels.",
    ),
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="All labels; in the order of the score columns where their names do not tell.",
    ),
]
GroupNames = Annotated[
    str | None,
    typer.Option("--groups", help="All groups; crossed ones are written like “woman · Black”."),
]
ClientNames = Annotated[str | None, typer.Option("--clients", help="All clients.")]
Favourable = Annotated[str | None, typer.Option("--favourable", help="Label. Default: the last.")]
SplitColumn = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="Column that says fit (or validation) or test. People are fitted on the ones and "
        "judged on the others; without it on all rows.",
    ),
]
FoldColumn = Annotated[
    str | None,
    typer.Option(
        "--fold",
        help="Cross-fitted: column of the fold whose model, which never saw the person, gave the "
        "row; a test person has one row of every fold.",
    ),
]
RowIdColumn = Annotated[
    str | None,
    typer.Option("--row-id", help="With --fold: column that names the person in a client."),
]

Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        help="Ask that the limits hold on unseen people with this confidence, e.g. 0.95.",
    ),
]
ConfidenceScope = Annotated[
    str,
    typer.Option(
        "--confidence-scope", help="all: all limits at once; each: every limit on its own."
    ),
]
ConfidenceProof = Annotated[
    str,
    typer.Option(
        "--confidence-proof", help="measured: by resampling; proved: by theorem, and dearer."
    ),
]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what, and which names to expect: `count`'s options."""

    client: str | None
    group: str | None
    label: str | None
    scores: str | None
    labels: str | None
    groups: str | None
    clients: str | None
    favourable: str | None
    prediction: str | None = None
    split: str | None = None
    fold: str | None = None
    row_id: str | None = None
    pairs: Mapping[str, str] | None = None  # the score column of each label, where it is known

    @property
    def are_unnamed(self) -> bool:
        """Whether no column of a table is named at all."""
        return not any((self.client, self.group, self.label, self.scores, self.prediction))

    def named(self, region: str | None) -> bool:
        """Whether a table is meant, not counts; if so, that all its columns are named."""
        from fairfl_core.lp.regions import region_kind

        options = {
            "--client": self.client,
            "--group": self.group,
            "--label": self.label,
            "--scores": self.scores,
        }
        others = (self.prediction, self.split, self.fold, self.row_id)
        needs_scores = region is not None and region_kind(region).needs_scores
        if not needs_scores and not any((*options.values(), *others)):
            return False
        if self.prediction is not None and not needs_scores:
            del options["--scores"]
        missing = ", ".join(option for option, given in options.items() if not given)
        if missing and needs_scores:
            raise InputError(
                f"the {region} region looks at scores, which counts do not hold: give the table of "
                f"scores and its columns (missing: {missing})."
            )
        if missing:
            raise InputError(f"a table of scores needs {missing} too; name the columns.")
        return True

    def counted(self, path: Path) -> "ClientCounts":
        """Count the people a lottery is fitted on."""
        from fairfl_core.data.counts import ClientCounts
        from fairfl_core.data.splits import FIT

        return self._read(path, FIT, ClientCounts.from_table)

    def fitted(self, path: Path) -> "ScoredData":
        """The people a lottery is fitted on, with their scores."""
        from fairfl_core.data.scored import ScoredData
        from fairfl_core.data.splits import FIT

        return self._read(path, FIT, ScoredData.from_table)

    def unseen(self, path: Path) -> "ClientCounts | ScoredData | FoldedData":
        """The people a predictor is judged on: by scores where there are some."""
        from fairfl_core.data.counts import ClientCounts
        from fairfl_core.data.folded import FoldedData
        from fairfl_core.data.scored import ScoredData
        from fairfl_core.data.splits import TEST

        take: Callable[..., Any] = ScoredData.from_table
        if self.fold is not None:
            take = FoldedData.from_table
        elif self.scores is None:
            take = ClientCounts.from_table
        return self._read(path, TEST, take)

    def _read(self, path: Path, split: int, take: Callable[..., Any]) -> Any:
        """Take the rows of a split, or all where no column says one."""
        from fairfl_core.data.grouping import group_columns
        from fairfl_core.data.tables.tables import open_table_at, read_rows

        file = open_table_at(path)
        options = {
            "client": self.client,
            "label": self.label,
            "prediction": self.prediction,
            "fold": self.fold,
            "row_id": self.row_id if self.fold else None,
        }
        columns: dict[str, Any] = {name: given for name, given in options.items() if given}
        groups = group_columns(str(self.group), file.header)
        scores = split_names(self.scores)
        names = [*columns.values(), *groups, *([self.split] if self.split else [])]
        table = read_rows(file, names, [] if self.prediction else scores or [])
        columns["group"] = groups
        where = str(path)
        try:
            if self.split:
                table = self._rows_of(table, split)
                where += f', its rows of "{"test" if split else "fit"}"'
            return take(
                table,
                **columns,
                **({} if scores is None else {"scores": self.pairs or scores}),
                labels=split_names(self.labels),
                groups=split_names(self.groups),
                clients=split_names(self.clients),
                favourable=self.favourable,
            )
        except InputError as error:
            raise InputError(f"{where}: {error}") from error

    def _rows_of(self, table: "pa.Table", split: int) -> "pa.Table":
        """The rows of a split; cross-fitted, nobody is in both."""
        import pyarrow as pa

        from fairfl_core.data.fold_rows import FoldRows
        from fairfl_core.data.splits import FIT, TEST, code_splits
        from fairfl_core.data.tables.columns import code_column

        header = str(self.split)
        column = code_column(table.column(header), header)
        codes = code_splits(column, header, [split], cross_fitted=self.fold is not None)
        if self.fold and self.row_id:
            dealt = FoldRows.of(table, client=str(self.client), row_id=self.row_id, fold=self.fold)
            dealt.check_apart(codes == FIT, codes == TEST)
        return table.filter(pa.array(codes == split))


def read_program(
    source: Path,
    notion: str,
    region: str | None,
    rates: str | None,
    columns: Columns,
    guarantee: "Guarantee | None",
    policy: "Policy",
) -> "FairnessProgram":
    """Build the program of a region, or of the default one, from counts or a table of scores."""
    from fairfl_core.lp.program import FairnessProgram
    from fairfl_core.lp.rate_estimates import check_rates
    from fairfl_core.lp.regions import region_kind

    if rates is not None:
        check_rates(rates)
    takes_scores = region is None or region_kind(region).needs_scores
    if takes_scores and columns.are_unnamed and _is_histogram(source):
        from fairfl_core.lp.exact.histogram_file import read_histogram

        histogram = read_histogram(source)
        return FairnessProgram(histogram, notion, region, guarantee=guarantee, policy=policy)
    scored = columns.named(region)
    people = columns.fitted(source) if scored else read_counts(source)
    return FairnessProgram(people, notion, region, rates=rates, guarantee=guarantee, policy=policy)


def say_scores(people: Any) -> None:
    """Say which column was taken for the score of which label, if any was."""
    from fairfl_core.data.score_columns import says_scores

    if people.score_columns is not None:
        say(says_scores(people.score_columns, people.labels))


def scores_json(people: Any) -> dict[str, Any]:
    """The same for a JSON object; nothing where there were no score columns."""
    if people.score_columns is None:
        return {}
    return {"score_columns": dict(zip(people.labels, people.score_columns, strict=True))}


def _is_histogram(source: Path) -> bool:
    """Whether a file says that it holds histograms of scores."""
    from fairfl_core._io.json_files import read_json
    from fairfl_core.lp.exact.histogram_file import FORMAT

    if source.suffix != ".json":
        return False
    value = read_json(source)
    return isinstance(value, dict) and value.get("format") == FORMAT


def guarantee_of(confidence: float | None, scope: str, proof: str) -> "Guarantee | None":
    """The guarantee that the options ask for, if any."""
    from fairfl_core.lp.guarantee import Guarantee

    return None if confidence is None else Guarantee(confidence, scope, proof)
