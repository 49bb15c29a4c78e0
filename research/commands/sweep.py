"""`sweep`: from a dataset to the answers of every method, as `methods` reads them."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import say
from fairfl_core.errors import InputError

__all__ = ["sweep"]


def sweep(
    experiment: Annotated[str, typer.Argument(help="Its name, e.g. adult.")],
    method: Annotated[
        list[str] | None, typer.Option(help="A method; repeatable; all unless given.")
    ] = None,
    notion: Annotated[
        list[str] | None, typer.Option(help="sp or eop; repeatable; both unless given.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, e.g. 0-9 or 0,3.")] = "0-9",
    tuning_seeds: Annotated[str, typer.Option(help="Seeds whose validation people tune.")] = "0-1",
    runs: Annotated[Path, typer.Option(help="Folder where runs are kept.")] = Path("runs/sweeps"),
    out: Annotated[Path, typer.Option(help="Folder to write answers to.")] = Path("data/methods"),
    source: Annotated[Path | None, typer.Option(help="Folder with a copy of the data.")] = None,
) -> None:
    """Train every fair method with equal care, sweep its knob, and write what it answers.

    Each run is kept when it is done, so that the same command goes on where it was killed. Methods
    on FedAvg's scores (ours, LoGoFair, FedFACT, Post-FFL) are fitted on the bundled experiment.

    Example: `python -m research sweep adult --method fairfed --notion sp`
    """
    from fairfl_core.cli.train import seeds_from
    from fairfl_core.data import datasets
    from fairfl_core.training.methods import METHODS, USUAL
    from fairfl_core.training.recipes import recipe as recipe_of
    from research.post_processed import POST_PROCESSED, ship_post_processed
    from research.shipping import ship_fedavg, ship_method
    from research.sweep import Sweeper
    from research.sweeps import sweep_of
    from research.trained import register_all

    register_all()
    known = [*METHODS, *POST_PROCESSED]
    wanted = method or known
    for name in wanted:
        if name not in known:
            raise InputError(f'there is no method "{name}"; choose one of: {", ".join(known)}.')
    notions, all_seeds = notion or ["sp", "eop"], seeds_from(seeds)
    recipe = recipe_of(experiment)
    people = datasets.open(recipe.dataset, source=source)
    sweeper = Sweeper(people, recipe, runs / experiment, on_run=say)
    if USUAL in wanted:
        ship_fedavg(sweeper, people, recipe, notions, seeds=all_seeds, folder=out)
    for name in wanted:
        if name in POST_PROCESSED:
            shipped = ship_post_processed(name, experiment, notions, all_seeds, out)
        elif name != USUAL:
            shipped = ship_method(
                sweeper,
                people,
                recipe,
                [sweep_of(name, experiment, each) for each in notions],
                seeds=all_seeds,
                tuning_seeds=seeds_from(tuning_seeds),
                folder=out,
            )
        else:
            continue
        say(f"{shipped.path}: {len(shipped.settings)} settings of {len(all_seeds)} seeds.")
