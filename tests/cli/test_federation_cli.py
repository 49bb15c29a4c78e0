"""`fairfl federation`: folders written, data checked, and sentences where something is missing."""

import tomllib
from importlib.util import find_spec

import pytest

from fairfl_core.federation.folders import ServerFolder, is_loopback
from fairfl_core.federation.study import Study
from tests.cli.running import run

needs_flower = pytest.mark.skipif(find_spec("flwr") is None, reason="Flower is not installed")


@pytest.fixture
def study(tmp_path):
    assert run("federation", "init", tmp_path / "study", "--example", "hospitals").code == 0
    return tmp_path / "study"


def test_init_writes_folders_that_are_ready(study):
    server = ServerFolder.read(study / "server")
    assert server.address == "127.0.0.1:8000"
    agreed = Study.read(study / "server")
    assert agreed.clients == ("North", "South", "East")
    for name in ("north", "south", "east"):
        assert Study.read(study / name).fingerprint == agreed.fingerprint
    pytest.importorskip("flwr")
    ended = run("federation", "client", "--check", study / "north")
    assert ended.code == 0
    assert 'Client "North": 600 rows, ready.' in ended.out


def test_init_writes_blank_folders_to_fill_in(tmp_path):
    args = ("--clients", "A & B,Zürich", "--rounds", "7", "--method", "fedavg", "--seed", "3")
    ended = run("federation", "init", tmp_path / "blank", *args)
    assert ended.code == 0 and "Fill in study.toml" in ended.out.replace("\n", " ")
    assert Study.read(tmp_path / "blank" / "zürich").recipe.rounds == 7
    client = tomllib.loads((tmp_path / "blank" / "a---b" / "client.toml").read_text("utf-8"))
    assert client["name"] == "A & B"


def test_nothing_is_written_over(study):
    ended = run("federation", "init", study, "--example", "hospitals")
    assert ended.code == 2 and "is there already; choose another folder" in ended.err


def test_bad_data_are_told_in_a_sentence(study):
    pytest.importorskip("flwr")
    people = (study / "north" / "people.csv").read_text("utf-8")
    (study / "north" / "people.csv").write_text(people.replace("score_ill", "points"), "utf-8")
    ended = run("federation", "client", "--check", study / "north")
    said = " ".join(ended.out.split())
    assert ended.code == 2
    assert 'Client "North" takes no part' in said and 'no column "score_ill"' in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("init", "x", "--example", "moon"), 'no example "moon"; choose one of: hospitals, adult'),
        (("init", "x", "--model", "tree"), 'no model "tree"'),
        (("init", "x", "--method", "luck"), 'trains by fedavg, not by "luck"'),
        (("init", "x", "--model", "cnn"), 'no model "cnn" for tables'),
        (("init", "x", "--clients", "A,A"), "stands twice among the clients"),
        (("init", "x", "--address", "nowhere"), "not an address like 127.0.0.1:8000"),
    ],
)
def test_wrong_words_end_in_a_sentence(tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    ended = run("federation", *words)
    assert ended.code == 2 and sentence in ended.err, ended.err
    assert ended.err.count("\n") == 1


@needs_flower
def test_outside_this_machine_nothing_starts_without_certificates(tmp_path):
    where = ("--example", "hospitals", "--address", "192.0.2.7:8000")
    ended = run("federation", "init", tmp_path / "far", *where)
    assert "make certificates and keys first" in " ".join(ended.out.split())
    server = run("federation", "server", tmp_path / "far" / "server")
    assert server.code == 2 and "holds no client's public key" in server.err
    (tmp_path / "far" / "server" / "keys" / "north.pub").write_text("key")
    server = run("federation", "server", tmp_path / "far" / "server")
    assert server.code == 2 and "there is no ca certificate" in server.err
    client = run("federation", "client", tmp_path / "far" / "north")
    assert client.code == 2 and "there is no root certificate" in client.err


@needs_flower
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("server", "x"), "no such file"),
        (("client", "x"), "no such file"),
        (("run", "x"), "no such file"),
        (("run", "x", "--notion", "luck"), 'no notion "luck"'),
        (("run", "x", "--confidence", "2"), "the confidence is 2"),
    ],
)
def test_wrong_words_of_a_run_end_in_a_sentence(tmp_path, monkeypatch, words, sentence):
    test_wrong_words_end_in_a_sentence(tmp_path, monkeypatch, words, sentence)


def test_only_this_machine_is_loopback():
    assert all(is_loopback(one) for one in ("127.0.0.1:1", "localhost:1", "[::1]:1"))
    assert not any(is_loopback(one) for one in ("0.0.0.0:1", "10.0.0.1:1", "hospital.org:1"))
