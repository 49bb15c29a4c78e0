"""`fairfl federation run`, `server`, `client` and `admit`: what is handed to Flower's programs."""

import json
import os
import sys
import tomllib

import pytest

pytest.importorskip("flwr")

from fairfl_core._io.files import read_json, write_json
from fairfl_core.federation import programs
from fairfl_core.federation.folders import free_port
from fairfl_core.federation.question import Question
from fairfl_core.federation.training_server import app
from fairfl_core.lp.policy import Floor
from tests.cli.running import run
from tests.federation.hospitals import grid_of
from tests.federation.local_grid import context_of

NAMES = ("north", "south", "east")


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    where = ("--address", f"127.0.0.1:{free_port()}")
    init = ("init", "study", "--example", "hospitals", "--rounds", 1)
    assert run("federation", *init, *where).code == 0
    return tmp_path / "study"


@pytest.fixture
def network(study, monkeypatch):
    """Who is connected; a job that is handed over is done at once, by our own ServerApp."""
    there = [study / name for name in NAMES]

    def flwr(folder, words, quiet=True):
        context = context_of(0, {})
        context.run_config = tomllib.loads(words[words.index("--run-config") + 1])
        app(grid_of(there), context)
        return type("Done", (), {"returncode": 0, "stderr": ""})

    monkeypatch.setattr(programs, "wait_until_up", lambda folder, patience=1.0: None)
    monkeypatch.setattr(programs, "_flwr", flwr)
    return there


def said(ended):
    return " ".join(ended.out.split())


def test_a_run_ends_with_its_verdict_and_every_alarm(study, network):
    limits = ("--eps-global", 0.0, "--eps-local", 0.0)
    ended = run("federation", "run", "study/server", *limits)
    folder = study / "server" / "results"
    result = read_json(folder / "result.json")
    assert ended.code == 0
    output = said(ended)
    assert '3 clients take part ("North", "South", "East"), 300 people to solve on' in output
    assert len(result["alarms"]) > 2 and result["verdict"]["harmful"]
    for alarm in result["alarms"]:
        assert f"Worse off: {' '.join(alarm['sentence'].split())}" in output
    verdict = result["verdict"]
    assert f"{verdict['word'].upper()}. {' '.join(verdict['why'].split())}" in output
    most = max(result["bytes"].values())
    assert f"No client sent and received more than {most:,} bytes." in output
    write_json(folder / "test.json", result["test_counts"])
    judged = run("evaluate", folder / "predictor.json", folder / "test.json", "--json").json
    assert result["alarms"] == judged["alarms"] and result["verdict"] == judged["verdict"]
    here = result["evaluation"]
    assert (here["accuracy"], here["model_accuracy"], here["n"]) == pytest.approx(
        (judged["accuracy"], judged["model_accuracy"], judged["n"])
    )


def test_for_a_program_it_is_one_object(study, network):
    found = run("federation", "run", "study/server", "--json")
    result = read_json(study / "server" / "results" / "result.json")
    kept = ("clients", "left_out", "verdict", "alarms", "bytes")
    last = [line for line in found.out.splitlines() if line.startswith("{")][-1]
    assert json.loads(last) == {key: result[key] for key in kept}


def test_who_is_missing_is_told_and_the_others_go_on(study, network):
    del network[1]
    words = ("federation", "run", "study/server", "--patience", 1)
    ended = run(*words)
    assert ended.code == 2 and "2 of 3 clients are left and at least 3 were asked for" in ended.err
    ended = run(*words, "--min-clients", 2, "--out", "two")
    assert ended.code == 0
    assert 'Client "South" is left out (joining): it is not there.' in said(ended)
    assert read_json(study.parent / "two" / "result.json")["clients"] == ["North", "East"]


def test_what_is_asked_for_is_handed_over(study, network):
    network.clear()
    words = "--notion sp --region kernel --eps-global 0.1 --eps-local 0.2 --confidence 0.9 "
    words += "--confidence-scope all --confidence-proof proved --floor ill=0.3 --keep ill=0.02 "
    words += "--privacy-epsilon 2 --privacy-mechanism paper --min-clients 2 --patience 1"
    assert run("federation", "run", "study/server", *words.split()).code == 2
    job = read_json(study / "server" / "results" / "job.json")
    asked = Question.from_json(job["question"])
    assert (job["min_clients"], job["patience"]) == (2, 1.0)
    assert (asked.privacy.name, asked.privacy.epsilon) == ("paper", 2)
    assert (asked.guarantee.scope, asked.guarantee.confidence) == ("all", 0.9)
    assert asked.policy.floors == (Floor("ill", 0.3), Floor("ill", keeps=0.02))
    assert (asked.notion, asked.region, asked.eps_global, asked.eps_local) == (
        *("sp", "kernel"),
        *(0.1, 0.2),
    )


def test_a_run_that_ends_early_says_so(study, monkeypatch):
    done = type("Done", (), {"returncode": 1, "stderr": "killed\n"})
    monkeypatch.setattr(programs, "wait_until_up", lambda folder, patience=1.0: None)
    monkeypatch.setattr(programs, "_flwr", lambda *args, **kwargs: done)
    ended = run("federation", "run", "study/server")
    assert (
        ended.code == 2 and "ended before it was done: killed; run the same command" in ended.err
    )


def test_without_a_server_nothing_is_run(study):
    ended = run("federation", "run", "study/server")
    assert ended.code == 2 and "is `fairfl federation server` running?" in ended.err


# -------------------------------------------------------------------- commands that become programs


@pytest.fixture
def became(monkeypatch):
    """What a command became."""
    calls = []

    def execve(path, words, environment):
        calls.append((path, words, environment))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", execve)
    return calls


def test_a_server_becomes_a_superlink(study, became):
    ended = run("federation", "server", "study/server")
    ((path, words, environment),) = became
    assert "Ctrl+C ends it." in said(ended)
    assert path == os.path.join(os.path.dirname(sys.executable), "flower-superlink")
    assert "--insecure" in words and environment["FLWR_TELEMETRY_ENABLED"] == "0"


def test_a_client_becomes_a_supernode_even_where_its_data_are_bad(study, became):
    (study / "south" / "people.csv").write_text("nothing\n")
    ended = run("federation", "client", "study/south")
    ((path, words, _),) = became
    assert 'Client "South" takes no part:' in said(ended)
    assert path.endswith("flower-supernode") and "--insecure" in words
    assert str(study / "south") in words[words.index("--node-config") + 1]
