"""Files read with a sentence when it fails, and written whole or not at all."""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from fairfl_core.errors import InputError, check_type

try:
    import fcntl
except ModuleNotFoundError:  # Windows: a file that is open cannot be removed there
    fcntl = None  # type: ignore[assignment]


STANDARD_INPUT = Path("-")
MOST_BYTES = 2_000 * 2**20
_ENDING = ".fairfl-tmp"  # of files that are being written


def read_whole(
    path: str | Path, most: int = MOST_BYTES, instead: str = "give a smaller one"
) -> bytes:
    """Read a file's bytes, `most` of them at most; "-" is standard input."""
    check_type(path, (str, Path), "the path", "a path (a text)")
    path = Path(path)
    try:
        if path == STANDARD_INPUT:
            data = sys.stdin.buffer.read(most + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(most + 1)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path.") from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); check the path."
        ) from error
    if len(data) > most:
        raise InputError(f"{path}: is larger than {most // 2**20:,} MB; {instead}.")
    return data


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write to a temporary name in the same folder, then rename.

    A killed or failed run leaves the old file as it was; what it leaves beside it is removed by
    the next one. A file that is replaced keeps its mode, and a link still leads to it.
    """
    check_type(path, (str, Path), "the path", "a path (a text)")
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if not path.name or path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if path.exists() and not path.is_file():  # renaming over /dev/null would take it away
            raise OSError(errno.EINVAL, "it is not a plain file")
        _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); "
            "choose a path in an existing folder you may write to."
        ) from error
    return path


def _replace(target: Path, data: bytes) -> None:
    # Not the whole name: it may be as long as the system allows.
    beginning = f".{target.name[:32]}."
    temporary, file = _temporary(target.parent, beginning)
    try:
        with file:
            with contextlib.suppress(FileNotFoundError):
                _take_after(file, target.stat())
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if fcntl:  # renamed while it is locked
                os.replace(temporary, target)
        if not fcntl:
            os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _remove_abandoned(target.parent, beginning)


def _temporary(folder: Path, beginning: str) -> tuple[Path, BinaryIO]:
    """A new file, locked for as long as it is open: whoever holds no lock was killed."""
    while True:
        path = folder / f"{beginning}{secrets.token_hex(6)}{_ENDING}"
        file = open(path, "xb")  # noqa: SIM115
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():  # else another run took it for abandoned before it was locked
            return path, file
        file.close()


def _take_after(file: BinaryIO, old: os.stat_result) -> None:
    """Give a file the owner, as far as one may, and the mode of the one it replaces."""
    if not fcntl:
        return
    with contextlib.suppress(PermissionError):
        os.fchown(file.fileno(), old.st_uid, old.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))


def _remove_abandoned(folder: Path, beginning: str) -> None:
    """Remove what killed runs left of the same file."""
    for path in folder.iterdir():
        if path.name.startswith(beginning) and path.name.endswith(_ENDING):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if fcntl:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


LARGEST = 2**53  # beyond it a float64 no longer holds every integer
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a sign that takes two escapes


def write_json(path: str | Path, value: Any) -> Path:
    """Write one JSON document, whole."""
    return write_whole(path, json_text(value))


def json_text(value: Any) -> str:
    """One JSON document as `write_json` writes it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: str | Path) -> Any:
    """Read one strict JSON document: no NaN, no key twice; "-" is standard input."""
    return parse_json(read_whole(path), str(path))


def parse_json(data: bytes, name: str) -> Any:
    """Take bytes as one strict JSON document; `name` says in errors whose bytes they are."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        if _HALF.search(text):
            _no_halves(value)
        return value
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


def _no_halves(value: Any) -> None:
    r"""Refuse text that JSON can write and UTF-8 cannot: half of a sign, like "\\ud800"."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"holds \\u{ord(error.object[error.start]):x}, half of a sign, which is no text; remove it."
        ) from error


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
        if not abs(value) <= LARGEST:  # nor not a number at all
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


_PACKAGE = Path(__file__).resolve().parents[1]
_IN_A_WHEEL = _PACKAGE / "_app"  # pyproject.toml puts them there, so that a wheel is whole

APP_ROOT = _IN_A_WHEEL if _IN_A_WHEEL.is_dir() else _PACKAGE.parent
"""The folder that holds them: the repository in a checkout, a folder of the package in a wheel."""
