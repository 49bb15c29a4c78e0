"""A large file is read in a process of its own: the same answer, within limits, while it is wanted."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.budget import Budget, within
from fairfl_core.errors import Abandoned, InputError, OverBudgetError
from fairfl_core.intake import _sandbox as _apart
from fairfl_core.intake import (
    apart,
    example_counts,
    example_folds,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    labels_of,
    open_table,
    refused_by,
)
from fairfl_core.intake._wire import _KINDS
from tests.helpers.readers import LINUX, LONG, command, readers, until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setattr(_apart, "AT_ONCE", 0)


def same(one, other):
    """Whether two values are alike, arrays and dataclasses included."""
    if type(one).__name__ in _KINDS:
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "to_dict"):
        return one.to_dict("list") == other.to_dict("list")
    if hasattr(one, "to_json"):
        return one.to_json() == other.to_json()
    return one == other


def test_a_table_is_the_same_read_apart():
    data = example_table().encode()
    table = apart(open_table, "people.csv", data)
    assert same(table, open_table("people.csv", data))
    roles = guess_roles(table)
    assert apart(labels_of, table, roles.label) == labels_of(table, roles.label)
    several = replace(roles, models=(roles.prediction,), prediction="", crossed_with=())
    for chosen in (roles, several):
        whole = apart(experiment_from_table, table, chosen, favourable="", join=True)
        assert same(whole, experiment_from_table(table, chosen, favourable="", join=True))


def test_folds_and_counts_are_the_same_read_apart():
    folds = open_table("folds.csv", example_folds().encode())
    roles = guess_roles(folds)
    assert same(apart(experiment_from_table, folds, roles), experiment_from_table(folds, roles))
    files = [(name, json.dumps(one.to_json()).encode()) for name, one in example_counts().items()]
    assert same(apart(experiment_from_counts, files), experiment_from_counts(files))


def test_a_refusal_is_the_same_sentence_by_the_same_check():
    told = []
    for call in (lambda *given: apart(open_table, *given), open_table):
        with pytest.raises(InputError) as refusal:
            call("people.csv", b"client,group\n\0")
        told.append((str(refusal.value), refused_by(refusal.value)))
    assert told[0] == told[1]
    assert told[0][1].endswith("csv_tables._check_text")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("_SECONDS", "takes longer than the 1 seconds of work"),
        pytest.param("_MEGABYTES_OF_JSON", "needs more than the 1 MB of memory", marks=LINUX),
    ],
)
def test_reading_has_an_end(monkeypatch, limit, said):
    monkeypatch.setattr(_apart, limit, (1, 0))
    with pytest.raises(OverBudgetError, match=said):
        apart(experiment_from_counts, [("long.json", LONG)])
    assert not readers(os.getpid())


def test_what_cannot_be_afforded_does_not_begin(monkeypatch):
    monkeypatch.setattr(_apart, "_ask", None)
    refused = pytest.raises(OverBudgetError, match="reading 26 MB needs about")
    with within(Budget(megabytes=400)), refused:
        apart(experiment_from_counts, [("long.json", LONG)])


@LINUX
def test_reading_ends_with_the_one_it_is_done_for():
    def has_left():
        """Leaves once the reader is there, and stops it so that it cannot end by itself."""
        for pid in readers(os.getpid()):
            os.kill(pid, signal.SIGSTOP)
            return True
        return False

    with within(Budget(left=has_left)), pytest.raises(Abandoned):
        apart(experiment_from_counts, [("long.json", LONG)])
    assert not readers(os.getpid())


@LINUX
def test_reading_ends_with_the_server_that_asked():
    """Whoever started the reader is killed; it would wait for a question for ever."""
    reader = f"{sys.executable} -m fairfl_core.intake._reader 600 2000"
    asking, question = os.pipe()  # held open here
    shell = subprocess.Popen(
        ["sh", "-c", f"{reader} & wait"], stdin=asking, cwd=ROOT, start_new_session=True
    )
    until(lambda: readers(shell.pid))
    (pid,) = readers(shell.pid)
    shell.kill()
    shell.wait()
    until(lambda: not command(pid))  # one that nobody waits for has none, either
    os.close(asking)
    os.close(question)
