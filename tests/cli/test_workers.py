"""Workers behind the door, with small servers in the dashboard's place: looked after, ended, started again."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from fairfl_core.cli import _workers
from fairfl_core.cli._workers import Nursery, Worker
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


# -------------------------------------------------------------------- the nursery

CHILDREN = """
import json, os, sys, time
print(os.environ["OMP_NUM_THREADS"], os.environ["MALLOC_ARENA_MAX"], os.getsid(0), file=sys.stderr)
for line in sys.stdin:
    port, *settings = json.loads(line)
    if port == 0:
        break
    if port == 1:
        time.sleep(60)
    print(port + len(settings), flush=True)
"""


@pytest.fixture
def nursery():
    made = Nursery(warm=False, told=threading.Event())
    made._command = [sys.executable, "-S", "-c", CHILDREN]  # without a dashboard to open
    yield made
    made.end()


def test_a_nursery_is_asked_by_port_and_settings_and_answers_with_a_process(nursery):
    assert nursery._process is None
    assert nursery.fork(100, ["--a", "--b"]) == 102
    process = nursery._process
    assert nursery.fork(200, []) == 200 and nursery._process is process  # the same one again
    nursery.end()
    assert process.poll() == -signal.SIGKILL


def test_a_nursery_that_ended_is_started_again(nursery):
    with pytest.raises(InputError, match="the dashboard did not start; its own words stand above"):
        nursery.fork(0, [])
    nursery._process.communicate()
    assert nursery.fork(7, []) == 7


def test_nobody_waits_for_a_nursery_once_told_to_end(nursery):
    nursery._told.set()
    assert nursery.fork(1, []) is None


def test_a_nursery_shares_processors_and_hears_no_ctrl_c(nursery, capfd, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    nursery.fork(2, [])
    threads, heaps, session = capfd.readouterr().err.split()
    assert (threads, heaps) == ("1", "2") and int(session) == nursery._process.pid


def test_pages_are_opened_ahead_where_it_is_asked_for():
    told = threading.Event()
    warm, cold = (Nursery(warm=warm, told=told)._command for warm in (True, False))
    assert warm == [*cold, "warm"]
