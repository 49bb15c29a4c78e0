"""What all commands share: JSON or words, help, pipes, terminals."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from fairfl_core.data.counts import ClientCounts
from tests.cli.running import (
    ANSWERED,
    COLUMNS,
    COMMANDS,
    make_files,
    people,
    run,
    shell,
)


def test_with_json_every_command_prints_one_object_and_nothing_else(files):
    for argv in (
        ("count", files.rows, *COLUMNS, "--prediction", "model"),
        ("count", files.rows, *COLUMNS, "--prediction", "model", "--out", files / "c.json"),
        ("solve", files.counts, "--out", files / "p.json"),
        ("map", files.counts),
        ("map", files.counts, "--notion", "eop"),
        ("evaluate", files.predictor, files.counts),
        ("predict", files.predictor, files.rows, *ANSWERED, "--out", files / "o.csv"),
        ("privatize", files.counts, "--epsilon", "1", "--out", files / "n.json"),
        ("privatize", files.counts, "--epsilon", "1", "--seed", "1", "--out", files / "n.json"),
    ):
        ended = run(*argv, "--json")
        assert isinstance(json.loads(ended.out), dict), argv
        assert (ended.code, ended.out.count("\n"), ended.err) == (0, 1, ""), argv


def test_names_are_never_taken_for_markup(tmp_path):
    strange = ["[bold]x[/bold]", "[/]", ":smile:", "back\\", "Québec"]
    value = json.loads(make_files(tmp_path).counts.read_text("utf-8"))
    value["clients"] = [
        {"name": name, "counts": [[[9, 4], [2, 7]], [[5, 1], [1, 5]]]} for name in strange
    ]
    value["clients"][0]["counts"][0] = [[0, 0], [0, 0]]
    (tmp_path / "strange.json").write_text(json.dumps(value), "utf-8")
    out = tmp_path / "strange-predictor.json"
    solved = run("solve", tmp_path / "strange.json", "--out", out)
    judged = run("evaluate", out, tmp_path / "strange.json")
    for ended in (solved, judged):
        assert ended.code == 0, ended
        assert [name for name in strange if name not in ended.out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(command):
    ended = run(command, "--help")
    assert ended.went_well, ended
    assert example_in(ended.out)[:2] == ["fairfl", command]


def example_in(text):
    found = re.search(r"Example:\s+(fairfl .*?)\n\s*\n", text, re.DOTALL)
    return shlex.split(found[1]) if found else []


def test_the_examples_work_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = {command: example_in(run(command, "--help").out)[1:] for command in COMMANDS}
    options = ("--client", "--group", "--label", "--prediction")
    given = [examples["count"][examples["count"].index(option) + 1] for option in options]
    output = zip(("clinic", "sex", "diagnosis", "model"), given, strict=True)
    people().rename(columns=dict(output)).to_csv("rows.csv", index=False)
    for command, argv in examples.items():
        if command == "evaluate":
            Path("test-counts.json").write_bytes(Path("counts.json").read_bytes())
        ended = run(*argv)
        assert ended.went_well, (argv, ended)


def test_without_a_command_help_is_shown():
    ended = run()
    assert ended.code == 2
    assert all(command in ended.out + ended.err for command in COMMANDS)


# -------------------------------------------------------------------- in a real shell


def test_rows_are_piped_through_count_and_solve(files):
    counted = shell("count", "-", *COLUMNS, "--prediction", "model", input=files.rows.read_bytes())
    assert (counted.returncode, counted.stderr) == (0, b"")
    asked = ("--eps-global", "0.01", "--eps-local", "0.01", "--json")
    solved = shell("solve", "-", *asked, input=counted.stdout)
    assert (solved.returncode, solved.stderr) == (0, b"")
    assert json.loads(solved.stdout) == run("solve", files.counts, *asked).json
    assert solved.stdout.count(b"\n") == 1


def test_a_reader_that_goes_away_is_no_error_to_shout_about(files):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = shell(
            "solve", files.counts, capture_output=False, stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert ended.stderr == b""


def test_a_locale_without_unicode_takes_nothing_from_names_and_paths(tmp_path):
    rows = people(100).replace({"clinic": {"north": "Québec"}})
    rows.to_csv(tmp_path / "rüws.csv", index=False)
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    out = tmp_path / "zähl.json"
    given = ("count", tmp_path / "rüws.csv", *COLUMNS, "--prediction", "model", "--out", out)
    counted = shell(*given, "--json", env=ascii_only)
    assert (counted.returncode, counted.stderr) == (0, b"")
    assert json.loads(counted.stdout)["out"] == str(out)
    assert "Québec" in ClientCounts.read(out).clients
    strict = {"PYTHONIOENCODING": "ascii"}
    solved = shell("solve", out, "--eps-local", "0.01", env=strict)  # tables and quotes
    assert (solved.returncode, solved.stderr) == (0, b"") and b"Qu?bec" in solved.stdout
