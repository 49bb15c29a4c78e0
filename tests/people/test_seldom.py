"""What people seldom come in: files that are none, folds, one column of groups."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from fairfl_core.errors import InputError
from fairfl_core.people import experiments, method_answers
from fairfl_core.people.experiments import _table
from fairfl_core.people.folded import FoldedPeople
from fairfl_core.people.grouping import _values
from tests.helpers.scored import scored_network


def test_the_favourable_label_of_folds_is_that_of_each():
    people = replace(scored_network(2, 2, 3), favourable="l1")
    assert people.favourable in people.labels
    assert FoldedPeople((people, people)).favourable == people.favourable


def test_a_group_of_one_column_is_its_own_value():
    assert _values("a · b", ["sex"]) == ("a · b",)
    assert _values("a · b", ["sex", "age"]) == ("a", "b")


def test_a_file_of_scores_that_is_none_is_told(tmp_path):
    protocol = experiments.open("adult").protocol
    (tmp_path / "scores.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match=r"scores\.parquet: is not a Parquet file that can be"):
        _table.check_row_groups(tmp_path / "scores.parquet", protocol, 1)


def test_a_column_of_nobody_is_empty():
    nobody = pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))
    found = _table._codes(nobody, ["a", "b"])
    assert found.shape == (0,) and found.dtype == np.int64
    assert _table._values(pa.chunked_array([], pa.float64())).shape == (0,)


def test_answers_that_are_gone_are_told(tmp_path):
    method = method_answers.list_methods("adult")[0]
    home = tmp_path / "adult"
    home.mkdir()
    shipped = method_answers.open_method("adult", method).path
    shutil.copy(shipped.with_suffix(".json"), home)
    file = json.loads((home / f"{method}.json").read_text())["file"]
    with pytest.raises(InputError) as refused:
        method_answers.open_method("adult", method, tmp_path)
    assert str(refused.value) == f"{home / file}: cannot be read (No such file or directory)."
