"""A client's node ends with the command that started it, however that ends; nobody has two."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from fairfl_core.federation.folders import free_port, hospital_example, write_folders
from tests.federation.flower_here import environment

pytestmark = [
    pytest.mark.nodes,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are read from /proc"),
]
SIGNALS = ("SIGHUP", "SIGTERM", "SIGINT", "SIGKILL")
PATIENCE = 120.0


def family(pid):
    """A process and everything below it, by /proc."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(path.parent.name))
    found, waiting = [pid], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found, waiting = found + children, waiting + children
    return found


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def eventually(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A client for each signal, its folder and its command; their server is not there yet."""
    study, people = hospital_example()
    table = people["North"]
    study = replace(study, clients=SIGNALS)
    where = tmp_path_factory.mktemp("nodes") / "study"
    address = f"127.0.0.1:{free_port()}"
    folders = write_folders(where, study, address=address, people=dict.fromkeys(SIGNALS, table))
    # Whoever runs the tests by nohup ignores SIGHUP, and so would all that is started from here.
    ours = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    started = {name: (one, client(one)) for name, one in zip(SIGNALS, folders[1:], strict=True)}
    yield started
    signal.signal(signal.SIGHUP, ours)
    for _, command in started.values():
        command.kill()
        command.communicate()


def client(folder):
    return subprocess.Popen(
        [sys.executable, "-m", "fairfl_core", "federation", "client", str(folder)],
        env=environment(folder / "home"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("name", SIGNALS)
def test_gone_means_gone(nodes, name):
    folder, command = nodes[name]
    eventually(lambda: len(family(command.pid)) > 1)  # the SuperNode has started its worker
    everybody = family(command.pid)
    if name == "SIGHUP":  # while it is there, a second one is told so
        second = client(folder)
        output = second.communicate(timeout=PATIENCE)[1]
        assert second.returncode == 2
        assert f'the old node of client "{name}" is still there (process {command.pid})' in output
    os.kill(command.pid, getattr(signal, name))
    command.wait(PATIENCE)
    eventually(lambda: not any(lives(pid) for pid in everybody))
