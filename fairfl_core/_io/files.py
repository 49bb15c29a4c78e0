"""Files in and out: read with a sentence when it fails, written whole or not at all."""

import contextlib
import errno
import io
import json
import os
import secrets
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fairfl_core.errors import InputError

if TYPE_CHECKING:  # pandas takes half a second to import; only tables of rows need it
    import pandas as pd

__all__ = [
    "LARGEST", "STANDARD_INPUT", "check_keys", "nested_numbers", "parse_json", "read_json", "read_rows",
    "write_json", "write_rows", "write_whole",
]  # fmt: skip

STANDARD_INPUT = Path("-")
LARGEST = 2**53  # beyond it a float64 no longer holds every integer


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write to a temporary name in the same folder, then rename.

    A killed or failed run leaves the old file as it was.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    # Not the whole name: it may be as long as the system allows.
    temporary = path.parent / f".{path.name[:32]}.{secrets.token_hex(6)}.tmp"
    try:
        if not path.name or path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if path.exists() and not path.is_file():  # renaming over /dev/null would take it away
            raise OSError(errno.EINVAL, "it is not a plain file")
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
        with contextlib.suppress(OSError):
            temporary.unlink()
    return path


def write_json(path: str | Path, value: Any) -> Path:
    """Write one JSON document, whole."""
    return write_whole(path, json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read one strict JSON document: no NaN, no key twice; "-" is standard input."""
    path = Path(path)
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path.") from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); check the path."
        ) from error
    return parse_json(data, str(path))


def parse_json(data: bytes, name: str) -> Any:
    """Take bytes as one strict JSON document; `name` says in errors whose bytes they are."""
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: is not text in UTF-8, so it is not JSON; check the file."
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}: is not JSON (line {error.lineno}, column {error.colno}: {error.msg}); "
            "check the file."
        ) from error
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"{name}: is not JSON that can be read ({error}); check the file."
        ) from error


def _no_constant(token: str) -> NoReturn:
    raise InputError(f"{token} is not a finite number; replace it by one.")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
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


def nested_numbers(
    value: Any, axes: Sequence[tuple[str, Sequence[str]]], where: str
) -> list[float]:
    """The numbers of nested lists, flat; `axes` says what each level lists, outermost first."""
    if not axes:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: {value!r:.40} is not a number; give one.")
        if abs(value) > LARGEST:
            raise InputError(f"{where}: the number is too large; check the file.")
        return [value]
    kind, names = axes[0]
    if not isinstance(value, list) or len(value) != len(names):
        shape = "".join(f"[{level}]" for level, _ in axes)
        known = ", ".join(f'"{name}"' for name in names[:8])
        raise InputError(
            f"{where}: needs a list with one entry per {kind} ({len(names)}: {known}); "
            f"the form is {shape}."
        )
    return [
        number
        for name, item in zip(names, value, strict=True)
        for number in nested_numbers(item, axes[1:], f'{where}, {kind} "{name}"')
    ]


def read_rows(path: str | Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Read these columns (default all) of a CSV or Parquet table; "-" is CSV from standard input.

    A CSV cell is kept as the text it is: "007" stays "007", and a group called "NA" is a group.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    path = Path(path)
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            with open(path, "rb"):
                pass
            _check_header(path, pq.read_schema(path).names, columns)
            wanted = None if columns is None else list(dict.fromkeys(columns))
            return pq.read_table(path, columns=wanted).to_pandas(ignore_metadata=True)
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        # Without a header pandas renames nothing, and a row with a cell too many is an error.
        table = pd.read_csv(
            io.BytesIO(data), header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
        header = [str(name) for name in table.iloc[0]]
        _check_header(path, header, columns)
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


def _check_header(path: Path, found: list[str], wanted: Sequence[str] | None) -> None:
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
