"""Policy files and gates on the command line, the version, and what is not written over."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from fairfl_core import __version__
from fairfl_core.data.counts import ClientCounts
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.policy_file import PolicyFile
from tests.cli.running import ANSWERED, COLUMNS, run

NAMES = (("north", "south"), ("f", "m"), ("no", "yes"))
MODEL = [[[800, 200], [200, 800]], [[800, 200], [100, 900]]]  # of women fewer are recognised


@pytest.fixture
def folder(tmp_path):
    """Counts to fit on; unseen people who are alike, few, or otherwise."""
    table = np.array([MODEL] * 2) * 100
    for name, of in {
        "fitted": table,
        "alike": table,
        "few": table // 5000,
        "other": table * [[[[1], [1]], [[1], [1]]], [[[1], [1]], [[1], [9]]]],
    }.items():
        ClientCounts(of, *NAMES).write(tmp_path / f"{name}.json")
    worse = table.copy()
    worse[1, 0, 1] = [60_000, 20_000]
    ClientCounts(worse, *NAMES).write(tmp_path / "worse.json")
    ended = run(
        *("solve", tmp_path / "fitted.json", "--notion", "eop", "--eps-local", "0.05"),
        *("--save-policy", tmp_path / "policy.toml", "--decided-by", "the board"),
        *("--out", tmp_path / "fair.json", "--json"),
    )
    assert ended.went_well, ended
    return tmp_path


@pytest.mark.parametrize(
    ("people", "more", "code"),
    [
        ("alike", (), 0),
        ("worse", (), 1),
        ("worse", ("--allow-unsure",), 1),
        ("few", (), 3),
        ("few", ("--allow-unsure",), 0),
    ],
)
def test_a_gate_ends_as_its_verdict_says(folder, people, more, code):
    given = (
        "evaluate",
        folder / "fair.json",
        folder / f"{people}.json",
        "--require",
        "met",
        *more,
    )
    for form in ("text", "json", "junit", "github"):
        ended = run(*given, "--format", form)
        assert (ended.code, ended.err) == (code, ""), form
        if form == "json":
            word = json.loads(ended.out)["verdict"]["word"]
            assert (word == "met", word == "not sure yet") == (people == "alike", people == "few")
        elif form == "junit":
            suite = ElementTree.fromstring(ended.out)
            assert int(suite.get("failures")) == (2 if code == 1 else 0)
            assert int(suite.get("errors")) >= (1 if code == 3 else 0)
        elif form == "github":
            assert ended.out.startswith({0: "::notice", 1: "::error", 3: "::warning"}[code])
    assert run(*given[:3]).code == 0  # nothing is required


def test_a_policy_file_says_what_the_options_say(folder):
    asked = PolicyFile.read(folder / "policy.toml")
    assert (asked.notion, asked.eps_local, asked.decided_by) == ("eop", 0.05, "the board")
    assert asked.decided_on is not None
    by_file = run("solve", folder / "fitted.json", "--policy", folder / "policy.toml", "--json")
    options = ("--notion", "eop", "--eps-local", "0.05")
    assert by_file.json == run("solve", folder / "fitted.json", *options, "--json").json
    own = run(
        *("evaluate", folder / "fair.json", folder / "alike.json", "--json"),
        *("--save-policy", folder / "again.toml", "--decided-by", "the board"),
    )
    assert own.went_well
    again = PolicyFile.read(folder / "again.toml")
    assert again == asked
    map_ = ("map", folder / "fitted.json", "--epsilons", "0.05,1", "--json")
    assert run(*map_, "--policy", folder / "again.toml").json == run(*map_, "--notion", "eop").json


def test_a_stricter_policy_fails_what_the_predictor_was_not_solved_for(folder):
    (folder / "strict.toml").write_text(
        'format = "fairfl-policy/1"\nnotion = "eop"\neps_global = 0.0\neps_local = 0.001\n'
    )
    given = ("evaluate", folder / "fair.json", folder / "alike.json", "--require", "met")
    assert run(*given).code == 0
    strict = run(*given, "--policy", folder / "strict.toml", "--json")
    assert strict.code == 1 and json.loads(strict.out)["verdict"]["word"] == "not met"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'format = "fairfl-policy/1"'),
        ("notion = ", "is not TOML"),
        ('format = "fairfl-policy/1"', 'lacks the key "notion"'),
        ('format = "fairfl-policy/1"\nnotion = "fair"', "choose one of sp"),
        ('format = "fairfl-policy/1"\nnotion = 3', "notion must be a text"),
        ('format = "fairfl-policy/1"\nnotion = "eo"\neps = 1', 'unknown key "eps"'),
        ('format = "fairfl-policy/1"\nnotion = "eo"\neps_local = 2', "between 0 and 1"),
        ('format = "fairfl-policy/1"\nnotion = "eo"\ndecided_on = "today"', "must be a date"),
        ('format = "fairfl-policy/1"\nnotion = "eo"\neps_local_client = 1', "must be a table"),
        ('format = "fairfl-policy/1"\nnotion = "eo"\n[eps_local_client]\nx = 0.1', "name one of"),
        (
            'format = "fairfl-policy/1"\nnotion = "eo"\n[guarantee]\nconfidence = 2',
            "lacks the key",
        ),
        ('format = "fairfl-policy/1"\nnotion = "eo"\n[policy]\nfloor = 3', "must be an object"),
    ],
)
def test_wrong_policy_files_end_in_a_sentence(folder, text, says):
    (folder / "wrong.toml").write_text(text)
    for given in (("solve", folder / "fitted.json"), ("evaluate", folder / "fair.json")):
        more = (folder / "alike.json",) if given[0] == "evaluate" else ()
        ended = run(*given, *more, "--policy", folder / "wrong.toml")
        assert ended.code == 2 and says in ended.err and ended.err.count("\n") == 1, ended


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--notion", "eo"), "--notion and --policy are both given"),
        (("--eps-local", "0.1"), "--eps-local and --policy"),
        (("--keep", "yes=0"), "--keep and --policy"),
        (("--save-policy", "policy.toml"), "is what is read"),
    ],
)
def test_a_policy_stands_alone(folder, more, says, monkeypatch):
    monkeypatch.chdir(folder)
    ended = run("solve", "fitted.json", "--policy", "policy.toml", *more)
    assert ended.code == 2 and says in ended.err, ended


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--require", "perfect"), '--require takes "met"'),
        (("--format", "yaml"), "--format takes one of text, json, junit, github"),
    ],
)
def test_wrong_gates(folder, more, says):
    ended = run("evaluate", folder / "fair.json", folder / "alike.json", *more)
    assert ended.code == 2 and says in ended.err


def test_nothing_is_required_of_a_predictor_without_limits(folder):
    run("solve", folder / "fitted.json", "--out", folder / "free.json", "--json")
    ended = run("evaluate", folder / "free.json", folder / "alike.json", "--require", "met")
    assert ended.code == 2 and "nothing that could be met" in ended.err


def test_the_version():
    ended = run("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"fairfl {__version__}\n", "")


def test_what_is_read_is_not_written_over(files):
    before = files.rows.read_bytes()
    month = files / "month-2026-07.json"
    month.write_bytes(files.counts.read_bytes())
    whole = {path: path.read_bytes() for path in (files.counts, files.predictor)}
    given = ("count", files.rows, *COLUMNS, "--prediction", "model")
    ended = run(*given, "--out", files.rows)
    assert ended.code == 2 and "is what is read" in ended.err
    link = files / "link.csv"
    link.symlink_to(files.rows)
    assert run(*given, "--out", link).code == 2
    assert files.rows.read_bytes() == before
    for command in (
        ("solve", files.counts, "--out", files.counts),
        ("privatize", files.counts, "--epsilon", "1", "--out", files.counts),
        ("predict", files.predictor, files.rows, *ANSWERED, "--out", files.rows),
        ("solve", files.counts, "--score-counts", files.counts),
        ("solve", files.counts, "--save-policy", files.counts),
        ("watch", files.predictor, month, "--baseline", files.counts, "--out", files.predictor),
        ("watch", files.predictor, month, "--baseline", files.counts, "--out", files.counts),
    ):
        ended = run(*command)
        assert ended.code == 2 and "is what is read" in ended.err, ended
    for path, content in whole.items():
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    "command",
    [
        ("solve",),
        ("map",),
        ("explore",),
        ("compare",),
        ("federation", "run"),
        ("federation", "demo"),
    ],
)
def test_help_names_the_notions_that_are_registered(command):
    said = " ".join(run(*command, "--help").out.replace("│", " ").split())
    assert f"One of {', '.join(notion_names())}." in said
