"""Someone with only the wheel: an empty environment, another folder, the app open in a minute."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.package.conftest import TOP
from tests.package.test_docs import blocks, write_rows

pytestmark = pytest.mark.install


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """An empty environment with the wheel in it; tests run in a folder that has nothing to do."""
    folder = tmp_path_factory.mktemp("somewhere")
    python = os.environ.get("FAIRFL_PYTHON", sys.executable)
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    command = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet"]
    for what in (wheel, f"{wheel}[app,report,privacy]"):  # the base first: it must do by itself
        subprocess.run([*command, what], check=True)  # what a stranger gets: the newest versions
        names = "import fairfl_core as f; print([getattr(f, name) for name in f.__all__])"
        subprocess.run(
            [command[0], "-c", names], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )
    return folder


@pytest.fixture
def shell(place, tmp_path):
    """Run a program of the environment, in a folder of its own and without our paths."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }

    def run(program, *words):
        return subprocess.run(
            [place / "venv" / "bin" / program, *map(str, words)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def test_the_experiments_are_there_and_nothing_of_ours_beside_the_package(shell, wheel):
    done = shell("fairfl", "experiments", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) >= 7
    code = (
        "import importlib.util, fairfl_core; print(fairfl_core.__version__,"
        "[name for name in ('tensorflow', 'pytest', 'pages', 'tests', 'app', 'research')"
        " if importlib.util.find_spec(name)])"
    )
    assert shell("python", "-c", code).stdout.split() == [wheel.name.split("-")[1], "[]"]


def test_every_block_of_the_readme_runs(shell, tmp_path):
    write_rows(tmp_path)
    for _, kind, block in blocks("../README.md"):
        lines = [("python", "-c", block)]
        if kind == "sh":
            lines = [shlex.split(line, comments=True) for line in block.splitlines()]
        for words in lines:
            done = shell(*words)
            assert done.returncode == 0, (words, done.stderr)
    assert (tmp_path / "fair.csv").read_text().count("\n") == 201


def test_a_policy_a_gate_and_help(shell, tmp_path):
    """With whichever Typer there is."""
    write_rows(tmp_path)
    columns = ("--client", "clinic", "--group", "sex", "--label", "diagnosis")
    rows, asked = ("rows.csv", *columns, "--prediction", "said"), ("--policy", "policy.toml")
    solve = ("solve", *rows, "--eps-local", "0.3", "--save-policy", "policy.toml")
    for words, code in (
        ((*solve, "--out", "fair.json"), 0),
        (("solve", *rows, *asked), 0),
        (("evaluate", "fair.json", *rows, *asked, "--require", "met", "--allow-unsure"), 0),
        (("solve", *rows, *asked, "--eps-local", "0.1"), 2),
        (("solve", "--nothing"), 2),
    ):
        done = shell("fairfl", *words)
        assert done.returncode == code and "Traceback" not in done.stderr, (words, done.stderr)
    printed = shell("fairfl", "solve", "--help").stdout.replace("│", " ")
    assert "sp, eop, eo, eo-full" in " ".join(printed.split())


def test_without_tensorflow_training_says_what_to_install(shell):
    done = shell("fairfl", "train", "adult", "--source", TOP, "--seeds", "0")
    assert done.returncode == 2
    assert "fairfl[train]" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_app_opens_with_its_settings(place, tmp_path):
    """From a folder with settings of its own, which must not win over the app's."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[client]\nshowErrorDetails = 'full'\n")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [place / "venv" / "bin" / "fairfl", "app", "--headless", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert answer(f"http://localhost:{port}/_stcore/health", server) == "ok"
            assert "<title>" in answer(f"http://localhost:{port}/", server)
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.communicate(timeout=20)[0]
    assert f"http://localhost:{port}" in said
    assert "Traceback" not in said


def test_every_page_opens_with_its_data(shell):
    code = """
import sys
from streamlit.testing.v1 import AppTest
from fairfl_core._io.files import APP_ROOT
sys.path.insert(0, str(APP_ROOT))  # as Streamlit does for the script that it runs
app = AppTest.from_file(str(APP_ROOT / "app.py"), default_timeout=120).run()
for page in sorted((APP_ROOT / "pages").glob("*/page.py")):
    app.switch_page(str(page.relative_to(APP_ROOT))).run()
    print(page.parent.name, [one.value for one in (*app.exception, *app.error)])
"""
    done = shell("python", "-c", code)
    assert done.returncode == 0, done.stderr
    pages = sorted(path.parent.name for path in (TOP / "pages").glob("*/page.py"))
    assert done.stdout.splitlines() == [f"{page} []" for page in pages]


def answer(address, server, patience=60):
    """The text at an address, once the server gives it."""
    until = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as page:
                return page.read().decode()
        except OSError:
            assert server.poll() is None, server.stdout.read()
            assert time.monotonic() < until, f"{address} did not answer in {patience} s"
            time.sleep(0.2)
