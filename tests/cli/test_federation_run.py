"""`fairfl federation run`, `server`, `client` and `demo`, with a network in memory in Flower's place."""

import itertools
import json
import sys
import time
from importlib.util import find_spec

import pytest

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core.cli.federation import _alive
from fairfl_core.federation import demo, superlink
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.server_folder import free_port
from fairfl_core.lp.policy import Floor
from tests.cli.running import run
from tests.federation.hospitals import grid_of
from tests.helpers.flower_programs import LISTEN, Bin

FLOWER = pytest.mark.skipif(find_spec("flwr") is None, reason="Flower is not installed")
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
    """Who is connected; a job that is handed over is done at once."""
    there = [study / name for name in NAMES]

    def submit(folder, job):
        Job.read(job.write()).run(grid_of(there))
        return "1"

    monkeypatch.setattr(superlink, "submit", submit)
    return there


def said(ended):
    return " ".join(ended.out.split())


def test_a_run_tells_what_it_came_to(study, network):
    ended = run("federation", "run", "study/server", "--eps-global", 0.05, "--eps-local", 0.1)
    result = read_json(study / "server" / "results" / "result.json")
    solution, judged = result["solution"], result["evaluation"]
    verdict, most = result["verdict"], max(result["bytes"].values())
    assert ended.code == 0
    told = said(ended)
    alarms = "".join(f"Worse off: {one['sentence']} " for one in result["alarms"][:5])
    more = len(result["alarms"]) - 5
    alarms += f"... and {more} more alarms, all in result.json. " if more > 0 else ""
    assert told.startswith('3 clients take part ("North", "South", "East"), 1,500 rows.')
    assert "Region simplex, as none was asked for" in told
    assert told.endswith(
        f"Accuracy {solution['accuracy']:.1%} on the people it was solved on, the model's own "
        f"{solution['model_accuracy']:.1%}. On {judged['n']:,.0f} unseen people "
        f"{judged['accuracy']:.1%}, the model's own {judged['model_accuracy']:.1%}. "
        f"{alarms}{verdict['word'].upper()}. {' '.join(verdict['why'].split())} No client sent and received more than "
        f"{most:,} bytes. Everything is in study/server/results."
    )
    assert most > min(result["bytes"].values())


def test_it_has_the_verdict_and_the_alarms_of_evaluate_on_the_same_people(study, network):
    """Limits of zero are kept by answering everybody alike."""
    ended = run("federation", "run", "study/server", "--eps-local", 0.0, "--eps-global", 0.0)
    folder = study / "server" / "results"
    result = read_json(folder / "result.json")
    write_json(folder / "test.json", result["test_counts"])
    judged = run("evaluate", folder / "predictor.json", folder / "test.json", "--json").json
    assert result["alarms"] == judged["alarms"] and len(result["alarms"]) > 2
    assert result["verdict"] == judged["verdict"]
    assert result["verdict"]["word"] == "not met" and result["verdict"]["harmful"]
    here = result["evaluation"]
    assert (here["accuracy"], here["model_accuracy"], here["n"]) == pytest.approx(
        (judged["accuracy"], judged["model_accuracy"], judged["n"])
    )
    told = said(ended)
    assert "NOT MET. People are hurt " in told
    assert f"Worse off: {result['alarms'][0]['sentence']}" in told


def test_for_a_program_it_is_one_object_and_no_word_more(study, network):
    found = run("federation", "run", "study/server", "--json").json
    result = read_json(study / "server" / "results" / "result.json")
    assert found == {
        key: result[key] for key in ("clients", "left_out", "verdict", "alarms", "bytes")
    }


def test_who_is_missing_is_told_and_the_others_go_on(study, network):
    del network[1]
    words = ("federation", "run", "study/server", "--patience", 1)
    ended = run(*words)
    assert ended.code == 2 and "2 of 3 clients are left and at least 3 were asked for" in ended.err
    ended = run(*words, "--min-clients", 2, "--out", "two")
    assert ended.code == 0 and 'Left out: "South" (joining): it is not there.' in said(ended)
    assert "2 of 3 clients are there; waiting for the others." in said(ended)
    assert read_json(study.parent / "two" / "result.json")["clients"] == ["North", "East"]


def test_what_is_asked_for_is_handed_over(study, monkeypatch):
    jobs = []

    def submit(folder, job):
        jobs.append(Job.read(job.write()))
        job.run(grid_of([]))
        return "1"

    monkeypatch.setattr(superlink, "submit", submit)
    words = "--notion sp --region kernel --eps-global 0.1 --eps-local 0.2 --confidence 0.9 "
    words += "--confidence-scope all --confidence-proof proved --floor ill=0.3 --keep ill=0.02 "
    words += "--privacy-epsilon 2 --privacy-mechanism paper --min-clients 2 --patience 1"
    assert run("federation", "run", "study/server", *words.split()).code == 2
    assert run("federation", "run", "study/server", "--patience", 1).code == 2
    one, other = jobs
    assert (one.min_clients, one.patience, other.min_clients) == (2, 1.0, 0)
    asked = one.question.to_json()
    assert asked["privacy"]["name"] == "paper" and asked["privacy"]["epsilon"] == 2
    assert (one.question.guarantee.scope, one.question.guarantee.confidence) == ("all", 0.9)
    assert one.question.policy.floors == (Floor("ill", 0.3), Floor("ill", keeps=0.02))
    first = ("notion", "region", "eps_global", "eps_local", "one_round")
    assert [asked[name] for name in first] == ["sp", "kernel", 0.1, 0.2, False]
    plain = other.question.to_json()
    assert [plain[name] for name in first] == ["eo", "simplex", 1.0, 1.0, False]
    assert [plain[name] for name in ("guarantee", "policy", "privacy")] == [None] * 3


def test_flower_is_asked_every_quarter_of_a_minute_whether_the_run_goes_on(monkeypatch):
    clock, asked = iter([100.0, 110.0, 115.0, 115.0, 120.0, 130.0, 130.0]), []
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(
        superlink, "is_running", lambda known, number: asked.append(number) or len(asked) < 2
    )
    alive = _alive(None, "7")
    assert [alive() for _ in range(4)] == [True, True, True, False]
    assert asked == ["7", "7"]


# -------------------------------------------------------------------- processes that stay


@pytest.fixture
def flower(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    return Bin(tmp_path / "bin")


@FLOWER
def test_a_server_says_where_it_listens_until_flower_ends(study, flower):
    flower.put("flower-superlink", LISTEN.replace("while True", "for _ in range(1)"))
    ended = run("federation", "server", "study/server")
    (words,) = flower.calls("flower-superlink")
    assert f"The server listens at 127.0.0.1:{words[-2]}. Ctrl+C ends it." in said(ended)
    assert ended.code == 2 and "Flower ended by itself" in ended.err


@FLOWER
def test_clients_say_whom_they_call_until_they_are_ended(study, flower):
    flower.put("flower-supernode", 'case "$*" in *north*) sleep 0.3; kill -TERM $PPID ;; esac')
    (study / "south" / "people.csv").write_text("nothing\n")
    ended = run("federation", "client", "study/north", "study/south")
    told = said(ended)
    assert ended.code == 143
    assert 'Client "North": 600 rows, ready. Client "South" takes no part:' in told
    server = flower.calls("flower-supernode")[0][1]
    for name in ("North", "South"):
        log = f"study/{name.lower()}/log.txt"
        assert f'Client "{name}" calls {server}; what travels stands in {log}.' in told


# -------------------------------------------------------------------- a federation here


@FLOWER
def test_a_demo_is_compared_with_one_place_and_its_log_is_kept(tmp_path, monkeypatch):
    started = itertools.count()

    def submit(folder, job):
        there = sorted(path for path in folder.path.parent.iterdir() if path != folder.path)
        Job.read(job.write()).run(grid_of(there))
        return "1"

    monkeypatch.setattr(demo, "start_server", lambda folder, processes: next(started))
    monkeypatch.setattr(demo, "start_client", lambda folder, processes: next(started))
    monkeypatch.setattr(demo, "submit", submit)
    monkeypatch.chdir(tmp_path)
    words = ("--example", "hospitals", "--rounds", 1, "--messages", "log.json")
    ended = run("federation", "demo", *words)
    found = json.loads(ended.out)
    assert ended.code == 0 and found["agrees"] and next(started) == 4
    assert "3 clients take part" in ended.err and found["clients"] == ["North", "South", "East"]
    assert list(tmp_path.iterdir()) == [tmp_path / "log.json"]  # the folders are gone
    lesson = read_json(tmp_path / "log.json")
    assert {key: lesson[key] for key in ("study", "client", "rows", "rounds")} == {
        "study": "example hospitals",
        "client": "East",
        "rows": 400,
        "rounds": 1,
    }
    assert 2 * len(lesson["messages"]) < found["messages"]
    monkeypatch.setattr(demo.Comparison, "agrees", False)
    ended = run("federation", "demo", *words[:4], "--out", "kept")
    assert ended.code == 1 and json.loads(ended.out)["agrees"] is False
    assert (tmp_path / "kept" / "federation" / "server" / "results" / "result.json").is_file()
