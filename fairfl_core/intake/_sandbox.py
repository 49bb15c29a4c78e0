"""Read a large upload in a process of its own, with limits on time and memory.

A thread would not do: parsing one JSON document holds the interpreter lock, and a thread cannot be
ended. A file of a few pages is read in the caller's process.

The process is a `multiprocessing` one, started by "spawn", that binds itself with rlimits before
it reads. It is one process a file and not a `ProcessPoolExecutor`, whose workers live on when the
server is killed and whose exit code (out of time? out of memory?) is lost.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from fairfl_core.budget import MEGABYTE, afford
from fairfl_core.data.tables import MAGIC
from fairfl_core.errors import InputError, OverBudgetError

LARGE = MEGABYTE // 2  # bytes from which files are read in another process
ADVICE = "give fewer rows and only the columns needed, or make counts of it with `fairfl count`"
_SECONDS = (20, 0.5)  # of processor time: to begin with, and for each megabyte
_MEGABYTES = (500, 7)  # of memory, likewise
_MEGABYTES_OF_JSON = (500, 30)  # each number is an object until it stands in a table
_SLOTS = threading.BoundedSemaphore(2)  # files of one server that are read at a time
_NICENESS = 5
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"
_SPAWN = multiprocessing.get_context("spawn")

P = ParamSpec("P")
T = TypeVar("T")


def apart(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Call a function of this package on files, in a process of its own unless they are small.

    Parameters
    ----------
    function : callable
        Of a module, so that the other process can import it.
    *given, **named
        Its arguments; the contents of files are found among `given`.

    Returns
    -------
    What the function returns. What it may take is computed from the files' size, and checked
    against the caller's budget before it begins.
    """
    files = list(_files(given))
    size = sum(map(len, files))
    compressed = any(file[: len(MAGIC)] == MAGIC for file in files)  # expands to any size
    if size < LARGE and not compressed:
        return function(*given, **named)
    seconds, megabytes = _limits(size, files, compressed=compressed)
    afford(megabytes, f"reading {size / MEGABYTE:,.0f} MB", ADVICE)
    with _SLOTS:
        return cast(T, _call_in_process(seconds, megabytes, function, given, named))


def _files(value: Any) -> Iterator[bytes]:
    """The contents of files among the arguments of a call."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _files(one)
    elif isinstance(getattr(value, "data", None), bytes):  # a `TableFile`
        yield value.data


def _limits(size: int, files: list[bytes], *, compressed: bool) -> tuple[int, int]:
    """Seconds of processor time and megabytes of memory that reading may take."""
    millions = size / MEGABYTE
    json = any(file[:64].lstrip(_BEFORE_JSON)[:1] in (b"{", b"[") for file in files)
    base, each = _MEGABYTES_OF_JSON if json else _MEGABYTES
    megabytes = 2_000.0 if compressed else base + each * millions
    return round(_SECONDS[0] + _SECONDS[1] * millions), round(megabytes)


def _call_in_process(
    seconds: int,
    megabytes: int,
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    receiver, sender = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(
        target=_child, args=(sender, seconds, megabytes, function, given, named), daemon=True
    )
    process.start()
    sender.close()
    try:
        result, error = receiver.recv()
    except EOFError:
        process.join()
        _explain(process.exitcode, seconds, megabytes)
    finally:
        process.kill()
        process.join()
        process.close()
        receiver.close()
    if isinstance(error, MemoryError):
        _needs_more(megabytes)
    if error is not None:
        raise error
    return result


def _child(
    sender: Connection,
    seconds: int,
    megabytes: int,
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    """Run in the other process: bind it, call, send the result or the refusal."""
    _bind(seconds, megabytes)
    try:
        answer: tuple[Any, Exception | None] = (function(*given, **named), None)
    except InputError as error:
        error.refused_by = refused_by(error)
        answer = (None, error)
    except MemoryError:
        answer = (None, MemoryError())
    with suppress(BrokenPipeError):  # the server has ended
        sender.send(answer)


def _bind(seconds: int, megabytes: int) -> None:
    """Limit this process, as far as the system can (on Windows: one core of Arrow's)."""
    import pyarrow as pa

    pa.set_cpu_count(1)  # one core is enough for one visitor's file
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere refused or without effect
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * MEGABYTE,) * 2)
    os.nice(_NICENESS)


def _explain(code: int | None, seconds: int, megabytes: int) -> NoReturn:
    """Say why a process ended without an answer."""
    if code is not None and -code == getattr(signal, "SIGXCPU", 0):
        raise OverBudgetError(
            f"reading this takes longer than the {seconds} seconds of work it has here; {ADVICE}."
        )
    if code is not None and code < 0:  # killed by the system, or aborted where memory ended
        _needs_more(megabytes)
    raise RuntimeError(f"the process that read a file ended with {code}")


def _needs_more(megabytes: int) -> NoReturn:
    raise OverBudgetError(
        f"reading this needs more than the {megabytes:,} MB of memory it has here; {ADVICE}."
    )


def refused_by(error: BaseException) -> str:
    """Name the check that refused: module and function where an error was raised first."""
    while error.__cause__ is not None and type(error.__cause__) is type(error):
        error = error.__cause__
    if isinstance(error, InputError) and error.refused_by:
        return error.refused_by
    trace = error.__traceback__
    if trace is None:
        return type(error).__name__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
