"""What a review seldom comes to."""

import json

import pytest

from fairfl_core.errors import InputError
from fairfl_core.review import Option, Review
from fairfl_core.review.file import parse_review


def test_an_uploaded_review_is_read_unless_it_is_too_large():
    option = Option("A", "adult", "paper", "0" * 64, "eo", "simplex", "labels", (0,), 0.05, 0.1)
    data = json.dumps(Review("Which?", (option,)).to_json()).encode()
    assert parse_review(data, "review.json") == Review("Which?", (option,))
    assert parse_review(data + b" " * (2_000_000 - len(data)), "review.json").options == (option,)
    with pytest.raises(
        InputError, match=r"^review\.json: is larger than 2 MB, which no review is"
    ):
        parse_review(data + b" " * (2_000_001 - len(data)), "review.json")
