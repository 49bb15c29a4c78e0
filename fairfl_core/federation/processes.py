"""Flower's processes: started in a surrounding where they tell nobody anything, and ended."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import fairfl_core
from fairfl_core.errors import InputError

__all__ = ["Processes", "check_flower", "descendants", "environment", "home_of", "tool"]

_ENDED = 10.0  # seconds that a process may take to end


def check_flower() -> None:
    """Say how to get Flower where it is not installed."""
    if find_spec("flwr") is None:
        raise InputError(
            "a federation needs Flower, which comes with the extra fairfl[federation]; install it "
            "with `pip install flwr==1.41.0`, in a checkout with `make install`."
        )


class Processes:
    """Processes that end with whoever started them."""

    def __init__(self) -> None:
        self._started: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []
        self._before: Any = None

    def __enter__(self) -> "Processes":
        if threading.current_thread() is threading.main_thread():
            # who is asked to end, ends what it started
            self._before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:  # asked once more, it is ending already
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.end()
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def start(self, command: Sequence[str], home: Path, log: Path) -> "subprocess.Popen[bytes]":
        """Start one in a group of its own, with what it says in a file."""
        log.parent.mkdir(parents=True, exist_ok=True)
        file = open(log, "ab")  # noqa: SIM115
        process = subprocess.Popen(
            [*command],
            env=environment(home),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._started.append((process, file))
        return process

    def end(self, process: "subprocess.Popen[bytes] | None" = None) -> None:
        """End all of them, or one, with whatever they started themselves."""
        chosen = [one for one in self._started if process is None or one[0] is process]
        family = [pid for one, _ in chosen for pid in descendants(one.pid)]
        for one, _ in reversed(chosen):
            _signal(one.pid, signal.SIGTERM)
        for one, file in chosen:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(_ENDED)
            _signal(one.pid, signal.SIGKILL)  # what is left of its group
            one.wait()
            file.close()
        for pid in family:  # Flower starts its workers in groups of their own
            _signal(pid, signal.SIGKILL)
        self._started = [one for one in self._started if one not in chosen]

    def wait(self) -> None:
        """Wait until one of them ends by itself, and say so."""
        while all(process.poll() is None for process, _ in self._started):
            time.sleep(0.3)
        raise InputError("Flower ended by itself; the log in the folder says why.")


def descendants(pid: int) -> list[int]:
    """Processes that one started, and those that these started; none where there is no /proc."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # the name in brackets may hold anything; what follows it does not
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(path.parent.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _signal(group: int, number: signal.Signals) -> None:
    for send in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(group, number)


def environment(home: Path) -> dict[str, str]:
    """Where Flower finds its programs and us, and that it tells nobody anything."""
    tools, package = Path(sys.executable).parent, Path(fairfl_core.__file__).parents[1]
    return os.environ | {
        "PATH": os.pathsep.join([str(tools), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def tool(name: str) -> str:
    """One of Flower's programs, beside the Python that runs this."""
    check_flower()
    return str(Path(sys.executable).parent / name)


def home_of(folder: Path) -> Path:
    """Where Flower keeps its own things in a folder of ours."""
    home = (folder / ".flower").resolve()
    home.mkdir(parents=True, exist_ok=True)
    return home
