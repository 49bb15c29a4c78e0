"""`map`: accuracy over a grid of tolerances."""

from typing import Annotated

import typer

from fairfl_core.cli._options import (
    PolicyOptions,
    ProgramOptions,
    Source,
    TableOptions,
    read_program,
    say_scores,
    scores_json,
)
from fairfl_core.cli._shell import (
    Json,
    print_json,
    print_table,
    progress_bar,
    say,
    split_names,
    with_options,
)
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import number_or_none
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.regions import default_region_sentence


@with_options
def map_(
    context: typer.Context,
    source: Source,
    options: PolicyOptions,
    how: ProgramOptions,
    columns: TableOptions,
    epsilons: Annotated[
        str, typer.Option(help="Tolerances, used for both directions.")
    ] = "0.05,0.1,0.15,0.2,0.25,0.3",
    as_json: Json = False,
) -> None:
    """Map the best accuracy over (eps_local, eps_global): rows local, columns global.

    Example: `fairfl map counts.json --notion eo --epsilons 0.05,0.1,0.2`
    """
    grid = _numbers(epsilons)
    asked = options.asked(context)
    with progress_bar("Solving the grid") as on_progress:
        program = read_program(source, columns, how, asked)
        found = frontier(program, eps_local=grid, eps_global=grid, on_progress=on_progress)
    if as_json:
        asked_json = {
            "guarantee": None if asked.guarantee is None else asked.guarantee.to_json(),
            "policy": None if asked.policy.is_plain else asked.policy.to_json(),
        }
        accuracy = [[number_or_none(value) for value in row] for row in found.accuracy]
        scores_of = scores_json(program.counts)
        print_json({"epsilons": grid, "accuracy": accuracy, **asked_json, **scores_of})
        return
    say_scores(program.counts)
    if how.region is None:
        say(default_region_sentence(program.region))
    print_table(
        f"Accuracy, {asked.notion}, {program.region} ({program.counts.n:,.0f} {program.counts.whom} it was fitted on); "
        "rows: gap allowed inside each client, columns: gap allowed overall",
        {
            "": [f"{epsilon:g}" for epsilon in grid],
            **{
                f"{epsilon:g}": [
                    "collide" if value != value else f"{value:.1%}" for value in column
                ]
                for epsilon, column in zip(grid, found.accuracy.T, strict=True)
            },
        },
    )


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in split_names(text) or []]
    except ValueError as error:
        raise InputError(f'--epsilons "{text}" is not like 0.05,0.1,0.2.') from error
