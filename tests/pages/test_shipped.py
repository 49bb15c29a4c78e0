"""What a first page tells is shipped computed: the same numbers as computed here, or not used."""

import json
import shutil
from pathlib import Path

import pytest
from pages.components.session import cache
from pages.components.shared import results, shipped, text

from fairfl_core._io.plain import to_plain
from fairfl_core.people import experiments
from tests.pages.conftest import view_of


def leaves(value, where=""):
    """The texts and numbers of a JSON document, each by its place."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            name: leaf
            for key, part in parts
            for name, leaf in leaves(part, f"{where}/{key}").items()
        }
    return {where: value}


@pytest.mark.parametrize(
    "view", shipped.start_views(), ids=lambda view: f"{view.data}-{view.region}"
)
def test_what_is_shipped_is_what_is_computed(view):
    told, computed = shipped.shipped_summary(view), results.computed_summary(view)
    assert told is not None, "nothing is shipped for this view: make summaries"
    # The same on every processor (`test_other_processors`), and to the letter as it is read.
    assert leaves(to_plain(told)) == pytest.approx(leaves(to_plain(computed)), abs=1e-9)
    assert text.headline(told) == text.headline(computed)
    assert text.verdict(told) == text.verdict(computed)


def test_every_visit_begins_with_what_is_shipped():
    names = {view.experiment for view in shipped.start_views()}
    assert names == set(experiments.list_experiments())
    assert view_of("public_coverage", as_it_starts=True) in shipped.start_views()
    assert view_of("public_coverage", as_it_starts=True, region="simplex") in shipped.start_views()


def test_the_headline_of_a_first_page_waits_for_no_solution():
    cache.forget_everything()
    view = view_of(as_it_starts=True)
    results.summary_of(view)
    made = {key[0].__name__ for store in cache._shared for key in store._made}
    assert made == {"experiment_of", "_shipped", "summary_of"}
    results.summary_of(view_of(as_it_starts=True, seed=0))
    made = {key[0].__name__ for store in cache._shared for key in store._made}
    assert "study_of" in made


NAME = "adult_cross_fitted"


@pytest.fixture
def file(tmp_path):
    """What is shipped of an experiment, to be spoilt."""
    return Path(shutil.copy(shipped.FOLDER / f"{NAME}.json", tmp_path))


def read(file):
    return shipped.read_shipped(experiments.open(NAME), file.parent)


def test_it_is_used_with_the_scores_it_was_computed_from_only(file, caplog):
    view = view_of(as_it_starts=True)
    assert set(read(file)) == {view, view.as_the_paper()}
    whole = json.loads(file.read_text())
    for other in ({"scores": "0" * 64}, {"format": "fairfl-summaries/0"}):
        file.write_text(json.dumps(whole | other))
        assert read(file) == {}
    assert "is not used" not in caplog.text
    file.unlink()
    assert read(file) == {}


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", '{"format": 1}'])
def test_a_broken_file_is_told_in_the_log_and_not_used(file, caplog, broken):
    file.write_text(broken)
    assert read(file) == {}
    assert f"{NAME}.json is not used" in caplog.text


def test_nor_is_one_of_a_view_that_pages_no_longer_have(file, caplog):
    whole = json.loads(file.read_text())
    whole["summaries"][0]["view"]["colour"] = "red"
    file.write_text(json.dumps(whole))
    assert read(file) == {}
    assert "is not a View" in caplog.text
