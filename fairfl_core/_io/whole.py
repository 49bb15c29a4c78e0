"""Files read with a sentence when it fails, and written whole or not at all."""

import contextlib
import errno
import os
import secrets
import sys
from pathlib import Path

from fairfl_core.errors import InputError

__all__ = ["STANDARD_INPUT", "read_whole", "write_whole"]

STANDARD_INPUT = Path("-")


def read_whole(path: str | Path) -> bytes:
    """Read a file's bytes; "-" is standard input."""
    path = Path(path)
    try:
        return sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path.") from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); check the path."
        ) from error


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
