"""Open what is shipped, verified: experiments with people's scores, and what methods answered."""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.files import APP_ROOT, read_json
from fairfl_core.data.columns import Grouping
from fairfl_core.errors import InputError, about

if TYPE_CHECKING:
    from fairfl_core.data.counts import ClientCounts

PAPER_SPLIT = "the paper's split"
CROSS_FITTED = "cross-fitted"
SPLITS = ("validation", "test")  # of the paper's split; an experiment knows its own


@dataclass(frozen=True)
class Protocol:
    """How people are parted.

    Attributes
    ----------
    folds : int
        How many models score a test person: J when cross-fitted, one trained without each fold;
        else 1.
    """

    folds: int = 1

    @classmethod
    def cross_fitted(cls, folds: int) -> "Protocol":
        """One model a fold, trained without it; fitted on all people but the test people."""
        if folds < 2:
            raise InputError(f"cross-fitting needs at least 2 folds, not {folds}; 4 are usual.")
        return cls(folds)

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> "Protocol":
        """The protocol a manifest tells; the paper's split where it tells none."""
        entry = manifest.get("protocol", {"name": PAPER_SPLIT})
        name = entry.get("name") if isinstance(entry, Mapping) else entry
        if name == PAPER_SPLIT:
            return cls()
        if name != CROSS_FITTED:
            raise InputError(f'"protocol" is neither {PAPER_SPLIT} nor {CROSS_FITTED}.')
        folds = entry.get("folds")
        if not isinstance(folds, int) or isinstance(folds, bool):
            raise InputError('"protocol" does not tell how many "folds" there are.')
        return cls.cross_fitted(folds)

    @property
    def name(self) -> str:
        """The paper's split, or cross-fitted."""
        return CROSS_FITTED if self.folds > 1 else PAPER_SPLIT

    @property
    def splits(self) -> tuple[str, str]:
        """Those the fair predictor is fitted on, and those it is tested on."""
        return ("fit" if self.folds > 1 else "validation"), "test"

    def to_json(self) -> dict[str, Any]:
        """The form that stands in a manifest."""
        return {"name": self.name} | ({"folds": self.folds} if self.folds > 1 else {})

    def row_group(self, seed_place: int, split: str, fold: int) -> int:
        """Which row group of the file holds a seed (by its place), split and fold."""
        return (seed_place * len(self.splits) + self.splits.index(split)) * self.folds + fold

    def row_groups(self, seeds: int) -> int:
        """How many row groups a file of so many seeds has."""
        return seeds * len(self.splits) * self.folds


@dataclass(frozen=True, eq=False)
class Scores:
    """People with one score each: client, group and label as codes, and R(x, a, c).

    Attributes
    ----------
    client, group, label : ndarray of int, shape (people,)
    scores : ndarray, shape (people, labels)
    """

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

    def among(self, rows: NDArray[Any]) -> "Scores":
        """Some of them, in the order of `rows`."""
        return Scores(self.client[rows], self.group[rows], self.label[rows], self.scores[rows])


@dataclass(frozen=True, eq=False)
class SeedScores(Scores):
    """What training one model gives: the scores of the people it did not train on.

    Attributes
    ----------
    split : ndarray of int
        0 for people held out (validation, or the left-out fold), 1 for test people.
    clients : tuple of str
        Names of the clients; a scenario draws its own.
    chosen : int
        The round taken, from 1.
    loss, accuracy : ndarray
        On the people held out, after each round.
    person : ndarray of int, optional
        Who each is, so that scores of several models can be paired; never written.
    """

    seed: int
    split: NDArray[np.int8]
    clients: tuple[str, ...]
    chosen: int
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    person: NDArray[np.integer] | None = field(default=None, kw_only=True)


def check_row_groups(path: Path, protocol: Protocol, seeds: int) -> None:
    """Refuse a file that does not hold every seed, split and fold."""
    try:
        meta = pq.ParquetFile(path).metadata
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: is not a Parquet file that can be read ({reason}).") from error
    if meta.num_row_groups != protocol.row_groups(seeds):
        raise InputError(
            f"{path}: has {meta.num_row_groups} row groups, but {seeds} seeds with "
            f"{protocol.name} need {protocol.row_groups(seeds)}; a seed or a fold is missing, "
            "so train it anew."
        )


def read_block(path: Path, group: int, names: Mapping[str, Sequence[str]]) -> Scores:
    """The people of one row group; `names` are those of clients, groups and labels."""
    table = pq.ParquetFile(path).read_row_group(group)
    columns = [
        _values(table.column(f"score_{y}"))
        for y in range(len(names["label"]))
        if f"score_{y}" in table.column_names
    ]
    scores = np.stack(columns, axis=1)
    if len(columns) < len(names["label"]):  # whole units: what is left of 1 is exact
        scores = np.column_stack([1 - scores.sum(axis=1), scores])
    return Scores(
        **{
            name: dictionary_codes(table.column(name), names[name])
            for name in ("client", "group", "label")
        },
        scores=scores,
    )


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of one row group as numpy; Arrow's own to_numpy would import pandas (0.3 s)."""
    return np.from_dlpack(column.chunk(0)) if column.num_chunks else np.empty(0)


def dictionary_codes(column: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.int64]:
    """Codes into `names`, whatever order the file's own dictionary has."""
    if not column.num_chunks:
        return np.empty(0, np.int64)
    array = column.chunk(0)
    place = {name: code for code, name in enumerate(names)}
    order = np.array([place[name] for name in array.dictionary.to_pylist()], np.int64)
    return order[np.from_dlpack(array.indices)]


FORMAT = "fairfl-experiment/1"
SCORES = "scores.parquet"
FOLDER = APP_ROOT / "data" / "experiments"
_FIRST = ("adult", "public_coverage", "ham10000")  # the paper's three, in its order
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

    @cached_property
    def grouping(self) -> Grouping | None:
        """Of which columns the groups are crossed; None where they are of one."""
        value = self.manifest.get("grouping")
        return None if value is None else Grouping.from_json(value)

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

    @property
    def method(self) -> str:
        """The name of the method that trained the model; "the model" where nobody says."""
        return str(self.manifest.get("training", {}).get("method_title", "the model"))

    @cached_property
    def _protocol(self) -> Protocol:
        return Protocol.from_manifest(self.manifest)

    @property
    def protocol(self) -> str:
        """Who was scored by which model: "cross-fitted" or "the paper's split"."""
        return self._protocol.name

    @property
    def folds(self) -> int:
        """How many models score a test person: J when cross-fitted, else 1."""
        return self._protocol.folds

    @property
    def splits(self) -> tuple[str, str]:
        """The people a fair predictor is fitted on, and those it is tested on."""
        return self._protocol.splits

    @property
    def fit_split(self) -> str:
        """The people a fair predictor is fitted on: "fit" or "validation"."""
        return self.splits[0]

    @property
    def has_held_out(self) -> bool:
        """Whether there are people to check on whom nothing was fitted."""
        return True

    @property
    def has_scores(self) -> bool:
        """Whether people come with a probability for each label."""
        return True

    def scores(self, seed: int, split: str, fold: int | None = None) -> Scores:
        """Scores of one seed and split, one a person.

        Parameters
        ----------
        seed : int
        split : str
            One of `splits`.
        fold : int, optional
            Of a cross-fitted experiment: only the people held out in this fold, or the test
            people as this fold's model scores them. All fitted people unless given; test people
            have a score of every fold, so theirs must be named.
        """
        self._check_asked(seed, split, fold)
        if fold is not None or self.folds == 1:
            return self._block(seed, split, fold or 0)
        if split != self.fit_split:
            raise InputError(
                f"{self.name} has {self.folds} scores for each {split} person; name a fold."
            )
        blocks = [self._block(seed, split, fold) for fold in range(self.folds)]
        names = ("client", "group", "label", "scores")
        return Scores(*(np.concatenate([getattr(one, name) for one in blocks]) for name in names))

    def counts(self, seed: int, split: str, fold: int | None = None) -> "ClientCounts":
        """The table n[client, group, label, prediction] of the people of `scores`."""
        from fairfl_core.data.scored import ScoredData

        return ScoredData.from_experiment(self, seed, split, fold).counts

    def _check_asked(self, seed: int, split: str, fold: int | None) -> None:
        if seed not in self.seeds or split not in self.splits:
            raise InputError(
                f"{self.name} has no seed {seed} with split {split!r}; seeds are "
                f"{', '.join(map(str, self.seeds))}, splits are {' and '.join(self.splits)}."
            )
        if fold is not None and not 0 <= fold < self.folds:
            raise InputError(
                f"{self.name} has no fold {fold}; "
                + (f"folds are 0 to {self.folds - 1}." if self.folds > 1 else "it has one model.")
            )

    def _block(self, seed: int, split: str, fold: int) -> Scores:
        """The people of one row group."""
        names = {"client": self.clients, "group": self.groups, "label": self.labels}
        group = self._protocol.row_group(self.seeds.index(seed), split, fold)
        return read_block(scores_file(self.path, self.manifest), group, names)


def list_experiments(folder: str | Path = FOLDER, protocol: str | None = PAPER_SPLIT) -> list[str]:
    """Names of the experiments in a folder: the paper's three, then others by name.

    Those of the paper's split unless given; `cross_fitted_of` names the companion of one. With
    ``protocol=None`` those of every protocol, each followed by its companion.
    """
    paper_split = {name: _paper_split(folder, name) for name in _folders(folder)}

    def place(name: str) -> tuple[int, str, bool]:
        base = paper_split[name]
        return _FIRST.index(base) if base in _FIRST else len(_FIRST), base, base != name

    names = sorted(paper_split, key=place)
    if protocol is None:
        return names
    return [name for name in names if (paper_split[name] != name) == (protocol == CROSS_FITTED)]


def cross_fitted_of(name: str, folder: str | Path = FOLDER) -> str | None:
    """The cross-fitted experiment with the test people of this one; None where there is none."""
    for companion in _folders(folder):
        if companion != name and _paper_split(folder, companion) == name:
            return companion
    return None


def _folders(folder: str | Path) -> set[str]:
    """Asked for several times by every page: one look at the folder, one at each manifest."""
    if not os.path.isdir(folder):
        return set()
    with os.scandir(folder) as entries:
        paths = [entry.path for entry in entries]
    return {os.path.basename(path) for path in paths if os.path.exists(f"{path}/manifest.json")}


def _paper_split(folder: str | Path, name: str) -> str:
    """The experiment of the paper's split that one stands beside; itself where it is one."""
    path = Path(folder) / name / "manifest.json"
    try:
        file = path.stat()
        return _named_in(path, (file.st_mtime_ns, file.st_ino)) or name
    except (InputError, OSError):  # a broken one is listed; opening it says what is wrong
        return name


@lru_cache(maxsize=256)  # a page lists the experiments many times; manifests are long
def _named_in(path: Path, written: tuple[int, int]) -> str | None:
    """The paper's split that a manifest names, read once for each time it was written."""
    manifest = read_json(path)
    return str(manifest.get("paper_split") or "") if isinstance(manifest, dict) else None


def scores_file(path: Path, manifest: Mapping[str, Any]) -> Path:
    """Where a manifest's scores are: in its own folder, under the name it gives them."""
    name = manifest["scores"].get("file", SCORES)
    if not isinstance(name, str) or not re.fullmatch(r"scores(-[0-9a-f]+)?\.parquet", name):
        raise InputError(
            f'{path / "manifest.json"}: the scores\' file must be called "{SCORES}"; correct "file".'
        )
    return path / name


def open(name: str, folder: str | Path = FOLDER) -> Experiment:
    """Open an experiment and verify that its scores are the ones its manifest speaks of."""
    path = Path(folder) / name
    if name not in _folders(folder):
        known = ", ".join(list_experiments(folder, None)) or "none yet"
        raise InputError(f'{path}: there is no experiment "{name}" (there are: {known}).')
    manifest = read_json(path / "manifest.json")
    whole = isinstance(manifest, dict) and set(manifest) >= _NEEDED
    if not whole or manifest["format"] != FORMAT or "sha256" not in manifest["scores"]:
        raise InputError(f"{path / 'manifest.json'}: is not a whole manifest of format {FORMAT}.")
    with about(path / "manifest.json"):
        protocol = Protocol.from_manifest(manifest)
    scores = scores_file(path, manifest)
    hashed = manifest["scores"]["sha256"]
    _check_hash(scores, hashed, "fetch the folder again or train it anew")
    check_row_groups(scores, protocol, len(manifest["seeds"]))
    return Experiment(path, manifest)


def _check_hash(path: Path, sha256: str, instead: str) -> None:
    """Refuse a file that is not the one its manifest speaks of."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from error
    if found != sha256:
        raise InputError(
            f"{path}: its sha256 {found[:12]}... is not the manifest's {sha256[:12]}...; {instead}."
        )


# -------------------------------------------------------------------- what methods answered

# What each method answered is one file a method and experiment, from which every figure comes.
# ``data/methods/<experiment>/<method>.parquet`` has a row a person (`setting`, `seed`, `split`,
# `client`, `group`, `label`, `prediction`), sorted by content, so that the order of rows says
# nothing of the source. A method that draws its answers has a row for each of these cells instead,
# with `people`, how many are expected in it, and `squares`, the sum of their squared probabilities.
# Beside it ``<method>.json`` tells how the answers came about.

METHOD_FORMAT = "fairfl-method/1"
METHODS_FOLDER = APP_ROOT / "data" / "methods"
_NAMES = ("client", "group", "label")
_METHOD_NEEDED = {"format", "method", "title", "experiment", "settings", "file", "sha256"} | {
    f"{name}s" for name in _NAMES
}


@dataclass(frozen=True, eq=False)
class Answered:
    """Expected answers of one setting and seed, for one split.

    Attributes
    ----------
    confusion, squares : ndarray, shape (clients, groups, labels, labels)
        Expected people by client, group, label and answer; sums of squared probabilities. The
        two are the same where nothing is drawn.
    """

    confusion: NDArray[np.float64]
    squares: NDArray[np.float64]

    @property
    def drawn(self) -> bool:
        """Whether chance has a part in the answers."""
        return not np.array_equal(self.confusion, self.squares)


@dataclass(frozen=True)
class MethodAnswers:
    """A shipped method: its manifest, and its answers on demand."""

    path: Path
    manifest: Mapping[str, Any]

    @property
    def method(self) -> str:
        """Its name."""
        return str(self.manifest["method"])

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """What the manifest says of each setting, by its name."""
        settings: Mapping[str, Mapping[str, Any]] = self.manifest["settings"]
        return settings

    def answered(self, setting: str, split: str = "test") -> dict[int, Answered]:
        """The answers of a setting by seed."""
        names = list(self.settings)
        if setting not in names or split not in SPLITS:
            raise InputError(
                f"{self.path}: has no setting {setting!r} with split {split!r}; settings are: "
                f"{', '.join(names)}."
            )
        place = names.index(setting) * len(SPLITS) + SPLITS.index(split)
        table = pq.ParquetFile(self.path).read_row_group(place)
        shape = tuple(len(self.manifest[f"{name}s"]) for name in (*_NAMES, "label"))
        codes = [
            dictionary_codes(table.column(name), self.manifest[f"{name}s"]) for name in _NAMES
        ] + [dictionary_codes(table.column("prediction"), self.manifest["labels"])]
        seeds = np.asarray(table.column("seed").combine_chunks())
        present, position = np.unique(seeds, return_inverse=True)
        cell = np.ravel_multi_index((position, *codes), (len(present), *shape))
        sums = [
            np.bincount(cell, weight, minlength=len(present) * int(np.prod(shape)))
            .astype(float)
            .reshape(len(present), *shape)
            for weight in _weights(table)
        ]
        return {int(seed): Answered(*parts) for seed, *parts in zip(present, *sums, strict=True)}


def _weights(table: pa.Table) -> list[NDArray[np.float64] | None]:
    """How many people a row stands for, and their squared probabilities: 1 unless given."""
    return [
        np.asarray(table.column(name).combine_chunks(), float)
        if name in table.column_names
        else None
        for name in ("people", "squares")
    ]


def list_methods(experiment: str, folder: str | Path = METHODS_FOLDER) -> list[str]:
    """Names of the methods shipped for an experiment."""
    return sorted(path.stem for path in (Path(folder) / experiment).glob("*.json"))


def open_method(
    experiment: str, method: str, folder: str | Path = METHODS_FOLDER
) -> MethodAnswers:
    """Open a method's answers and verify that they are those its manifest speaks of."""
    home = Path(folder) / experiment
    manifest_path = home / f"{method}.json"
    if not manifest_path.is_file():
        known = ", ".join(list_methods(experiment, folder)) or "none"
        raise InputError(f'{home}: there is no method "{method}" (there are: {known}).')
    manifest = read_json(manifest_path)
    whole = isinstance(manifest, dict) and set(manifest) >= _METHOD_NEEDED
    if not whole or manifest["format"] != METHOD_FORMAT:
        raise InputError(f"{manifest_path}: is not a whole manifest of format {METHOD_FORMAT}.")
    path = home / str(manifest["file"])
    _check_hash(path, str(manifest["sha256"]), "fetch the folder again")
    return MethodAnswers(path, manifest)
