"""A large upload is read in a process of its own: same result, bounded, and ended when unwanted."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.budget import MEGABYTE, Budget, within
from fairfl_core.errors import InputError, OverBudgetError
from fairfl_core.intake import (
    _sandbox,
    apart,
    example_counts,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
    refused_by,
)

ROOT = Path(__file__).resolve().parents[2]
LONG = b"[" + b"[[[]]]," * 3_850_000 + b"[]]"  # seconds of work, and nothing of use
POSIX = pytest.mark.skipif(os.name != "posix", reason="rlimits")


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(_sandbox, "LARGE", 0)


def same(one, other):
    """Whether two values are alike, arrays and dataclasses included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "to_dict"):
        return one.to_dict("list") == other.to_dict("list")
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    if hasattr(one, "to_json"):
        return one.to_json() == other.to_json()
    return one == other


def test_a_table_is_the_same_read_apart(always):
    data = example_table().encode()
    table = apart(open_table, "people.csv", data)
    assert same(table, open_table("people.csv", data))
    roles = guess_roles(table)
    several = replace(roles, models=(roles.prediction,), prediction="", crossed_with=())
    whole = apart(experiment_from_table, table, several, favourable="", join=True)
    assert same(whole, experiment_from_table(table, several, favourable="", join=True))


def test_counts_are_the_same_read_apart(always):
    files = [(name, json.dumps(one.to_json()).encode()) for name, one in example_counts().items()]
    assert same(apart(experiment_from_counts, files), experiment_from_counts(files))


def test_a_refusal_is_the_same_sentence_by_the_same_check(always):
    refusals = []
    for call in (lambda *given: apart(open_table, *given), open_table):
        with pytest.raises(InputError) as refusal:
            call("people.csv", b"client,group\n\0")
        refusals.append((str(refusal.value), refused_by(refusal.value)))
    assert refusals[0] == refusals[1]
    assert refusals[0][1].endswith("tables._check_text")


@POSIX
@pytest.mark.parametrize(
    ("limit", "value", "sentence"),
    [
        ("_SECONDS", (1, 0), "takes longer than the 1 seconds of work"),
        ("_MEGABYTES_OF_JSON", (300, 0), "needs more than the 300 MB of memory"),
    ],
)
def test_time_and_memory_are_bounded(monkeypatch, limit, value, sentence):
    monkeypatch.setattr(_sandbox, limit, value)
    with pytest.raises(OverBudgetError, match=sentence) as error:
        apart(experiment_from_counts, [("long.json", LONG)])
    assert str(error.value).endswith(f"; {_sandbox.ADVICE}.")
    assert not multiprocessing.active_children()


def ends_itself(data):
    """Stand for a reader that the system ends."""
    os.kill(os.getpid(), signal.SIGKILL)


def exits(data):
    sys.exit(3)


@POSIX
def test_a_process_that_ends_without_an_answer_is_explained(always):
    with pytest.raises(OverBudgetError, match="needs more than the 500 MB"):
        apart(ends_itself, b"")
    with pytest.raises(RuntimeError, match="ended with 3"):
        apart(exits, b"")


def test_what_cannot_be_afforded_does_not_begin(monkeypatch):
    monkeypatch.setattr(_sandbox, "_call_in_process", None)
    refused = pytest.raises(OverBudgetError, match=r"^reading 20 MB needs about 640 MB of memory")
    with within(Budget(megabytes=639)), refused:
        apart(open_table, "file", b"x" * 20 * MEGABYTE)


@POSIX
def test_reading_ends_when_the_server_is_killed(tmp_path):
    """Even by SIGKILL: the reader is bound, and has nobody to answer."""
    script = tmp_path / "server.py"
    script.write_text(
        "import multiprocessing, threading\n"
        "from fairfl_core.intake import apart\n"
        "from tests.intake.test_sandbox import sleeps\n"
        "if __name__ == '__main__':\n"
        "    threading.Thread(target=apart, args=(sleeps, bytes(2**20)), daemon=True).start()\n"
        "    while not multiprocessing.active_children(): pass\n"
        "    print(multiprocessing.active_children()[0].pid, flush=True)\n"
        "    input()\n"
    )
    server = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with server:
        pid = int(server.stdout.readline())
        server.kill()
    end = time.monotonic() + 120
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.1)


def sleeps(data):
    time.sleep(5)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
