"""Real nodes killed at every moment that matters; run them by `pytest -m faults -p no:xdist tests/federation`."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("flwr")

from fairfl_core._io.files import read_json
from fairfl_core.errors import InputError
from fairfl_core.federation.folders import (
    ClientFolder,
    ServerFolder,
    free_port,
    hospital_example,
    write_folders,
)
from fairfl_core.federation.message_log import read_log
from fairfl_core.federation.programs import wait_until_up
from tests.federation.flower_here import environment
from tests.federation.hospitals import run_here
from tests.federation.test_nodes import eventually, family, lives

pytestmark = pytest.mark.faults
VICTIM = 1


class Network:
    """A server and three clients in processes of their own, of which one is killed on demand."""

    def __init__(self, folder):
        study, people = hospital_example()
        address = f"127.0.0.1:{free_port()}"
        self.server, *self.folders = write_folders(
            folder, study.trained(rounds=2), address=address, people=people
        )
        self.names = [ClientFolder.read(one).name for one in self.folders]
        self._home = folder / "home"
        self._link = self._command("server", self.server)
        wait_until_up(ServerFolder.read(self.server))
        self._nodes = {}
        self.bring_back()

    def _command(self, *words, **more):
        return subprocess.Popen(
            [sys.executable, "-m", "fairfl_core", "federation", *map(str, words)],
            env=environment(self._home),
            stdin=subprocess.DEVNULL,
            stdout=more.get("stdout", subprocess.DEVNULL),
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill(self, name):
        """As a power cut would: the node and everything it started, at once."""
        node = self._nodes.pop(name)
        for pid in family(node.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait()

    def bring_back(self):
        for name, folder in zip(self.names, self.folders, strict=True):
            if name not in self._nodes:
                self._nodes[name] = self._command("client", folder)

    def end(self):
        everybody = [pid for one in (self._link, *self._nodes.values()) for pid in family(one.pid)]
        for one in (*self._nodes.values(), self._link):
            one.terminate()
            one.wait()
        eventually(lambda: not any(lives(pid) for pid in everybody))

    def run(self, out, *, min_clients, at=None, whom=None):
        """One run; `whom` is killed as soon as the server has sent it a message of the kind `at`."""
        limits = ("--eps-global", 0.05, "--eps-local", 0.1, "--patience", 600, "--out", out)
        words = ("run", self.server, *limits, "--min-clients", min_clients)
        with open(out.with_suffix(".txt"), "w+", encoding="utf-8") as said:
            command = self._command(*words, stdout=said)
            while command.poll() is None:
                if whom in self._nodes and was_sent(out, at, whom):
                    self.kill(whom)
                time.sleep(0.2)
            self.bring_back()
            said.seek(0)
            return command.returncode, said.read()


def was_sent(out, kind, whom):
    try:
        log = read_log(out)
    except InputError:
        return False
    return any(one["way"] == "sent" and one["whom"] == whom and one["kind"] == kind for one in log)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    found = Network(tmp_path_factory.mktemp("network") / "federation")
    yield found
    found.end()


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory):
    """The same run in memory, where nobody is killed."""
    return run_here(tmp_path_factory.mktemp("unharmed") / "study")[0].to_json()


# A node takes seconds to load its program for each message, so a kill comes before its answer.
@pytest.mark.parametrize(
    ("kind", "solved_for_it"), [("train", False), ("counts", False), ("predictor", True)]
)
def test_the_run_goes_on_without_a_killed_node(network, tmp_path, kind, solved_for_it):
    whom = network.names[VICTIM]
    code, said = network.run(tmp_path / "out", min_clients=2, at=kind, whom=whom)
    assert code == 0, said
    result = read_json(tmp_path / "out" / "result.json")
    others = [name for name in network.names if name != whom]
    assert result["clients"] == (network.names if solved_for_it else others)
    assert {lost["client"] for lost in result["left_out"]} == {whom}
    assert f'Client "{whom}" is left out' in said
    assert [one["client"] for one in result["evaluation"]["clients"]] == others


@pytest.mark.parametrize("kind", ["train", "counts"])
def test_or_it_stops_and_goes_on_when_the_node_is_back(network, unharmed, tmp_path, kind):
    whom, out = network.names[VICTIM], tmp_path / "out"
    code, said = network.run(out, min_clients=3, at=kind, whom=whom)
    assert code == 2 and f'Client "{whom}" is left out' in said
    trained = [one for one in read_log(out) if one["kind"] == "train"]
    code, said = network.run(out, min_clients=3)
    assert code == 0, said
    result = read_json(out / "result.json")
    assert result["solution"] == unharmed["solution"] and result["counts"] == unharmed["counts"]
    if kind == "counts":  # both rounds were done, and are not done again
        assert [one for one in read_log(out) if one["kind"] == "train"] == trained
