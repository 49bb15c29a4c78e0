"""A dataset made up on the spot: found, checked, read and arranged, with where it came from."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core import datasets
from fairfl_core.datasets import Raw, _open, ham10000
from fairfl_core.datasets._declaration import Form
from fairfl_core.errors import InputError
from tests.datasets.test_as_computed import adult


@pytest.fixture
def made(tmp_path):
    """Adult's declaration, of which sixty made-up rows are the known copy."""
    path = tmp_path / "rows.csv"
    pd.DataFrame(adult(60, np.random.default_rng(0))).to_csv(path, index=False)
    known = {"rows.csv": hashlib.sha256(path.read_bytes()).hexdigest()}
    form = Form(known, 60, lambda folder: Raw(pd.read_csv(folder / "rows.csv")), "a few rows")
    return replace(datasets.declaration("adult"), forms=(form,))


def test_people_come_with_where_they_came_from(made, tmp_path):
    people = _open.open_people(made, tmp_path, None)
    assert people.favourable == made.favourable and people.groups == ("women", "men")
    origin = dict(people.origin)
    assert (origin["dataset"], origin["sample"]) == ("adult", "a few rows")
    assert (origin["rows"], origin["rows_used"]) == (60, len(people))
    assert origin["files"] == dict(made.forms[0].files)
    assert origin["licence"] == made.licence and origin["citation"] == made.citation
    assert len(_open.open_raw(made, tmp_path).table) == 60


def test_another_number_of_rows_is_refused(made, tmp_path):
    form = replace(made.forms[0], rows=1061)
    with pytest.raises(InputError, match="has 60 rows, expected 1,061; "):
        _open.open_raw(replace(made, forms=(form,)), tmp_path)


def test_downloads_are_kept_where_the_user_keeps_such_things(monkeypatch):
    monkeypatch.setenv("FAIRFL_CACHE", "mine")
    assert _open.cache_folder() == Path("mine")
    monkeypatch.delenv("FAIRFL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "theirs")
    assert _open.cache_folder() == Path("theirs/fairfl")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert _open.cache_folder() == Path.home() / ".cache" / "fairfl"


def test_pictures_in_another_order_than_their_table_are_refused(tmp_path):
    names = np.array(["ISIC_1", "ISIC_2"])
    pd.DataFrame({"image_id": names}).to_csv(tmp_path / "ham10000_metadata.csv", index=False)
    pictures = np.arange(2 * 28 * 28 * 3, dtype=np.uint8).reshape(2, 28, 28, 3)
    np.savez(tmp_path / "ham10000_28x28.npz", images=pictures, image_id=names)
    raw = ham10000._read_small(tmp_path)
    assert raw.table["image_id"].tolist() == names.tolist()
    np.testing.assert_array_equal(raw.images, pictures)
    np.savez(tmp_path / "ham10000_28x28.npz", images=pictures, image_id=names[::-1])
    with pytest.raises(InputError, match=r"28x28\.npz: its images are not in the order of ham1"):
        ham10000._read_small(tmp_path)
