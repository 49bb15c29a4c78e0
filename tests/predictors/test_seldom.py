"""What predictors seldom meet."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl_core.errors import InputError
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.predictors.postprocessor import _column
from fairfl_core.predictors.row_uniforms import row_draws
from fairfl_core.solving.answer_program import FairnessProgram
from tests.helpers.strategies import synthetic


def test_a_predictor_is_read_or_told_with_its_file(tmp_path):
    made = FairPredictor.from_solution(FairnessProgram(synthetic(2, 2, 2)).solve(0.1, 0.1))
    path = tmp_path / "predictor.json"
    made.write(path)
    assert FairPredictor.read(path).to_json() == made.to_json()
    path.write_text(json.dumps(made.to_json() | {"format": "other"}))
    with pytest.raises(InputError, match=r"^\S*predictor\.json: "):
        FairPredictor.read(path)


def test_a_table_of_one_column_is_a_column():
    assert _column(pd.DataFrame({"a": [3, 1]}), "the group").tolist() == [3, 1]
    with pytest.raises(InputError, match="^the group has 2 columns; give one"):
        _column(pd.DataFrame({"a": [3], "b": [1]}), "the group")
    with pytest.raises(InputError, match="it has 2 dimensions"):
        _column(np.zeros((2, 2)), "the group")


def test_a_row_id_is_a_name_and_no_document():
    longest = "é" * 498 + "abc"  # with the client's name and a sign between them 1,000 bytes
    assert row_draws(["x"], [longest[:-1]]).shape == (1,)
    with pytest.raises(InputError) as refused:
        row_draws(["x", "x"], ["1", longest])
    assert str(refused.value) == "a row id is 1001 bytes long; use ids of at most 1000 bytes."
