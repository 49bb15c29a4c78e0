"""The result of a federation opens like any upload; whatever else it holds ends in a sentence."""

import json

import pytest

from fairfl_core.errors import InputError
from fairfl_core.intake import _sandbox as _sandbox
from fairfl_core.intake import experiment_from_counts


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    pytest.importorskip("flwr")
    from tests.federation.hospitals import run_here

    _, folder = run_here(tmp_path_factory.mktemp("federation") / "study")
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def opened(value, **more):
    return experiment_from_counts([("result.json", json.dumps(value).encode())], **more)


def test_counts_unseen_people_and_messages_are_there(result):
    intake = opened(result)
    experiment = intake.experiment
    assert experiment.clients == ("North", "South", "East")
    assert experiment.has_held_out and not experiment.has_scores
    assert experiment.counts(0, "validation").to_json() == result["counts"]
    assert experiment.counts(0, "test").to_json() == result["test_counts"]
    assert len(intake.messages) == len(result["messages"])
    assert intake.predictor.to_json() == result["predictor"]
    assert any(
        "at most 0.1 inside every client and 0.05 overall" in c.sentence for c in intake.checks
    )
    assert any("no record did" in check.sentence for check in intake.checks)


def test_the_favourable_label_can_be_chosen(result):
    assert opened(result, favourable="healthy").experiment.favourable == "healthy"


def test_who_was_left_out_is_told(result):
    lost = result | {"left_out": [{"client": "West", "when": "joining", "reason": "not there"}]}
    assert '"West" was left out: not there.' in [c.sentence for c in opened(lost).checks]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"counts": None}, '"counts"'),
        ({"predictor": {"format": "x"}}, '"predictor"'),
        ({"test_counts": {"format": "x"}}, '"test_counts"'),
        ({"messages": "all"}, '"messages" must be a list'),
        ({"messages": [{"way": "sideways", "arrays": {}, "bytes": 1}]}, "not an entry of a log"),
    ],
)
def test_what_is_no_result_is_refused(result, change, sentence):
    with pytest.raises(InputError, match=sentence):
        opened(result | change)


def test_it_is_uploaded_alone(result):
    data = json.dumps(result).encode()
    with pytest.raises(InputError, match="upload it alone"):
        experiment_from_counts([("a.json", data), ("b.json", data)])


def test_markup_in_a_log_stays_text(result):
    entry = dict(result["messages"][0], whom="<script>\u202e", purpose="a\nb\x00")
    first = opened(result | {"messages": [entry]}).messages[0]
    assert "\u202e" not in first.whom and first.purpose == "a b"
