"""`join`: seeds that were trained apart, as one experiment."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import say
from fairfl_core.errors import InputError

__all__ = ["join"]


def join(
    folders: Annotated[list[Path], typer.Argument(help="Experiments of the same training.")],
    out: Annotated[Path, typer.Option(help="Folder of the experiment to write.")],
) -> None:
    """Join experiments that differ in nothing but their seeds.

    OUT may be one of them.

    Example: python -m research join data/experiments/adult runs/adult --out data/experiments/adult
    """
    from fairfl_core.data import experiments

    if len(folders) < 2:
        raise InputError("one experiment is nothing to join; name two folders or more.")
    parts = [experiments.open(folder.name, folder.parent) for folder in folders]
    made = experiments.join(out, parts)
    accuracy = made.manifest["figures"]["test"]["accuracy"]
    say(
        f"{out}: {made.manifest['scores']['rows']:,} scores of {len(made.seeds)} seeds; "
        f"{made.method} on test {accuracy['mean']:.1%} (spread {accuracy['spread']:.1%})."
    )
