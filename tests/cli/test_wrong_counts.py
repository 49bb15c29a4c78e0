"""Counts that are wrong, in every place and reader."""

import json

import pytest

from tests.cli.refusing import (
    CELL,
    NOBODY,
    PLACE,
    both,
    change,
    count_of,
    counts_readers,
    loaded,
    refused,
    without,
)
from tests.cli.running import people

NOISY = change("noisy", to=True)
WRONG_COUNTS = {
    "ragged predictions": (change(*CELL[:-1], to=[1]), PLACE[:3]),
    "ragged labels": (change(*CELL[:-2], to=[[1, 2]]), PLACE[:2]),
    "ragged groups": (without(*CELL[:-2]), PLACE[:1]),
    "a group too many": (change("clients", 1, "counts", to=lambda x: [*x, x[0]]), PLACE[:1]),
    "too deep": (change(*CELL, to=[1]), PLACE),
    "negative": (change(*CELL, to=-1), [*PLACE, "-1", "negative"]),
    "negative and noisy": (both(NOISY, change(*CELL, to=-0.5)), [*PLACE, "-0.5", "negative"]),
    "infinite": (both(NOISY, change(*CELL, to=float("inf"))), ["finite"]),
    "a real": (change(*CELL, to=1.5), ['"north"', '"noisy"']),
    "text": (change(*CELL, to="3"), [*PLACE, "'3'"]),
    "null": (change(*CELL, to=None), PLACE),
    "true": (change(*CELL, to=True), PLACE),
    "beyond exact integers": (change(*CELL, to=2**60), PLACE),
    "of 400 digits": (change(*CELL, to=10**400), PLACE),
    "one label": (
        both(
            change("labels", to=["no"]),
            change("favourable", to="no"),
            change("clients", to=[{"name": "A", "counts": [[[1]], [[1]]]}]),
        ),
        ["labels", "at least 2"],
    ),
    "no label": (
        both(change("labels", to=[]), change("clients", to=[{"name": "A", "counts": [[], []]}])),
        ["labels", "at least 2"],
    ),
    "one group": (
        both(
            change("groups", to=["f"]),
            change("clients", to=[{"name": "A", "counts": [[[1, 1], [1, 1]]]}]),
        ),
        ["groups", "at least 2"],
    ),
    "no client": (change("clients", to=[]), ["clients", "at least 1"]),
    "a client twice": (change("clients", 0, "name", to="north"), ['"north"', "twice"]),
    "a group twice": (change("groups", to=["f", "f"]), ['"f"', "twice"]),
    "a label twice": (change("labels", to=["yes", "yes"]), ['"yes"', "twice"]),
    "a client without a name": (change("clients", 1, "name", to=" "), ["clients", "empty name"]),
    "a client with no rows": (change("clients", 1, "counts", to=NOBODY), ['"north"', "no rows"]),
    "an unknown key": (change("comment", to="hello"), ['"comment"']),
    "an unknown key of a client": (change("clients", 1, "n", to=3), ['"n"', "clients[1]"]),
    "no groups key": (without("groups"), ['"groups"']),
    "no favourable key": (without("favourable"), ['"favourable"']),
    "no counts key": (without("clients", 1, "counts"), ['"counts"', "clients[1]"]),
    "favourable is no label": (change("favourable", to="maybe"), ['"maybe"', '"yes"']),
    "favourable is a number": (change("favourable", to=1), ['"favourable"']),
    "labels are numbers": (change("labels", to=[0, 1]), ['"labels"']),
    "labels are text": (change("labels", to="ny"), ['"labels"']),
    "groups are null": (change("groups", to=None), ['"groups"']),
    "clients are an object": (change("clients", to={"north": NOBODY}), ['"clients"']),
    "clients are names": (change("clients", to=["north"]), ['"clients"']),
    "a name is a number": (change("clients", 1, "name", to=7), ['"name"', "clients[1]"]),
    "noisy is text": (change("noisy", to="yes"), ['"noisy"']),
    "a name that no file can hold": (
        change("clients", 1, "name", to="\ud800"),
        ["half of a sign"],
    ),
}


@pytest.mark.parametrize(("apply", "says"), WRONG_COUNTS.values(), ids=WRONG_COUNTS)
def test_wrong_counts(files, apply, says):
    value = loaded(files.counts)
    apply(value)
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, *counts_readers(files, path)["solve"], says=[path, *says])


@pytest.mark.parametrize("reader", ["solve", "map", "evaluate", "privatize"])
def test_every_reader_refuses_wrong_counts(files, reader):
    value = loaded(files.counts)
    change(*CELL, to=-1)(value)
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, *counts_readers(files, path)[reader], says=[path, *PLACE, "negative"])


def test_an_infinite_count_written_as_a_large_exponent(files):
    path = files / "wrong.json"
    for noisy in (False, True):
        value = loaded(files.counts) | {"noisy": noisy}
        change(*CELL, to=123456789)(value)
        text = json.dumps(value).replace("123456789", "1e999")
        path.write_text(text, "utf-8")
        refused(files, "solve", path, says=[path, '"north"'])


def test_one_sentence_is_one_line_whatever_the_names_hold(files):
    value = loaded(files.counts)
    value["clients"][0]["name"] = value["clients"][1]["name"] = "two\nlines\r\x1b[31m"
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    refused(files, "solve", path, says=[path, "twice"])
    rows = people(20)
    rows.loc[3, "sex"] = "two\nlines"
    rows.to_csv(files / "wrong.csv", index=False)
    refused(
        files, *count_of(files, files / "wrong.csv", "--groups", "f,m"), says=['"sex"', "U+000A"]
    )


def test_counts_that_noise_left_nobody_in(files):
    value = loaded(files.counts) | {"noisy": True}
    for client in value["clients"]:
        client["counts"] = NOBODY
    path = files / "wrong.json"
    path.write_text(json.dumps(value), "utf-8")
    for argv in (("solve", path), ("map", path), ("map", path, "--notion", "eop")):
        refused(files, *argv, says=[path])
    refused(files, "evaluate", files.predictor, path, "--json", says=[path])


def test_noise_is_added_once(files):
    value = loaded(files.counts) | {"noisy": True}
    path = files / "noisy.json"
    path.write_text(json.dumps(value), "utf-8")
    argv = ("privatize", path, "--epsilon", "1", "--out", files / "out.json")
    refused(files, *argv, says=[path, "noisy already"])
    refused(files, *argv, "--seed", "1", says=[path, "noisy already"])
