"""Saving an experiment: scores rounded and put in an order that tells nothing, and a manifest."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.files import write_json, write_whole
from fairfl_core._io.names import listed
from fairfl_core.data.experiments import (
    FORMAT,
    SCORES,
    Experiment,
    Protocol,
    Scores,
    SeedScores,
    open,
)
from fairfl_core.errors import InputError

UNITS = 2**14  # scores are whole multiples of 1/16,384: four decimals, and exact in binary
_ROUNDING = (
    "Scores are rounded to multiples of 1/16384 (about 4 decimals) so that each row still sums to "
    "exactly 1 and its largest score stays the largest; rows are sorted by seed, split, client, "
    "group, label and score, so their order says nothing about the order of the source."
)
_CROSS_ROUNDING = (
    "Scores are rounded to multiples of 1/16384 (about 4 decimals) so that they still sum to "
    "exactly 1 and the largest stays the largest; score_0 is not written, it is 1 less the other "
    "scores. One row group for each seed, split and fold, in this order; inside it rows are sorted "
    "by client, group, label and score, so their order says nothing about the order of the "
    "source. Test people have one row in every fold, in the same order in each: that of fold 0."
)


@dataclass(frozen=True, eq=False)
class Block:
    """The people of one row group: a seed, a split (as a code) and a fold."""

    seed: int
    split: int
    fold: int
    people: Scores


def save(
    folder: str | Path, description: Mapping[str, Any], seeds: Sequence[SeedScores]
) -> Experiment:
    """Write an experiment of the paper's split, each file whole or not at all.

    Parameters
    ----------
    folder : path
        The experiment's own folder; its name is the experiment's.
    description : mapping
        ``labels``, ``groups``, ``clients``, ``favourable``, ``notion`` and whatever else the
        manifest is to tell (dataset, recipe, versions).
    seeds : sequence of SeedScores
        What training gave.
    """
    training = {
        "rounds_chosen": {str(one.seed): one.chosen for one in seeds},
        "learning_curves": {str(one.seed): _curve(one) for one in seeds},
    }
    blocks = [block for one in sorted(seeds, key=_seed) for block in _blocks([one])]
    return write_blocks(Path(folder), {**description, **training}, Protocol(), blocks, _ROUNDING)


def save_cross_fitted(
    folder: str | Path,
    description: Mapping[str, Any],
    seeds: Sequence[Sequence[SeedScores]],
    paper_split: str,
) -> Experiment:
    """Write a cross-fitted experiment, each file whole or not at all.

    Parameters
    ----------
    folder, description
        As for `save`.
    seeds : sequence of sequences of SeedScores
        For each seed what the training of each fold gave, in the order of the folds.
    paper_split : str
        Name of the experiment of the paper's split with the same test people.
    """
    seeds = sorted(seeds, key=lambda models: models[0].seed)
    protocol = Protocol.cross_fitted(len(seeds[0]))
    for models in seeds:
        _check_folds(models, protocol)
    named = {str(models[0].seed): models for models in seeds}
    training = {
        "protocol": protocol.to_json(),
        "paper_split": paper_split,
        "rounds_chosen": {seed: [one.chosen for one in its] for seed, its in named.items()},
        "learning_curves": {seed: [_curve(one) for one in its] for seed, its in named.items()},
    }
    blocks = [block for models in seeds for block in _blocks(models)]
    return write_blocks(
        Path(folder), {**description, **training}, protocol, blocks, _CROSS_ROUNDING
    )


def _seed(one: SeedScores) -> int:
    return one.seed


def _blocks(models: Sequence[SeedScores]) -> list[Block]:
    """The people held out in each fold, then the test people of each fold in one common order."""
    blocks = []
    for split in (0, 1):
        every = [_people(one, split) for one in models]
        for fold, people in enumerate(every):
            order = _content_order(every if split else [people])
            blocks.append(Block(models[0].seed, split, fold, people.among(order)))
    return blocks


def _people(one: SeedScores, split: int) -> Scores:
    """The people of a split with their scores rounded: models that say whose they are, alike."""
    rows = np.flatnonzero(one.split == split)
    if one.person is not None:
        rows = rows[np.argsort(one.person[rows])]
    return Scores(
        one.client[rows], one.group[rows], one.label[rows], round_scores(one.scores[rows])
    )


def _persons(one: SeedScores, split: int) -> NDArray[np.integer]:
    """Who the people of a split are, in their order."""
    if one.person is None:
        raise InputError(f"seed {one.seed}: scores of folds must tell whose they are; train anew.")
    return one.person[one.split == split]


def _check_folds(models: Sequence[SeedScores], protocol: Protocol) -> None:
    """Every fitted person in one fold, every client in all, every test person scored by all."""
    seed = models[0].seed
    if len(models) != protocol.folds:
        raise InputError(
            f"seed {seed} has {len(models)} folds, other seeds have {protocol.folds}; train all "
            "seeds with as many folds."
        )
    held_out = np.concatenate([_persons(one, 0) for one in models])
    if len(np.unique(held_out)) < len(held_out):
        raise InputError(f"seed {seed}: a person is held out in two folds; deal the folds anew.")
    for fold, one in enumerate(models):
        if not np.array_equal(np.sort(_persons(one, 1)), np.sort(_persons(models[0], 1))):
            raise InputError(
                f"seed {seed}, fold {fold}: the test people are not those of fold 0; each test "
                "person needs a score of every fold."
            )
        present = np.bincount(one.client[one.split == 0], minlength=len(one.clients))
        absent = [one.clients[c] for c in np.flatnonzero(present == 0)]
        if absent:
            raise InputError(
                f"seed {seed}: fold {fold} holds nobody of {listed(absent)}; ask for fewer folds."
            )


def round_scores(scores: NDArray[np.floating], units: int = UNITS) -> NDArray[np.float32]:
    """Round scores so that rows still sum to 1 and the argmax is kept, alone at the top.

    Units are handed out by largest remainder; where that ties or turns the winner, one unit moves
    to it from the runner-up (two can be needed, never more).
    """
    exact = scores / scores.sum(axis=1, keepdims=True) * units
    whole = np.floor(exact).astype(np.int64)
    rank = np.argsort(np.argsort(-(exact - whole), axis=1, kind="stable"), axis=1)
    whole += rank < (units - whole.sum(axis=1, keepdims=True))
    winner = scores.argmax(axis=1)
    everyone = np.arange(len(scores))
    while True:
        others = whole.copy()
        others[everyone, winner] = -1
        rival = others.argmax(axis=1)
        wrong = whole[everyone, winner] <= others.max(axis=1)
        if not wrong.any():
            return (whole / units).astype(np.float32)
        rows = everyone[wrong]
        whole[rows, winner[wrong]] += 1
        whole[rows, rival[wrong]] -= 1


def written(blocks: Sequence[Block], description: Mapping[str, Any], protocol: Protocol) -> bytes:
    """The file's bytes.

    A cross-fitted file has eight times the rows, so it leaves out the first label's score, which
    is exactly what the others leave of 1; that halves it for two labels.
    """
    labels = range(1 if protocol.folds > 1 else 0, len(description["labels"]))
    tables = [_table(block, description, protocol, labels) for block in blocks]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        tables[0].schema,
        compression="zstd",
        compression_level=19,
        use_dictionary=["split", "client", "group", "label"],
        column_encoding={f"score_{y}": "BYTE_STREAM_SPLIT" for y in labels},
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(len(table), 1))
    return sink.getvalue().to_pybytes()


def _table(
    block: Block, description: Mapping[str, Any], protocol: Protocol, labels: range
) -> pa.Table:
    people = block.people
    columns: dict[str, Any] = {
        "seed": pa.array(np.full(len(people), block.seed, np.int16)),
        "split": _named(np.full(len(people), block.split), protocol.splits),
    }
    if protocol.folds > 1:
        columns["fold"] = pa.array(np.full(len(people), block.fold, np.int8))
    for name in ("client", "group", "label"):
        columns[name] = _named(getattr(people, name), description[f"{name}s"])
    for y in labels:
        columns[f"score_{y}"] = pa.array(people.scores[:, y])
    return pa.table(columns)


def _named(codes: NDArray[np.integer], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(names)))


def write_blocks(
    folder: Path,
    description: Mapping[str, Any],
    protocol: Protocol,
    blocks: Sequence[Block],
    note: str,
) -> Experiment:
    """Write scores and manifest; scores first, so that a manifest never speaks of others."""
    content = written(blocks, description, protocol)
    sha256 = hashlib.sha256(content).hexdigest()
    name = _name_for(folder, sha256)
    manifest = {
        "format": FORMAT,
        "name": folder.name,
        **description,
        "seeds": list(dict.fromkeys(block.seed for block in blocks)),
        "splits": list(protocol.splits),
        "scores": {
            "file": name,
            "sha256": sha256,
            "bytes": len(content),
            "rows": sum(len(block.people) for block in blocks),
            "units": UNITS,
            "note": note,
        },
        "figures": {
            split: _figures(blocks, code, protocol, description)
            for code, split in enumerate(protocol.splits)
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, content)
    write_json(folder / "manifest.json", manifest)
    for path in folder.glob("scores*.parquet"):
        if path.name != name:
            path.unlink()
    return open(folder.name, folder.parent)


def _name_for(folder: Path, sha256: str) -> str:
    """A name for scores under which no other scores are.

    So the old scores stay beside the new ones until the manifest, written last, speaks of these: a
    run killed at any moment leaves a folder that opens.
    """
    there = folder / SCORES
    other = there.exists() and hashlib.sha256(there.read_bytes()).hexdigest() != sha256
    return f"scores-{sha256[:12]}.parquet" if other else SCORES


def _content_order(models: Sequence[Scores]) -> NDArray[np.intp]:
    """The order of the same people by what all models say of them, the first model first."""
    first = models[0]
    scores = [column for one in reversed(models) for column in one.scores.T[:-1]]
    return np.lexsort((*scores, first.label, first.group, first.client))


def _curve(one: SeedScores) -> dict[str, list[float]]:
    return {
        "validation_loss": [round(float(value), 4) for value in one.loss],
        "validation_accuracy": [round(float(value), 4) for value in one.accuracy],
    }


def _figures(
    blocks: Sequence[Block], split: int, protocol: Protocol, description: Mapping[str, Any]
) -> dict[str, Any]:
    """The model's accuracy, balanced accuracy and recall of each label, over seeds.

    Of test people scored by several models: what is expected when one of them is drawn.
    """
    labels = description["labels"]
    shape = (-1, protocol.folds, len(labels))
    people = [block.people for block in blocks if block.split == split]
    counts = np.array([_by_label(one.label, labels) for one in people], float).reshape(shape)
    hits = np.array([_by_label(one.label[one.label == one.prediction], labels) for one in people])
    pool = np.mean if split else np.sum  # fitted people are in one fold, test people in each
    counts, right = pool(counts, axis=1), pool(hits.reshape(shape), axis=1)
    recall = right / np.maximum(counts, 1)
    return {
        "rows": counts.sum(axis=1).astype(int).tolist(),
        "accuracy": _spread(right.sum(axis=1) / counts.sum(axis=1)),
        "balanced_accuracy": _spread(recall.mean(axis=1)),
        "majority_share": _spread(counts.max(axis=1) / counts.sum(axis=1)),
        "recall": {name: _spread(recall[:, y]) for y, name in enumerate(labels)},
    }


def _by_label(label: NDArray[np.integer], labels: Sequence[str]) -> NDArray[np.intp]:
    return np.bincount(label, minlength=len(labels))


def _spread(values: NDArray[np.floating]) -> dict[str, float]:
    """Mean and sample standard deviation over seeds (0 for one seed)."""
    deviation = values.std(ddof=1) if len(values) > 1 else 0.0
    return {"mean": round(float(values.mean()), 5), "spread": round(float(deviation), 5)}
