"""The exact region in one round: each client sends a histogram of scores, and nothing more.

For two labels every useful rule is a cut of the score, so how many people of each group and
label lie in each of a few bins says all but where in its bin a cut falls (a lottery over the two
edges stands in for that). For when rounds are dear, or noise is to be added: a person is in
exactly one bin, so the noise of `privacy`'s histogram mechanism protects the release as it
protects a table of counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import check_names, listed, read_names
from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError, about
from fairfl_core.lp.rate_estimates import Measured

__all__ = [
    "BINS",
    "FORMAT",
    "ScoreHistogram",
    "histogram_from_json",
    "join_histograms",
    "read_histogram",
    "write_histogram",
]

BINS = 16
FORMAT = "fairfl-histogram/1"
_KEYS = {"format", "labels", "favourable", "groups", "bins", "noisy", "clients"}
_BYTES = 4  # a count
_PAST = 1e-9  # a cut lies this far past an edge, so that a score on the edge is below it
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """People of each client by group, label and bin of the second label's score.

    Attributes
    ----------
    table : ndarray, shape (clients, groups, 2, bins)
        Bin i holds scores above i / bins and up to (i + 1) / bins; the first holds 0 too. With
        an even number of bins the model's own answer is a matter of the bin.
    clients, groups, labels : tuple of str
    favourable : str
    noisy : bool
        Whether noise was added, so that counts are reals.
    folds : int
        How many models gave the scores; see `ScoredData`.
    grouping : Grouping or None
        Of which columns the groups are crossed.
    """

    table: Floats
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    favourable: str
    noisy: bool = False
    folds: int = 1
    grouping: Grouping | None = None

    @classmethod
    def of(cls, people: ScoredData, bins: int = BINS) -> "ScoreHistogram":
        """Count people into bins of their scores as the model gave them."""
        if len(people.labels) != 2:
            raise InputError(
                f"a histogram of scores serves two labels, but there are {len(people.labels)}; "
                "use the exact region in rounds, or the kernel."
            )
        if bins < 2 or bins % 2:
            raise InputError(f"there are {bins} bins; use an even number of at least 2.")
        if people.calibration is not None:
            raise InputError(
                "histograms are of the model's own scores (a recalibration is fitted on people, "
                "who stay with their clients); give those."
            )
        shape = (len(people.clients), len(people.groups), 2, bins)
        place = np.clip(np.ceil(people.scores[:, 1] * bins).astype(np.int64) - 1, 0, bins - 1)
        flat = np.ravel_multi_index((people.client, people.group, people.label, place), shape)
        table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)
        names = people.clients, people.groups, people.labels, people.favourable
        return cls(table, *names, folds=people.folds, grouping=people.grouping)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.table.shape[3]

    @property
    def counts(self) -> ClientCounts:
        """The table n[client, group, label, prediction] that the bins add up to."""
        half = self.table.reshape(*self.table.shape[:3], 2, self.bins // 2).sum(axis=4)
        names = self.clients, self.groups, self.labels, self.favourable
        return ClientCounts(
            half, *names, noisy=self.noisy, folds=self.folds, grouping=self.grouping
        )

    def measured(self) -> Measured:
        """Return one point for each cell and bin, which the exact region is solved on."""
        clients, groups, _, bins = self.table.shape
        cells = clients * groups
        score = np.tile((np.arange(bins) + 0.5) / bins + _PAST, cells)
        amount = self.table.transpose(0, 1, 3, 2).reshape(cells * bins, 2)
        return Measured(
            cell=np.repeat(np.arange(cells), bins),
            scores=np.stack([1 - score, score], axis=1),
            predicted=np.tile((np.arange(bins) >= bins // 2).astype(np.int64), cells),
            amount=amount,
            counts=self.counts,
            rates="labels",
            bytes_once=groups * 2 * bins * _BYTES,
        )


# ------------------------------------------------------------------- files


def write_histogram(histogram: ScoreHistogram, path: str | Path) -> Path:
    """Write a histogram, whole or not at all: counts[group][label][bin] for each client."""
    clients = [
        {"name": name, "counts": table.tolist() if histogram.noisy else table.astype(int).tolist()}
        for name, table in zip(histogram.clients, histogram.table, strict=True)
    ]
    value = {
        "format": FORMAT,
        "labels": list(histogram.labels),
        "favourable": histogram.favourable,
        "groups": list(histogram.groups),
        "bins": histogram.bins,
        "noisy": histogram.noisy,
        "clients": clients,
    }
    return write_json(path, value)


def read_histogram(path: str | Path) -> ScoreHistogram:
    """Read a file; says where it is wrong."""
    value = read_json(path)
    with about(path):
        return histogram_from_json(value)


def histogram_from_json(value: Any) -> ScoreHistogram:
    """Check and take a `fairfl-histogram/1` object."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl histogram`.')
    check_keys(value, _KEYS, set(), "the file")
    labels, groups = (read_names(value[key], key) for key in ("labels", "groups"))
    bins, noisy, clients = value["bins"], value["noisy"], value["clients"]
    if len(labels) != 2 or value["favourable"] not in labels:
        raise InputError('"labels" must be two, and "favourable" one of them.')
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 2 or bins % 2 or bins > 4096:
        raise InputError('"bins" must be an even number from 2 to 4096.')
    if not isinstance(noisy, bool) or not isinstance(clients, list):
        raise InputError('"noisy" must be true or false, and "clients" a list.')
    for place, entry in enumerate(clients):
        if not isinstance(entry, dict):
            raise InputError(f'clients[{place}] must be an object with "name" and "counts".')
        check_keys(entry, {"name", "counts"}, set(), f"clients[{place}]")
    names = read_names([entry["name"] for entry in clients], "clients")
    axes = (("group", groups), ("label", labels), ("bin", [str(k) for k in range(bins)]))
    numbers = [
        nested_numbers(entry["counts"], axes, f'client "{entry["name"]}", counts')
        for entry in clients
    ]
    table = np.array(numbers, float).reshape(len(names), len(groups), 2, bins)
    if (table < 0).any() or (not noisy and (table != np.round(table)).any()):
        raise InputError("a count is negative, or no whole number; counts are people.")
    return ScoreHistogram(table, names, groups, labels, value["favourable"], noisy=noisy)


def join_histograms(parts: Sequence[ScoreHistogram]) -> ScoreHistogram:
    """The histograms of several clients, each from its own file, as one."""
    first = parts[0]
    for part in parts[1:]:
        for field in ("groups", "labels", "favourable", "bins", "noisy"):
            mine, theirs = getattr(first, field), getattr(part, field)
            if mine != theirs:
                raise InputError(
                    f"the histogram of {listed(part.clients)} has {field} {theirs!r}, the first "
                    f"{mine!r}; make both alike."
                )
    names = tuple(name for part in parts for name in part.clients)
    check_names(names, "clients")
    table = np.concatenate([part.table for part in parts])
    return ScoreHistogram(
        table, names, first.groups, first.labels, first.favourable, noisy=first.noisy
    )
