"""An uploaded table: looked at before it is read, and read no further than is asked for.

Sizes are checked where a file declares them (a Parquet footer) before anything is unpacked, and
text is never expanded row by row: a name stands once in a dictionary, however many rows say it.
"""

import codecs
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from fairfl_core._io.names import listed
from fairfl_core._io.whole import STANDARD_INPUT, write_whole
from fairfl_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ACTING",
    "MOST_ROWS",
    "Upload",
    "open_table",
    "read_columns",
    "read_rows",
    "shown",
    "write_rows",
]

MOST_BYTES = 210_000_000  # 200 MB as any system counts them
MOST_ROWS = 10_000_000
MOST_COLUMNS = 1_000
MOST_UNPACKED = 1_500_000_000  # bytes of a Parquet table
LONGEST_LINE = 1_000_000  # bytes
SAMPLE = 1_000  # rows shown and guessed from
_PIECE = 1 << 22
_SHOWN = 60  # letters of a cell in the preview
# Signs that turn the direction of the text around them.
ACTING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DELIMITERS = (",", ";", "\t", "|")
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or a workbook",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


@dataclass(frozen=True, eq=False)
class Upload:
    """A table as it came.

    Attributes
    ----------
    name : str
        What the file is called.
    data : bytes
    columns : tuple of str
        Its header; each name once.
    delimiter : str
        What parts the cells of a CSV; empty for Parquet.
    sample : DataFrame
        Its first rows as text, long cells cut.
    """

    name: str
    data: bytes
    columns: tuple[str, ...]
    delimiter: str
    sample: "pd.DataFrame"


def shown(text: str) -> str:
    """A header or a file's name in a sentence: on one line, not endless, nothing unseen in it."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable() and c not in ACTING)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def open_table(name: str, data: bytes) -> Upload:
    """Look at a CSV or Parquet file: its header and its first rows, or why it is refused."""
    name = shown(name)
    if not data:
        raise InputError(f"{name}: the file is empty; choose another.")
    if len(data) > MOST_BYTES:
        raise InputError(f"{name}: is larger than 200 MB; leave out columns that are not needed.")
    try:
        if data[:4] == b"PAR1":
            return _open_parquet(name, data)
        if name.lower().endswith((".parquet", ".pq")):
            raise InputError(f"{name}: is not a Parquet file, whatever its name; check the file.")
        _check_text(name, data)
        return _open_csv(name, data)
    except InputError:
        raise
    except Exception as error:  # the readers raise a dozen kinds; all mean the file is not right
        raise _unreadable(name, error) from error


def read_columns(
    upload: Upload, names: Sequence[str], numbers: Sequence[str] = ()
) -> tuple[pa.Table, int]:
    """Read these columns, `names` dictionary-coded; also how many rows had too few or many cells.

    `numbers` are real where all of the column's cells are numbers, else dictionary-coded too.
    """
    for column in (*names, *numbers):
        if column not in upload.columns:
            raise InputError(
                f'{upload.name}: has no column "{shown(column)}"; its columns are '
                f"{listed([shown(each) for each in upload.columns])}."
            )
    try:
        table, skipped = (
            _read_csv(upload, names, numbers)
            if upload.delimiter
            else (_read_parquet(upload, [*names, *numbers]), 0)
        )
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(upload.name, error) from error
    if not table.num_rows:
        raise InputError(f"{upload.name}: the table has no rows; give at least one person.")
    return table, skipped


def _unreadable(name: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200]
    return InputError(
        f"{name}: cannot be read as a CSV or Parquet table ({reason}); check the file."
    )


def _check_header(name: str, header: Sequence[str]) -> tuple[str, ...]:
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{name}: has {len(header):,} columns; keep client, group, label and the model's "
            f"answer or scores (at most {MOST_COLUMNS:,} columns)."
        )
    seen: set[str] = set()
    for column in header:
        if column in seen:
            raise InputError(
                f'{name}: the column "{shown(column)}" stands twice; rename one of them.'
            )
        seen.add(column)
    return tuple(header)


# -------------------------------------------------------------------- text


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
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _options(data: bytes, delimiter: str, skipped: list[int]) -> dict[str, Any]:
    def skip(_: pa.csv.InvalidRow) -> str:
        skipped[0] += 1
        return "skip"

    return {
        "parse_options": pa.csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=data.find(b'"') >= 0,
            invalid_row_handler=skip,
        )
    }


def _open_csv(name: str, data: bytes) -> Upload:
    end = data.find(b"\n", min(len(data), _PIECE))
    start = data if end < 0 else data[: end + 1]
    first = start.decode("utf-8-sig").lstrip("\r\n").splitlines()
    if not first:
        raise InputError(f"{name}: the file is empty; choose another.")
    delimiter = _delimiter(first[0])
    # Names are given by place, so that the header is a row like the others: none is renamed.
    read = pa.csv.ReadOptions(autogenerate_column_names=True, block_size=2 * _PIECE + LONGEST_LINE)
    width = len(pa.csv.open_csv(pa.BufferReader(start), read_options=read,
                                **_options(data, delimiter, [0])).schema)  # fmt: skip
    if width > MOST_COLUMNS:
        _check_header(name, [str(place) for place in range(width)])
    convert = pa.csv.ConvertOptions(
        column_types={f"f{place}": pa.string() for place in range(width)},
        strings_can_be_null=False,
    )
    head = pa.csv.read_csv(
        pa.BufferReader(start), read_options=read, convert_options=convert,
        **_options(data, delimiter, [0]),
    ).slice(0, SAMPLE + 1)  # fmt: skip
    cells = [[_cut(cell.as_py()) for cell in column.slice(1)] for column in head.columns]
    header = [str(column[0].as_py()) for column in head.columns]
    header[0] = header[0].removeprefix("\ufeff")
    return Upload(name, data, _check_header(name, header), delimiter, _frame(header, cells))


def _read_csv(
    upload: Upload, names: Sequence[str], numbers: Sequence[str]
) -> tuple[pa.Table, int]:
    wanted = list(dict.fromkeys([*names, *numbers]))
    at = {column: f"f{upload.columns.index(column)}" for column in wanted}
    text = pa.dictionary(pa.int32(), pa.string())
    for real in (True, False):  # a column that is not all numbers is read as text
        types = dict.fromkeys(at.values(), text)
        if real:
            types |= {at[column]: pa.float64() for column in numbers}
        skipped = [0]
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(upload.data),
                read_options=pa.csv.ReadOptions(
                    autogenerate_column_names=True, skip_rows_after_names=1, block_size=1 << 22
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(at.values()),
                    strings_can_be_null=False,
                    null_values=["", "NA", "NaN", "nan", "null", "None"],
                ),
                **_options(upload.data, upload.delimiter, skipped),
            )
            break
        except pa.ArrowInvalid:
            if not (real and numbers):
                raise
    if table.num_rows > MOST_ROWS:
        raise InputError(
            f"{upload.name}: has {table.num_rows:,} rows; {MOST_ROWS:,} are taken at most. Make "
            "counts of them with `fairfl count`."
        )
    return table.rename_columns(wanted), skipped[0]


# -------------------------------------------------------------------- Parquet


def _parquet(data: bytes, text: Sequence[str] = ()) -> pq.ParquetFile:
    """Open with these columns left dictionary-coded."""
    return pq.ParquetFile(pa.BufferReader(data), read_dictionary=list(text), pre_buffer=False)


def _open_parquet(name: str, data: bytes) -> Upload:
    if data[-4:] != b"PAR1":
        raise InputError(f"{name}: is a Parquet file cut short; check that it was copied whole.")
    file = _parquet(data)
    meta = file.metadata
    if meta.num_columns > MOST_COLUMNS:
        _check_header(name, [str(place) for place in range(meta.num_columns)])
    unpacked = sum(
        max(meta.row_group(group).column(column).total_uncompressed_size, 0)
        for group in range(meta.num_row_groups)
        for column in range(meta.num_columns)
    )
    for size, most, what in (
        (meta.num_rows, MOST_ROWS, "rows"), (unpacked, MOST_UNPACKED, "bytes once unpacked"),
    ):  # fmt: skip
        if size > most:
            raise InputError(
                f"{name}: declares {size:,} {what}; {most:,} are taken at most. Make counts of "
                "it with `fairfl count`."
            )
    schema = file.schema_arrow
    header = _check_header(name, schema.names)
    flat = [field.name for field in schema if _is_flat(field.type)]
    if not flat:
        raise InputError(f"{name}: no column holds names or numbers; check the file.")
    if not meta.num_rows:
        raise InputError(f"{name}: the table has no rows; give at least one person.")
    reader = _parquet(data, [field.name for field in schema if _is_text(field.type)])
    head = next(reader.iter_batches(SAMPLE, columns=flat))
    cells = [_first_cells(head.column(column)) for column in flat]
    return Upload(name, data, tuple(column for column in header if column in set(flat)), "",
                  _frame(flat, cells))  # fmt: skip


def _read_parquet(upload: Upload, wanted: Sequence[str]) -> pa.Table:
    wanted = list(dict.fromkeys(wanted))
    schema = _parquet(upload.data).schema_arrow
    text = [column for column in wanted if _is_text(schema.field(column).type)]
    declared = 0
    batches = []
    for batch in _parquet(upload.data, text).iter_batches(1 << 18, columns=wanted):
        declared += batch.num_rows
        if declared > MOST_ROWS:  # the footer may lie
            raise InputError(f"{upload.name}: holds more rows than it declares; check the file.")
        batches.append(batch)
    return pa.Table.from_batches(batches) if batches else schema.empty_table().select(wanted)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_flat(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_one_of = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal,
        pa.types.is_date, _is_text,
    )  # fmt: skip
    return any(test(kind) for test in is_one_of)


def _first_cells(column: pa.Array) -> list[str]:
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    names = [_cut(value) for value in coded.dictionary.to_pylist()]
    return ["" if code is None else names[code] for code in coded.indices.to_pylist()]


def _cut(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _frame(header: Sequence[str], cells: Sequence[Sequence[str]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(dict(zip(header, cells, strict=True)), dtype=str)


# -------------------------------------------------------------------- rows of the shell


def read_rows(path: str | Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Read these columns (default all) of a CSV or Parquet table; "-" is CSV from standard input.

    A CSV cell is kept as the text it is: "007" stays "007", and a group called "NA" is a group.
    """
    import pandas as pd

    path = Path(path)
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            with open(path, "rb"):
                pass
            _check_wanted(path, pq.read_schema(path).names, columns)
            wanted = None if columns is None else list(dict.fromkeys(columns))
            return pq.read_table(path, columns=wanted).to_pandas(ignore_metadata=True)
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        # Without a header pandas renames nothing, and a row with a cell too many is an error.
        table = pd.read_csv(
            io.BytesIO(data), header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
        header = [str(name) for name in table.iloc[0]]
        _check_wanted(path, header, columns)
        table = table[1:].reset_index(drop=True).set_axis(header, axis=1)
        return table if columns is None else table[list(dict.fromkeys(columns))]
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path.") from error
    except OSError as error:
        if error.errno is None:
            raise InputError(
                f"{path}: cannot be read as a table ({' '.join(str(error).split())[:200]}); "
                "check the file."
            ) from error
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); check the path."
        ) from error
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8; save it as UTF-8 CSV.") from error
    except Exception as error:  # the readers raise a dozen kinds; all mean the file is not right
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path}: cannot be read as a CSV or Parquet table ({reason}); check the file."
        ) from error


def _check_wanted(path: Path, found: list[str], wanted: Sequence[str] | None) -> None:
    for name in wanted or ():
        if name not in found:
            has = ", ".join(f'"{column}"' for column in found[:12])
            raise InputError(f'{path}: has no column "{name}"; its columns are {has}.')
    for name in found if wanted is None else wanted:
        if found.count(name) > 1:
            raise InputError(f'{path}: the column "{name}" stands twice; rename one of them.')


def write_rows(path: str | Path, rows: "pd.DataFrame") -> Path:
    """Write a table as CSV, or Parquet where the name ends so; whole or not at all."""
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        buffer = io.BytesIO()
        rows.to_parquet(buffer, index=False)
        return write_whole(path, buffer.getvalue())
    return write_whole(path, rows.to_csv(index=False))
