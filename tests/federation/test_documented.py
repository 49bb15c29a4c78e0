"""docs/federation.md says what is so: every message by its own words, commands and examples that exist."""

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest
import typer.main

pytest.importorskip("flwr")

from fairfl_core._io.files import read_json
from fairfl_core.cli import load
from fairfl_core.federation.folders import hospital_example, write_folders
from fairfl_core.federation.wire import KINDS
from tests.federation.flower_here import ROOT

DOCS = (ROOT / "docs" / "federation.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.removeprefix("$ "), comments=True)
    for block in re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ fairfl")
]
# An app in a process of its own, as Flower would run it: all examples call their package the same.
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.federation.local_grid import LocalGrid, context_of
from hospitals import client_app, server_app
context = context_of(0, {})
context.run_config = {"num-server-rounds": 2, "out": "result"}
nodes = {5 + place: (client_app.app, {"partition-id": place}) for place in range(3)}
server_app.app(LocalGrid(nodes), context)
"""


def test_every_message_stands_there_with_its_purpose():
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.asks} | {kind.replies} |" in DOCS


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_there_can_be_read(words):
    group = typer.main.get_command(load()).commands["federation"]
    command = group.commands[words[2]]
    command.make_context(words[2], list(words[3:]), resilient_parsing=False)
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("example", "package"), [("sklearn", "sklearn"), ("pytorch", "torch")])
def test_the_examples_end_with_each_hospitals_verdict(tmp_path, example, package):
    if find_spec(package) is None:
        pytest.skip(f"the {example} example needs {package}, which is not installed")
    folder = ROOT / "docs" / "federation" / example
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "FLWR_TELEMETRY_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr
    result = read_json(tmp_path / "result" / "result.json")
    for name in ("St Mary", "Charité", "Clinic 3"):
        assert f'Client "{name}": gap ' in done.stdout
        own = tmp_path / "fairfl-clients" / name.lower().replace(" ", "-")
        assert (own / "predictor.json").is_file()
    assert done.stdout.rstrip().endswith(result["verdict"]["why"])
    # The diff of the docs: what makes each fair is two calls.
    for file, call in (("client_app.py", "fairfl_client("), ("server_app.py", "fair_rounds(")):
        text = (folder / "hospitals" / file).read_text("utf-8")
        assert text.count(call) == 1


def test_the_certificates_can_be_made(tmp_path):
    study, _ = hospital_example()
    server, north, *_ = write_folders(tmp_path / "study", study, address="192.0.2.7:8000")
    for folder, words in (
        (server, ["make-certificates.sh", "192.0.2.7"]),
        (north, ["make-key.sh"]),
    ):
        subprocess.run(["sh", *words], cwd=folder, check=True, capture_output=True)
    output = subprocess.run(
        ["openssl", "verify", "-CAfile", "ca.crt", "server.crt"],
        cwd=server,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "OK" in output.stdout
    assert (north / "client.pub").read_text().startswith("ecdsa-sha2-nistp384")
    assert (north / "client.key").stat().st_mode & 0o077 == 0
