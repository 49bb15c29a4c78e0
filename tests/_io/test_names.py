"""Names in sentences: quoted, few, on one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core._io.names import LONGEST_SHOWN, check_readable, listed, shown
from fairfl_core.errors import InputError


@given(st.lists(st.text("abc", min_size=1), max_size=12), st.integers(1, 9))
def test_the_first_names_are_listed_and_the_others_counted(names, most):
    said, _, more = listed(names, most).partition(" and ")
    assert said == ", ".join(f'"{name}"' for name in names[:most])
    assert more == (f"{len(names) - most} more" if names[most:] else "")


@given(st.text())
def test_what_is_shown_is_one_line_and_not_endless(text):
    line = shown(text)
    assert len(line) <= LONGEST_SHOWN and line.isprintable()


def test_a_line_that_just_fits_is_not_cut():
    assert shown("x" * LONGEST_SHOWN) == "x" * LONGEST_SHOWN
    assert shown("x" * (LONGEST_SHOWN + 1)) == "x" * (LONGEST_SHOWN - 1) + "…"
    assert shown("a\n\u202eb") == "a b"


@pytest.mark.parametrize(
    "sign", "\x00\x1b\x7f\x85\x9b\u2028\u2029\u202e\u2066\ud800\ufdd0\ufdef\ufffe\U0001ffff"
)
def test_a_sign_that_acts_on_other_text_is_refused_in_a_name(sign):
    with pytest.raises(InputError, match=f"the unseen sign U\\+{ord(sign):04X}"):
        check_readable([f"a{sign}b"], "clinic")


def test_letters_of_any_writing_are_names():
    check_readable(
        ["Zürich", "بيمارستان\u200cشمال", "👩\u200d⚕️", "בית\u200f", "\ufdf0", "\ufffd"], "clinic"
    )
