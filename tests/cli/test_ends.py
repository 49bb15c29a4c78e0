"""How commands begin and end: the dashboard's own start, the last sentence, and Ctrl-C."""

import runpy
import sys
from pathlib import Path

import pytest

import fairfl_core.cli as shell
from fairfl_core.errors import SolveError
from tests.cli.running import run

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture
def streamlit(monkeypatch):
    """What Streamlit is called with."""
    calls = []

    def run_module(name, run_name):
        calls.append((name, run_name, list(sys.argv)))

    monkeypatch.setattr(runpy, "run_module", run_module)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return calls


def test_the_dashboard_is_started_where_it_says(streamlit):
    ended = run("app", "--port", 8600, "--address", "0.0.0.0", "--", "--theme.base=dark")
    assert "The dashboard is at http://0.0.0.0:8600. Ctrl+C ends it." in ended.out
    ((name, run_name, words),) = streamlit
    assert (name, run_name) == ("streamlit", "__main__")
    assert words == [
        *("streamlit", "run", str(TOP / "app.py"), "--logger.hideWelcomeMessage=true"),
        *("--server.address=0.0.0.0", "--server.port=8600", "--theme.base=dark"),
    ]
    assert ended.code == 0


@pytest.mark.parametrize(
    ("surrounding", "platform", "options", "opens"),
    [
        ({}, "linux", (), False),
        ({"DISPLAY": ":0"}, "linux", (), True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", (), True),
        ({"DISPLAY": ":0"}, "linux", ("--headless",), False),
        ({}, "darwin", (), True),
    ],
)
def test_a_browser_is_opened_where_there_is_a_screen(
    streamlit, monkeypatch, surrounding, platform, options, opens
):
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in surrounding.items():
        monkeypatch.setenv(name, value)
    run("app", *options)
    asked = ["--server.headless=false", "--server.showEmailPrompt=false"]
    assert streamlit[0][2][6:] == (asked if opens else [])


def test_warm_opens_every_experiment_before_it_is_said_to_be_ready(streamlit, monkeypatch):
    from pages.shared import start

    opened = []
    monkeypatch.setattr(start, "open_every_experiment", opened.append)
    ended = run("app", "--warm")
    assert opened == [TOP / "app.py"]
    assert ended.out.index("Opening every bundled experiment") < ended.out.index("is at http")
    run("app")
    assert len(opened) == 1


def failing(monkeypatch, error):
    def app(**_):
        raise error

    monkeypatch.setattr(shell, "load", lambda names: app)


def wrapped(cause):
    error = RuntimeError("while a class is made")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (SolveError("no optimum."), 1, "no optimum."),
        (KeyboardInterrupt(), 130, "Stopped."),
        (wrapped(KeyboardInterrupt()), 130, "Stopped."),
    ],
)
def test_an_end_is_one_sentence_and_a_code(monkeypatch, error, code, sentence):
    failing(monkeypatch, error)
    ended = run("solve")
    assert (ended.code, ended.out, ended.err) == (code, "", f"fairfl: {sentence}\n")


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    failing(monkeypatch, wrapped(None))
    with pytest.raises(RuntimeError, match="while a class is made"):
        run("solve")
