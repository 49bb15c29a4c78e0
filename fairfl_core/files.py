"""Files in and out: read with a sentence when it fails, written whole or not at all."""

import errno
import io
import json
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fairfl_core.errors import InputError

if TYPE_CHECKING:  # pandas takes half a second to import; only tables of rows need it
    import pandas as pd

__all__ = [
    "STANDARD_INPUT",
    "check_keys",
    "read_json",
    "read_rows",
    "write_json",
    "write_rows",
    "write_whole",
]

STANDARD_INPUT = Path("-")


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write to a temporary name in the same folder, then rename.

    A killed or failed run leaves the old file as it was.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); "
            "choose a path in an existing folder you may write to."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_json(path: str | Path, value: Any) -> Path:
    """Write one JSON document, whole."""
    return write_whole(path, json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read one strict JSON document: no NaN, no key twice; "-" is standard input."""
    path = Path(path)
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        text = data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8, so it is not JSON.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from error
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: is not JSON (line {error.lineno}, column {error.colno}: {error.msg})."
        ) from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: is not JSON that can be read ({error}).") from error


def _no_constant(token: str) -> NoReturn:
    raise InputError(f"{token} is not a finite number; replace it by one.")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f'the key "{twice}" stands twice in one object; keep one of them.')
    return value


def check_keys(value: dict[str, Any], known: set[str], optional: set[str], where: str) -> None:
    """Refuse a key that is not known, and one that is missing."""
    for key in value:
        if key not in known:
            raise InputError(f'{where} has the unknown key "{key}"; remove it.')
    for key in sorted(known - optional):
        if key not in value:
            raise InputError(f'{where} lacks the key "{key}"; add it.')


def read_rows(path: str | Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Read these columns (default all) of a CSV or Parquet table; "-" is CSV from standard input.

    A CSV cell is kept as the text it is: "007" stays "007", and a group called "NA" is a group.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    path = Path(path)
    if path != STANDARD_INPUT and not path.is_file():
        raise InputError(f"{path}: no such file; check the path.")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            _check_header(path, pq.read_schema(path).names, columns)
            return pd.read_parquet(path, columns=None if columns is None else list(columns))
        source: Any = io.BytesIO(sys.stdin.buffer.read()) if path == STANDARD_INPUT else path
        header = pd.read_csv(source, nrows=0, encoding="utf-8-sig")
        _check_header(path, list(header.columns), columns)
        if path == STANDARD_INPUT:
            source.seek(0)
        return pd.read_csv(
            source,
            usecols=None if columns is None else list(dict.fromkeys(columns)),
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
        )
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8; save it as UTF-8 CSV.") from error
    except Exception as error:  # the readers raise a dozen kinds; all mean the file is not right
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path}: cannot be read as a CSV or Parquet table ({reason}); check the file."
        ) from error


def _check_header(path: Path, found: list[str], wanted: Sequence[str] | None) -> None:
    for name in wanted or ():
        if name not in found:
            has = ", ".join(f'"{column}"' for column in found[:12])
            raise InputError(f'{path}: has no column "{name}"; its columns are {has}.')


def write_rows(path: str | Path, rows: "pd.DataFrame") -> Path:
    """Write a table as CSV, or Parquet where the name ends so; whole or not at all."""
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        buffer = io.BytesIO()
        rows.to_parquet(buffer, index=False)
        return write_whole(path, buffer.getvalue())
    return write_whole(path, rows.to_csv(index=False))
