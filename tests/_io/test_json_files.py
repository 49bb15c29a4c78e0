"""JSON from outside: what is not text or not a number is refused with a sentence."""

import json

import pytest

from fairfl_core._io.files import parse_json
from fairfl_core.errors import InputError


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (r'["a\ud800b"]', r"holds \ud800, half of a sign"),
        (r'{"x": {"\uDFFF": 1}}', r"holds \udfff, half of a sign"),
        ('{"a": NaN}', "NaN is not a finite number"),
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ("[" * 100_000, "is not JSON that can be read"),
        ("1" * 5000, "is not JSON that can be read"),
    ],
)
def test_what_is_no_text_and_no_number_is_refused(written, says):
    with pytest.raises(InputError) as error:
        parse_json(written.encode(), "f.json")
    assert str(error.value).startswith("f.json: ") and says in str(error.value)
    assert str(error.value).isprintable()


def test_signs_that_take_two_escapes_are_text():
    whole = ["👩", r"\ud800 told of"]
    assert parse_json(json.dumps(whole).encode(), "f.json") == whole
