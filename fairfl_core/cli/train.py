"""`train`: from a dataset to an experiment of scores."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Annotated, Any

import numpy as np
import typer
from rich import progress
from rich.console import Console

from fairfl_core.data import datasets, save_experiment
from fairfl_core.data.columns import Grouping
from fairfl_core.data.datasets import People
from fairfl_core.data.experiments import SeedScores
from fairfl_core.errors import InputError
from fairfl_core.training.data import check_folds
from fairfl_core.training.method import settings_from
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.recipes import recipe as recipe_of
from fairfl_core.training.training import Run, train_seed

_PACKAGES = ("numpy", "pandas", "pyarrow", "tensorflow-cpu", "tensorflow")


def train(
    experiment: Annotated[str, typer.Argument(help="Its name, e.g. adult.")],
    seeds: Annotated[str, typer.Option(help="Seeds, e.g. 0-9 or 0,3.")] = "0-9",
    rounds: Annotated[int | None, typer.Option(help="Rounds to run.", min=1)] = None,
    folds: Annotated[
        int, typer.Option(help="Cross-fit with so many folds; 0 is the paper's split.")
    ] = 0,
    method: Annotated[
        str | None, typer.Option(help="What clients and server do in a round.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the method, e.g. weighting=uniform; repeatable."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("runs"),
    source: Annotated[Path | None, typer.Option(help="Folder with a copy of the data.")] = None,
    grouping: Annotated[str | None, typer.Option(help="How groups are formed.")] = None,
    group_input: Annotated[bool, typer.Option(help="Let the model see the group.")] = True,
    client_input: Annotated[bool, typer.Option(help="Let the model see the client.")] = True,
    class_weighting: Annotated[bool, typer.Option(help="Let rare labels count more.")] = False,
    save: Annotated[bool, typer.Option(help="Write the experiment when all is trained.")] = True,
) -> None:
    """Train an experiment and write its scores.

    Killed at any moment, the same command goes on where it was. The scores and their manifest are
    written to OUT/NAME, the checkpoints to OUT/NAME/checkpoints. NAME is the experiment's, with the
    grouping, the method and `cross_fitted` added where they are not the usual ones.

    With --folds the people of training and validation are dealt into folds. One model a fold is
    trained without it and scores it; test people are scored by every model.

    Example: fairfl train adult --seeds 0-9 --folds 4
    """
    usual = recipe_of(experiment)
    if usual.model != "linear" and find_spec("tensorflow") is None:
        raise InputError(
            "training needs TensorFlow, which comes with the extra fairfl[train]; install it with "
            "`pip install tensorflow-cpu`, in a checkout with `make install`."
        )
    recipe = replace(
        usual,
        rounds=rounds or usual.rounds,
        folds=folds,
        method=method or usual.method,
        method_settings=settings_from(method or usual.method, setting or ()),
        grouping=grouping,
        group_input=group_input,
        client_input=client_input,
        class_weighting=class_weighting,
    )
    wanted = seeds_from(seeds)
    people = datasets.open(recipe.dataset, source=source, grouping=grouping)
    check_folds(people, recipe, wanted)
    folder = out / folder_name(recipe)
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    trained = _train_all(people, recipe, wanted, folder / "checkpoints")
    if save:
        _save(folder, people, recipe, trained)


def _save(folder: Path, people: People, recipe: Recipe, trained: list[list["SeedScores"]]) -> None:
    """Write the experiment and say how good the model is."""
    description = describe(people, recipe, trained[0][0].clients)
    if recipe.folds:
        paper_split = folder_name(replace(recipe, folds=0))
        made = save_experiment.save_cross_fitted(folder, description, trained, paper_split)
    else:
        made = save_experiment.save(folder, description, [models[0] for models in trained])
    accuracy = made.manifest["figures"]["test"]["accuracy"]
    typer.echo(
        f"{folder}: {made.manifest['scores']['rows']:,} scores of {len(trained)} seeds; "
        f"{made.manifest['training']['method_title']} on test {accuracy['mean']:.1%} "
        f"(spread {accuracy['spread']:.1%})."
    )


def folder_name(recipe: Recipe) -> str:
    """The experiment's name, and its grouping, method and folds where they are not the usual."""
    parts = [recipe.experiment]
    usual = next(iter(datasets.declaration(recipe.dataset).groupings))
    if recipe.grouping not in (None, usual):
        parts.append(str(recipe.grouping))
    if recipe.method != recipe_of(recipe.experiment).method:
        parts.append(recipe.method)
    return "_".join([*parts, *(["cross_fitted"] if recipe.folds else [])])


def seeds_from(text: str) -> list[int]:
    """Seeds written as ranges and lists: ``0-4,7``."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            seeds += range(int(first), int(last if dash else first) + 1)
    except ValueError as error:
        raise InputError(f'--seeds "{text}" is not like 0-9 or 0,3,5.') from error
    if not seeds:
        raise InputError(f'--seeds "{text}" names no seed; write it like 0-9.')
    return sorted(set(seeds))


def describe(people: People, recipe: Recipe, clients: tuple[str, ...]) -> dict[str, Any]:
    """All that a manifest tells beside the scores and their figures."""
    declared = datasets.declaration(recipe.dataset)
    crossed = declared.crossed.get(str(people.origin.get("grouping")))
    grouping = {"grouping": Grouping.of_names(crossed, people.groups).to_json()} if crossed else {}
    # A title ends with how groups are formed, which a crossing forms otherwise.
    what = recipe.title.rpartition(", ")[0]
    rows = np.bincount(people.client, minlength=len(clients)).tolist()
    how = declared.client
    if recipe.shares:
        rows = [recipe.size] * len(clients)
        how = (
            f"{len(recipe.shares)} clients of {recipe.size:,} rows with these shares of women, "
            "drawn anew for each seed, no lesion in two clients"
        )
    versions = {"python": python_version()}
    for package in _PACKAGES:
        with suppress(ModuleNotFoundError):
            versions[package] = version(package)
    return grouping | {
        "title": f"{what}, by {' and '.join(crossed)}" if crossed else recipe.title,
        "labels": list(people.labels),
        "groups": list(people.groups),
        "clients": list(clients),
        "favourable": declared.favourable,
        "notion": declared.notion,
        "client_rows": dict(zip(clients, rows, strict=True)),
        "dataset": {
            **people.origin,
            "rows_used": sum(rows),
            "title": declared.title,
            "features": list(declared.features),
            "client": how,
            "group": declared.group,
            "label": declared.label,
        },
        "training": {
            **recipe.to_json(),
            **recipe.in_words(),
        },
        "versions": versions,
    }


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep TensorFlow's greetings, written past Python, off the screen; errors still rise."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # and what it says later
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _train_all(
    people: People, recipe: Recipe, seeds: list[int], folder: Path
) -> list[list["SeedScores"]]:
    """Train seed after seed, fold after fold, under one progress bar a seed."""
    if recipe.model != "linear":
        with _silenced():
            import_module("fairfl_core.training.tensorflow_trainer")
    folds: list[int | None] = list(range(recipe.folds)) or [None]
    trained = []
    with progress.Progress(*_columns(), console=Console(stderr=True)) as bars:
        for seed in seeds:
            total = recipe.rounds * len(folds)
            task = bars.add_task("", total=total, loss=0.0, accuracy=0.0)
            models = []
            for place, fold in enumerate(folds):
                part = "" if fold is None else f" fold {place + 1} of {len(folds)}"
                name = f"{recipe.experiment} seed {seed}{part} round"
                done = place * recipe.rounds
                bars.update(task, description=name)

                def on_progress(run: Run, task: Any = task, done: int = done) -> None:
                    if run.round:
                        loss, accuracy = run.loss[-1], run.accuracy[-1]
                        rounds = done + run.round
                        bars.update(task, completed=rounds, loss=loss, accuracy=accuracy)

                models.append(
                    train_seed(
                        people, recipe, seed, fold=fold, folder=folder, on_progress=on_progress
                    )
                )
            trained.append(models)
    return trained


def _columns() -> tuple[Any, ...]:

    return (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("loss {task.fields[loss]:.4f}  accuracy {task.fields[accuracy]:.1%}"),
        progress.TimeRemainingColumn(),
    )
