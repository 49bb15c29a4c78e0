"""The counts of each week or month: from files, a folder, cumulative exports or a database, checked."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import (
    LARGEST,
    check_keys,
    nested_numbers,
    read_json,
    write_json,
)
from fairfl_core._io.names import in_order, listed, read_names
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, about

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FORMAT",
    "Month",
    "align",
    "differences",
    "example_year",
    "month_from_json",
    "months_from_sql",
    "ordered",
    "read_months",
]

FORMAT = "fairfl-month/1"
_PERIOD = re.compile(r"\d{4}-(?:W\d{1,2}|\d{1,2}(?:-\d{1,2})?)")
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Month:
    """What was counted in one week or month.

    Attributes
    ----------
    period : str
        Such as 2026-07 or 2026-W31; months are taken in the order of these.
    clients, groups, labels : tuple of str
    table : ndarray of int, shape (clients, groups, labels + 1, answers)
        People by label and answer; in the last row those without a label yet.
    source : str
        Where it was read from: what an error calls it.
    """

    period: str
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    table: Ints
    source: str

    @classmethod
    def of(cls, counts: ClientCounts, period: str, source: str) -> "Month":
        """Plain counts: everybody's label is known."""
        if (counts.table % 1 != 0).any():
            raise InputError(
                "counts with noise, weights or estimates cannot be watched; count people as they are."
            )
        table = np.pad(counts.table.astype(np.int64), ((0, 0), (0, 0), (0, 1), (0, 0)))
        return cls(period, counts.clients, counts.groups, counts.labels, table, source)

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-month/1` form: counts, and whose label is not known yet, by period."""
        return {
            "format": FORMAT,
            "period": self.period,
            "labels": list(self.labels),
            "groups": list(self.groups),
            "clients": [
                {
                    "name": name,
                    "counts": table[:, :-1].tolist(),
                    "waiting": table[:, -1].tolist(),
                }
                for name, table in zip(self.clients, self.table, strict=True)
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
        counts, name = ClientCounts.from_json(value), Path(source).stem
        if not re.search(r"\d", name):
            raise InputError(
                "the name tells no week or month; call the file such as month-2026-07.json."
            )
        return Month.of(counts, (_PERIOD.findall(name) or [name])[-1], source)
    check_keys(value, {"format", "period", "labels", "groups", "clients"}, set(), "the file")
    period = value["period"]
    if not isinstance(period, str) or not period.strip():
        raise InputError('"period" must be a text such as "2026-07".')
    groups, labels = (read_names(value[key], key) for key in ("groups", "labels"))
    entries = value["clients"]
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError('"clients" must be a list of objects with "name" and "counts".')
    size = len(groups), len(labels)
    table = np.zeros((len(entries), size[0], size[1] + 1, size[1]))
    for place, entry in enumerate(entries):
        check_keys(entry, {"name", "counts", "waiting"}, {"waiting"}, f"clients[{place}]")
        axes = ("group", groups), ("label", labels), ("answer", labels)
        where = f'client "{entry["name"]}"'
        many = nested_numbers(entry["counts"], axes, f"{where}, counts")
        table[place, :, :-1] = np.reshape(many, (*size, size[1]))
        if "waiting" in entry:
            many = nested_numbers(entry["waiting"], (axes[0], axes[2]), f"{where}, waiting")
            table[place, :, -1] = np.reshape(many, size)
    clients = read_names([entry["name"] for entry in entries], "clients")
    if (table < 0).any() or (table % 1 != 0).any() or table.sum() > LARGEST:
        raise InputError("a count is negative, no whole number or too large; count people.")
    return Month(period.strip(), clients, groups, labels, table.astype(np.int64), source or period)


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
        value = read_json(file)
        with about(file):
            found.append(month_from_json(value, str(file)))
    return ordered(found)


def ordered(months: Sequence[Month]) -> list[Month]:
    """Sort months by their periods, numbers in them by size; two of one period are refused."""
    in_time = sorted(months, key=lambda month: _by_size(month.period))
    for one, other in zip(in_time, in_time[1:], strict=False):
        if one.period == other.period:
            raise InputError(
                f"{one.source} and {other.source} are both of {one.period}; keep one of them, or join "
                "their counts."
            )
    return in_time


def _by_size(period: str) -> list[str | int]:
    """2026-9 comes before 2026-10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", period)]


def align(months: Sequence[Month], baseline: ClientCounts) -> tuple[Ints, list[str]]:
    """The months' tables in the baseline's order, (months, *a month's), and remarks on its clients.

    New clients are not watched; of those that are gone what was counted stays.
    """
    groups, labels = baseline.groups, baseline.labels
    shape = (len(baseline.clients), len(groups), len(labels) + 1, len(labels))
    table = np.zeros((len(months), *shape), np.int64)
    place = {name: c for c, name in enumerate(baseline.clients)}
    new: dict[str, str] = {}
    for m, month in enumerate(months):
        for what, mine in (("groups", groups), ("labels", labels)):
            theirs = getattr(month, what)
            if sorted(mine) != sorted(theirs):
                raise InputError(
                    f"{month.source}: the {what} are {listed(theirs)}, those of the baseline "
                    f"{listed(mine)}; count the month with the same {what}."
                )
        by_group = [month.groups.index(name) for name in groups]
        by_label = [month.labels.index(name) for name in labels]
        order = np.ix_(by_group, [*by_label, len(labels)], by_label)
        for c, name in enumerate(month.clients):
            if name in place:
                table[m, place[name]] = month.table[c][order]
            else:
                new.setdefault(name, month.period)
    notes = [
        f'"{name}" is new in {period}: the baseline has no such client, so it is not watched; solve '
        "again with it."
        for name, period in new.items()
    ]
    seen = table.sum(axis=(2, 3, 4)) > 0
    for c in np.flatnonzero(~seen[-1]).tolist():
        last = np.flatnonzero(seen[:, c])
        since = (
            f"it was last seen in {months[last[-1]].period}" if last.size else "no month has it"
        )
        notes.append(
            f'"{baseline.clients[c]}" is gone: {since}; what was counted until then stays.'
        )
    return table, notes


def differences(months: Sequence[Month]) -> list[Month]:
    """Months from exports that each hold everybody since the start: what each adds to the last."""
    found = list(months[:1])
    for before, month in zip(months, months[1:], strict=False):
        gone = [name for name in before.clients if name not in month.clients]
        if gone or (before.groups, before.labels) != (month.groups, month.labels):
            raise InputError(
                f"{month.source}: the counts shrink or changed against the export before "
                f"({listed(tuple(gone)) + ' is missing' if gone else 'other groups or labels'}); "
                "export the months anew."
            )
        table = month.table.copy()
        for c, name in enumerate(before.clients):
            mine = table[month.clients.index(name)]
            mine -= before.table[c]
            mine[:, -1] = np.maximum(mine[:, -1], 0)  # labels came
            if (mine < 0).any():
                raise InputError(
                    f'{month.source}: the counts of "{name}" shrink against the export before; rows '
                    "were lost or changed, so export the months anew."
                )
        found.append(replace(month, table=table))
    return found


_COLUMNS = ("period", "client", "group", "label", "answer")


def months_from_sql(
    sql: str, connection: str, columns: Mapping[str, str], baseline: ClientCounts
) -> list[Month]:
    """Count the rows of a query by period, client, group, label and answer.

    Parameters
    ----------
    sql : str
        A query that returns one row a person; a label that is NULL is not known yet.
    connection : str
        ``postgresql://...``, ``sqlite:///file.db``.
    columns : mapping
        Which column holds the period, client, group, label and answer.
    baseline : ClientCounts
        Its groups and labels, in whose order people are counted.
    """
    total: Counter[tuple[str | None, ...]] = Counter()
    try:
        with _connect(connection) as session, session.cursor() as cursor:
            cursor.execute(sql)
            for batch in cursor.fetch_record_batch():
                total.update(_count(batch, columns))
    except (InputError, KeyboardInterrupt):
        raise
    except Exception as error:  # drivers raise their own kinds
        message = " ".join(str(error).split())
        raise InputError(
            f"the database answered: {message}; correct --sql or --connection."
        ) from error
    if not total:
        raise InputError("the query returned no rows; correct --sql.")
    return _months(total, baseline)


def _connect(url: str) -> Any:
    """A connection of ADBC, by the beginning of the address."""
    kind = url.partition(":")[0]
    try:
        if kind in ("postgresql", "postgres"):
            from adbc_driver_postgresql import dbapi as postgresql

            return postgresql.connect(url)
        if kind == "sqlite":
            from adbc_driver_sqlite import dbapi as sqlite

            path = url.removeprefix("sqlite:").removeprefix("//").removeprefix("/")
            if not Path(path).is_file():  # SQLite would make an empty one
                raise InputError(f"{path}: no such file; correct --connection.")
            return sqlite.connect(path)
    except ModuleNotFoundError as error:
        raise InputError(
            "databases need drivers that are not installed; pip install 'fairfl[sql]'."
        ) from error
    raise InputError(
        f'--connection "{kind}:" is not known; give postgresql://... or sqlite:///file.db.'
    )


def _count(
    batch: "pa.RecordBatch", columns: Mapping[str, str]
) -> dict[tuple[str | None, ...], int]:
    """How many rows of a batch are alike in all columns."""
    import pyarrow as pa

    missing = [columns[what] for what in _COLUMNS if columns[what] not in batch.schema.names]
    if missing:
        raise InputError(
            f'the query returns no column "{missing[0]}", but {listed(tuple(batch.schema.names))}; '
            "name it so (SELECT ... AS ...) or say which it is."
        )
    parts = {what: batch.column(columns[what]).cast(pa.string()) for what in _COLUMNS}
    grouped = pa.table(parts).group_by(list(_COLUMNS)).aggregate([([], "count_all")])
    rows = zip(*(grouped[name].to_pylist() for name in (*_COLUMNS, "count_all")), strict=True)
    return {tuple(row[:-1]): row[-1] for row in rows}


def _months(total: Mapping[tuple[str | None, ...], int], baseline: ClientCounts) -> list[Month]:
    """Tables of each period, in the baseline's order of groups and labels."""
    groups, labels = baseline.groups, baseline.labels
    for place, what in enumerate(_COLUMNS):
        names = {key[place] for key in total}
        if None in names and what != "label":
            raise InputError(
                f"the query returns rows without a {what}; only the label may be NULL."
            )
        allowed = {"group": groups, "label": labels, "answer": labels}.get(what)
        other = sorted(
            str(name) for name in names if name is not None and allowed and name not in allowed
        )
        if other and allowed:
            raise InputError(
                f'the query returns the {what} "{other[0]}"; the baseline has {listed(allowed)}.'
            )
    found = []
    for period in {str(key[0]) for key in total}:
        mine = {key[1:]: n for key, n in total.items() if key[0] == period}
        clients = in_order(sorted({str(key[0]) for key in mine}))
        table = np.zeros((len(clients), len(groups), len(labels) + 1, len(labels)), np.int64)
        for (client, group, label, answer), n in mine.items():
            place = len(labels) if label is None else labels.index(label)
            at = clients.index(str(client)), groups.index(str(group)), place
            table[(*at, labels.index(str(answer)))] += n
        found.append(Month(period, clients, groups, labels, table, period))
    return ordered(found)


_NAMES = ("North", "East", "South", "West"), ("women", "men"), ("well", "ill"), "ill"


def example_year() -> tuple[ClientCounts, list[Month]]:
    """The people of the decision, and twelve months since; the same ones every time.

    Base rates rise everywhere; from July on West recognises fewer of its ill women and more of its
    ill men.
    """
    rng = np.random.default_rng(7)

    def counted(n: int, ill: float, *, broken: bool) -> ClientCounts:
        table = np.zeros((4, 2, 2, 2), int)
        for client in range(4):
            for group in range(2):
                sick = rng.binomial(n, ill + 0.03 * client)
                shift = (-0.10, 0.06)[group] if broken and client == 3 else 0.0
                found = rng.binomial(sick, 0.80 + shift)
                false = rng.binomial(n - sick, 0.12)
                table[client, group] = [[n - sick - false, false], [sick - found, found]]
        return ClientCounts(table, *_NAMES)

    baseline = counted(2000, 0.30, broken=False)
    months = [
        Month.of(counted(600, 0.30 + 0.01 * m, broken=m >= 7), f"2026-{m:02d}", "the example")
        for m in range(1, 13)
    ]
    return baseline, months
