"""Options of the commands that take a table of scores instead of counts."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairfl_core.cli._shell import read_counts, split_names
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.people.scored import ScoredPeople
    from fairfl_core.solving.guarantee import Guarantee
    from fairfl_core.solving.policy import Policy
    from fairfl_core.solving.program import Program

__all__ = [
    "ClientColumn",
    "ClientNames",
    "Columns",
    "Confidence",
    "ConfidenceProof",
    "ConfidenceScope",
    "Favourable",
    "GroupColumn",
    "GroupNames",
    "LabelColumn",
    "LabelNames",
    "RatesName",
    "ScoreColumns",
    "Source",
    "guarantee_of",
    "read_program",
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
        help="Where rates come from: labels, scores or shrunk. Default: labels; exact: shrunk.",
    ),
]
ClientColumn = Annotated[str | None, typer.Option("--client", help="Column of the client.")]
GroupColumn = Annotated[str | None, typer.Option("--group", help="Column of the group.")]
LabelColumn = Annotated[str | None, typer.Option("--label", help="Column of the true label.")]
ScoreColumns = Annotated[
    str | None, typer.Option("--scores", help="One score column per label, COL,COL.")
]
LabelNames = Annotated[
    str | None, typer.Option("--labels", help="All labels, in the order of the score columns.")
]
GroupNames = Annotated[str | None, typer.Option("--groups", help="All groups.")]
ClientNames = Annotated[str | None, typer.Option("--clients", help="All clients.")]
Favourable = Annotated[str | None, typer.Option("--favourable", help="Label. Default: the last.")]


Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        help="Ask that the limits hold on unseen people with this confidence, e.g. 0.95.",
    ),
]
ConfidenceScope = Annotated[
    str,
    typer.Option("--confidence-scope", help="each: every limit on its own; all: all at once."),
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

    def named(self, region: str) -> bool:
        """Whether a table of scores is meant; if so, that all its columns are named."""
        from fairfl_core.solving.regions import region_kind

        options = {
            "--client": self.client,
            "--group": self.group,
            "--label": self.label,
            "--scores": self.scores,
        }
        needs_scores = region_kind(region).needs_scores
        if not needs_scores and not any(options.values()):
            return False
        missing = ", ".join(option for option, given in options.items() if not given)
        if missing and needs_scores:
            raise InputError(
                f"the {region} region looks at scores, which counts do not hold: give the table of "
                f"scores and its columns (missing: {missing})."
            )
        if missing:
            raise InputError(f"a table of scores needs {missing} too; name the columns.")
        return True

    def read(self, rows: Path) -> "ScoredPeople":
        """Read the table of scores."""
        from fairfl_core._io.tables import open_table_at, read_rows
        from fairfl_core.people.scored import ScoredPeople

        scores = split_names(self.scores) or []
        client, group, label = str(self.client), str(self.group), str(self.label)
        table = read_rows(open_table_at(rows), [client, group, label], scores)
        try:
            return ScoredPeople.from_table(
                table,
                client=client,
                group=group,
                label=label,
                scores=scores,
                labels=split_names(self.labels),
                groups=split_names(self.groups),
                clients=split_names(self.clients),
                favourable=self.favourable,
            )
        except InputError as error:
            raise InputError(f"{rows}: {error}") from error


def read_program(
    source: Path,
    notion: str,
    region: str,
    rates: str | None,
    columns: Columns,
    guarantee: "Guarantee | None",
    policy: "Policy",
) -> "Program":
    """Build the program of a region from counts, or from a table of scores."""
    from fairfl_core.solving.build import build_program
    from fairfl_core.solving.rate_estimates import check_rates

    if rates is not None:
        check_rates(rates)
    scored = columns.named(region)
    people = columns.read(source) if scored else read_counts(source)
    return build_program(people, notion, region, rates=rates, guarantee=guarantee, policy=policy)


def guarantee_of(confidence: float | None, scope: str, proof: str) -> "Guarantee | None":
    """The guarantee that the options ask for, if any."""
    from fairfl_core.solving.guarantee import Guarantee

    return None if confidence is None else Guarantee(confidence, scope, proof)
