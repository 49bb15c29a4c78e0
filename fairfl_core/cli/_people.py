"""Options of the commands that take a table of scores instead of counts."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairfl_core.cli._shell import read_counts, split_names
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.people.scored import ScoredPeople
    from fairfl_core.solving.exact.program import ExactProgram
    from fairfl_core.solving.program import FairnessProgram

__all__ = [
    "ClientColumn",
    "ClientNames",
    "Columns",
    "Favourable",
    "GroupColumn",
    "GroupNames",
    "LabelColumn",
    "LabelNames",
    "RatesName",
    "ScoreColumns",
    "Source",
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
        options = {
            "--client": self.client,
            "--group": self.group,
            "--label": self.label,
            "--scores": self.scores,
        }
        if region != "exact" and not any(options.values()):
            return False
        missing = ", ".join(option for option, given in options.items() if not given)
        if missing and region == "exact":
            raise InputError(
                "the exact region looks at scores, which counts do not hold: give the table of "
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
    source: Path, notion: str, region: str, rates: str | None, columns: Columns
) -> "FairnessProgram | ExactProgram":
    """Build the program of a region from counts, or from a table of scores."""
    from fairfl_core.solving.build import program_for
    from fairfl_core.solving.program import FairnessProgram
    from fairfl_core.solving.rate_estimates import RATES, shrink

    if rates is not None and rates not in RATES:
        raise InputError(f'there are no rates by "{rates}"; choose one of {", ".join(RATES)}.')
    if columns.named(region):
        return program_for(columns.read(source), notion, region, rates)
    counts = read_counts(source)
    if rates == "scores":
        raise InputError(
            "rates from scores need the table of scores, which counts do not hold; give the table "
            "with --client, --group, --label and --scores."
        )
    return FairnessProgram(shrink(counts) if rates == "shrunk" else counts, notion, region)
