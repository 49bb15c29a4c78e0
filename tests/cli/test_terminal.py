"""A name from another's file is only text, also to a terminal."""

import json

import pytest

from tests.cli.running import run

ACTS = "A\x1b]0;owned\x07\x1b[2J\x9b31m\u202eB"


@pytest.fixture
def counts(files):
    value = json.loads(files.counts.read_text())
    value["clients"][0]["name"] = ACTS
    value["labels"][0] = f"no{ACTS}"
    path = files / "foreign.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize(
    "more",
    [
        ("solve", "--eps-local", "0.02"),
        ("solve", "--floor", "0.5", "--eps-local", "0"),
        ("solve", "--eps-of", f"{ACTS}=0.1"),
        ("map",),
        ("check",),
    ],
)
def test_nothing_in_a_name_acts_on_the_terminal(counts, more):
    command, *options = more
    ended = run(command, counts, *options)
    assert ended.out or ended.err
    for sign in set(ACTS) - set("AB]0;owned[2J31m"):
        assert sign not in ended.out + ended.err
