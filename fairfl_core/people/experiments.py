"""The bundled experiments: list, open, verify, save. No TensorFlow.

An experiment is a folder with `scores.parquet` (one row a person and seed) and `manifest.json`
(everything needed to read the scores, and how they were made).

>>> from fairfl_core import experiments
>>> counts = experiments.open("adult").counts(seed=0, split="validation")  # doctest: +SKIP
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core._io.whole import write_whole
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    from fairfl_core.people.counts import ClientCounts

__all__ = [
    "FOLDER",
    "FORMAT",
    "SPLITS",
    "Experiment",
    "Scores",
    "SeedScores",
    "list_experiments",
    "open",
    "round_scores",
    "save",
]

FORMAT = "fairfl-experiment/1"
SPLITS = ("validation", "test")
FOLDER = Path(__file__).resolve().parents[2] / "data" / "experiments"
UNITS = 2**14  # scores are whole multiples of 1/16,384: four decimals, and exact in binary
_NEEDED = {
    "format",
    "name",
    "labels",
    "groups",
    "clients",
    "favourable",
    "notion",
    "seeds",
    "scores",
}
_ROUNDING = (
    "Scores are rounded to multiples of 1/16384 (about 4 decimals) so that each row still sums to "
    "exactly 1 and its largest score stays the largest; rows are sorted by seed, split, client, "
    "group, label and score, so their order says nothing about the order of the source."
)


@dataclass(frozen=True, eq=False)
class Scores:
    """People of one seed and split: client, group and label as codes, and the score R(x, a, c)."""

    client: NDArray[np.integer]
    group: NDArray[np.integer]
    label: NDArray[np.integer]
    scores: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def prediction(self) -> NDArray[np.intp]:
        """The model's own answer: argmax of the score (the paper's Y_1)."""
        return self.scores.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class SeedScores(Scores):
    """What training one seed gives; `split` is a code into `SPLITS`, `chosen` a round from 1."""

    seed: int
    split: NDArray[np.int8]
    clients: tuple[str, ...]
    chosen: int
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Experiment:
    """A verified experiment on disk. Scores are read one seed and split at a time."""

    path: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name, the folder's."""
        return str(self.manifest["name"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels, in the order of the scores."""
        return tuple(self.manifest["labels"])

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return tuple(self.manifest["groups"])

    @property
    def clients(self) -> tuple[str, ...]:
        """Names of the clients."""
        return tuple(self.manifest["clients"])

    @property
    def favourable(self) -> str:
        """The label that equal opportunity looks at."""
        return str(self.manifest["favourable"])

    @property
    def notion(self) -> str:
        """The fairness notion the paper uses here: sp, eop or eo."""
        return str(self.manifest["notion"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds there are scores of."""
        return tuple(self.manifest["seeds"])

    def scores(self, seed: int, split: str) -> Scores:
        """Scores of one seed and split."""
        if seed not in self.seeds or split not in SPLITS:
            raise InputError(
                f"{self.name} has no seed {seed} with split {split!r}; seeds are "
                f"{', '.join(map(str, self.seeds))}, splits are {' and '.join(SPLITS)}."
            )
        group = self.seeds.index(seed) * len(SPLITS) + SPLITS.index(split)
        table = pq.ParquetFile(self.path / "scores.parquet").read_row_group(group)
        columns = [_values(table.column(f"score_{y}")) for y in range(len(self.labels))]
        return Scores(
            client=_codes(table.column("client"), self.clients),
            group=_codes(table.column("group"), self.groups),
            label=_codes(table.column("label"), self.labels),
            scores=np.stack(columns, axis=1),
        )

    def counts(self, seed: int, split: str) -> "ClientCounts":
        """The table n[client, group, label, prediction] of one seed and split."""
        from fairfl_core.people.counts import ClientCounts

        people = self.scores(seed, split)
        shape = (len(self.clients), len(self.groups), len(self.labels), len(self.labels))
        cell = np.ravel_multi_index(
            (people.client, people.group, people.label, people.prediction), shape
        )
        table = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
        return ClientCounts(table, self.clients, self.groups, self.labels, self.favourable)


def list_experiments(folder: str | Path = FOLDER) -> list[str]:
    """Names of the experiments in a folder: the paper's three, then others by name."""
    found = {path.parent.name for path in Path(folder).glob("*/manifest.json")}
    first = [name for name in ("adult", "public_coverage", "ham10000") if name in found]
    return first + sorted(found - set(first))


def open(name: str, folder: str | Path = FOLDER) -> Experiment:
    """Open an experiment and verify that its scores are the ones its manifest speaks of."""
    path = Path(folder) / name
    if name not in list_experiments(folder):
        known = ", ".join(list_experiments(folder)) or "none yet"
        raise InputError(f'{path}: there is no experiment "{name}" (there are: {known}).')
    manifest = read_json(path / "manifest.json")
    whole = isinstance(manifest, dict) and set(manifest) >= _NEEDED
    if not whole or manifest["format"] != FORMAT or "sha256" not in manifest["scores"]:
        raise InputError(f"{path / 'manifest.json'}: is not a whole manifest of format {FORMAT}.")
    scores = path / "scores.parquet"
    try:
        found = hashlib.sha256(scores.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{scores}: cannot be read ({error.strerror or error}).") from error
    if found != manifest["scores"]["sha256"]:
        raise InputError(
            f"{scores}: its sha256 {found[:12]}... is not the manifest's "
            f"{manifest['scores']['sha256'][:12]}...; fetch the folder again or train it anew."
        )
    return Experiment(path, manifest)


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


def save(
    folder: str | Path, description: Mapping[str, Any], seeds: Sequence[SeedScores]
) -> Experiment:
    """Write `scores.parquet` and `manifest.json` into `folder`, each whole or not at all.

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
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [_rounded(one) for one in sorted(seeds, key=lambda one: one.seed)]
    content = _parquet(seeds, description)
    write_whole(folder / "scores.parquet", content)
    manifest = {
        "format": FORMAT,
        "name": folder.name,
        **description,
        "seeds": [one.seed for one in seeds],
        "splits": list(SPLITS),
        "scores": {
            "file": "scores.parquet",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "rows": sum(len(one) for one in seeds),
            "units": UNITS,
            "note": _ROUNDING,
        },
        "figures": {
            split: _figures(seeds, code, description["labels"])
            for code, split in enumerate(SPLITS)
        },
        "rounds_chosen": {str(one.seed): one.chosen for one in seeds},
        "learning_curves": {
            str(one.seed): {
                "validation_loss": [round(float(value), 4) for value in one.loss],
                "validation_accuracy": [round(float(value), 4) for value in one.accuracy],
            }
            for one in seeds
        },
    }
    write_json(folder / "manifest.json", manifest)
    return open(folder.name, folder.parent)


def _rounded(one: SeedScores) -> SeedScores:
    """Scores rounded and rows in the order of their content."""
    scores = round_scores(one.scores)
    order = np.lexsort((*scores.T[:-1], one.label, one.group, one.client, one.split))
    return SeedScores(
        client=one.client[order],
        group=one.group[order],
        label=one.label[order],
        scores=scores[order],
        seed=one.seed,
        split=one.split[order],
        clients=one.clients,
        chosen=one.chosen,
        loss=one.loss,
        accuracy=one.accuracy,
    )


def _parquet(seeds: Sequence[SeedScores], description: Mapping[str, Any]) -> bytes:
    """One row group for each seed and split, so that one can be read alone."""
    labels = len(description["labels"])
    sink = pa.BufferOutputStream()
    tables = [_table(one, code, description) for one in seeds for code in range(len(SPLITS))]
    score_columns = [f"score_{y}" for y in range(labels)]
    with pq.ParquetWriter(
        sink,
        tables[0].schema,
        compression="zstd",
        compression_level=19,
        use_dictionary=["split", "client", "group", "label"],
        column_encoding=dict.fromkeys(score_columns, "BYTE_STREAM_SPLIT"),
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(len(table), 1))
    return sink.getvalue().to_pybytes()


def _table(one: SeedScores, code: int, description: Mapping[str, Any]) -> pa.Table:
    rows = one.split == code
    named = (
        ("split", one.split[rows], SPLITS),
        ("client", one.client[rows], description["clients"]),
        ("group", one.group[rows], description["groups"]),
        ("label", one.label[rows], description["labels"]),
    )
    columns: dict[str, Any] = {"seed": pa.array(np.full(int(rows.sum()), one.seed, np.int16))}
    for name, codes, names in named:
        columns[name] = pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int8)), pa.array(list(names))
        )
    for y in range(one.scores.shape[1]):
        columns[f"score_{y}"] = pa.array(one.scores[rows, y])
    return pa.table(columns)


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of one row group as numpy; Arrow's own to_numpy would import pandas (0.3 s)."""
    return np.from_dlpack(column.chunk(0)) if column.num_chunks else np.empty(0)


def _codes(column: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.int64]:
    """Codes into `names`, whatever order the file's own dictionary has."""
    if not column.num_chunks:
        return np.empty(0, np.int64)
    array = column.chunk(0)
    place = {name: code for code, name in enumerate(names)}
    order = np.array([place[name] for name in array.dictionary.to_pylist()], np.int64)
    return order[np.from_dlpack(array.indices)]


def _figures(seeds: Sequence[SeedScores], code: int, labels: Sequence[str]) -> dict[str, Any]:
    """FedAvg's accuracy, balanced accuracy and recall of each label, over seeds."""
    accuracy, recall, majority = [], [], []
    for one in seeds:
        rows = one.split == code
        label, prediction = one.label[rows], one.prediction[rows]
        counts = np.bincount(label, minlength=len(labels))
        right = np.bincount(label[label == prediction], minlength=len(labels))
        accuracy.append((label == prediction).mean())
        recall.append(right / np.maximum(counts, 1))
        majority.append(counts.max() / counts.sum())
    return {
        "rows": [int((one.split == code).sum()) for one in seeds],
        "accuracy": _spread(np.array(accuracy)),
        "balanced_accuracy": _spread(np.array(recall).mean(axis=1)),
        "majority_share": _spread(np.array(majority)),
        "recall": {name: _spread(np.array(recall)[:, y]) for y, name in enumerate(labels)},
    }


def _spread(values: NDArray[np.floating]) -> dict[str, float]:
    """Mean and sample standard deviation over seeds (0 for one seed)."""
    deviation = values.std(ddof=1) if len(values) > 1 else 0.0
    return {"mean": round(float(values.mean()), 5), "spread": round(float(deviation), 5)}
