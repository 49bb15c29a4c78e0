"""The dashboard in processes of its own, on a free port of this machine: alone, or many workers."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.helpers.protocol import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600  # seconds to start, every page opened first, on a machine that is busy


class Serving:
    """A server that was started by a command; ends with its `with`."""

    def __init__(self, words: Sequence[str], port: int, host: str = "localhost") -> None:
        self.address = f"http://{host}:{port}"
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=ROOT,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Self:
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError(f"The server did not start:\n{self.log}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(120)
        self._log.close()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=5):
                return True
        except OSError:
            return False

    @property
    def log(self) -> str:
        """What it has written so far."""
        self._log.flush()
        self._log.seek(0)
        return self._log.read()

    @property
    def pids(self) -> list[int]:
        """The processes that compute pages."""
        return [self.process.pid]

    @property
    def megabytes(self) -> float:
        """Memory that the pages' processes hold; what they share is counted once (Linux)."""
        return _megabytes(self.pids)

    @property
    def megabytes_of_all(self) -> float:
        """Memory of all that was started: the proxy and whoever starts workers, too (Linux)."""
        return _megabytes([self.process.pid, *_descendants(self.process.pid)])

    @property
    def processor_seconds(self) -> float:
        """What they have used of processors so far (Linux)."""
        return self._ticks(11, 13)

    @property
    def processor_seconds_with_ended(self) -> float:
        """The same with what processes that they started and that have ended had used (Linux)."""
        return self._ticks(11, 15)

    def _ticks(self, first: int, end: int) -> float:
        stats = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1] for pid in self.pids]
        used = [int(ticks) for stat in stats for ticks in stat.split()[first:end]]
        return sum(used) / os.sysconf("SC_CLK_TCK")


class Server(Serving):
    """`streamlit run`: one process."""

    def __init__(
        self, script: str = "app.py", *settings: str, port: int = 0, host: str = "localhost"
    ) -> None:
        port = port or free_port()
        where = [f"--server.address={host}", f"--server.port={port}"]
        super().__init__(["streamlit", "run", script, *where, *settings], port, host)


class Served(Serving):
    """`fairfl serve`: several workers behind nginx."""

    def __init__(
        self, workers: int, *options: str, port: int = 0, host: str = "localhost"
    ) -> None:
        port = port or free_port()
        words = ["fairfl_core", "serve", "--workers", str(workers), "--port", str(port)]
        super().__init__([*words, *options], port, host)

    @property
    def pids(self) -> list[int]:
        """The workers' process numbers (Linux)."""
        children = _children(self.process.pid)
        nurseries = [pid for pid in children if b"nursery" in _command(pid)]
        return [worker for nursery in nurseries for worker in _children(nursery)]

    def kill_a_worker(self) -> None:
        """One of them dies at once."""
        os.kill(self.pids[0], signal.SIGKILL)


def has_nginx() -> bool:
    """Whether `fairfl serve` can be run here."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _descendants(pid: int) -> list[int]:
    try:
        children = _children(pid)
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return []
    return [one for child in children for one in (child, *_descendants(child))]


def _megabytes(pids: Sequence[int]) -> float:
    kilobytes = 0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):  # one that has just ended
            told = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(re.search(r"^Pss:\s+(\d+)", told, re.M)[1])
    return kilobytes / 2**10


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
