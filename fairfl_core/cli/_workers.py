"""Several dashboards behind one door: started, watched, started again, ended."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from fairfl_core._io.places import TOP
from fairfl_core.cli._proxy import Door, nginx_settings
from fairfl_core.errors import InputError

__all__ = ["NO_NGINX", "Worker", "serve_until_told"]

NO_NGINX = (
    "nginx is not installed, which keeps each visitor on one worker; install it "
    "(Debian: `apt-get install nginx-light`), or run one worker: `fairfl app --headless`."
)
_LOOK = 1.0  # seconds between two looks at the workers
_PATIENCE = 15.0  # seconds in which a worker must say that it is well; a busy one is slow
_CHANCES = 3  # times in a row that it may not
_GRACE = 3.5  # seconds to end by themselves
_STARTS = 120.0  # seconds to start


class Nursery:
    """The process that workers are forks of: what all of them share is computed there, once."""

    def __init__(self, *, warm: bool, told: threading.Event) -> None:
        self._told = told
        self._command = [sys.executable, "-m", "pages.components.session.nursery"]
        self._command += ["warm"] if warm else []
        self._process: subprocess.Popen[bytes] | None = None

    def fork(self, port: int, settings: Sequence[str]) -> int | None:
        """A new worker's process number; None where we were told to end meanwhile."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        nursery = cast("subprocess.Popen[bytes]", self._process)
        asked, answers = cast(IO[bytes], nursery.stdin), cast(IO[bytes], nursery.stdout)
        asked.write(json.dumps([port, *settings]).encode() + b"\n")
        asked.flush()
        while not select.select([answers], [], [], 0.2)[0]:  # it may be opening pages yet
            if self._told.is_set():
                return None
        answer = answers.readline()
        if not answer:
            raise InputError("the dashboard did not start; its own words stand above.")
        return int(answer)

    def _start(self) -> None:
        # One thread each for linear algebra: the workers are what uses the processors. And few
        # heaps: each run of a page is a thread, and would leave a heap of its own half empty.
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            self._command,
            env={**threads, **os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl+C is for the supervisor
        )

    def end(self) -> None:
        """End it; workers have ended before."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@dataclass
class Worker:
    """One Streamlit process on a port of this machine."""

    port: int
    nursery: Nursery
    settings: Sequence[str] = ()
    failed: int = 0
    pid: int | None = None

    @property
    def address(self) -> str:
        """Where the proxy finds it."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, or start it again where it was."""
        self.failed = 0
        self.pid = self.nursery.fork(self.port, self.settings)

    @property
    def is_running(self) -> bool:
        """Whether there is a process at all."""
        return self.signal(0)

    def answers(self, within: float = _PATIENCE) -> bool:
        """Whether it says that it is well."""
        with suppress(OSError):
            url = f"http://{self.address}/_stcore/health"
            with urllib.request.urlopen(url, timeout=within) as reply:
                return bool(reply.status == 200)
        return False

    def signal(self, number: int) -> bool:
        """Send it a signal; whether there was anyone to get it."""
        if self.pid is None:
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True


def serve_until_told(
    door: Door,
    many: int,
    *,
    settings: Sequence[str],
    beside: Sequence[str],
    warm: bool,
    say: Callable[[str], None],
) -> None:
    """Run the workers and the proxy until SIGTERM or Ctrl+C; then end all of them.

    Parameters
    ----------
    door : Door
    many : int
        Workers on this machine.
    settings : sequence of str
        Settings of Streamlit, for every worker.
    beside : sequence of str
        Addresses of workers on other machines, which are not ours to start.
    warm : bool
        Whether every page is opened once before visitors come.
    say : callable
        Hears sentences for a person.
    """
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if nginx is None:
        raise InputError(NO_NGINX)
    told = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: told.set())
    nursery = Nursery(warm=warm, told=told)
    workers = [Worker(port, nursery, settings) for port in _free_ports(many)]
    proxy: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryDirectory(prefix="fairfl-serve-") as folder:
        place = Path(folder) / "nginx.conf"
        addresses = [*(worker.address for worker in workers), *beside]
        place.write_text(nginx_settings(door, addresses, Path(folder)), "utf-8")
        if warm:
            say("Every page is opened once before visitors come: half a minute or more.")
        try:
            for worker in workers:
                worker.start()
            _wait_until_well(workers, told)
            command = [nginx, "-p", folder, "-c", str(place), "-e", "stderr"]
            proxy = subprocess.Popen(command, start_new_session=True)
            say(f"{many} workers behind {door.url}. Ctrl+C or SIGTERM ends them.")
            while not told.wait(_LOOK):
                _look_after(workers, say)
                if proxy.poll() is not None:
                    raise InputError(
                        f"nginx ended by itself; is {door.address}:{door.port} taken? See above."
                    )
        finally:
            _end(workers, nursery, proxy)


def _free_ports(many: int) -> list[int]:
    """Ports nobody listens on; held together, so that all are different."""
    sockets = [socket.socket() for _ in range(many)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _wait_until_well(workers: Sequence[Worker], told: threading.Event) -> None:
    end = time.monotonic() + _STARTS
    while not told.is_set() and not all(worker.answers(within=2) for worker in workers):
        if time.monotonic() > end or not all(worker.is_running for worker in workers):
            raise InputError("a worker did not start; its own words stand above.")
        told.wait(0.1)


def _look_after(workers: Sequence[Worker], say: Callable[[str], None]) -> None:
    """Start again whoever ended, or has not answered for too long."""
    for worker in workers:
        if worker.is_running:
            worker.failed = 0 if worker.answers() else worker.failed + 1
            if worker.failed < _CHANCES:
                continue
            worker.signal(signal.SIGKILL)
        say(f"The worker at {worker.address} ended or did not answer; it is started again.")
        worker.start()


def _end(
    workers: Sequence[Worker], nursery: Nursery, proxy: "subprocess.Popen[bytes] | None"
) -> None:
    """End everyone: asked first, then made to."""
    if proxy is not None and proxy.poll() is None:
        proxy.terminate()
    for worker in workers:
        worker.signal(signal.SIGTERM)
    end = time.monotonic() + _GRACE
    while any(worker.is_running for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    for worker in workers:
        worker.signal(signal.SIGKILL)
    nursery.end()
    if proxy is not None:
        proxy.kill()
        proxy.wait()
