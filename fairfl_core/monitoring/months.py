"""The counts of each week or month: from files, a folder, cumulative exports or a database, checked."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys, nested_numbers, read_json, write_json
from fairfl_core._io.names import check_names, in_order, listed
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError

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
    table : ndarray of int, shape (clients, groups, labels, answers)
        People whose label is known.
    waiting : ndarray of int, shape (clients, groups, answers)
        People without a label yet.
    source : str
        Where it was read from: what an error calls it.
    """

    period: str
    clients: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    table: Ints
    waiting: Ints
    source: str

    @classmethod
    def of(cls, counts: ClientCounts, period: str, source: str) -> "Month":
        """Plain counts: everybody's label is known."""
        if (counts.table % 1 != 0).any():
            raise InputError(
                "counts with noise, weights or estimates cannot be watched; count people as they are."
            )
        table = counts.table.astype(np.int64)
        waiting = np.zeros((*table.shape[:2], table.shape[3]), np.int64)
        return cls(period, counts.clients, counts.groups, counts.labels, table, waiting, source)

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
    return Month(period.strip(), clients, groups, labels, *tables_of, source or period)


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


def align(months: Sequence[Month], baseline: ClientCounts) -> tuple[Ints, Ints, list[str]]:
    """The months' people in the baseline's order, and remarks on its clients.

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
                    f"{month.source}: the {what} are {listed(theirs)}, those of the baseline "
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
                f"{month.source}: the counts shrink or changed against the export before "
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
                    f'{month.source}: the counts of "{name}" shrink against the export before; rows '
                    "were lost or changed, so export the months anew."
                )
        found.append(replace(month, table=table, waiting=waiting))
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
        table = np.zeros((len(clients), len(groups), len(labels), len(labels)), np.int64)
        waiting = np.zeros((len(clients), len(groups), len(labels)), np.int64)
        for (client, group, label, answer), n in mine.items():
            at = clients.index(str(client)), groups.index(str(group))
            if label is None:
                waiting[(*at, labels.index(str(answer)))] += n
            else:
                table[(*at, labels.index(label), labels.index(str(answer)))] += n
        found.append(Month(period, clients, groups, labels, table, waiting, period))
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
