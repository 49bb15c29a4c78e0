"""As much as is taken of everything that comes from outside, and one more."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from fairfl_core._io.files import nested_numbers
from fairfl_core._io.names import check_readable
from fairfl_core.data.columns import code_column
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.grouping import cross
from fairfl_core.data.score_columns import check_column
from fairfl_core.errors import InputError
from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.intake import ColumnRoles, Reading, experiment_from_table, open_table
from fairfl_core.lp.exact.histograms import histogram_from_json
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.hashed_draws import row_draws
from fairfl_core.predictors.metadata import FittedOn
from fairfl_core.predictors.score_predictor import _bins
from fairfl_core.report import Option, Review
from fairfl_core.report.review import parse_review

OPTION = Option("A", "adult", "adult", "0" * 64, "sp", "simplex", "labels", (0,), 0.01, 0.05)
REVIEW = Review("Which?", (OPTION,)).to_json()


def counted(n):
    return ClientCounts([[[[n, 0], [0, 0]], [[0, 0], [0, 0]]]], ("a",), ("m", "w"), ("no", "yes"))


def histogram_of_pairs(n):
    bins = [[0] * (2 * n), [1] * (2 * n)]
    named = {"labels": ["no", "yes"], "groups": ["m", "w"], "favourable": "yes"}
    value = {"format": "fairfl-histogram/1", **named, "bins": 2 * n, "noisy": False}
    return histogram_from_json(value | {"clients": [{"name": "a", "counts": [bins, bins]}]})


def review_of_bytes(n):
    text = json.dumps(REVIEW)
    return parse_review(text.encode() + b" " * (n - len(text)), "r.json")


def reading(roles):
    return Reading.from_json(json.loads(json.dumps(Reading("", roles).to_json())))


def crossed(n):
    parts = code_column([f"g{k}" for k in range(n)], "a"), code_column(["x"] * n, "b")
    return cross(parts, ("a", "b"))


# What: (as much as is taken, who takes it, with which words one more is refused).
MOST = {
    "letters of a name": (200, lambda n: check_readable(["x" * n], "site"), "at most 200"),
    "a number": (2**53, partial(nested_numbers, axes=(), where="here"), "too large"),
    "a number below": (2**53, lambda n: nested_numbers(-n, (), "here"), "too large"),
    "crossed groups": (200, crossed, "at most 200 can be compared"),
    "letters of a question": (
        4000,
        lambda n: Review.from_json(REVIEW | {"question": "x" * n}),
        "at most 4,000 letters",
    ),
    "bytes of a review": (2_000_000, review_of_bytes, "larger than 2 MB"),
    "options of a review": (4, lambda n: Review("Which?", (OPTION,) * n), "at most 4 options"),
    "letters of a column's name": (
        4000,
        lambda n: reading(ColumnRoles("x" * n, "b", "c", "d")),
        "at most 4,000 letters",
    ),
    "letters of what was fitted on": (
        200,
        lambda n: FittedOn.from_json(
            {"experiment": "x" * n, "sha256": "", "seed": 0, "split": "fit"}
        ),
        "in short texts",
    ),
    "bytes of client and row id": (
        1000,
        lambda n: row_draws(["ä"], ["x" * (n - 3)]),  # two, and one between them
        "at most 1000 bytes",
    ),
    "edges": (
        10_000,
        lambda n: _bins({"edges": list(range(n)), "chances": [0.5] * (n + 1)}, "here"),
        "10,000 numbers at most",
    ),
    "pairs of bins of a histogram": (2048, histogram_of_pairs, "an even number from 2 to 4096"),
    "points of accuracy": (
        100,
        lambda n: tightest_limits([FairnessProgram(counted(9))], n, resolution=0.5),
        "between 0 and 100",
    ),
    "different whole numbers": (
        20,
        lambda n: check_column(np.arange(n, dtype=float), "score", "logits"),
        "looks like an id",
    ),
}


@pytest.mark.parametrize("what", MOST)
def test_one_more_than_the_most_is_refused(what):
    most, take, says = MOST[what]
    take(most)
    with pytest.raises(InputError, match=re.escape(says)):
        take(most + 1)


def test_people_that_can_be_counted_exactly():
    assert counted(2**53).n == 2**53
    with pytest.raises(InputError, match="too large"):
        counted(2**53 + 2)
    with pytest.raises(InputError, match="more people than can be counted exactly"):
        ClientCounts([[[[2**53, 2], [0, 0]], [[0, 0], [0, 0]]]], ("a",), ("m", "w"), ("no", "yes"))


def checks(clients, rows, groups=2, labels=("no", "yes")):
    """What is told of so many clients with so many rows each."""
    place = range(clients * rows)
    frame = pd.DataFrame(
        {
            "site": [f"s{k // rows:03d}" for k in place],
            "ward": [f"w{k % groups:02d}" for k in place],
            "truth": [labels[k // groups % len(labels)] for k in place],
            "said": [labels[k % 7 < 3] for k in place],
        }
    )
    data = frame.to_csv(index=False).encode()
    found = experiment_from_table(
        open_table("rows.csv", data), ColumnRoles("site", "ward", "truth", "said")
    )
    return " ".join(check.sentence for check in found.checks)


def test_groups_are_told_one_by_one_up_to_twelve():
    assert "Groups: w00 20, w01 20" in checks(1, 240, groups=12)
    told = checks(1, 260, groups=13)
    assert "13 groups; the smallest: w00 20, w01 20, w02 20; the largest: w12 20" in told


@pytest.mark.parametrize(
    ("clients", "rows", "told"), [(100, 2, True), (99, 2, False), (100, 3, False)]
)
def test_a_hundred_clients_of_fewer_than_three_rows_look_like_people(clients, rows, told):
    assert ("the column looks like the id of a person" in checks(clients, rows)) == told


@pytest.mark.parametrize(("many", "told"), [(10, False), (11, True)])
def test_more_than_ten_numbers_for_labels_look_continuous(many, told):
    said = checks(1, 40 * many, labels=[str(k / 2) for k in range(many)])
    assert (f"The label has {many} different numbers and looks continuous" in said) == told
    assert "continuous" not in checks(1, 440, labels=[f"{k}x" for k in range(11)])
