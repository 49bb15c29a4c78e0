"""Seeds that were trained apart, as one experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairfl_core.data.experiments import Experiment, Protocol
from fairfl_core.data.save_experiment import Block, write_blocks
from fairfl_core.errors import InputError

# What the manifest says of a training run by run, and what is computed from the scores.
_BY_SEED = ("rounds_chosen", "learning_curves")
_COMPUTED = {"format", "name", "seeds", "splits", "scores", "figures"}


def join_experiments(folder: str | Path, parts: Sequence[Experiment]) -> Experiment:
    """Write one experiment with the seeds of several, each file whole or not at all.

    Parameters
    ----------
    folder : path
        The experiment's own folder, which may be that of one of the parts.
    parts : sequence of Experiment
        The same people, recipe and protocol; no seed in two of them. What the last one tells of
        versions is kept.
    """
    _check(parts)
    of_seed = {seed: part for part in parts for seed in part.seeds}
    seeds = sorted(of_seed)
    last = parts[-1].manifest
    description = {name: value for name, value in last.items() if name not in _COMPUTED}
    for name in _BY_SEED:
        description[name] = {str(seed): of_seed[seed].manifest[name][str(seed)] for seed in seeds}
    protocol = Protocol.from_manifest(last)
    blocks = [
        Block(seed, code, fold, of_seed[seed].scores(seed, split, fold))
        for seed in seeds
        for code, split in enumerate(protocol.splits)
        for fold in range(protocol.folds)
    ]
    return write_blocks(Path(folder), description, protocol, blocks, last["scores"]["note"])


def _check(parts: Sequence[Experiment]) -> None:
    seeds = [seed for part in parts for seed in part.seeds]
    twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    if twice:
        raise InputError(f"seed {twice[0]} is in two of the experiments; leave one of them out.")
    first = parts[0]
    for part in parts[1:]:
        one, other = _sameness(first), _sameness(part)
        differ = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        if differ:
            raise InputError(
                f"{part.path} and {first.path} differ in more than their seeds: {differ[0]}; only "
                "runs of the same training can be joined."
            )


def _sameness(part: Experiment) -> dict[str, Any]:
    """What runs of one training share; a switch that an older manifest lacks is off."""
    apart = {*_BY_SEED, *_COMPUTED, "versions", "training"}
    same = {name: value for name, value in part.manifest.items() if name not in apart}
    training = part.manifest.get("training", {})
    return same | {f"training {name}": value for name, value in training.items() if value}
