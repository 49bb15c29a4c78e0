"""What a reader's answer is made of goes over the pipe and comes back the same, and nothing else does."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.intake import ColumnRoles, Reading, take_in
from fairfl_core.intake._checks import Check
from fairfl_core.intake._wire import read_value, write_value
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.load import predictor_of
from tests.helpers.small import people


def sent(*values):
    """What the other end reads, one value after the other."""
    pipe = io.BytesIO()
    for value in values:
        write_value(pipe, value)
    pipe.seek(0)
    return [read_value(pipe) for _ in values]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        [1, 2.5, "ä", [b"\x00raw", b""]],
        (1, (2, "three")),
        {"a": (1,), 2: {"b": None}},
        Path("folder") / "file.csv",
        Check("Look here.", look=True),
    ],
)
def test_a_value_comes_back_as_what_it_was(value):
    (found,) = sent(value)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.linspace(0, 1, 12).reshape(3, 4)[:, ::2],  # its rows do not lie side by side
        np.array([True, False]),
        np.zeros((0, 3)),
        np.array(["ab", "c"]),
    ],
)
def test_an_array_comes_back_in_its_form(array):
    first, (again, number) = sent(array, [array, np.float32(1.5)])
    for found in (first, again):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)
    assert number == 1.5 and type(number) is float


def test_what_stands_twice_is_sent_once_and_is_one_thing():
    counts, check = people().counts, Check("Once.")
    pipes = [io.BytesIO(), io.BytesIO()]
    for pipe, value in zip(pipes, ([counts], [counts, check, counts]), strict=True):
        write_value(pipe, value)
    assert len(pipes[1].getvalue()) < 1.2 * len(pipes[0].getvalue()) + 200
    ((first, other, again),) = sent([counts, check, counts])
    assert first is again and other == check
    np.testing.assert_array_equal(first.table, counts.table)


def test_first_rows_and_predictors_come_back():
    frame = pd.DataFrame({"site": ["a", "b"], "age": ["7", ""]})
    fair = predictor_of(FairnessProgram(people(), "eop", "simplex").solve(0.1, 0.1))
    rows, predictor = sent(frame, fair)
    pd.testing.assert_frame_equal(rows, frame)
    assert predictor.to_json() == fair.to_json()


def test_an_intake_comes_back_whole():
    data = pd.DataFrame(
        {"site": list("ab") * 60, "sex": list("mmww") * 30, "truth": list("xyyxyx") * 20}
    )
    data["said"] = np.where(np.arange(120) % 5 > 0, data["truth"], "x")
    reading = Reading("", ColumnRoles("site", "sex", "truth", "said"))
    intake = take_in([("rows.csv", data.to_csv(index=False).encode())], reading)
    (found,) = sent(intake)
    assert found.experiment.manifest == intake.experiment.manifest
    assert found.messages == intake.messages and found.reading == intake.reading


def test_an_end_that_has_gone_is_told():
    pipe = io.BytesIO()
    write_value(pipe, [np.arange(10), "text"])
    whole = pipe.getvalue()
    for length in (0, 5, 20, len(whole) - 1):
        with pytest.raises(EOFError):
            read_value(io.BytesIO(whole[:length]))
