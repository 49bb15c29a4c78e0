"""`map`: accuracy over a grid of tolerances."""

from typing import Annotated

import typer

from fairfl_core.cli._shell import (
    Counts,
    Json,
    NotionName,
    RegionName,
    print_json,
    print_table,
    progress_bar,
    read_counts,
    split_names,
)
from fairfl_core.errors import InputError

__all__ = ["map_"]


def map_(
    counts: Counts,
    notion: NotionName = "eo",
    region: RegionName = "simplex",
    epsilons: Annotated[
        str, typer.Option(help="Tolerances, used for both directions.")
    ] = "0.05,0.1,0.15,0.2,0.25,0.3",
    as_json: Json = False,
) -> None:
    """Map the best accuracy over (eps_local, eps_global): rows local, columns global.

    Example: `python -m fairfl_core map counts.json --notion eo --epsilons 0.05,0.1,0.2`
    """
    from fairfl_core.frontier import frontier

    table = read_counts(counts)
    grid = _numbers(epsilons)
    with progress_bar("Solving the grid") as progress:
        found = frontier(table, notion, region, eps_local=grid, eps_global=grid, progress=progress)
    if as_json:
        print_json({"epsilons": grid, "accuracy": found.accuracy.tolist()})
        return
    print_table(
        f"Accuracy, {notion}, {region} ({table.n:,.0f} people, the counts it was fitted on); "
        "rows: gap allowed inside each client, columns: gap allowed overall",
        ["", *(f"{epsilon:g}" for epsilon in grid)],
        [
            [f"{epsilon:g}", *(f"{value:.1%}" for value in row)]
            for epsilon, row in zip(grid, found.accuracy, strict=True)
        ],
    )


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in split_names(text) or []]
    except ValueError as error:
        raise InputError(f'--epsilons "{text}" is not like 0.05,0.1,0.2.') from error
