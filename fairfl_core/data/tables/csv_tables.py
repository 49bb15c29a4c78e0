"""Tables in text, in whatever dialect: commas, semicolons, tabs or bars, points or commas.

Text is never expanded row by row: a name stands once in a dictionary, however many rows say it.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from fairfl_core.data.tables.columns import as_numbers, decimal_points
from fairfl_core.data.tables.table_file import (
    SAMPLE_ROWS,
    Limits,
    TableFile,
    check_header,
    preview,
    stand_once,
)
from fairfl_core.errors import InputError

__all__ = ["malformed_row", "open_csv", "read_csv", "read_texts"]

LONGEST_LINE = 1_000_000  # bytes
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
    end = data.find(b"\n", min(len(data), _begins(data) + _PIECE))
    start = data[_begins(data) : end + 1 if end >= 0 else None]
    lines = start.decode().splitlines()
    if not lines:
        raise InputError(f"{name}: the file is empty; choose another.")
    delimiter = _delimiter(lines[0])
    _check_width(name, _outside_quotes(lines[0]).count(delimiter) + 1, limits)
    # Names are given by place, so that the header is a row like the others: none is renamed.
    read = pa.csv.ReadOptions(autogenerate_column_names=True, block_size=2 * _PIECE + LONGEST_LINE)
    with _few(_Malformed(), name) as malformed:
        parse = _parse_options(data, delimiter, malformed)
        width = len(pa.csv.open_csv(pa.BufferReader(start), read, parse).schema)
    _check_width(name, width, limits)
    convert = pa.csv.ConvertOptions(
        column_types={f"f{place}": pa.string() for place in range(width)},
        strings_can_be_null=False,
    )
    with _few(_Malformed(), name) as malformed:
        parse = _parse_options(data, delimiter, malformed)
        head = pa.csv.read_csv(pa.BufferReader(start), read, parse, convert)
    cells = [column.to_pylist() for column in head.slice(0, SAMPLE_ROWS + 1).columns]
    header = check_header(name, [str(column[0]) for column in cells], limits)
    columns = stand_once(header)
    if not columns:
        raise InputError(f"{name}: no column has a name; give a header in the first line.")
    of = dict(zip(header, cells, strict=True))  # columns that have a name stand once
    sample = preview(columns, [of[column][1:] for column in columns])
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
    _check_lines(name, data)
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


def _check_lines(name: str, data: bytes) -> None:
    """No line is endless: a reader would hold it whole."""
    begun = 0  # where the current line begins
    for start in range(0, len(data), _PIECE):
        piece = np.frombuffer(data, np.uint8, min(_PIECE, len(data) - start), start)
        ends = np.flatnonzero((piece == 10) | (piece == 13)) + start
        edges = np.concatenate([[begun], ends, [start + len(piece)]])
        if np.diff(edges).max() > LONGEST_LINE:
            raise InputError(
                f"{name}: a line is longer than {LONGEST_LINE:,} bytes; write one person a line, "
                "each with a line end."
            )
        begun = int(ends[-1]) if ends.size else begun


def _delimiter(line: str) -> str:
    """The sign that parts the header's cells: the most frequent one outside quotes."""
    return max(_DELIMITERS, key=_outside_quotes(line).count)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _check_width(name: str, width: int, limits: Limits) -> None:
    """Refuse too many columns before any is read."""
    if width > limits.columns:
        check_header(name, [str(place) for place in range(width)], limits)


# -------------------------------------------------------------------- reading it


class _Malformed:
    """Rows with too few or too many cells: skipped and counted, as long as they are not many."""

    def __init__(self, most: int = MOST_MALFORMED) -> None:
        self.rows = 0
        self.most = most
        self.last: Any = None

    def __call__(self, row: Any) -> str:
        self.rows += 1
        self.last = row
        return "error" if self.rows > self.most else "skip"


@contextmanager
def _few(malformed: _Malformed, name: str) -> Iterator[_Malformed]:
    """Say so where reading was given up for malformed rows."""
    try:
        yield malformed
    except pa.ArrowInvalid as error:
        if malformed.rows <= malformed.most:
            raise
        raise InputError(
            f"{name}: more than {malformed.most:,} rows have another number of cells than the "
            "header; check what parts the cells."
        ) from error


def _parse_options(data: bytes, delimiter: str, malformed: _Malformed) -> pa.csv.ParseOptions:
    return pa.csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=data.find(b'"') >= 0,
        invalid_row_handler=malformed,
    )


def _reader(data: bytes) -> pa.BufferReader:
    return pa.BufferReader(pa.py_buffer(data).slice(_begins(data)))


def read_csv(
    file: TableFile, places: Sequence[int], numbers: Sequence[int] = ()
) -> tuple[pa.Table, int]:
    """Read the columns at these places; also how many malformed rows were skipped.

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
) -> tuple[pa.Table, int]:
    fields = {f"f{place}": types.get(place, _NAMES) for place in places}
    with _few(_Malformed(), file.name) as malformed:
        table = pa.csv.read_csv(
            _reader(file.data),
            pa.csv.ReadOptions(
                autogenerate_column_names=True, skip_rows_after_names=1, block_size=_PIECE
            ),
            _parse_options(file.data, file.delimiter, malformed),
            pa.csv.ConvertOptions(
                column_types=fields,
                include_columns=list(fields),
                strings_can_be_null=False,
                null_values=[],
            ),
        )
    if table.num_rows > file.limits.rows:
        raise InputError(
            f"{file.name}: has {table.num_rows:,} rows; {file.limits.rows:,} are taken at most: "
            f"{file.limits.instead}."
        )
    return table, malformed.rows


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


def read_texts(file: TableFile) -> tuple[pa.Table, int]:
    """Read every cell as the text it is; also how many malformed rows were skipped."""
    places = range(len(file.header))
    return _read(file, places, dict.fromkeys(places, pa.string()))


def malformed_row(file: TableFile) -> tuple[int, int]:
    """The first data row with too few or too many cells, and how many it has."""
    first = _Malformed(most=0)
    try:
        pa.csv.read_csv(
            _reader(file.data),
            pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
            _parse_options(file.data, file.delimiter, first),
        )
    except pa.ArrowInvalid:
        if first.last is None:
            raise
    return first.last.number - 1, first.last.actual_columns
