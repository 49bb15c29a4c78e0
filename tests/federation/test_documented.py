"""docs/federation.md says what is so: every message by its own words, and commands that exist."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import typer.main

from fairfl_core.cli import app
from fairfl_core.federation.folders import hospital_example, write_folders
from fairfl_core.federation.messages import KINDS

DOCS = (Path(__file__).parents[2] / "docs" / "federation.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.removeprefix("$ "), comments=True)
    for block in re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ fairfl")
]


def test_every_message_stands_there_with_its_purpose():
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.asks} | {kind.tells} |" in DOCS


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_there_can_be_read(words):
    group = typer.main.get_command(app).commands["federation"]
    command = group.commands[words[2]]
    command.make_context(words[2], list(words[3:]), resilient_parsing=False)
    assert len(COMMANDS) >= 5


def test_the_certificates_can_be_made(tmp_path):
    study, _ = hospital_example()
    server, north, *_ = write_folders(tmp_path / "study", study, address="192.0.2.7:8000")
    for folder, words in (
        (server, ["make-certificates.sh", "192.0.2.7"]),
        (north, ["make-key.sh"]),
    ):
        subprocess.run(["sh", *words], cwd=folder, check=True, capture_output=True)
    told = subprocess.run(
        ["openssl", "verify", "-CAfile", "ca.crt", "server.crt"],
        cwd=server,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "OK" in told.stdout
    assert (north / "client.pub").read_text().startswith("ecdsa-sha2-nistp384")
    assert (north / "client.key").stat().st_mode & 0o077 == 0
