"""What each method answered: one file a method and experiment, from which every figure comes.

``data/methods/<experiment>/<method>.parquet`` has a row a person (`setting`, `seed`, `split`,
`client`, `group`, `label`, `prediction`), sorted by content, so that the order of rows says nothing
of the source. A method that draws its answers has a row for each of these cells instead, with
`people`, how many are expected in it, and `squares`, the sum of their squared probabilities.
Beside it ``<method>.json`` tells how the answers came about.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairfl_core._io.files import APP_ROOT, read_json
from fairfl_core.data.experiments import dictionary_codes
from fairfl_core.errors import InputError

FORMAT = "fairfl-method/1"
FOLDER = APP_ROOT / "data" / "methods"
SPLITS = ("validation", "test")
_NAMES = ("client", "group", "label")
_NEEDED = {"format", "method", "title", "experiment", "settings", "file", "sha256"} | {
    f"{name}s" for name in _NAMES
}
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answered:
    """Expected answers of one setting and seed, for one split.

    Attributes
    ----------
    confusion, squares : ndarray, shape (clients, groups, labels, labels)
        Expected people by client, group, label and answer; sums of squared probabilities. The
        two are the same where nothing is drawn.
    """

    confusion: Floats
    squares: Floats

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


def list_methods(experiment: str, folder: str | Path = FOLDER) -> list[str]:
    """Names of the methods shipped for an experiment."""
    return sorted(path.stem for path in (Path(folder) / experiment).glob("*.json"))


def open_method(experiment: str, method: str, folder: str | Path = FOLDER) -> MethodAnswers:
    """Open a method's answers and verify that they are those its manifest speaks of."""
    home = Path(folder) / experiment
    manifest_path = home / f"{method}.json"
    if not manifest_path.is_file():
        known = ", ".join(list_methods(experiment, folder)) or "none"
        raise InputError(f'{home}: there is no method "{method}" (there are: {known}).')
    manifest = read_json(manifest_path)
    whole = isinstance(manifest, dict) and set(manifest) >= _NEEDED
    if not whole or manifest["format"] != FORMAT:
        raise InputError(f"{manifest_path}: is not a whole manifest of format {FORMAT}.")
    path = home / str(manifest["file"])
    try:
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from error
    if sha256 != manifest["sha256"]:
        raise InputError(
            f"{path}: its sha256 {sha256[:12]}... is not the manifest's "
            f"{str(manifest['sha256'])[:12]}...; fetch the folder again."
        )
    return MethodAnswers(path, manifest)
