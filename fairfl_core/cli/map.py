"""`map`: accuracy over a grid of tolerances."""

from typing import Annotated

import typer

from fairfl_core.cli._people import (
    ClientColumn,
    ClientNames,
    Columns,
    Confidence,
    ConfidenceProof,
    ConfidenceScope,
    Favourable,
    FoldColumn,
    GroupColumn,
    GroupNames,
    LabelColumn,
    LabelNames,
    RatesName,
    RowIdColumn,
    ScoreColumns,
    Source,
    SplitColumn,
    guarantee_of,
    read_program,
    say_scores,
    scores_json,
)
from fairfl_core.cli._policy import (
    Floors,
    Keeps,
    Limits,
    RatioGlobal,
    RatioLeaveOut,
    RatioLocal,
    UtilityName,
    WithoutGroup,
    policy_of,
)
from fairfl_core.cli._shell import (
    Json,
    NotionName,
    RegionName,
    print_json,
    print_table,
    progress_bar,
    say,
    split_names,
)
from fairfl_core.errors import InputError

__all__ = ["map_"]


def map_(
    source: Source,
    notion: NotionName = "eo",
    region: RegionName = None,
    epsilons: Annotated[
        str, typer.Option(help="Tolerances, used for both directions.")
    ] = "0.05,0.1,0.15,0.2,0.25,0.3",
    rates: RatesName = None,
    confidence: Confidence = None,
    confidence_scope: ConfidenceScope = "all",
    confidence_proof: ConfidenceProof = "measured",
    floor: Floors = None,
    keep: Keeps = None,
    ratio_global: RatioGlobal = None,
    ratio_local: RatioLocal = None,
    ratio_leave_out: RatioLeaveOut = 0.0,
    limit: Limits = None,
    utility: UtilityName = "accuracy",
    without_group: WithoutGroup = False,
    client: ClientColumn = None,
    group: GroupColumn = None,
    label: LabelColumn = None,
    scores: ScoreColumns = None,
    labels: LabelNames = None,
    groups: GroupNames = None,
    clients: ClientNames = None,
    favourable: Favourable = None,
    split: SplitColumn = None,
    fold: FoldColumn = None,
    row_id: RowIdColumn = None,
    as_json: Json = False,
) -> None:
    """Map the best accuracy over (eps_local, eps_global): rows local, columns global.

    Example: `fairfl map counts.json --notion eo --epsilons 0.05,0.1,0.2`
    """
    from fairfl_core.fairness.notions import number_or_none
    from fairfl_core.lp.frontier import frontier
    from fairfl_core.lp.regions import default_region_sentence

    grid = _numbers(epsilons)
    columns = Columns(
        client,
        group,
        label,
        scores,
        labels,
        groups,
        clients,
        favourable,
        split=split,
        fold=fold,
        row_id=row_id,
    )
    guarantee = guarantee_of(confidence, confidence_scope, confidence_proof)
    policy = policy_of(
        floor, keep, ratio_global, ratio_local, ratio_leave_out, limit, utility, without_group
    )
    with progress_bar("Solving the grid") as on_progress:
        program = read_program(source, notion, region, rates, columns, guarantee, policy)
        found = frontier(program, eps_local=grid, eps_global=grid, on_progress=on_progress)
    if as_json:
        said = {
            "guarantee": None if guarantee is None else guarantee.to_json(),
            "policy": None if policy.is_plain else policy.to_json(),
        }
        accuracy = [[number_or_none(value) for value in row] for row in found.accuracy]
        scores_of = scores_json(program.counts)
        print_json({"epsilons": grid, "accuracy": accuracy, **said, **scores_of})
        return
    say_scores(program.counts)
    if region is None:
        say(default_region_sentence(program.region))
    print_table(
        f"Accuracy, {notion}, {program.region} ({program.counts.n:,.0f} people it was fitted on); "
        "rows: gap allowed inside each client, columns: gap allowed overall",
        ["", *(f"{epsilon:g}" for epsilon in grid)],
        [
            [f"{epsilon:g}", *("collide" if value != value else f"{value:.1%}" for value in row)]
            for epsilon, row in zip(grid, found.accuracy, strict=True)
        ],
    )


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in split_names(text) or []]
    except ValueError as error:
        raise InputError(f'--epsilons "{text}" is not like 0.05,0.1,0.2.') from error
