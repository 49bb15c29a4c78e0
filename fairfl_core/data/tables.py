"""A table as it came: looked at before it is read, and no larger than whoever reads it allows."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from fairfl_core._io.files import read_whole, write_whole
from fairfl_core._io.names import LONGEST_SHOWN, listed, shown
from fairfl_core.data.columns import as_numbers, decimal_points, is_text
from fairfl_core.errors import InputError

SAMPLE_ROWS = 1_000  # shown and guessed from


@dataclass(frozen=True)
class Limits:
    """The largest table that is taken, and what to do with a larger one."""

    megabytes: int
    rows: int
    columns: int
    unpacked: int  # bytes of a Parquet table
    instead: str

    @property
    def bytes(self) -> int:
        """The most bytes, as any system counts megabytes."""
        return self.megabytes * 2**20


PAGE = Limits(
    megabytes=200,
    rows=10_000_000,
    columns=1_000,
    unpacked=1_500_000_000,
    instead="make counts of it with `fairfl count`",
)
SHELL = Limits(
    megabytes=2_000,
    rows=1_000_000_000,
    columns=100_000,
    unpacked=60_000_000_000,
    instead="count it in parts, one client at a time",
)


@dataclass(frozen=True, eq=False)
class TableFile:
    """A CSV or Parquet file whose header and first rows were looked at.

    Attributes
    ----------
    name : str
        What the file is called in sentences.
    data : bytes
    header : tuple of str
        The names of all columns, in the order of the file.
    columns : tuple of str
        Those of them that hold names or numbers; each name once.
    delimiter : str
        What parts the cells of a CSV; empty for Parquet.
    sample : dict of str to list of str
        Its first rows as text, long cells cut.
    limits : Limits
    """

    name: str
    data: bytes
    header: tuple[str, ...]
    columns: tuple[str, ...]
    delimiter: str
    sample: dict[str, list[str]]
    limits: Limits


def check_header(name: str, header: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Refuse too many columns and a name that stands twice; columns without a name may."""
    if len(header) > limits.columns:
        raise InputError(
            f"{name}: has {len(header):,} columns; keep client, group, label and the model's "
            f"answer or scores (at most {limits.columns:,} columns)."
        )
    times = Counter(header)
    for column in header:
        if column.strip() and times[column] > 1:
            raise InputError(
                f'{name}: the column "{shown(column)}" stands twice; rename one of them.'
            )
    return tuple(header)


def stand_once(header: Sequence[str]) -> tuple[str, ...]:
    """The names by which one column can be meant: not empty, and each once."""
    times = Counter(header)
    return tuple(name for name in header if name.strip() and times[name] == 1)


def _cut(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


MOST_MALFORMED = 100_000  # rows; each costs a call, and so many mean another thing is wrong
_DELIMITERS = (",", ";", "\t", "|")
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*")
_PIECE = 1 << 22
_NAMES = pa.dictionary(pa.int32(), pa.string())
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or a workbook",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


# -------------------------------------------------------------------- looking at it


def open_csv(name: str, data: bytes, limits: Limits) -> TableFile:
    """Look at the header and the first rows of a table in text."""
    _check_text(name, data)
    begin = _begins(data)
    end = data.find(b"\n", min(len(data), begin + _PIECE))
    text = data[begin : end + 1 if end >= 0 else None].decode()
    if not text:
        raise InputError(f"{name}: the file is empty; choose another.")
    delimiter = _delimiter(text.splitlines()[0])
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        head, *rows = islice(lines, 1 + SAMPLE_ROWS)
    except csv.Error as error:
        raise InputError(
            f"{name}: a line cannot be read ({error}); write one person a line, a short text or a "
            "number a cell."
        ) from error
    header = check_header(name, [cell.strip() for cell in head], limits)
    columns = stand_once(header)
    if not columns:
        raise InputError(f"{name}: no column has a name; give a header in the first line.")
    first = [row for row in rows if len(row) == len(header)]
    sample = {
        column: [_cut(row[place]) for row in first]
        for place, column in enumerate(header)
        if column in columns
    }
    return TableFile(name, data, header, columns, delimiter, sample, limits)


def _begins(data: bytes) -> int:
    """Where the header begins: after the byte-order mark and empty lines."""
    before = _BEFORE.match(data)
    return before.end() if before else 0


def _check_text(name: str, data: bytes) -> None:
    """Refuse what is no UTF-8 text in lines; says where."""
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise InputError(f"{name}: is {what}, not a table in text; save it as UTF-8 CSV.")
    place = data.find(b"\0")
    if place >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise InputError(f"{name}: line {line:,} holds a NUL byte; save it as UTF-8 CSV.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PIECE):
        try:
            decoder.decode(data[start : start + _PIECE], start + _PIECE >= len(data))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, start + error.start) + 1
            raise InputError(
                f"{name}: line {line:,} is not UTF-8 (another encoding, or several mixed); "
                "save the whole file as UTF-8 CSV."
            ) from error


def _delimiter(line: str) -> str:
    """The sign that parts the header's cells: the most frequent one outside quotes."""
    return max(_DELIMITERS, key="".join(line.split('"')[::2]).count)


# -------------------------------------------------------------------- reading it


class _Malformed:
    """Rows with too few or too many cells: skipped and counted, as long as they are not many."""

    def __init__(self) -> None:
        self.rows = 0
        self.first = 0, 0  # the data row, and how many cells it has

    def __call__(self, row: Any) -> str:
        self.rows += 1
        if self.rows == 1:
            self.first = row.number - 1, row.actual_columns
        return "error" if self.rows > MOST_MALFORMED else "skip"

    def check_none(self, file: TableFile) -> None:
        """Refuse a table in which every row must be whole."""
        if self.rows:
            row, cells = self.first
            raise InputError(
                f"{file.name}: data row {row:,} has {cells:,} cells where the header has "
                f"{len(file.header):,}; correct it or leave the row out."
            )


def read_csv(
    file: TableFile, places: Sequence[int], numbers: Sequence[int] = ()
) -> tuple[pa.Table, _Malformed]:
    """Read the columns at these places; also the malformed rows that were skipped.

    Names are dictionary-coded. `numbers` are real where every cell is a finite number, else
    dictionary-coded too, so that a sentence can tell what stands there.
    """
    if numbers:
        try:
            table, malformed = _read(file, places, dict.fromkeys(numbers, pa.float64()))
            if all(np.isfinite(table.column(f"f{place}")).all() for place in numbers):
                return table, malformed
        except pa.ArrowInvalid:
            pass  # a cell is no number, or has a decimal comma
    table, malformed = _read(file, places, {})
    for place in numbers:
        table = _with_numbers(table, f"f{place}", file.delimiter != ",")
    return table, malformed


def _read(
    file: TableFile, places: Sequence[int], types: Mapping[int, pa.DataType]
) -> tuple[pa.Table, _Malformed]:
    fields = {f"f{place}": types.get(place, _NAMES) for place in places}
    malformed = _Malformed()
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(pa.py_buffer(file.data).slice(_begins(file.data))),
            # Names are given by place, so that none is renamed. With threads rows have no number.
            pa.csv.ReadOptions(
                autogenerate_column_names=True,
                skip_rows_after_names=1,
                block_size=_PIECE,
                use_threads=False,
            ),
            pa.csv.ParseOptions(
                delimiter=file.delimiter,
                newlines_in_values=file.data.find(b'"') >= 0,
                invalid_row_handler=malformed,
            ),
            pa.csv.ConvertOptions(
                column_types=fields,
                include_columns=list(fields),
                strings_can_be_null=False,
                null_values=[],
            ),
        )
    except pa.ArrowInvalid as error:
        if malformed.rows <= MOST_MALFORMED:
            raise
        raise InputError(
            f"{file.name}: more than {MOST_MALFORMED:,} rows have another number of cells than "
            "the header; check what parts the cells."
        ) from error
    if table.num_rows > file.limits.rows:
        raise InputError(
            f"{file.name}: has {table.num_rows:,} rows; {file.limits.rows:,} are taken at most: "
            f"{file.limits.instead}."
        )
    return table, malformed


def _with_numbers(table: pa.Table, field: str, decimal_comma: bool) -> pa.Table:
    """The table with a column of text as numbers, if all of it is."""
    column = table.column(field).unify_dictionaries()
    if decimal_comma:  # a comma that parts no cells
        column = pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(chunk.indices, decimal_points(chunk.dictionary))
                for chunk in column.chunks
            ],
            _NAMES,
        )
    values = as_numbers(column)
    whole = bool(np.isfinite(values).all())
    place = table.column_names.index(field)
    return table.set_column(place, field, pa.chunked_array([values]) if whole else column)


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
    sample = {column: _first_cells(head.column(column)) for column in flat}
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


def _first_cells(column: pa.Array) -> list[str]:
    """Cells as text, each different one turned into text once: one may be megabytes long."""
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    texts = [_cut(value) for value in coded.dictionary.to_pylist()]
    return ["" if code is None else texts[code] for code in coded.indices.to_pylist()]


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
    if name.lower().endswith(".json"):
        raise InputError(f"{name}: is JSON, and a table is asked for; give CSV or Parquet.")
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
    table, malformed = _columns(file, names, numbers)
    return table, malformed.rows


def read_rows(file: TableFile, names: Sequence[str], numbers: Sequence[str] = ()) -> pa.Table:
    """Read these columns of a table in which every row must be whole."""
    table, malformed = _columns(file, names, numbers)
    malformed.check_none(file)
    return table


def _columns(
    file: TableFile, names: Sequence[str], numbers: Sequence[str]
) -> tuple[pa.Table, _Malformed]:
    wanted = list(dict.fromkeys([*names, *numbers]))
    for column in wanted:
        _check_column(file, column)
    if file.delimiter:
        places = [file.header.index(column) for column in wanted]
        real = [file.header.index(column) for column in dict.fromkeys(numbers)]
        table, malformed = _reading(file.name, lambda: read_csv(file, places, real))
        table = table.rename_columns(wanted)
    else:
        table, malformed = _reading(file.name, lambda: read_parquet(file, wanted)), _Malformed()
    if not table.num_rows:
        malformed.check_none(file)
        raise InputError(f"{file.name}: the table has no rows; give at least one person.")
    return table, malformed


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


# -------------------------------------------------------------------- the table as a whole


def read_whole_table(file: TableFile) -> pa.Table:
    """Every column as it stands in the file, to be written again; text stays the text it is."""
    if not file.delimiter:
        return _reading(file.name, lambda: pq.read_table(pa.BufferReader(file.data)))
    places = range(len(file.header))
    texts = dict.fromkeys(places, pa.string())
    table, malformed = _reading(file.name, lambda: _read(file, places, texts))
    malformed.check_none(file)
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
