"""Reading a large file in a process of its own: with limits, politely, and no longer than wanted.

Threads cannot give that: a JSON document is taken apart in one go that lets nobody else in, and
nobody can end a thread. A file of a few pages is read where it is asked for, in no time.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from fairfl_core._io.places import TOP
from fairfl_core.budget import MEGABYTE, afford, look
from fairfl_core.data.tables.parquet_tables import MAGIC
from fairfl_core.errors import InputError, OverBudgetError

__all__ = ["MEMORY", "REFUSED", "apart", "functions", "refused_by"]

AT_ONCE = MEGABYTE // 2  # bytes of files that are read where they are asked for
REFUSED, MEMORY = "refused", "memory"  # what an answer begins with that is no result
INSTEAD = "give fewer rows and only the columns needed, or make counts of it with `fairfl count`"
_SECONDS = (20, 0.5)  # of processor time: to begin with, and for each megabyte
_MEGABYTES = (500, 7)  # of memory, likewise
_MEGABYTES_OF_JSON = (500, 30)  # each number is an object until it stands in a table
_TURNS = threading.BoundedSemaphore(2)  # so many files of one server are read at a time
_LOOK = 0.1  # seconds
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"

P = ParamSpec("P")
T = TypeVar("T")


def functions() -> dict[str, Callable[..., Any]]:
    """What can be asked of the process, by name."""
    from fairfl_core.data.tables.tables import open_table
    from fairfl_core.intake._coding import labels_of
    from fairfl_core.intake._from_counts import experiment_from_counts
    from fairfl_core.intake._from_table import experiment_from_table

    every = (open_table, labels_of, experiment_from_counts, experiment_from_table)
    return {function.__name__: function for function in every}


def apart(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Call one of `functions` in a process of its own, unless its files are small.

    What it may take is computed from the files' size and checked against the budget before it
    begins; it ends with the one it is done for.
    """
    files = list(_files(given))
    size = sum(map(len, files))
    unpacks = any(file[: len(MAGIC)] == MAGIC for file in files)  # to whatever it likes
    if size < AT_ONCE and not unpacks:
        return function(*given, **named)
    seconds, megabytes = _needed(size, files, unpacks=unpacks)
    afford(megabytes, f"reading {size / MEGABYTE:,.0f} MB", INSTEAD)
    while not _TURNS.acquire(timeout=_LOOK):
        look()
    try:
        return cast(T, _ask(seconds, megabytes, (function.__name__, given, named)))
    finally:
        _TURNS.release()


def _files(value: Any) -> Iterator[bytes]:
    """The contents of files among the arguments of a call."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _files(one)
    elif isinstance(getattr(value, "data", None), bytes):  # a table that was looked at
        yield value.data


def _needed(size: int, files: list[bytes], *, unpacks: bool) -> tuple[int, int]:
    """Seconds of processor time and megabytes of memory that reading may take."""
    millions = size / MEGABYTE
    json = any(file[:64].lstrip(_BEFORE_JSON)[:1] in (b"{", b"[") for file in files)
    begin, each = _MEGABYTES_OF_JSON if json else _MEGABYTES
    megabytes = 2_000.0 if unpacks else begin + each * millions
    return round(_SECONDS[0] + _SECONDS[1] * millions), round(megabytes)


def _ask(seconds: int, megabytes: int, question: Any) -> Any:
    """Start the process, ask, and look up until it has answered."""
    answer: list[Any] = []
    process = _start(seconds, megabytes)
    talk = threading.Thread(target=_talk, args=(process, question, answer), daemon=True)
    talk.start()
    try:
        while talk.is_alive():
            look()
            if _used(process.pid) > megabytes:
                _needs_more(megabytes)
            talk.join(_LOOK)
    except BaseException:
        process.kill()
        raise
    finally:
        talk.join()
        process.wait()
    if not answer:
        _ended(process.returncode, seconds, megabytes)
    kind, told = answer[0]
    if kind == REFUSED:
        error = InputError(told[0])
        error.refused_by = told[1]
        raise error
    if kind == MEMORY:
        _needs_more(megabytes)
    return told


def _start(seconds: int, megabytes: int) -> "subprocess.Popen[bytes]":
    path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "fairfl_core.intake._reader", str(seconds), str(megabytes)],
        env={**os.environ, **threads, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl+C is for the server
    )


def _talk(process: "subprocess.Popen[bytes]", question: Any, answer: list[Any]) -> None:
    """Ask and hear; nothing is heard of a process that was ended."""
    from fairfl_core.intake._wire import read_value, write_value

    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        return
    try:
        with stdin, stdout:
            write_value(stdin, question)
            answer.append(read_value(stdout))
    except (OSError, EOFError):
        return


def _ended(code: int, seconds: int, megabytes: int) -> NoReturn:
    """Say why a process ended without an answer."""
    if code == -getattr(signal, "SIGXCPU", 0):
        raise OverBudgetError(
            f"reading this takes longer than the {seconds} seconds of work it has here; {INSTEAD}."
        )
    if code in (-signal.SIGKILL, -signal.SIGABRT):
        _needs_more(megabytes)
    raise RuntimeError(f"the process that read a file ended with {code}")


def _needs_more(megabytes: int) -> NoReturn:
    raise OverBudgetError(
        f"reading this needs more than the {megabytes:,} MB of memory it has here; {INSTEAD}."
    )


def _used(pid: int) -> float:
    """Megabytes of memory that a process holds; 0 where the system does not tell (not Linux)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def refused_by(error: BaseException) -> str:
    """The check that refused: the module and function where an error was raised first."""
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
