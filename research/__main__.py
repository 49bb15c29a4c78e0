"""The command line of research: ``python -m research reproduce|holding|methods|sweep|join``."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import write_whole
from fairfl_core.cli import run_app
from fairfl_core.cli._shell import print_json, print_table, progress_bar, say, working
from fairfl_core.errors import InputError

app = typer.Typer(
    help="Reproduce the paper, compare other methods, measure whether limits hold.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("docs/reproduction.md"),
) -> None:
    """Write the reproduction of the paper's experiments from the shipped scores.

    Example: `python -m research reproduce --out docs/reproduction.md`
    """
    from research.paper.reproduction import reproduction

    with working("Reproducing"):
        text = reproduction()
    write_whole(out, text)
    say(f"{out}: written.")


@app.command()
def holding(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("docs/holding.md"),
) -> None:
    """Write the evidence that limits hold on unseen people, from the shipped scores.

    Example: `python -m research holding --out docs/holding.md`
    """
    from research.holding.document import holding as document

    with progress_bar("Measuring") as on_progress:
        text = document(on_progress=on_progress)
    write_whole(out, text)
    say(f"{out}: written.")


@app.command()
def methods(
    experiment: Annotated[
        str | None, typer.Option(help="Its name, e.g. adult; all unless given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list in JSON.")] = False,
) -> None:
    """Compare every method shipped: accuracy and gaps on test people, rounds, seconds, bytes.

    Figures are means over seeds, recomputed from the answers in data/methods. Compare methods
    where their gaps agree, not at equal settings.

    Example: `python -m research methods --experiment adult --json`
    """
    from fairfl_core.evaluation.methods import GAPS, method_experiments, method_rows

    known = method_experiments()
    if experiment is not None and experiment not in known:
        raise InputError(
            f'no methods are shipped for "{experiment}"; they are for: {", ".join(known)}.'
        )
    names = known if experiment is None else [experiment]
    rows = [row for name in names for row in method_rows(name)]
    if as_json:
        print_json([row.to_json() for row in rows])
        return
    for name in names:
        mine = [row for row in rows if row.experiment == name]
        gaps = zip(("global", "local", "worst"), GAPS, strict=False)
        print_table(
            f"{name}, on test people",
            {
                "method": [row.method for row in mine],
                "setting": [row.setting for row in mine],
                "seeds": [str(len(row.seeds)) for row in mine],
                "accuracy": [f"{row.accuracy.mean():.2%}" for row in mine],
                **{title: [f"{row.gap(gap):.4f}" for row in mine] for title, gap in gaps},
            },
        )


@app.command()
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
    from fairfl_core.training.method import METHODS, USUAL
    from fairfl_core.training.recipes import recipe as recipe_of
    from research.post_processed import POST_PROCESSED, ship_post_processed
    from research.shipping import ship_fedavg, ship_method
    from research.sweep import Sweeper, sweep_of
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


@app.command()
def join(
    folders: Annotated[list[Path], typer.Argument(help="Experiments of the same training.")],
    out: Annotated[Path, typer.Option(help="Folder of the experiment to write.")],
) -> None:
    """Join experiments that differ in nothing but their seeds.

    OUT may be one of them.

    Example: python -m research join data/experiments/adult runs/adult --out data/experiments/adult
    """
    from fairfl_core.data import experiments
    from research.join import join_experiments

    if len(folders) < 2:
        raise InputError("one experiment is nothing to join; name two folders or more.")
    parts = [experiments.open(folder.name, folder.parent) for folder in folders]
    made = join_experiments(out, parts)
    accuracy = made.manifest["figures"]["test"]["accuracy"]
    say(
        f"{out}: {made.manifest['scores']['rows']:,} scores of {len(made.seeds)} seeds; "
        f"{made.method} on test {accuracy['mean']:.1%} (spread {accuracy['spread']:.1%})."
    )


def main() -> None:
    """Run a command of research."""
    run_app(app, "python -m research")


if __name__ == "__main__":
    main()
