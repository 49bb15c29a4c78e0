"""Files in and out: read with a sentence when it fails, written whole or not at all."""

import errno
import json
import os
import secrets
from pathlib import Path
from typing import Any, NoReturn

from fairfl_core.errors import InputError

__all__ = ["read_json", "write_json", "write_whole"]


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
    """Read one strict JSON document: no NaN, no key twice."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
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
