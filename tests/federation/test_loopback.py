"""A real federation on this machine: Flower's own processes, ended when it is over."""

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="a federation needs Flower: pip install flwr==1.41.0")

from fairfl_core.federation.demo import run_here
from fairfl_core.federation.folders import hospital_example
from fairfl_core.federation.processes import Processes, descendants, environment
from fairfl_core.federation.question import Question


def test_two_nodes_and_two_rounds_agree_with_one_place(tmp_path):
    study, people = hospital_example()
    study = replace(study, rounds=2, clients=study.clients[:2])
    told = []
    found = run_here(
        study,
        people,
        Question("eo", "simplex", 0.05, 0.1),
        folder=tmp_path,
        on_event=told.append,
        patience=80,
    )
    assert found.agrees, found.to_json()
    assert found.result["clients"] == ["North", "South"]
    assert found.result["verdict"]["word"] in ("met", "not sure yet", "not met", "met but harmful")
    assert told[0].startswith('2 clients take part ("North", "South")')
    for name in ("north", "south"):
        folder = tmp_path / "federation" / name
        assert (
            "own part of the fair predictor, and nobody else's" in (folder / "log.txt").read_text()
        )
        assert list(folder.glob("runs/*/answers.csv"))
    assert not descendants(os.getpid())  # every process that was started is ended


def test_flower_tells_nobody_anything(tmp_path):
    known = environment(tmp_path)
    assert known["FLWR_TELEMETRY_ENABLED"] == "0"
    assert known["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert known["FLWR_HOME"] == str(tmp_path)


def test_processes_end_with_what_they_started(tmp_path):
    with Processes() as processes:
        # a child in a session of its own, as Flower starts its workers
        script = "setsid sleep 300 & echo $!; sleep 300"
        one = processes.start(["sh", "-c", script], tmp_path, tmp_path / "log")
        while not (tmp_path / "log").read_text().strip():
            time.sleep(0.05)
        child = int((tmp_path / "log").read_text())
        assert Path(f"/proc/{child}").exists()
    assert one.returncode is not None
    deadline = time.monotonic() + 5
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")
