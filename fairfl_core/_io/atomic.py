"""Files read with a sentence when it fails, and written whole or not at all."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from fairfl_core.errors import InputError, check_type

try:
    import fcntl
except ModuleNotFoundError:  # Windows: a file that is open cannot be removed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["STANDARD_INPUT", "read_whole", "write_whole"]

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
