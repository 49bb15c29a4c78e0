"""The one reader of CSV and Parquet, for shell and page alike: same file, same answer.

    bytes -> TableFile (header and first rows, within limits) -> columns as Arrow arrays

The page takes smaller tables and drops rows it cannot use, with their number; the shell refuses
the first of them, with its place.
"""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairfl_core._io.atomic import read_whole, write_whole
from fairfl_core._io.names import listed, shown
from fairfl_core.data.tables.csv_tables import malformed_row, open_csv, read_csv, read_texts
from fairfl_core.data.tables.parquet_tables import (
    MAGIC,
    open_parquet,
    read_parquet,
    read_whole_parquet,
)
from fairfl_core.data.tables.table_file import PAGE, SHELL, Limits, TableFile
from fairfl_core.errors import InputError

__all__ = [
    "TableFile",
    "open_table",
    "open_table_at",
    "read_columns",
    "read_rows",
    "read_whole_table",
    "write_table",
]

_PARQUET = (".parquet", ".pq")
Read = TypeVar("Read")


# -------------------------------------------------------------------- looking at a table


def open_table(name: str, data: bytes) -> TableFile:
    """Look at an uploaded CSV or Parquet file: its header and first rows, or why it is refused."""
    return _opened(shown(name), data, PAGE)


def open_table_at(path: str | Path) -> TableFile:
    """Look at a CSV or Parquet file on disk; "-" is standard input."""
    return _opened(str(path), read_whole(path, SHELL.bytes, SHELL.instead), SHELL)


def _opened(name: str, data: bytes, limits: Limits) -> TableFile:
    if not data:
        raise InputError(f"{name}: the file is empty; choose another.")
    if len(data) > limits.bytes:
        raise InputError(
            f"{name}: is larger than {limits.megabytes:,} MB; leave out columns that are not "
            f"needed, or {limits.instead}."
        )
    if data[: len(MAGIC)] == MAGIC:
        return _reading(name, lambda: open_parquet(name, data, limits))
    if name.lower().endswith(_PARQUET):
        raise InputError(f"{name}: is not a Parquet file, whatever its name; check the file.")
    return _reading(name, lambda: open_csv(name, data, limits))


def _reading(name: str, read: Callable[[], Read]) -> Read:
    """Read something; whatever goes wrong becomes a sentence about the file."""
    try:
        return read()
    except (InputError, MemoryError):
        raise
    except Exception as error:  # the readers raise a dozen kinds; all mean the file is not right
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{name}: cannot be read as a CSV or Parquet table ({reason}); check the file."
        ) from error


# -------------------------------------------------------------------- reading columns


def read_columns(
    file: TableFile, names: Sequence[str], numbers: Sequence[str] = ()
) -> tuple[pa.Table, int]:
    """Read these columns; also how many rows were skipped, having too few or too many cells.

    `names` are dictionary-coded where they are text; `numbers` are real where every cell is a
    finite number, else as they stand.
    """
    wanted = list(dict.fromkeys([*names, *numbers]))
    for column in wanted:
        _check_column(file, column)
    if file.delimiter:
        places = [file.header.index(column) for column in wanted]
        real = [file.header.index(column) for column in dict.fromkeys(numbers)]
        table, skipped = _reading(file.name, lambda: read_csv(file, places, real))
        table = table.rename_columns(wanted)
    else:
        table, skipped = _reading(file.name, lambda: read_parquet(file, wanted)), 0
    if not table.num_rows:
        if skipped:
            _refuse_malformed(file)
        raise InputError(f"{file.name}: the table has no rows; give at least one person.")
    return table, skipped


def _check_column(file: TableFile, column: str) -> None:
    if column in file.columns:
        return
    if column in file.header:
        raise InputError(
            f'{file.name}: the column "{shown(column)}" holds lists or objects; give one name a '
            "row."
        )
    raise InputError(
        f'{file.name}: has no column "{shown(column)}"; its columns are '
        f"{listed([shown(known) for known in file.columns])}."
    )


def read_rows(file: TableFile, names: Sequence[str], numbers: Sequence[str] = ()) -> pa.Table:
    """Read these columns of a table in which every row must be whole."""
    table, skipped = read_columns(file, names, numbers)
    if skipped:
        _refuse_malformed(file)
    return table


def _refuse_malformed(file: TableFile) -> NoReturn:
    row, cells = _reading(file.name, lambda: malformed_row(file))
    raise InputError(
        f"{file.name}: data row {row:,} has {cells:,} cells where the header has "
        f"{len(file.header):,}; correct it or leave the row out."
    )


# -------------------------------------------------------------------- the table as a whole


def read_whole_table(file: TableFile) -> pa.Table:
    """Every column as it stands in the file, to be written again; text stays the text it is."""
    if not file.delimiter:
        return _reading(file.name, lambda: read_whole_parquet(file))
    table, skipped = _reading(file.name, lambda: read_texts(file))
    if skipped:
        _refuse_malformed(file)
    return table.rename_columns(list(file.header))


def write_table(path: str | Path, table: pa.Table, delimiter: str = ",") -> Path:
    """Write a table as CSV, or as Parquet where the name ends so; whole or not at all."""
    path = Path(path)
    if path.suffix.lower() in _PARQUET:
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        return write_whole(path, buffer.getvalue())
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*map(_cells, table.columns), strict=True))
    return write_whole(path, text.getvalue())


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """The cells of a column; NaN is an empty one."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    return list(column.to_pylist())
