"""What a dataset declares, and what opening one gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

__all__ = ["Dataset", "Form", "People", "Raw"]


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
        The label that statistical parity and equal opportunity look at; the last unless said.
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
