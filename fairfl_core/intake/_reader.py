"""The process that reads one file for `apart`: a question on standard input, its answer on output.

    python -m fairfl_core.intake._reader SECONDS MEGABYTES

It takes no more than that of processor time and memory, lets everybody else go first, and ends
when whoever asked has ended.
"""

import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from fairfl_core.errors import InputError
from fairfl_core.intake._sandbox import MEMORY, REFUSED, functions, refused_by
from fairfl_core.intake._wire import read_value, write_value

__all__ = ["main"]

_POLITE = 5  # as `nice` counts


def main() -> None:
    """Answer one question."""
    asked_by = os.getppid()
    _limit(int(sys.argv[1]), int(sys.argv[2]))
    threading.Thread(target=_end_with, args=(asked_by,), daemon=True).start()
    name, given, named = read_value(sys.stdin.buffer)
    function = functions()[name]
    if hasattr(os, "nice"):
        os.nice(_POLITE)  # only now: to begin takes no longer than it must
    try:
        answer: tuple[str, Any] = ("", function(*given, **named))
    except InputError as error:
        answer = (REFUSED, (str(error), refused_by(error)))
    except MemoryError:
        answer = (MEMORY, None)
    write_value(sys.stdout.buffer, answer)


def _limit(seconds: int, megabytes: int) -> None:
    """Bind this process, where the system can (not on Windows)."""
    import pyarrow as pa

    pa.set_cpu_count(1)  # one core is enough for one visitor's file
    with suppress(ImportError, OSError, AttributeError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        # Twice, as room that is only set aside counts here; who asked looks at what is used.
        resource.setrlimit(resource.RLIMIT_DATA, (2 * megabytes * 2**20,) * 2)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
