"""What Flower's programs are told, and what is made of their answers; small scripts in their place."""

import signal
import socket
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="a federation needs Flower: pip install flwr==1.41.0")

import fairfl_core
from fairfl_core.errors import InputError
from fairfl_core.federation import processes as room
from fairfl_core.federation import superlink
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.loader import ClientFolder
from fairfl_core.federation.processes import Processes, environment, home_of
from fairfl_core.federation.server_folder import ServerFolder, free_port
from fairfl_core.federation.superlink import (
    is_running,
    keep_clients,
    start_client,
    start_server,
    submit,
)
from tests.federation.hospitals import QUESTION, STUDY, settings
from tests.helpers.flower_programs import LISTEN, SLEEP, Bin


@pytest.fixture
def flower(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    return Bin(tmp_path / "bin")


@pytest.fixture
def here(tmp_path):
    """The folder of a server for this machine alone."""
    (tmp_path / "server").mkdir()
    return ServerFolder(tmp_path / "server", f"127.0.0.1:{free_port()}")


@pytest.fixture
def far(tmp_path):
    """The folder of a server for others, with certificates and the keys of two clients."""
    path = tmp_path / "far"
    (path / "keys").mkdir(parents=True)
    for name in ("ca.crt", "server.crt", "server.key", "keys/north.pub", "keys/east.pub"):
        (path / name).write_text("...")
    return ServerFolder(path, f"0.0.0.0:{free_port()}")


def client(tmp_path, name, **more):
    path = tmp_path / name.lower()
    path.mkdir()
    (path / "client.toml").write_text(settings(name, **more), encoding="utf-8")
    return ClientFolder.read(path)


def connection(folder):
    """How Flower's own command was told to reach a server."""
    value = tomllib.loads((folder.path / ".flower" / "config.toml").read_text("utf-8"))
    assert value["superlink"]["default"] == "fairfl"
    return value["superlink"]["fairfl"]


# -------------------------------------------------------------------- a server


def test_on_this_machine_nothing_is_encrypted_and_nobody_registered(flower, here):
    flower.put("flower-superlink", LISTEN)
    with Processes() as processes:
        process = start_server(here, processes)
        assert process.poll() is None
    port = here.address.partition(":")[2]
    words = f"--disable-runtime-dependency-installation --host 127.0.0.1 --port {port} --insecure"
    assert flower.calls("flower-superlink") == [words.split()]
    assert flower.calls("flwr") == []
    assert process.returncode == -signal.SIGTERM


def test_for_others_it_has_certificates_and_lets_in_the_keys_in_its_folder(flower, far):
    flower.put("flower-superlink", LISTEN)
    flower.put("flwr", "")
    with Processes() as processes:
        start_server(far, processes)
    port = far.address.partition(":")[2]
    path = far.path.resolve()
    words = (
        f"--disable-runtime-dependency-installation --host 0.0.0.0 --port {port} "
        f"--ssl-ca-certfile {path}/ca.crt --ssl-certfile {path}/server.crt "
        f"--ssl-keyfile {path}/server.key --enable-supernode-auth"
    )
    assert flower.calls("flower-superlink") == [words.split()]
    assert flower.calls("flwr") == [
        ["supernode", "register", f"{path}/keys/{name}.pub", "fairfl"]
        for name in ("east", "north")
    ]
    found = connection(far)  # everywhere is here, too
    assert found == {"address": f"localhost:{port}", "root-certificates": f"{path}/ca.crt"}


@pytest.mark.parametrize("script", ["echo no room; exit 3", SLEEP])
def test_a_server_that_does_not_come_up_is_told_with_its_log(flower, here, monkeypatch, script):
    monkeypatch.setattr(superlink, "_UP", 0.3)
    flower.put("flower-superlink", script)
    with Processes() as processes, pytest.raises(InputError) as refused:
        start_server(here, processes)
    log = here.path / "flower.log"
    assert str(refused.value) == f"the server did not come up; {log} says why."
    assert log.read_text() == ("no room\n" if "room" in script else "")


# -------------------------------------------------------------------- clients


def test_a_client_calls_its_server_from_its_own_folder(flower, tmp_path):
    flower.put("flower-supernode", 'pwd; echo "$FLWR_HOME"')
    north = client(tmp_path, "North")
    with Processes() as processes:
        assert start_client(north, processes).wait() == 0
    ((*words, port, option, folder, last),) = flower.calls("flower-supernode")
    assert words == ["--superlink", "127.0.0.1:8000", "--port"] and 0 < int(port) < 65536
    assert (option, last) == ("--node-config", "--insecure")
    assert folder == f'folder="{north.path.resolve()}"'
    home = str(north.path.resolve() / ".flower")
    assert (north.path / "flower.log").read_text().split() == [home, home]


def test_a_far_client_knows_its_server_and_is_known(flower, tmp_path):
    flower.put("flower-supernode", "")
    security = {"root_certificate": "ca.crt", "private_key": "north"}
    north = client(tmp_path, "North", server="192.0.2.7:8000", security=security)
    for name in security.values():
        (north.path / name).write_text("...")
    with Processes() as processes:
        start_client(north, processes).wait()
    (words,) = flower.calls("flower-supernode")
    path = north.path.resolve()
    assert words[-4:] == [
        *("--root-certificates", f"{path}/ca.crt"),
        *("--auth-supernode-private-key", f"{path}/north"),
    ]
    assert "--insecure" not in words


class Counted(Processes):
    """Somebody ends it when a client is to be started for the fifth time."""

    def __init__(self):
        super().__init__()
        self.running, self.ended = [], []

    def start(self, command, home, log):
        if len(self.running) == 4:
            raise KeyboardInterrupt
        self.running.append(super().start(command, home, log))
        return self.running[-1]

    def end(self, process=None):
        self.ended += [process] if process else []
        super().end(process)


def test_a_client_that_ends_is_started_again_and_told_of_once(flower, tmp_path):
    flower.put("flower-supernode", f'case "$*" in *south*) {SLEEP} ;; esac')
    folders, told = [client(tmp_path, name) for name in ("North", "South")], []
    with Counted() as processes, pytest.raises(KeyboardInterrupt):
        keep_clients(folders, processes, told.append, pause=0.01)
    north, south, *again = processes.running
    assert processes.ended == [north, *again]  # whoever stays is left alone
    assert south.returncode == -signal.SIGTERM
    assert told == [
        'Client "North" was not let in, or its server ended; it tries again '
        f"({folders[0].path / 'flower.log'} says more)."
    ]


# -------------------------------------------------------------------- a run


def test_a_job_is_handed_over_as_names_of_what_is_installed(flower, here):
    STUDY.write(here.path)
    flower.put("flwr", """echo Loading; echo '{"success": true, "run-id": 7}'""")
    job = Job(here.path, here.path / "results", QUESTION)
    assert submit(here, job) == "7"
    app = here.path.resolve() / ".flower" / "job"
    assert flower.calls("flwr") == [["run", str(app), "fairfl", "--format", "json"]]
    assert connection(here) == {"address": here.address, "insecure": True}
    told = tomllib.loads((app / "pyproject.toml").read_text("utf-8"))["tool"]["flwr"]["app"]
    assert Job.read(job.out / "job.json") == Job.read(told["config"]["job"])
    for component in told["components"].values():
        module, _, name = component.partition(":")
        assert hasattr(import_module(module), name)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            """echo '{"success": false, "error-message": "no such app"}'""",
            "the server did not take the job: no such app.",
        ),
        ("""echo '{"success": 0}'""", "the server did not take the job: {'success': 0}."),
        (
            "echo hello; echo; echo ' word } { '",
            "the server answered what cannot be read: word } {",
        ),
        (
            "echo out; echo one >&2; echo ' other ' >&2; echo >&2; exit 1",
            "the server at HERE did not do it: other; is `fairfl federation server` running?",
        ),
        (
            "echo out; exit 1",
            "the server at HERE did not do it: out; is `fairfl federation server` running?",
        ),
        (
            "exit 1",
            "the server at HERE did not do it: it said nothing; is `fairfl federation server` "
            "running?",
        ),
    ],
)
def test_a_job_that_is_not_taken_is_a_sentence(flower, here, script, sentence):
    flower.put("flwr", script)
    with pytest.raises(InputError) as refused:
        submit(here, Job(here.path, here.path / "results", QUESTION))
    assert str(refused.value) == sentence.replace("HERE", here.address)


def test_whether_a_run_goes_on_is_flowers_word_or_that_its_server_is_there(flower, here):
    for status, runs in (("running", True), ("finished:completed", False)):
        flower.put("flwr", f"""echo '{{"runs": [{{"status": "{status}"}}]}}'""")
        assert is_running(here, "7") is runs
    words = ["list", "--run-id", "7", "fairfl", "--format", "json"]
    assert flower.calls("flwr") == [words, words]
    for script in ("exit 1", "echo '{}'"):
        flower.put("flwr", script)
        assert not is_running(here, "7")
    host, port = here.address.split(":")
    with socket.create_server((host, int(port))):
        assert is_running(here, "7")  # too busy to say


# -------------------------------------------------------------------- processes


def test_who_is_asked_to_end_ends_what_it_started(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, Processes() as processes:
        one = processes.start(["sleep", "300"], tmp_path, tmp_path / "log")
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143 and one.returncode == -signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_asked_twice_it_still_ends_what_it_started(tmp_path):
    told = tmp_path / "log"
    with pytest.raises(SystemExit), Processes() as processes:
        # whoever is ended asks us once more, while the others are ended yet
        script = (
            "trap 'kill -TERM $PPID; exit 0' TERM; echo ready; while true; do sleep 0.05; done"
        )
        both = [processes.start(["sh", "-c", script], tmp_path, told) for _ in range(2)]
        while told.read_text() != "ready\nready\n":
            time.sleep(0.01)
        signal.raise_signal(signal.SIGTERM)
    assert [one.returncode for one in both] == [0, 0]


def test_one_of_them_is_ended_and_one_that_does_not_listen_is_made_to(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_ENDED", 0.2)
    with Processes() as processes:
        deaf = "trap '' TERM; echo deaf; while true; do sleep 0.05; done"
        logs = [tmp_path / "new" / "log", tmp_path / "other"]
        one = processes.start(["sh", "-c", deaf], tmp_path, logs[0])
        other = processes.start(["sleep", "300"], tmp_path, logs[1])
        while not logs[0].read_text():
            time.sleep(0.01)
        processes.end(one)
        assert one.returncode == -signal.SIGKILL and other.poll() is None
        assert logs[0].read_text() == "deaf\n"
    assert other.returncode == -signal.SIGTERM


def test_waiting_ends_with_the_first_that_ends_by_itself(tmp_path):
    with Processes() as processes:
        processes.start(["sleep", "300"], tmp_path, tmp_path / "log")
        one = processes.start(["sh", "-c", "echo last words >&2"], tmp_path, tmp_path / "log")
        with pytest.raises(
            InputError, match=r"^Flower ended by itself; the log in the folder says"
        ):
            processes.wait()
        assert one.returncode == 0
    assert (tmp_path / "log").read_text() == "last words\n"


def test_what_flower_is_surrounded_by(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", "there")
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.setenv("OWN", "kept")
    known = environment(home_of(tmp_path / "new"))
    assert known["PATH"] == f"{tmp_path / 'bin'}:there"
    assert known["PYTHONPATH"] == f"{Path(fairfl_core.__file__).parents[1]}:mine"
    assert known["FLWR_SUPEREXEC_TASK_POLL_INTERVAL"] == "0.2"
    assert known["TF_CPP_MIN_LOG_LEVEL"] == "2" and known["OWN"] == "kept"
    assert known["FLWR_HOME"] == str((tmp_path / "new" / ".flower").resolve())
    assert (tmp_path / "new" / ".flower").is_dir()
