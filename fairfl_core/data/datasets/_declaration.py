"""What a dataset declares, and what opening one gives."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError, extra

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Raw:
    """A dataset as its file has it: one row a person (or image), nothing changed."""

    table: "pd.DataFrame"
    images: NDArray[np.uint8] | None = None


@dataclass(frozen=True, eq=False)
class People:
    """Rows ready to be split: inputs x, group a, client c and label y, as codes into names.

    Attributes
    ----------
    inputs : ndarray
        Float features (rows, features), or images (rows, height, width, channels) of bytes.
    scaled : int
        How many leading features are quantities; training standardises these on its own rows.
    label, group, client : ndarray of int
        Positions in `labels`, `groups` and `clients`.
    unit : ndarray of int
        Rows with the same unit (images of one lesion) never part: one split, one client.
    labels, groups, clients : tuple of str
        Names a lay person can read.
    favourable : str
        The label that statistical parity and equal opportunity look at; the last unless given.
    origin : mapping
        Where the rows come from: dataset, form, sha256 of each file, sample, rows left out.
    """

    inputs: NDArray[Any]
    label: NDArray[np.int16]
    group: NDArray[np.int16]
    client: NDArray[np.int16]
    unit: NDArray[np.int32]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    clients: tuple[str, ...]
    scaled: int = 0
    favourable: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True)
class Form:
    """One form in which a copy of a dataset may lie in a folder.

    Attributes
    ----------
    files : mapping of str to str
        File names, each with the sha256 of the known copy ("" when no exact copy is known).
    rows : int
        Rows that such a copy has.
    read : callable
        Folder in, `Raw` out.
    sample : str
        How much of the whole this form holds, in words.
    """

    files: Mapping[str, str]
    rows: int
    read: Callable[[Path], Raw]
    sample: str = "all rows"


@dataclass(frozen=True)
class Dataset:
    """The declaration of a dataset: what it is, not a script.

    Attributes
    ----------
    name, title, source, licence, citation : str
        What it is called, where it comes from, on which terms, whom to cite.
    columns, features : tuple of str
        Columns of the table, and those the model sees (group and client are inputs apart).
    label, client, group : str
        How each is made from the columns, in a sentence.
    labels : tuple of str
        Names of the labels, in the order of the scores.
    favourable : str
        The label whose true-positive rate equal opportunity compares.
    groupings : mapping of str to tuple of str
        Each way to form groups with its names; the first is the default.
    crossed : mapping of str to tuple of str
        Of groupings that cross several columns, what these are called.
    notion : str
        The fairness notion the paper uses here.
    forms : tuple of Form
        The forms a copy may have, tried in this order.
    arrange : callable
        (raw, grouping) in, `People` out.
    fetch : callable or None
        Downloads a copy into a folder, for those who are online; None where a person must.
    where : str
        Where a person gets a copy, ending a sentence.
    missed : float
        How many other mistakes a missed favourable label is as bad as, to begin a table of gains
        and costs with; a suggestion, for people to change.
    noun : str
        What one client is called: a state, an age band.
    rows_are : str
        What a row is of, where it is not a person; and what then is kept together in splits.
    """

    name: str
    title: str
    source: str
    licence: str
    citation: str
    columns: tuple[str, ...]
    features: tuple[str, ...]
    label: str
    labels: tuple[str, ...]
    favourable: str
    client: str
    group: str
    groupings: Mapping[str, tuple[str, ...]]
    notion: str
    forms: tuple[Form, ...]
    arrange: Callable[[Raw, str], People]
    where: str
    fetch: Callable[[Path], None] | None = None
    crossed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missed: float = 3.0
    noun: str = "client"
    rows_are: str = "people"


def codes_of(column: "pd.Series[Any]", codes: Mapping[Any, int]) -> NDArray[np.int16]:
    """Replace each value by its code; a value without one is an error that names it."""
    values = column.map(codes)
    if values.isna().any():
        row = int(np.flatnonzero(values.isna())[0])
        raise InputError(
            f'column {column.name}, row {row + 1}: "{column.iloc[row]}" is not one of '
            f"{', '.join(str(value) for value in codes)}."
        )
    return values.to_numpy(np.int16)


def one_hot(
    column: "pd.Series[Any]", categories: Sequence[Any] | None = None
) -> NDArray[np.float32]:
    """One column a category, in sorted order unless given; missing ("?") is a category too."""
    import pandas as pd

    if categories is None:
        categories = sorted(column.unique())
    codes = pd.Index(list(categories)).get_indexer(column)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise InputError(
            f'column {column.name}, row {row + 1}: "{column.iloc[row]}" is not a known category.'
        )
    return np.eye(len(categories), dtype=np.float32)[codes]


# Developers and CI have the copies beside the repository; a newcomer does not.
_SHARED = Path(__file__).resolve().parents[4] / "shared" / "datasets"


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where downloads are kept: FAIRFL_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("FAIRFL_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairfl"


def open_copy(dataset: Dataset, source: str | Path | None) -> tuple[Raw, dict[str, Any]]:
    """Read a copy of a dataset that was checked; also what it says of where the rows come from."""
    folder, form = _find(dataset, source)
    hashes = {name: sha256_of(folder / name) for name in form.files}
    for name, known in form.files.items():
        if known and hashes[name] != known:
            raise InputError(
                f"{folder / name}: is not the known copy (sha256 {hashes[name][:12]}..., expected "
                f"{known[:12]}...), so it is truncated or changed; {dataset.where}."
            )
    with extra("train"):
        import_module("pandas")
    wrong = ""
    try:
        raw = form.read(folder)
        missing = [name for name in dataset.columns if name not in raw.table.columns]
        if missing:
            wrong = f"has no column {', '.join(missing)}"
        elif len(raw.table) != form.rows:
            wrong = f"has {len(raw.table):,} rows, expected {form.rows:,}"
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:
        wrong = f"cannot be read ({' '.join(str(error).split())})"
    if wrong:
        raise InputError(f"{folder / next(iter(form.files))}: {wrong}; {dataset.where}.")
    return raw, {
        "dataset": dataset.name,
        "source": dataset.source,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "sample": form.sample,
        "files": hashes,
        "rows": len(raw.table),
    }


def _find(dataset: Dataset, source: str | Path | None) -> tuple[Path, Form]:
    """The first folder with a whole copy: the one named, FAIRFL_DATA, shared, cache, download."""
    for named, how in ((source, "--source"), (os.environ.get("FAIRFL_DATA"), "FAIRFL_DATA")):
        if named:
            path = Path(named)
            folder = path.parent if path.is_file() else path
            if form := _form_in(dataset, folder):
                return folder, form
            wanted = ", or ".join(" and ".join(form.files) for form in dataset.forms)
            raise InputError(
                f"{path} (from {how}) holds no copy of {dataset.name}: it needs {wanted}; "
                f"{dataset.where}."
            )
    cache = cache_folder() / dataset.name
    for folder in (_SHARED, cache):
        if form := _form_in(dataset, folder):
            return folder, form
    if dataset.fetch is None:
        raise InputError(
            f"{' and '.join(dataset.forms[0].files)}: not found; "
            f"{dataset.where}, then give its folder with --source PATH or FAIRFL_DATA."
        )
    cache.mkdir(parents=True, exist_ok=True)
    dataset.fetch(cache)
    if form := _form_in(dataset, cache):
        return cache, form
    raise InputError(
        f"{cache}: the download left no whole copy of {dataset.name}; {dataset.where}."
    )


def _form_in(dataset: Dataset, folder: Path) -> Form | None:
    whole = (f for f in dataset.forms if all((folder / name).is_file() for name in f.files))
    return next(whole, None)
