"""Options of several commands: which column holds what, what is asked, the policy file that says it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from fairfl_core._io.files import read_json
from fairfl_core.cli._shell import read_counts, say, split_names, write_apart
from fairfl_core.data.coding import TableColumns
from fairfl_core.data.columns import code_column, group_columns
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.score_columns import says_scores
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.data.splits import FIT, TEST, FoldRows, code_splits
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError, about
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.histograms import FORMAT, read_histogram
from fairfl_core.lp.policy import Floor, Policy, parse_floor, parse_limit, parse_precision
from fairfl_core.lp.policy_file import PolicyFile, today
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import check_rates
from fairfl_core.lp.regions import region_kind
from fairfl_core.lp.utility import Utility

Source = Annotated[
    Path,
    typer.Argument(
        help="A fairfl-counts/1 file, or with --client and the like a CSV or Parquet table.",
        metavar="COUNTS|ROWS",
    ),
]
_Text = str | None


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table hold what."""

    client: Annotated[_Text, typer.Option(help="Column of the client.")] = None
    group: Annotated[
        _Text, typer.Option(help="Column of the group; several, COL,COL, are crossed.")
    ] = None
    label: Annotated[_Text, typer.Option(help="Column of the true label.")] = None
    prediction: Annotated[_Text, typer.Option(help="Column of the model's answer.")] = None
    scores: Annotated[
        _Text,
        typer.Option(
            help="Instead of answers: one score column per label, COL,COL: named after its label "
            "(ill, p_ill, P(ill)), or in the order of --labels."
        ),
    ] = None
    probability: Annotated[
        _Text, typer.Option(help="Or, of two labels: the column of the probability of one.")
    ] = None
    probability_of: Annotated[
        _Text,
        typer.Option(help="The label that --probability is of, where its name does not tell."),
    ] = None
    threshold: Annotated[
        float, typer.Option(help="From which --probability on the model answers that label.")
    ] = 0.5
    labels: Annotated[
        _Text,
        typer.Option(
            help="All labels; in the order of the score columns where their names do not tell. "
            "Default: those seen, sorted."
        ),
    ] = None
    favourable: Annotated[_Text, typer.Option(help="Label. Default: the last.")] = None
    split: Annotated[
        _Text,
        typer.Option(
            help="Column that says fit (or validation) or test. People are fitted on the ones and "
            "judged on the others; without it on all rows."
        ),
    ] = None
    fold: Annotated[
        _Text,
        typer.Option(
            help="Cross-fitted: column of the fold whose model, which never saw the person, gave "
            "the row; a test person has one row of every fold."
        ),
    ] = None
    row_id: Annotated[
        _Text, typer.Option(help="With --fold: column that names the person in a client.")
    ] = None
    missing_group: Annotated[
        _Text,
        typer.Option(
            help="What becomes of rows without a group: drop, own (a group of their own) or bound "
            "(the worst of what they may be). Default: refuse them."
        ),
    ] = None


@dataclass(frozen=True)
class TableOptions(ColumnOptions):
    """Which columns of a table hold what, and which names to expect."""

    groups: Annotated[
        _Text, typer.Option(help="All groups; crossed ones are written like “woman · Black”.")
    ] = None
    clients: Annotated[_Text, typer.Option(help="All clients. Default: those seen.")] = None
    weight: Annotated[
        _Text, typer.Option(help="Column of what each person counts for, as surveys have.")
    ] = None

    @property
    def is_unnamed(self) -> bool:
        """Whether no column of a table is named at all."""
        given = (self.client, self.group, self.label, self.split, self.fold, self.row_id)
        return not (any(given) or self.has_model)

    @property
    def has_model(self) -> bool:
        """Whether a column of the model's answers or numbers is named."""
        return any(one is not None for one in (self.prediction, self.scores, self.probability))

    def check_complete(self, region: str | None = None) -> None:
        """Raise a sentence unless all that a table needs is named, for a region too."""
        needs_scores = region is not None and region_kind(region).needs_scores
        needed = {"--client": self.client, "--group": self.group, "--label": self.label}
        if needs_scores:
            needed["--scores"] = self.scores or self.probability
        elif not self.has_model:
            needed["--prediction, --scores or --probability"] = None
        missing = ", ".join(option for option, given in needed.items() if not given)
        if missing and needs_scores:
            raise InputError(
                f"the {region} region looks at scores, which counts do not hold: give the table of "
                f"scores and its columns (missing: {missing})."
            )
        if missing:
            raise InputError(f"a table needs {missing} too; name the columns.")
        for option, is_given in (
            ("--threshold", self.threshold != 0.5),
            ("--probability-of", self.probability_of is not None),
        ):
            if is_given and self.probability is None:
                raise InputError(
                    f"{option} goes with --probability; name its column, or leave it out."
                )

    def is_table(self, region: str | None = None) -> bool:
        """Whether a table is meant, not counts; if so, all its columns are named."""
        if self.is_unnamed and not (region is not None and region_kind(region).needs_scores):
            return False
        self.check_complete(region)
        return True

    def counted(self, path: Path) -> ClientCounts:
        """Count the people a lottery is fitted on."""
        return self._read(path, FIT, ClientCounts.from_table)

    def scored(self, path: Path) -> ScoredData:
        """The people a lottery is fitted on, with their scores."""
        return self._read(path, FIT, ScoredData.from_table)

    def fitted(self, path: Path, *, by_scores: bool) -> ScoredData | ClientCounts:
        """The people a lottery is fitted on: with their scores where there are some, or must be."""
        counts = self.prediction is not None or (self._counts_only and not by_scores)
        return self.counted(path) if counts else self.scored(path)

    @property
    def _counts_only(self) -> bool:
        """Whether people are looked at as counts: answers, weights, groups that may be any."""
        weighted = self.weight is not None or self.missing_group == "bound"
        return self.prediction is not None or weighted

    def unseen(
        self, path: Path, pairs: Mapping[str, str] | None = None
    ) -> ClientCounts | ScoredData | FoldedData:
        """The people a predictor is judged on: by scores where there are some.

        `pairs` tells the score column of each label, where that is known.
        """
        take: Callable[..., Any] = ScoredData.from_table
        if self.fold is not None:
            take = FoldedData.from_table
        elif self._counts_only:
            take = ClientCounts.from_table
        return self._read(path, TEST, take, pairs)

    def _read(
        self,
        path: Path,
        split: int,
        take: Callable[..., Any],
        pairs: Mapping[str, str] | None = None,
    ) -> Any:
        """Take the rows of a split, or all where no column says one."""
        file = open_table_at(path)
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        favourable, parts = columns.pop("favourable"), columns.pop("split")
        for name in ("scores", "labels", "groups", "clients"):
            columns[name] = split_names(columns[name])
        columns["group"] = group_columns(str(self.group), file.header)
        columns["scores"] = pairs or columns["scores"]
        wanted = TableColumns(**columns)
        table = read_rows(file, [*wanted.names, *filter(None, [parts])], wanted.numbers)
        where = str(path)
        if parts:
            with about(path):
                table = self._rows_of(table, split)
            where += f', its rows of "{"test" if split else "fit"}"'
        with about(where):
            return take(table, **columns, favourable=favourable)

    def _rows_of(self, table: pa.Table, split: int) -> pa.Table:
        """The rows of a split; cross-fitted, nobody is in both."""
        import pyarrow as pa

        header = str(self.split)
        column = code_column(table.column(header), header)
        codes = code_splits(column, header, [split], cross_fitted=self.fold is not None)
        if self.fold and self.row_id:
            dealt = FoldRows.of(table, client=str(self.client), row_id=self.row_id, fold=self.fold)
            dealt.check_apart(codes == FIT, codes == TEST)
        return table.filter(pa.array(codes == split))


def say_scores(people: Any) -> None:
    """Say which column was taken for the score of which label, if any was."""
    if people.score_columns is not None:
        say(says_scores(people.score_columns, people.labels))


def scores_json(people: Any) -> dict[str, Any]:
    """The same for a JSON object; nothing where there were no score columns."""
    if people.score_columns is None:
        return {}
    return {"score_columns": dict(zip(people.labels, people.score_columns, strict=True))}


NotionName = Annotated[str, typer.Option("--notion", help="One of {notions}.")]
PolicyIn = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        help="A fairfl-policy/1 file (TOML) that says what is asked, instead of options.",
    ),
]
SavePolicy = Annotated[
    Path | None, typer.Option(help="Write what is asked to this fairfl-policy/1 file.")
]
DecidedBy = Annotated[str, typer.Option(help="With --save-policy: who decided it; dated today.")]


@dataclass(frozen=True)
class ProgramOptions:
    """What a lottery may mix, and where its rates come from."""

    region: Annotated[
        str | None,
        typer.Option(
            help="simplex, kernel or exact. Default: exact where scores of two labels are given, else "
            "simplex (eo-full: kernel)."
        ),
    ] = None
    rates: Annotated[
        str | None,
        typer.Option(
            help="Where rates come from: labels, scores or shrunk. Default: labels; for exact "
            "without folds: shrunk."
        ),
    ] = None


@dataclass(frozen=True)
class LimitOptions:
    """The notion, with what confidence limits are to hold, and floors."""

    notion: NotionName = "eo"
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Ask that the limits hold on unseen people with this confidence, e.g. 0.95."
        ),
    ] = None
    confidence_scope: Annotated[
        str, typer.Option(help="all: all limits at once; each: every limit on its own.")
    ] = "all"
    confidence_proof: Annotated[
        str, typer.Option(help="measured: by resampling; proved: by theorem, and dearer.")
    ] = "measured"
    floor: Annotated[
        list[str] | None,
        typer.Option(
            help="LABEL=RATE: recognise at least this share of a label in every client and group; "
            "may be given several times."
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="LABEL=DELTA: no client and group loses more than this of the model's own "
            "recognition of a label; may be given several times."
        ),
    ] = None

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee asked for, if any."""
        if self.confidence is None:
            return None
        return Guarantee(self.confidence, self.confidence_scope, self.confidence_proof)

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The floors asked for."""
        return (
            *(parse_floor(text, "--floor") for text in self.floor or ()),
            *(parse_floor(text, "--keep") for text in self.keep or ()),
        )


@dataclass(frozen=True)
class PolicyOptions(LimitOptions):
    """All that is asked of a lottery but for the two epsilons."""

    ratio_global: Annotated[
        float | None,
        typer.Option(
            help="No group's rate below this share of the highest, overall (0.8: four fifths)."
        ),
    ] = None
    ratio_local: Annotated[
        float | None,
        typer.Option(help="The same inside every client; screening, not compliance."),
    ] = None
    ratio_leave_out: Annotated[
        float, typer.Option(help="Leave groups of less than this share of people out of ratios.")
    ] = 0.0
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="GROUPING:SCOPE:EPS, such as race:local:0.05 or sex*race:global:0.1, where "
            "groups are crossed of several columns; may be given several times."
        ),
    ] = None
    utility: Annotated[
        str,
        typer.Option(
            help="What is made as large as can be: accuracy, balanced, or a JSON file "
            '{"labels": [...], "gain": [[a row a label, a column an answer]]}.'
        ),
    ] = "accuracy"
    precision: Annotated[
        list[str] | None,
        typer.Option(
            help="LABEL:SCOPE:RATE, such as ill:local:0.6: of those answered a label at least this "
            "share has it, in every client (local) or overall (global); may be given several times."
        ),
    ] = None
    capacity_global: Annotated[
        float | None,
        typer.Option(help="At most this share of all people is answered favourably."),
    ] = None
    capacity_local: Annotated[
        float | None, typer.Option(help="The same of every client's people.")
    ] = None
    without_group: Annotated[
        bool,
        typer.Option(
            "--without-group",
            help="One rule for all groups of a client: the predictor does not ask for the group "
            "(region exact: two labels).",
        ),
    ] = False
    policy: PolicyIn = None
    save_policy: SavePolicy = None
    decided_by: DecidedBy = ""

    def asked(
        self,
        context: typer.Context,
        eps_global: float = 1.0,
        eps_local: float = 1.0,
        eps_local_client: dict[str, float] | None = None,
    ) -> PolicyFile:
        """What the policy file says, or else what the options do; written where that is asked."""
        if self.policy is not None:
            self._check_alone(context)
            found = PolicyFile.read(self.policy)
        else:
            found = PolicyFile(
                notion=self.notion,
                eps_global=eps_global,
                eps_local=eps_local,
                eps_local_client=tuple((eps_local_client or {}).items()),
                guarantee=self.guarantee,
                policy=self._policy(),
                decided_by=self.decided_by,
                decided_on=today() if self.decided_by else None,
            )
        if self.save_policy is not None:
            write_apart(self.save_policy, self.policy, context.params.get("source"))
            found.write(self.save_policy)
        return found

    def _check_alone(self, context: typer.Context) -> None:
        """Refuse an option beside a policy file that says it, too."""
        ours = {one.name for one in fields(self)} - {"policy", "save_policy"}
        for name in (*sorted(ours), "eps_global", "eps_local", "eps_local_client"):
            source = context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                raise InputError(
                    f"--{name.replace('_', '-')} and --policy are both given; the file says what "
                    "is asked: leave the option out, or change the file."
                )

    def _policy(self) -> Policy:
        return Policy(
            floors=self.floors,
            ratio_global=self.ratio_global,
            ratio_local=self.ratio_local,
            ratio_leave_out=self.ratio_leave_out,
            limits=tuple(parse_limit(text) for text in self.limit or ()),
            utility=Utility.read(self.utility),
            without_group=self.without_group,
            precision=tuple(parse_precision(text) for text in self.precision or ()),
            capacity_global=self.capacity_global,
            capacity_local=self.capacity_local,
        )


def read_program(
    source: Path, columns: TableOptions, how: ProgramOptions, asked: PolicyFile
) -> FairnessProgram:
    """Build the program of a region, or of the default one, from counts or a table."""
    region, rates = how.region, how.rates
    if rates is not None:
        check_rates(rates)
    takes_scores = region is None or region_kind(region).needs_scores
    more: dict[str, Any] = {"guarantee": asked.guarantee, "policy": asked.policy}
    if takes_scores and columns.is_unnamed and _is_histogram(source):
        return FairnessProgram(read_histogram(source), asked.notion, region, **more)
    people: Any = None
    if columns.is_table(region):
        needs_scores = region is not None and region_kind(region).needs_scores
        people = columns.fitted(source, by_scores=needs_scores or rates == "scores")
    else:
        people = read_counts(source)
    return FairnessProgram(people, asked.notion, region, rates=rates, **more)


def _is_histogram(source: Path) -> bool:
    """Whether a file says that it holds histograms of scores."""
    if source.suffix != ".json":
        return False
    value = read_json(source)
    return isinstance(value, dict) and value.get("format") == FORMAT
