"""The counts of each week or month: from files, a folder or cumulative exports, checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import check_names, listed
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError

__all__ = ["FORMAT", "Month", "align", "differences", "month_from_json", "ordered", "read_months"]

FORMAT = "fairfl-month/1"
_PERIOD = re.compile(r"\d{4}-(?:W\d{2}|\d{2}(?:-\d{2})?)")
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Month:
    """What was counted in one week or month.

    Attributes
    ----------
    period : str
        Such as 2026-07 or 2026-W31; months are taken in the order of these texts.
    clients, groups, labels : tuple of str
    table : ndarray of int, shape (clients, groups, labels, answers)
        People whose label is known.
    waiting : ndarray of int, shape (clients, groups, answers)
        People without a label yet.
    source : str
        Where it was read from.
    """

    period: str
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    table: Ints
    waiting: Ints
    source: str = ""

    @classmethod
    def of(cls, counts: ClientCounts, period: str, source: str = "") -> "Month":
        """Plain counts: everybody's label is known."""
        if (counts.table % 1 != 0).any():
            raise InputError(
                "counts with noise, weights or estimates cannot be watched; count people as they are."
            )
        table = counts.table.astype(np.int64)
        waiting = np.zeros((*table.shape[:2], table.shape[3]), np.int64)
        return cls(period, counts.clients, counts.groups, counts.labels, table, waiting, source)

    @property
    def where(self) -> str:
        """What an error calls it."""
        return self.source or self.period

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-month/1` form: counts, and whose label is not known yet, by period."""
        return {
            "format": FORMAT,
            "period": self.period,
            "labels": list(self.labels),
            "groups": list(self.groups),
            "clients": [
                {"name": name, "counts": table.tolist(), "waiting": waiting.tolist()}
                for name, table, waiting in zip(
                    self.clients, self.table, self.waiting, strict=True
                )
            ],
        }

    def write(self, path: str | Path) -> Path:
        """Write a `fairfl-month/1` file, whole or not at all."""
        return write_json(path, self.to_json())


def month_from_json(value: Any, source: str = "") -> Month:
    """Take a `fairfl-month/1` object, or a `fairfl-counts/1` object named after its period.

    ``counts[group][label][answer]`` of a client counts people, ``waiting[group][answer]`` those
    without a label yet.
    """
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        found = _PERIOD.findall(Path(source).stem)
        period = found[-1] if found else Path(source).stem
        return Month.of(ClientCounts.from_json(value), period, source)
    check_keys(value, {"format", "period", "labels", "groups", "clients"}, set(), "the file")
    period = value["period"]
    if not isinstance(period, str) or not period.strip():
        raise InputError('"period" must be a text such as "2026-07".')
    groups, labels = (_names(value[key], key) for key in ("groups", "labels"))
    entries = value["clients"]
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError('"clients" must be a list of objects with "name" and "counts".')
    tables, waiting = [], []
    for place, entry in enumerate(entries):
        check_keys(entry, {"name", "counts", "waiting"}, {"waiting"}, f"clients[{place}]")
        axes = ("group", groups), ("label", labels), ("answer", labels)
        where = f'client "{entry["name"]}"'
        tables.append(nested_numbers(entry["counts"], axes, f"{where}, counts"))
        none = [[0] * len(labels)] * len(groups)
        given = entry.get("waiting", none)
        waiting.append(nested_numbers(given, (axes[0], axes[2]), f"{where}, waiting"))
    clients = _names([entry["name"] for entry in entries], "clients")
    size = len(clients), len(groups), len(labels)
    table = np.array(tables, float).reshape(*size, len(labels))
    there = np.array(waiting, float).reshape(size)
    for part in (table, there):
        if (part < 0).any() or (part % 1 != 0).any() or part.sum() > 2**53:
            raise InputError("a count is negative, no whole number or too large; count people.")
    tables_of = table.astype(np.int64), there.astype(np.int64)
    return Month(period.strip(), clients, groups, labels, *tables_of, source)


def _names(value: Any, field: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'"{field}" must be a list of names (strings).')
    check_names(tuple(value), field)
    return tuple(value)


def read_months(paths: Sequence[str | Path]) -> list[Month]:
    """Read files, and all ``.json`` files of folders; in order of their periods.

    A file is `fairfl-month/1`, or `fairfl-counts/1` with its period in its name
    (month-2026-07.json).
    """
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise InputError(
                f"{path}: the folder has no .json file; put the months' counts there."
            )
        files += inside
    found = []
    for file in files:
        try:
            found.append(month_from_json(read_json(file), str(file)))
        except InputError as error:
            message = str(error)
            raise InputError(
                message if message.startswith(str(file)) else f"{file}: {message}"
            ) from error
    return ordered(found)


def ordered(months: Sequence[Month]) -> list[Month]:
    """Sort months by their periods; two of one period are refused."""
    in_time = sorted(months, key=lambda month: month.period)
    for one, other in zip(in_time, in_time[1:], strict=False):
        if one.period == other.period:
            raise InputError(
                f"{one.where} and {other.where} are both of {one.period}; keep one of them, or join "
                "their counts."
            )
    return in_time


def align(months: Sequence[Month], baseline: ClientCounts) -> tuple[Ints, Ints, list[str]]:
    """The months' people in the baseline's order, and what is to be said of its clients.

    Returns
    -------
    table : ndarray, shape (months, clients, groups, labels, answers)
    waiting : ndarray, shape (months, clients, groups, answers)
    notes : list of str
        New clients, which are not watched, and those that are gone.
    """
    groups, labels = baseline.groups, baseline.labels
    table = np.zeros((len(months), *baseline.table.shape), np.int64)
    waiting = np.zeros((*table.shape[:3], len(labels)), np.int64)
    place = {name: c for c, name in enumerate(baseline.clients)}
    new: dict[str, str] = {}
    for m, month in enumerate(months):
        for what, mine in (("groups", groups), ("labels", labels)):
            theirs = getattr(month, what)
            if sorted(mine) != sorted(theirs):
                raise InputError(
                    f"{month.where}: the {what} are {listed(theirs)}, those of the baseline "
                    f"{listed(mine)}; count the month with the same {what}."
                )
        by_group = [month.groups.index(name) for name in groups]
        by_label = [month.labels.index(name) for name in labels]
        for c, name in enumerate(month.clients):
            if name not in place:
                new.setdefault(name, month.period)
                continue
            table[m, place[name]] = month.table[c][np.ix_(by_group, by_label, by_label)]
            waiting[m, place[name]] = month.waiting[c][np.ix_(by_group, by_label)]
    notes = [
        f'"{name}" is new in {period}: the baseline has no such client, so it is not watched; solve '
        "again with it."
        for name, period in new.items()
    ]
    seen = table.sum(axis=(2, 3, 4)) + waiting.sum(axis=(2, 3)) > 0
    for c in np.flatnonzero(~seen[-1]).tolist():
        last = np.flatnonzero(seen[:, c])
        since = (
            f"it was last seen in {months[last[-1]].period}" if last.size else "no month has it"
        )
        notes.append(
            f'"{baseline.clients[c]}" is gone: {since}; what was counted until then stays.'
        )
    return table, waiting, notes


def differences(months: Sequence[Month]) -> list[Month]:
    """Months from exports that each hold everybody since the start: what each adds to the last."""
    found = list(months[:1])
    for before, month in zip(months, months[1:], strict=False):
        gone = [name for name in before.clients if name not in month.clients]
        if gone or (before.groups, before.labels) != (month.groups, month.labels):
            raise InputError(
                f"{month.where}: the counts shrink or changed against the export before "
                f"({listed(tuple(gone)) + ' is missing' if gone else 'other groups or labels'}); "
                "export the months anew."
            )
        table, waiting = month.table.copy(), month.waiting.copy()
        for c, name in enumerate(before.clients):
            mine = month.clients.index(name)
            table[mine] -= before.table[c]
            waiting[mine] = np.maximum(waiting[mine] - before.waiting[c], 0)
            if (table[mine] < 0).any():
                raise InputError(
                    f'{month.where}: the counts of "{name}" shrink against the export before; rows '
                    "were lost or changed, so export the months anew."
                )
        found.append(replace(month, table=table, waiting=waiting))
    return found
