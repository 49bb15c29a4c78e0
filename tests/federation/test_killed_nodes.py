"""Real nodes killed at every moment that matters; `make federation-faults` runs these."""

import contextlib
import os
import signal
from dataclasses import replace

import pytest

pytest.importorskip("flwr", reason="a federation needs Flower: pip install flwr==1.41.0")

from fairfl_core._io.json_files import read_json
from fairfl_core.errors import InputError
from fairfl_core.federation.folders import hospital_example, write_folders
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.loader import ClientFolder
from fairfl_core.federation.log import read_log
from fairfl_core.federation.processes import Processes, descendants
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import FederationStopped
from fairfl_core.federation.server_folder import ServerFolder, free_port
from fairfl_core.federation.superlink import start_client, start_server, submit

pytestmark = pytest.mark.faults

QUESTION = Question("eo", "simplex", 0.05, 0.1)
VICTIM = 1


class Network:
    """A server and three clients in processes of their own, of which one is killed on demand."""

    def __init__(self, folder, processes):
        study, people = hospital_example()
        path, *clients = write_folders(
            folder,
            replace(study, rounds=2),
            address=f"127.0.0.1:{free_port()}",
            people=people,
        )
        self.server = ServerFolder.read(path)
        self.folders = [ClientFolder.read(client) for client in clients]
        self.names = [one.name for one in self.folders]
        self._processes = processes
        self._link = start_server(self.server, processes)
        self._nodes = {name: self._start(name) for name in self.names}

    def _start(self, name):
        return start_client(self.folders[self.names.index(name)], self._processes)

    def kill(self, name):
        """As a power cut would: the node and everything it started, at once."""
        node = self._nodes.pop(name)
        for pid in (node.pid, *descendants(node.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait()

    def bring_back(self):
        for name in self.names:
            if name not in self._nodes:
                self._nodes[name] = self._start(name)

    def run(self, out, *, min_clients, at=None, whom=None):
        """One run; `whom` is killed as soon as the server has sent it a message of the kind `at`."""
        job = Job(self.server.path, out, QUESTION, min_clients=min_clients, patience=90.0)
        told = []

        def goes_on():
            if whom in self._nodes and _was_sent(out, at, whom):
                self.kill(whom)
            return self._link.poll() is None

        submit(self.server, job)
        try:
            job.wait(told.append, goes_on)
        finally:
            self.bring_back()
        return read_json(out / "result.json"), told


def _was_sent(out, kind, whom):
    try:
        log = read_log(out)
    except InputError:
        return False
    return any(one["way"] == "sent" and one["whom"] == whom and one["kind"] == kind for one in log)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with Processes() as processes:
        yield Network(tmp_path_factory.mktemp("network") / "federation", processes)
    assert not descendants(os.getpid())


@pytest.fixture(scope="module")
def unharmed(network, tmp_path_factory):
    result, _ = network.run(tmp_path_factory.mktemp("unharmed"), min_clients=3)
    assert result["clients"] == network.names
    return result


# A node takes seconds to load its program for each message, so a kill comes before its answer.
@pytest.mark.parametrize(
    ("kind", "solved_for_it"), [("turn", False), ("counts", False), ("predictor", True)]
)
def test_the_run_goes_on_without_a_killed_node(network, unharmed, tmp_path, kind, solved_for_it):
    whom = network.names[VICTIM]
    result, told = network.run(tmp_path, min_clients=2, at=kind, whom=whom)
    others = [name for name in network.names if name != whom]
    assert result["clients"] == (network.names if solved_for_it else others)
    assert [lost["client"] for lost in result["left_out"]] == [whom]
    assert sum(f'Client "{whom}" is left out' in sentence for sentence in told) == 1
    assert [one["client"] for one in result["evaluation"]["clients"]] == others


@pytest.mark.parametrize("kind", ["turn", "counts"])
def test_or_it_stops_and_goes_on_when_the_node_is_back(network, unharmed, tmp_path, kind):
    whom = network.names[VICTIM]
    with pytest.raises(FederationStopped, match=f'Client "{whom}" is left out'):
        network.run(tmp_path, min_clients=3, at=kind, whom=whom)
    trained = [one for one in read_log(tmp_path) if one["kind"] == "turn"]
    result, _ = network.run(tmp_path, min_clients=3)
    assert result["solution"] == unharmed["solution"]
    assert result["counts"] == unharmed["counts"]
    if kind == "counts":  # both rounds were done, and are not done again
        assert [one for one in read_log(tmp_path) if one["kind"] == "turn"] == trained
