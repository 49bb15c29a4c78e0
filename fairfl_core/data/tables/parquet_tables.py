"""Tables in Parquet: sizes are checked where the file declares them, before it is unpacked."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from fairfl_core.data.tables.columns import is_text
from fairfl_core.data.tables.table_file import (
    SAMPLE_ROWS,
    Limits,
    TableFile,
    check_header,
    preview,
    stand_once,
)
from fairfl_core.errors import InputError

__all__ = ["MAGIC", "open_parquet", "read_parquet", "read_whole_parquet"]

MAGIC = b"PAR1"
_BATCH = 1 << 18
_FLAT = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_decimal,
    pa.types.is_date,
    is_text,
)


def open_parquet(name: str, data: bytes, limits: Limits) -> TableFile:
    """Look at the footer and the first rows."""
    if data[-len(MAGIC) :] != MAGIC:
        raise InputError(f"{name}: is a Parquet file cut short; check that it was copied whole.")
    file = _open(data)
    _check_sizes(name, file.metadata, limits)
    schema = file.schema_arrow
    header = check_header(name, schema.names, limits)
    flat = [name for name in stand_once(header) if _is_flat(schema.field(name).type)]
    if not flat:
        raise InputError(f"{name}: no column holds names or numbers; check the file.")
    if not file.metadata.num_rows:
        raise InputError(f"{name}: the table has no rows; give at least one person.")
    texts = [field.name for field in schema if is_text(field.type)]
    head = next(_open(data, texts).iter_batches(SAMPLE_ROWS, columns=flat))
    sample = preview(flat, [_first_cells(head.column(column)) for column in flat])
    return TableFile(name, data, header, tuple(flat), "", sample, limits)


def read_parquet(file: TableFile, names: Sequence[str]) -> pa.Table:
    """Read these columns, text dictionary-coded."""
    names = list(dict.fromkeys(names))
    schema = _open(file.data).schema_arrow
    texts = [name for name in names if is_text(schema.field(name).type)]
    rows = 0
    batches = []
    for batch in _open(file.data, texts).iter_batches(_BATCH, columns=names):
        rows += batch.num_rows
        if rows > file.limits.rows:  # the footer may lie
            raise InputError(f"{file.name}: holds more rows than it declares; check the file.")
        batches.append(batch)
    return pa.Table.from_batches(batches) if batches else schema.empty_table().select(names)


def read_whole_parquet(file: TableFile) -> pa.Table:
    """Read every column as it is, to be written again."""
    return pq.read_table(pa.BufferReader(file.data))


def _open(data: bytes, texts: Sequence[str] = ()) -> pq.ParquetFile:
    """Open with these columns left dictionary-coded."""
    return pq.ParquetFile(pa.BufferReader(data), read_dictionary=list(texts), pre_buffer=False)


def _check_sizes(name: str, footer: pq.FileMetaData, limits: Limits) -> None:
    if footer.num_columns > limits.columns:
        check_header(name, [str(place) for place in range(footer.num_columns)], limits)
    unpacked = sum(
        max(footer.row_group(group).column(column).total_uncompressed_size, 0)
        for group in range(footer.num_row_groups)
        for column in range(footer.num_columns)
    )
    for size, most, what in (
        (footer.num_rows, limits.rows, "rows"),
        (unpacked, limits.unpacked, "bytes once unpacked"),
    ):
        if size > most:
            raise InputError(
                f"{name}: declares {size:,} {what}; {most:,} are taken at most: {limits.instead}."
            )


def _is_flat(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(is_of_kind(kind) for is_of_kind in _FLAT)


def _first_cells(column: pa.Array) -> list[str | None]:
    """Cells as text, each different one turned into text once: one may be megabytes long."""
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    texts = [None if value is None else str(value) for value in coded.dictionary.to_pylist()]
    return [None if code is None else texts[code] for code in coded.indices.to_pylist()]
