"""Options that say what is asked of a lottery, and the policy file that says the same."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer
from click.core import ParameterSource

from fairfl_core.cli._shell import write_apart
from fairfl_core.cli._table_options import TableOptions, read_people
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Floor, Policy
    from fairfl_core.lp.policy_file import PolicyFile
    from fairfl_core.lp.program import FairnessProgram

__all__ = [
    "LimitOptions",
    "NotionName",
    "PolicyIn",
    "PolicyOptions",
    "ProgramOptions",
    "read_program",
]

NotionName = Annotated[str, typer.Option("--notion", help="One of {notions}.")]
PolicyIn = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        help="A fairfl-policy/1 file (TOML) that says what is asked, instead of options.",
    ),
]


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
    def guarantee(self) -> "Guarantee | None":
        """The guarantee asked for, if any."""
        from fairfl_core.lp.guarantee import Guarantee

        if self.confidence is None:
            return None
        return Guarantee(self.confidence, self.confidence_scope, self.confidence_proof)

    @property
    def floors(self) -> "tuple[Floor, ...]":
        """The floors asked for."""
        from fairfl_core.lp.policy import parse_floor

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
    save_policy: Annotated[
        Path | None, typer.Option(help="Write what is asked to this fairfl-policy/1 file.")
    ] = None
    decided_by: Annotated[
        str, typer.Option(help="With --save-policy: who decided it; dated today.")
    ] = ""

    def asked(
        self,
        eps_global: float = 1.0,
        eps_local: float = 1.0,
        eps_local_client: dict[str, float] | None = None,
    ) -> "PolicyFile":
        """What the policy file says, or else what the options do; written where that is asked."""
        from fairfl_core.lp.policy_file import PolicyFile, today

        if self.policy is not None:
            self._check_alone()
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
            write_apart(self.save_policy, self.policy)
            found.write(self.save_policy)
        return found

    def _check_alone(self) -> None:
        """Refuse an option beside a policy file that says it, too."""
        context = click.get_current_context()
        ours = {one.name for one in fields(self)} - {"policy", "save_policy"}
        for name in (*sorted(ours), "eps_global", "eps_local", "eps_local_client"):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(
                    f"--{name.replace('_', '-')} and --policy are both given; the file says what "
                    "is asked: leave the option out, or change the file."
                )

    def _policy(self) -> "Policy":
        from fairfl_core.lp.policy import Policy, parse_limit, parse_precision
        from fairfl_core.lp.utility import Utility

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
    source: Path, columns: TableOptions, how: ProgramOptions, asked: "PolicyFile"
) -> "FairnessProgram":
    """Build the program of a region, or of the default one, from counts or a table."""
    from fairfl_core.lp.program import FairnessProgram
    from fairfl_core.lp.rate_estimates import check_rates
    from fairfl_core.lp.regions import region_kind

    region, rates = how.region, how.rates
    if rates is not None:
        check_rates(rates)
    takes_scores = region is None or region_kind(region).needs_scores
    more: dict[str, Any] = {"guarantee": asked.guarantee, "policy": asked.policy}
    if takes_scores and columns.is_unnamed and _is_histogram(source):
        from fairfl_core.lp.exact.histogram_file import read_histogram

        return FairnessProgram(read_histogram(source), asked.notion, region, **more)
    people = read_people(source, columns, region)
    return FairnessProgram(people, asked.notion, region, rates=rates, **more)


def _is_histogram(source: Path) -> bool:
    """Whether a file says that it holds histograms of scores."""
    from fairfl_core._io.files import read_json
    from fairfl_core.lp.exact.histogram_file import FORMAT

    if source.suffix != ".json":
        return False
    value = read_json(source)
    return isinstance(value, dict) and value.get("format") == FORMAT
