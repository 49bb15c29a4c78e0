"""The datasets: one declaration a file, opened from a copy or downloaded.

>>> from fairfl_core import datasets
>>> people = datasets.open("adult")  # doctest: +SKIP
"""

from dataclasses import replace
from pathlib import Path

from fairfl_core.data.datasets._declaration import Dataset, People, Raw, open_copy
from fairfl_core.data.datasets.adult import ADULT
from fairfl_core.data.datasets.ham10000 import HAM10000
from fairfl_core.data.datasets.public_coverage import PUBLIC_COVERAGE
from fairfl_core.errors import InputError

__all__ = ["DATASETS", "Dataset", "People", "Raw", "declaration", "open", "raw"]

DATASETS = {dataset.name: dataset for dataset in (ADULT, PUBLIC_COVERAGE, HAM10000)}


def declaration(name: str) -> Dataset:
    """What the dataset of that name declares."""
    if name not in DATASETS:
        raise InputError(f'there is no dataset "{name}"; choose one of: {", ".join(DATASETS)}.')
    return DATASETS[name]


def open(name: str, *, source: str | Path | None = None, grouping: str | None = None) -> People:
    """Open a dataset: the copy named, else FAIRFL_DATA, else the cache, else a download.

    Parameters
    ----------
    name : str
        `adult`, `public_coverage` or `ham10000`.
    source : path, optional
        A folder with a copy, or one of its files.
    grouping : str, optional
        How to form groups; the dataset's first grouping unless given.
    """
    dataset = declaration(name)
    grouping = grouping or next(iter(dataset.groupings))
    if grouping not in dataset.groupings:
        raise InputError(
            f'{dataset.name} has no grouping "{grouping}"; '
            f"choose one of: {', '.join(dataset.groupings)}."
        )
    copy, origin = open_copy(dataset, source)
    people = dataset.arrange(copy, grouping)
    origin |= {"rows_used": len(people), **people.origin}
    return replace(people, favourable=dataset.favourable, origin=origin)


def raw(name: str, *, source: str | Path | None = None) -> Raw:
    """The rows of a dataset as its file has them; see `open` for where it is looked for."""
    return open_copy(declaration(name), source)[0]
