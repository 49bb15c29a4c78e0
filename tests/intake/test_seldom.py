"""What is seldom uploaded: too many counts, and readings with scores of their own."""

import pytest

from fairfl_core.errors import InputError
from fairfl_core.intake import ColumnRoles, Reading, _from_counts, experiment_from_counts


def test_counts_are_small(monkeypatch):
    monkeypatch.setattr(_from_counts, "MOST_BYTES", 3_999_999)
    halves = [("a.json", b" " * 2_000_000), ("b.json", b" " * 2_000_000)]
    with pytest.raises(InputError) as refused:
        experiment_from_counts(halves)
    sentence = "the counts files are larger than 3 MB together; counts are small: make them with"
    assert str(refused.value) == f"{sentence} `fairfl count`."
    monkeypatch.setattr(_from_counts, "MOST_BYTES", 4_000_000)
    with pytest.raises(InputError, match=r"a\.json"):  # looked at, and not JSON
        experiment_from_counts(halves)


def test_a_reading_with_scores_survives_its_file():
    scores = (("no", "score_no"), ("yes", "score_yes"))
    roles = ColumnRoles("site", "sex", "truth", "", scores=scores, crossed_with=("age",))
    made = Reading("yes", roles, join=True)
    value = made.to_json()
    value["columns"]["scores"] = [list(pair) for pair in scores]
    for name in ("crossed_with", "models"):
        value["columns"][name] = list(value["columns"][name])
    assert Reading.from_json(value) == made
    for wrong in (["no"], ["no", "a", "b"], "no", ["no", 3]):
        value["columns"]["scores"] = [wrong]
        with pytest.raises(InputError, match='"scores" must be'):
            Reading.from_json(value)
