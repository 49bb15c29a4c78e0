"""`serve`: several workers behind one door. `benchmarks/load.py` does it with a class of forty."""

import asyncio
import os
import shutil
import signal
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fairfl_core.cli import _workers
from fairfl_core.cli._proxy import Door, nginx_settings
from tests.cli.running import run
from tests.helpers.crowd import Person
from tests.helpers.protocol import OVERALL, free_port
from tests.helpers.serving import Served, Server, has_nginx

LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
needs_nginx = pytest.mark.skipif(
    not has_nginx(),
    reason="there is no nginx here: `make nginx` installs one",
)


def heard(address, path, cookie=""):
    request = urllib.request.Request(f"{address}/{path}", headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def workers_given(headers):
    return [
        one.split(";")[0]
        for one in headers.get_all("Set-Cookie") or []
        if one.startswith("fairfl_worker=")
    ]


@needs_nginx
def test_visitors_are_shared_out_and_kept_and_a_dead_worker_is_started_again():
    with Served(2, "--no-warm") as served:
        given = [workers_given(heard(served.address, "_stcore/health")[1]) for _ in range(4)]
        assert (
            sorted(map(tuple, given)) == [("fairfl_worker=w0",)] * 2 + [("fairfl_worker=w1",)] * 2
        )
        for mine in ("fairfl_worker=w0", "fairfl_worker=w1"):
            assert not workers_given(heard(served.address, "_stcore/health", mine)[1])

        status, headers = heard(served.address, "")
        assert status == 200 and headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert heard(served.address, "_stcore/metrics")[0] == 404

        before = set(served.pids)
        served.kill_a_worker()  # what its visitors meet: tests/chaos/class_at_once.py
        end = time.monotonic() + 60
        while len(set(served.pids) - before) < 1 and time.monotonic() < end:
            time.sleep(0.2)
        assert len(before & set(served.pids)) == 1 and len(served.pids) == 2

        served.process.terminate()
        served.process.wait(60)
        assert "started again" in served.log and "Traceback" not in served.log


@needs_nginx
def test_a_worker_on_another_machine_is_one_of_them():
    """Another address of this machine stands for another machine: nothing is shared but the door."""
    with Server(host="127.0.0.2") as other:
        place = other.address.removeprefix("http://")
        with Served(1, "--no-warm", "--beside", place) as served:
            asyncio.run(two_machines(served, other))


async def two_machines(served, other):
    people = [await Person(served.address, dict(LINK)).come() for _ in range(4)]
    on = [person.visitor.worker for person in people]
    assert sorted(on) == ["w0", "w0", "w1", "w1"]  # w1 is the other machine's
    for person in people:
        await person.move("eps_global", OVERALL, "0.02")
    assert len({person.visitor.headline for person in people}) == 1
    other.process.kill()
    for person in people:
        await person.move("eps_global", OVERALL, "0.05")
    assert len({person.visitor.headline for person in people}) == 1
    assert [person.reloads for person in people] == [int(one == "w1") for one in on]
    assert {person.visitor.worker for person in people} == {"w0"}
    for person in people:
        await person.visitor.close()


@pytest.mark.parametrize(
    ("door", "url"),
    [
        (Door("127.0.0.1", 80), "http://localhost:80"),
        (Door("0.0.0.0", 8501), "http://localhost:8501"),
        (Door("10.0.0.2", 443, "c.pem", "k.pem"), "https://10.0.0.2:443"),
    ],
)
def test_a_visitor_is_told_an_address_that_a_browser_takes(door, url):
    assert door.url == url


def test_certificate_and_other_machines_stand_in_nginxs_settings(tmp_path):
    plain = nginx_settings(Door("127.0.0.1", 80), ["127.0.0.1:1"], tmp_path)
    assert "ssl" not in plain and "Secure" not in plain
    door = Door("0.0.0.0", 443, tmp_path / "c.pem", tmp_path / "k.pem")
    text = nginx_settings(door, ["127.0.0.1:1", "10.0.0.2:8501"], tmp_path)
    assert (
        "listen 0.0.0.0:443 ssl;" in text and f"ssl_certificate_key {tmp_path / 'k.pem'};" in text
    )
    assert "server 10.0.0.2:8501 backup;" in text and "; Secure" in text


@needs_nginx
@pytest.mark.skipif(
    not shutil.which("openssl"), reason="there is no openssl to make a certificate"
)
def test_with_a_certificate_the_door_speaks_tls(tmp_path):
    """A real nginx with a real certificate, before a small server in the place of a worker."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    name = "/CN=localhost"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    made += ["-subj", name, "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    door = Door("127.0.0.1", free_port(), certificate, key)
    settings = tmp_path / "nginx.conf"
    settings.write_text(nginx_settings(door, [f"127.0.0.1:{behind.server_port}"], tmp_path))
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    with subprocess.Popen([nginx, "-p", tmp_path, "-c", settings, "-e", "stderr"]) as proxy:
        try:
            trusted = ssl.create_default_context(cafile=certificate)
            for _ in range(200):
                try:
                    address = f"https://localhost:{door.port}/"
                    with urllib.request.urlopen(address, timeout=60, context=trusted) as reply:
                        said, cookies = reply.read(), reply.headers.get_all("Set-Cookie")
                    break
                except OSError:
                    time.sleep(0.05)
            assert said == b"well" and all("Secure" in one for one in cookies)
            with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
                urllib.request.urlopen(address, timeout=60)
        finally:
            proxy.terminate()
            behind.shutdown()
            behind.server_close()


class Answering(BaseHTTPRequestHandler):
    """Says that it is well, and nothing else."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"well")

    def log_message(self, *_):
        pass


def test_a_certificate_without_its_key_is_refused(tmp_path):
    ended = run("serve", "--certificate", tmp_path / "c.pem")
    assert ended.code == 2 and "--key" in ended.err


def test_a_certificate_that_is_not_there_is_refused_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    certificate.write_text("PEM")
    ended = run("serve", "--certificate", certificate, "--key", key)
    assert ended.code == 2 and "k.pem: there is no such file" in ended.err
    key.write_text("PEM")
    ended = run("serve", "--certificate", certificate, "--key", key)
    assert ended.code == 2 and "nginx is not installed" in ended.err


def test_without_nginx_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    ended = run("serve")
    assert ended.code == 2 and "nginx is not installed" in ended.err


class Silent:
    """A worker that runs and never answers."""

    address, is_running, failed = "127.0.0.1:1", True, 0

    def __init__(self):
        self.met = []

    def answers(self):
        return False

    def signal(self, number):
        self.met.append(number)

    def start(self):
        self.met.append("started")


def test_a_worker_that_stays_silent_is_ended_and_started_again():
    worker, said = Silent(), []
    for _ in range(_workers._CHANCES - 1):
        _workers._look_after([worker], said.append)
    assert not worker.met and not said
    _workers._look_after([worker], said.append)
    assert worker.met == [signal.SIGKILL, "started"] and "did not answer" in said[0]


def test_workers_that_start_are_given_time_between_two_questions():
    """Else the one that waits takes the processor from those it waits for."""
    happened = []

    class Starting(Silent):
        def answers(self, within):
            happened.append("asked")
            return len(happened) > 4

    class Clock(threading.Event):
        def wait(self, timeout=None):
            happened.append("waited")
            return self.is_set()

    _workers._wait_until_well([Starting()], Clock())
    assert happened == ["asked", "waited", "asked", "waited", "asked"]
