"""Months from a database: rows read in Arrow batches by ADBC, of which only counts are kept."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl_core._io.names import in_order, listed
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.monitoring.months import Month

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["months_from_sql"]

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

            return sqlite.connect(url.removeprefix("sqlite:").removeprefix("//").removeprefix("/"))
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
    for period in sorted({str(key[0]) for key in total}):
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
    return found
