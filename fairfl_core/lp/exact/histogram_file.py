"""Histograms of scores in files, `fairfl-histogram/1`: what a client sends in one round."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairfl_core._io.files import check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import check_names, listed
from fairfl_core.errors import InputError
from fairfl_core.lp.exact.histograms import ScoreHistogram

__all__ = ["FORMAT", "histogram_from_json", "join_histograms", "read_histogram", "write_histogram"]

FORMAT = "fairfl-histogram/1"
_KEYS = {"format", "labels", "favourable", "groups", "bins", "noisy", "clients"}


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
    try:
        return histogram_from_json(read_json(path))
    except InputError as error:
        raise InputError(
            str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
        ) from error


def histogram_from_json(value: Any) -> ScoreHistogram:
    """Check and take a `fairfl-histogram/1` object."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f'"format" is not "{FORMAT}"; make the file with `fairfl histogram`.')
    check_keys(value, _KEYS, set(), "the file")
    labels, groups = (_names(value[key], key) for key in ("labels", "groups"))
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
    names = _names([entry["name"] for entry in clients], "clients")
    axes = (("group", groups), ("label", labels), ("bin", [str(k) for k in range(bins)]))
    numbers = [
        nested_numbers(entry["counts"], axes, f'client "{entry["name"]}", counts')
        for entry in clients
    ]
    table = np.array(numbers, float).reshape(len(names), len(groups), 2, bins)
    if (table < 0).any() or (not noisy and (table != np.round(table)).any()):
        raise InputError("a count is negative, or no whole number; counts are people.")
    return ScoreHistogram(table, names, groups, labels, value["favourable"], noisy=noisy)


def _names(value: Any, field: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'"{field}" must be a list of names (strings).')
    check_names(tuple(value), field)
    return tuple(value)


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
