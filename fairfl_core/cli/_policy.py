"""Options of the commands that ask for more than two epsilons."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fairfl_core.lp.policy import Policy

__all__ = [
    "Floors",
    "Keeps",
    "Limits",
    "RatioGlobal",
    "RatioLeaveOut",
    "RatioLocal",
    "UtilityName",
    "WithoutGroup",
    "policy_of",
]

Floors = Annotated[
    list[str] | None,
    typer.Option(
        "--floor",
        help="LABEL=RATE: recognise at least this share of a label in every client and group; "
        "may be given several times.",
    ),
]
Keeps = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="LABEL=DELTA: no client and group loses more than this of the model's own "
        "recognition of a label; may be given several times.",
    ),
]
RatioGlobal = Annotated[
    float | None,
    typer.Option(
        help="No group's rate below this share of the highest, overall (0.8: four fifths)."
    ),
]
RatioLocal = Annotated[
    float | None, typer.Option(help="The same inside every client; screening, not compliance.")
]
RatioLeaveOut = Annotated[
    float, typer.Option(help="Leave groups of less than this share of people out of ratios.")
]
UtilityName = Annotated[
    str,
    typer.Option(
        "--utility",
        help="What is made as large as can be: accuracy, balanced, or a JSON file "
        '{"labels": [...], "gain": [[a row a label, a column an answer]]}.',
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="GROUPING:SCOPE:EPS, such as race:local:0.05 or sex*race:global:0.1, where groups "
        "are crossed of several columns; may be given several times.",
    ),
]
WithoutGroup = Annotated[
    bool,
    typer.Option(
        "--without-group",
        help="One rule for all groups of a client: the predictor does not ask for the group "
        "(region exact: two labels).",
    ),
]


def policy_of(
    floors: list[str] | None,
    keeps: list[str] | None,
    ratio_global: float | None,
    ratio_local: float | None,
    ratio_leave_out: float,
    limits: list[str] | None,
    utility: str,
    without_group: bool,
) -> "Policy":
    """The policy that the options ask for."""
    from fairfl_core.lp.policy import Policy, parse_floor, parse_limit
    from fairfl_core.lp.utility import Utility

    return Policy(
        floors=(
            *(parse_floor(text, "--floor") for text in floors or ()),
            *(parse_floor(text, "--keep") for text in keeps or ()),
        ),
        ratio_global=ratio_global,
        ratio_local=ratio_local,
        ratio_leave_out=ratio_leave_out,
        limits=tuple(parse_limit(text) for text in limits or ()),
        utility=Utility.read(utility),
        without_group=without_group,
    )
