"""Workers behind the door, with small servers in the dashboard's place: looked after, ended, started again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from fairfl_core.cli import _workers
from fairfl_core.cli._proxy import Door
from fairfl_core.cli._workers import Nursery, Worker, serve_until_told
from fairfl_core.errors import InputError

SERVER = """
import http.server, signal, sys, time
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/_stcore/health" else 404)
        self.end_headers()
    def log_message(self, *_):
        pass
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "late" in sys.argv:
    time.sleep(0.5)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Health).serve_forever()
"""
OWN = re.compile(r"server 127\.0\.0\.1:\d+")


class Shed:
    """In the nursery's place: every worker is a small server of its own."""

    def __init__(self):
        self.born, self.ended = [], False

    def fork(self, port, settings):
        command = [sys.executable, "-S", "-c", SERVER, str(port), *settings]
        self.born.append(subprocess.Popen(command))
        return self.born[-1].pid

    def reap(self):
        for process in self.born:
            process.poll()

    def end(self):
        self.ended = True


@pytest.fixture
def shed():
    made = Shed()
    yield made
    for process in made.born:
        process.kill()
        process.wait()


def started(shed, *settings):
    (port,) = _workers._free_ports(1)
    worker = Worker(port, shed, settings)
    worker.start()
    _workers._wait_until_well([worker], threading.Event())
    return worker


def test_ports_are_free_and_different():
    ports = _workers._free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as one:
            one.bind(("127.0.0.1", port))


def test_a_worker_says_where_it_is_and_whether_it_is_well(shed):
    asleep = Worker(1, shed)
    assert not asleep.is_running and not asleep.answers(1) and not asleep.signal(signal.SIGTERM)
    worker = started(shed)
    assert worker.address == f"127.0.0.1:{worker.port}"
    assert worker.is_running and worker.answers(5) and worker.failed == 0


def test_one_that_ended_is_started_again_with_a_sentence(shed):
    first, second = started(shed), started(shed)
    said, pids = [], (first.pid, second.pid)
    _workers._look_after([first, second], said.append)
    assert said == [] and (first.pid, second.pid) == pids
    second.failed = _workers._CHANCES - 2
    shed.born[0].kill()
    shed.born[0].wait()
    _workers._look_after([first, second], said.append)
    assert said == [f"The worker at {first.address} ended or did not answer; it is started again."]
    assert first.pid != pids[0] and second.pid == pids[1] and second.failed == 0


def test_the_last_one_to_start_is_waited_for(shed):
    (port,) = _workers._free_ports(1)
    late = Worker(port, shed, ("late",))
    prompt = started(shed)
    late.start()
    _workers._wait_until_well([prompt, late], threading.Event())
    assert late.answers(5)


def test_one_that_never_starts_is_told(shed):
    (port,) = _workers._free_ports(1)
    worker = Worker(port, shed)
    worker.pid = shed.fork(0, ())  # listens elsewhere
    os.kill(worker.pid, signal.SIGKILL)
    shed.born[-1].wait()
    with pytest.raises(InputError, match="a worker did not start; its own words stand above"):
        _workers._wait_until_well([worker], threading.Event())
    told = threading.Event()
    told.set()
    _workers._wait_until_well([worker], told)  # nobody waits any more


def test_all_are_asked_to_end_and_then_made_to(shed, monkeypatch):
    monkeypatch.setattr(_workers, "_GRACE", 0.3)
    polite, deaf = started(shed), started(shed, "deaf")
    proxy = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    end = threading.Timer(0.1, shed.reap)  # a child that ended is one until somebody looks
    end.start()
    begun = time.monotonic()
    _workers._end([polite, deaf], shed, proxy)
    assert 0.3 <= time.monotonic() - begun < 20
    assert shed.ended and proxy.poll() is not None
    assert [process.wait(10) for process in shed.born] == [-signal.SIGTERM, -signal.SIGKILL]
    _workers._end([Worker(1, shed)], shed, None)


# -------------------------------------------------------------------- whose forks they are


def nursery(script, *, warm=False):
    """A nursery whose process is a script."""
    made = Nursery(warm=warm, told=threading.Event())
    made._command = ["sh", "-c", script]
    return made


def test_a_nursery_is_told_port_and_settings_and_says_who_was_born(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    script = "env > env; n=0; while read line; do n=$((n + 1)); echo $line >> told; echo $n; done"
    made = nursery(script)
    assert [made.fork(8501, ["--a=b"]), made.fork(8502, ())] == [1, 2]  # of one process
    first = made._process
    first.kill()
    first.communicate()
    assert made.fork(8503, ()) == 1  # of another, where that ended
    made.end()
    assert made._process.returncode == -signal.SIGKILL
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert told == [[8501, "--a=b"], [8502], [8503]]
    surrounded = (tmp_path / "env").read_text().splitlines()
    assert {"OMP_NUM_THREADS=3", "OPENBLAS_NUM_THREADS=1", "MALLOC_ARENA_MAX=2"} <= {*surrounded}


def test_a_nursery_is_waited_for_until_somebody_ends_us():
    made = nursery("exec sleep 300")
    made.end()  # nothing to end yet
    made._told.set()
    assert made.fork(8501, ()) is None
    made.end()


def test_a_nursery_that_ends_without_a_word_is_told():
    made = nursery("read line")
    with pytest.raises(InputError, match="the dashboard did not start; its own words stand above"):
        made.fork(8501, ())
    made.end()


def test_only_a_warm_nursery_opens_pages_first():
    plain, warm = (Nursery(warm=one, told=threading.Event())._command for one in (False, True))
    assert plain == [sys.executable, "-m", "pages.components.session.nursery"]
    assert warm == [*plain, "warm"]


# -------------------------------------------------------------------- all of it


@pytest.fixture
def nginx(tmp_path, monkeypatch, shed):
    """A script in nginx's place, small servers in the dashboard's, and our own signals after it."""
    before = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(_workers, "Nursery", lambda **more: vars(shed).update(more) or shed)
    monkeypatch.setattr(_workers, "_LOOK", 0.05)

    def put(script):
        (tmp_path / "nginx").write_text(f'#!/bin/sh\ncp "$4" {tmp_path}/settings\n{script}\n')
        (tmp_path / "nginx").chmod(0o755)

    yield put
    for name, handler in before.items():
        signal.signal(name, handler)


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_workers_serve_behind_the_door_until_told(nginx, shed, tmp_path, name):
    nginx(f"touch {tmp_path}/up; exec sleep 300")
    said = []

    def say(sentence):
        said.append(sentence)
        if "behind" in sentence:
            while not (tmp_path / "up").exists():
                time.sleep(0.01)
            signal.raise_signal(name)
            for process in shed.born:  # nobody else sees a child of ours that ended
                threading.Thread(target=process.wait, daemon=True).start()

    door = Door("127.0.0.1", 8599)
    more = {"settings": [], "beside": ["10.0.0.2:8501"], "warm": name == signal.SIGINT}
    serve_until_told(door, 2, say=say, **more)
    assert said[-1] == "2 workers behind http://localhost:8599. Ctrl+C or SIGTERM ends them."
    opened = "Every page is opened once before visitors come: half a minute or more."
    assert said[:-1] == ([opened] if more["warm"] else [])
    assert shed.ended and [one.wait(10) for one in shed.born] == [-signal.SIGTERM] * 2
    settings = (tmp_path / "settings").read_text()
    assert "10.0.0.2:8501" in settings and len({*OWN.findall(settings)}) == 2
    assert shed.warm is more["warm"] and shed.told.is_set()


def test_a_door_that_cannot_be_opened_ends_everything(nginx, shed, monkeypatch):
    monkeypatch.setattr(_workers, "_GRACE", 0.1)
    nginx("exit 1")
    with pytest.raises(InputError, match=r"^nginx ended by itself; is 127\.0\.0\.1:8599 taken\?"):
        serve_until_told(
            Door("127.0.0.1", 8599), 1, settings=[], beside=(), warm=False, say=lambda one: None
        )
    assert shed.ended and shed.born[0].wait(10) in (-signal.SIGTERM, -signal.SIGKILL)


def test_a_door_is_told_as_a_visitor_of_this_machine_calls_it(tmp_path):
    assert Door("0.0.0.0", 80).url == "http://localhost:80"
    assert Door("10.0.0.2", 443, tmp_path, tmp_path).url == "https://10.0.0.2:443"
