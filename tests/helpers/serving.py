"""The dashboard in processes of its own, on a free port of this machine: alone, or two replicas."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Self

from tests.helpers.protocol import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600  # seconds to start, every page opened first, on a machine that is busy


class Serving:
    """A server that was started by a command; ends with its `with`."""

    def __init__(
        self,
        words: Sequence[str],
        port: int,
        host: str = "localhost",
        surrounding: Mapping[str, str] | None = None,
    ) -> None:
        self.address = f"http://{host}:{port}"
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            words,
            cwd=ROOT,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=os.environ | (surrounding or {}),
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
        return _healthy(self.address)

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
        """Memory of all that was started: the proxy, too (Linux)."""
        return _megabytes([self.process.pid, *_descendants(self.process.pid)])

    @property
    def processor_seconds(self) -> float:
        """What they have used of processors so far (Linux)."""
        stats = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1] for pid in self.pids]
        used = [int(ticks) for stat in stats for ticks in stat.split()[11:13]]
        return sum(used) / os.sysconf("SC_CLK_TCK")


class Server(Serving):
    """One process: `fairfl app`, or `streamlit run` with another script."""

    def __init__(
        self, script: str = "", *settings: str, port: int = 0, host: str = "localhost"
    ) -> None:
        port = port or free_port()
        if script:
            where = [f"--server.address={host}", f"--server.port={port}"]
            words = ["streamlit", "run", script, *where, *settings]
        else:
            where = ["--address", host, "--port", str(port)]
            words = ["fairfl_core", "app", "--headless", *where, "--", *settings]
        super().__init__([sys.executable, "-m", *words], port, host)


class Replicas(Serving):
    """`deploy/replicas.sh`: two replicas behind nginx."""

    def __init__(self, *, warm: bool = False) -> None:
        port = _three_free_ports()
        here = Path(sys.executable).parent
        surrounding = {"PORT": str(port), "WARM": "--warm" if warm else ""}
        surrounding["PATH"] = f"{here}:{os.environ.get('PATH', '')}"
        self._doors = [port + 1, port + 2, port]
        super().__init__([str(ROOT / "deploy" / "replicas.sh")], port, surrounding=surrounding)

    def _answers(self) -> bool:
        """Whether both replicas do, and nginx."""
        return all(_healthy(f"http://127.0.0.1:{door}") for door in self._doors)

    @property
    def pids(self) -> list[int]:
        """The replicas' process numbers (Linux)."""
        return [pid for pid in _descendants(self.process.pid) if b"--headless" in _command(pid)]

    def kill_one(self) -> None:
        """One of them dies at once: the first of `pids`."""
        os.kill(self.pids[0], signal.SIGKILL)


def has_nginx() -> bool:
    """Whether `deploy/replicas.sh` can be run here."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
            return True
    except (OSError, HTTPException):
        return False


def _three_free_ports() -> int:
    """The first of three ports in a row that nobody listens on.

    Below those that a connection goes out from: who asks one of these whether somebody listens
    there may be answered by itself.
    """
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            for next_one in (port, port + 1, port + 2):
                with socket.socket() as taken:
                    taken.bind(("127.0.0.1", next_one))
        except (OSError, OverflowError):
            continue
        return port


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
            numbers = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(re.search(r"^Pss:\s+(\d+)", numbers, re.M)[1])
    return kilobytes / 2**10


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
