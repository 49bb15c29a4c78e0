"""What travels over the pipe comes out as it went in, and nothing else does."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.intake._wire import read_value, write_value
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.solving.answer_program import FairnessProgram
from tests.helpers.strategies import synthetic

COUNTS = synthetic(2, 2, 2)


def sent(value):
    stream = io.BytesIO()
    write_value(stream, value)
    stream.seek(0)
    found = read_value(stream)
    assert not stream.read()  # and nothing after it
    return found


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -0.5, "Zürich", [1, ["a"]], (1, ("a", None)), {"a": {2: (3,)}}, b"\0\xff"],
)
def test_plain_values_come_out_as_they_went_in(value):
    found = sent(value)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.arange(6.0).reshape(2, 3)[:, ::-1],
        np.zeros((0, 2)),
        np.array(0.25),
        np.array([True, False]),
    ],
)
def test_arrays_keep_kind_shape_and_order(array):
    other = np.arange(3)
    first, second, third = sent([other, array, other])
    assert first.tolist() == third.tolist() == [0, 1, 2]
    assert (second.dtype, second.shape) == (array.dtype, array.shape)
    assert second.tolist() == array.tolist()


def test_numbers_of_arrays_and_paths():
    found = sent((np.float64(0.5), np.int64(3), np.bool_(True)))
    assert found == (0.5, 3, True) and [type(one) for one in found] == [float, int, bool]
    assert sent(Path("a") / "b") == Path("a/b")


def test_what_stands_twice_is_sent_once_and_is_one_thing_again():
    other = replace(COUNTS, favourable=COUNTS.labels[0])
    one, two, again, last = sent([COUNTS, other, COUNTS, other])
    assert again is one and last is two and one is not two
    np.testing.assert_array_equal(one.table, COUNTS.table)
    assert (one.favourable, two.favourable) == (COUNTS.favourable, COUNTS.labels[0])
    stream = io.BytesIO()
    write_value(stream, [COUNTS] * 9)
    once = io.BytesIO()
    write_value(once, [COUNTS])
    assert len(stream.getvalue()) < 2 * len(once.getvalue())


def test_a_predictor_is_built_anew_and_checked():
    made = FairPredictor.from_solution(FairnessProgram(COUNTS).solve(0.1, 0.1))
    found = sent(made)
    assert type(found) is FairPredictor and found.to_json() == made.to_json()


def test_a_question_that_is_cut_off_is_no_question():
    stream = io.BytesIO()
    write_value(stream, {"a": np.arange(5)})
    whole = stream.getvalue()
    for length in (0, 7, 12, len(whole) - 1):
        with pytest.raises(EOFError):
            read_value(io.BytesIO(whole[:length]))
