"""From answers and the runs of a sweep to the files that are shipped, in an order that says nothing."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.files import write_json, write_whole
from fairfl_core.data.datasets import People
from fairfl_core.data.experiments import (
    METHOD_FORMAT,
    METHODS_FOLDER,
    SPLITS,
    Answered,
    MethodAnswers,
    open_method,
)
from fairfl_core.training.method import make_method, method_class
from fairfl_core.training.recipes import Recipe
from research.sweep import TRIALS, Kept, Sweep, Sweeper

_NAMES = ("client", "group", "label")


def save_method(
    manifest: Mapping[str, Any],
    answers: Mapping[str, Mapping[int, Mapping[str, Answered]]],
    folder: str | Path = METHODS_FOLDER,
) -> MethodAnswers:
    """Write a method's answers and manifest, each file whole or not at all.

    Parameters
    ----------
    manifest : mapping
        ``method``, ``title``, ``experiment``, ``clients``, ``groups``, ``labels``, ``settings``
        (by name, in the order of `answers`) and whatever else the manifest is to say.
    answers : mapping
        By setting, seed and split.
    """
    home = Path(folder) / str(manifest["experiment"])
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{manifest['method']}.parquet"
    drawn = any(
        answered.drawn
        for by_seed in answers.values()
        for by_split in by_seed.values()
        for answered in by_split.values()
    )
    blocks = [
        _block(manifest, setting, split, by_seed, drawn)
        for setting, by_seed in answers.items()
        for split in SPLITS
    ]
    data = _written(blocks)
    write_whole(path, data)
    whole = {
        "format": METHOD_FORMAT,
        **manifest,
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "rows": sum(len(block) for block in blocks),
        "drawn": drawn,
    }
    write_json(home / f"{manifest['method']}.json", whole)
    return open_method(str(manifest["experiment"]), str(manifest["method"]), folder)


def _block(
    manifest: Mapping[str, Any],
    setting: str,
    split: str,
    by_seed: Mapping[int, Mapping[str, Answered]],
    drawn: bool,
) -> pa.Table:
    """One row group: a setting and a split, every seed."""
    columns: dict[str, list[NDArray[Any]]] = {}
    for seed, by_split in sorted(by_seed.items()):
        answered = by_split[split]
        cells = np.nonzero(answered.confusion)
        people, squares = answered.confusion[cells], answered.squares[cells]
        many = np.ones(len(people), int) if drawn else people.round().astype(int)
        parts: dict[str, NDArray[Any]] = {"seed": np.full(len(people), seed, np.int16)}
        parts |= dict(zip((*_NAMES, "prediction"), cells, strict=True))
        for name, part in parts.items():
            columns.setdefault(name, []).append(np.repeat(part, many))
        if drawn:
            columns.setdefault("people", []).append(people)
            columns.setdefault("squares", []).append(squares)
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    rows = len(whole["seed"])
    named = {
        name: _named(whole[name], manifest["labels" if name == "prediction" else f"{name}s"])
        for name in (*_NAMES, "prediction")
    }
    return pa.table(
        {
            "setting": _named(np.zeros(rows, int), [setting]),
            "seed": pa.array(whole["seed"]),
            "split": _named(np.full(rows, SPLITS.index(split)), SPLITS),
            **named,
            **{
                name: pa.array(whole[name].astype(np.float32))
                for name in ("people", "squares")
                if drawn
            },
        }
    )


def _named(codes: NDArray[np.integer], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(names)))


def _written(blocks: Sequence[pa.Table]) -> bytes:
    sink = pa.BufferOutputStream()
    schema = blocks[0].schema
    numbers = [name for name in ("people", "squares") if name in schema.names]
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in schema.names if name not in numbers],
        write_statistics=False,
    ) as writer:
        for block in blocks:
            writer.write_table(block, row_group_size=max(len(block), 1))
    return sink.getvalue().to_pybytes()


CLOSE = 0.005  # a round has converged when its criterion is so near the least
_BYTES = 4  # of a number that is sent

PROTOCOL = (
    f"{TRIALS} trials a method, judged on validation people of the tuning seeds only: the least "
    "global plus mean local gap among those at most six points of accuracy below FedAvg. Swept "
    "settings go on from FedAvg's kept model of the same seed; the paper's setting starts from "
    "first weights. `rounds`, `seconds` (processor time of one core) and `bytes_per_client` are up "
    "to the round kept, FedAvg's included where the setting goes on from it."
)


def converged(kept: Kept) -> int:
    """The first round (from 1) whose criterion is within .005 of the least."""
    return int(np.argmax(kept.criterion <= kept.criterion.min() + CLOSE)) + 1


def ship_method(
    sweeper: Sweeper,
    people: People,
    recipe: Recipe,
    sweeps: Sequence[Sweep],
    *,
    seeds: Sequence[int],
    tuning_seeds: Sequence[int],
    folder: Path,
) -> MethodAnswers:
    """Write the answers of one method's sweeps, one for each notion."""
    settings: dict[str, dict[str, Any]] = {}
    answers: dict[str, dict[int, dict[str, Answered]]] = {}
    tuning: dict[str, Any] = {}
    start = {seed: sweeper.fedavg(seed) for seed in seeds}
    for sweep in sweeps:
        chosen = sweeper.chosen(sweep, tuning_seeds)
        tuning[sweep.notion] = {
            "seeds": list(tuning_seeds),
            "chosen": dict(chosen.settings),
            "trials": [asdict(trial) for trial in sweeper.tried(sweep, tuning_seeds)],
        }
        for name, setting in sweep.swept(chosen.settings).items():
            runs = {seed: sweeper.run(sweep, setting, seed) for seed in seeds}
            role = "chosen" if setting == dict(chosen.settings) else "swept"
            whole = asdict_of(sweep, setting)
            settings[name] = _described(sweep.notion, role, whole, runs, start)
            answers[name] = _answers(runs)
        if sweep.paper:
            runs = {seed: sweeper.paper(sweep, seed) for seed in seeds}
            whole = asdict_of(sweep, sweep.paper)
            settings[sweep.paper_name] = _described(sweep.notion, "paper", whole, runs, {})
            answers[sweep.paper_name] = _answers(runs)
    method = sweeps[0].method
    cls: Any = method_class(method)
    manifest = _manifest(people, recipe, method, cls.title, settings)
    capabilities = {
        "level": cls.level,
        "approach": cls.approach,
        "notions": list(cls.notions),
        "multi_class": cls.multi_class,
    }
    how = {"capabilities": capabilities, "protocol": PROTOCOL, "tuning": tuning}
    return save_method(manifest | how, answers, folder)


def ship_fedavg(
    sweeper: Sweeper,
    people: People,
    recipe: Recipe,
    notions: Sequence[str],
    *,
    seeds: Sequence[int],
    folder: Path,
) -> MethodAnswers:
    """Write FedAvg's answers, once for each notion they are judged by."""
    runs = {seed: sweeper.fedavg(seed) for seed in seeds}
    described = {notion: _described(notion, "chosen", {}, runs, {}) for notion in notions}
    answers = {notion: _answers(runs) for notion in notions}
    return save_method(_manifest(people, recipe, "fedavg", "FedAvg", described), answers, folder)


def asdict_of(sweep: Sweep, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a method, the usual ones too."""
    return asdict(cast(Any, make_method(sweep.method, {"notion": sweep.notion, **settings})))


def _manifest(
    people: People, recipe: Recipe, method: str, title: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "method": method,
        "title": title,
        "experiment": recipe.experiment,
        "clients": list(people.clients),
        "groups": list(people.groups),
        "labels": list(people.labels),
        "favourable": people.favourable or people.labels[-1],
        "training": recipe.to_json() | recipe.in_words() | {"method": method},
        "settings": dict(settings),
    }


def _described(
    notion: str,
    role: str,
    settings: Mapping[str, Any],
    runs: Mapping[int, Kept],
    start: Mapping[int, Kept],
) -> dict[str, Any]:
    """What a manifest says of a setting: means over seeds, of FedAvg's start and its own rounds."""
    figures = []
    for seed, kept in runs.items():
        parts = [run for run in (start.get(seed), kept) if run is not None]
        rounds = [int(run.criterion.argmin()) + 1 for run in parts]
        seconds = [run.seconds[:n].sum() for run, n in zip(parts, rounds, strict=True)]
        numbers = [
            run.numbers[0] + n * run.numbers[1] for run, n in zip(parts, rounds, strict=True)
        ]
        to_converge = converged(kept) + sum(rounds[:-1])
        first = kept.seconds[: converged(kept)].sum() + sum(seconds[:-1])
        figures.append((sum(rounds), sum(seconds), _BYTES * sum(numbers), to_converge, first))
    names = ("rounds", "seconds", "bytes_per_client", "rounds_to_converge", "seconds_to_converge")
    means = np.mean(figures, axis=0)
    return {
        "notion": notion,
        "role": role,
        "seeds": list(runs),
        "settings": dict(settings),
        **{name: round(float(mean), 3) for name, mean in zip(names, means, strict=True)},
    }


def _answers(runs: Mapping[int, Kept]) -> dict[int, dict[str, Answered]]:
    answers = {}
    for seed, kept in runs.items():
        tables = [kept.counts(split).astype(float) for split in range(len(SPLITS))]
        answers[seed] = {
            name: Answered(table, table) for name, table in zip(SPLITS, tables, strict=True)
        }
    return answers
