"""Numbers as text, each beside what a person would write."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core._io import numbers as format


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (format.percent(0.12345), "12.3 %"),
        (format.percent(math.nan), "–"),
        (format.points(-0.0123), "1.2 points"),
        (format.points(0.0095), "0.9 points"),  # 0.95: the first of those with one decimal
        (format.points(0.0094), "0.94 points"),
        (format.gap(0.0456), "0.046"),
        (format.gap(math.nan), "none"),
        (format.gaps(0.01, 0.2), "0.010 to 0.200"),
        (format.debiased(-0.001), "fair within chance"),
        (format.debiased(0.0), "0.000"),
        (format.debiased(math.nan), "none"),
        (format.count(12345.4), "12,345"),
        (format.about(5666), "5,700"),
        (format.about(5700), "5,700"),
        (format.about(96), "96"),
        (format.about(7), "7"),
        (format.epsilon(0.05), "0.05"),
        (format.epsilon(0.1), "0.10"),
        (format.epsilon(0.0125), "0.0125"),
        (format.epsilon(1.0), "no limit"),
        (format.hundred(0.0004), "0"),
        (format.hundred(0.0005), "0.1"),
        (format.hundred(0.004), "0.4"),
        (format.hundred(0.009999), "1.0"),
        (format.hundred(0.01), "1"),
        (format.hundred(0.0246), "2.5"),
        (format.hundred(0.9996), "100"),
    ],
)
def test_as_a_person_would_write_it(written, expected):
    assert written == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (format.round_percent(0.787), "78.7 %"),
        (format.round_percent(0.0004), "0.04 %"),
        (format.round_percent(0.00096), "0.1 %"),
        (format.round_percent(0.0), "0 %"),
        (format.round_percent(math.nan), "–"),
        (format.round_points(-0.063), "6.3 points"),
        (format.round_points(0.0004), "0.04 points"),
        (format.round_points(-0.0), "0 points"),
        (format.round_signed_points(-0.063), "−6.3 points"),
        (format.round_signed_points(0.004), "+0.4 points"),
        (format.round_signed_points(-0.00004), "no change"),
        (format.round_signed_points(math.nan), "–"),
        (format.round_gap(0.2649), "0.26"),
        (format.round_gap(0.0046), "0.005"),
        (format.round_gap(0.00996), "0.01"),
        (format.round_gap(0.1), "0.10"),
        (format.round_gap(-0.0001), "0"),
        (format.round_gap(math.nan), "–"),
        (format.round_gaps(0.0, 0.307), "0 to 0.31"),
        (format.before_after(0.787, 0.724, format.round_percent), "78.7 → 72.4 %"),
        (format.before_after(0.7931, 0.7928, format.round_percent), "79.3 %, no change"),
        (format.before_after(0.27, 0.004, format.round_gap), "0.27 → 0.004"),
        (format.before_after(math.nan, math.nan, format.round_gap), "–"),
        (format.before_after(math.nan, 0.5, format.round_percent), "– → 50.0 %"),
        (format.plural(1, "client"), "1 client"),
        (format.plural(0, "client"), "0 clients"),
        (format.plural(1234, "age band"), "1,234 age bands"),
        (format.plural(1, "woman", "women"), "1 woman"),
        (format.plural(2, "woman", "women"), "2 women"),
        (format.members(1, "women"), "1 woman"),
        (format.members(3, "men"), "3 men"),
        (format.members(1, "non-white"), "1 of non-white"),
    ],
)
def test_as_pages_round_it(written, expected):
    assert written == expected


ROUNDINGS = (
    format.round_percent,
    format.round_points,
    format.round_signed_points,
    format.round_gap,
)


def value_of(written):
    """The number that is read."""
    if written in (format.NO_CHANGE, format.UNKNOWN):
        return 0.0
    return float(written.split()[0].replace("−", "-"))


@given(st.floats(-1, 1) | st.just(math.nan), st.sampled_from(ROUNDINGS))
def test_nothing_is_written_minus_zero_or_nan(value, write):
    for written in (write(value), format.before_after(0.5, value, write)):
        assert "nan" not in written
        assert not re.search(r"[-−+]0(\.0*)?(?![.\d])", written)
        assert not re.search(r"\d\.\d{4}", written)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(ROUNDINGS))
def test_what_is_more_reads_as_no_less_and_near(one, other, write):
    low, high = sorted((one, other))
    assert value_of(write(low)) <= value_of(write(high))
    unit = 1 if write is format.round_gap else 100
    assert abs(value_of(write(low)) - unit * low) <= (0.005 if unit == 1 else 0.05) + 1e-9


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(ROUNDINGS))
def test_before_and_after_never_read_alike(before, after, write):
    written = format.before_after(before, after, write)
    if "→" in written:
        was, now = written.split(" → ")
        assert was != now and was != now.removesuffix(" %")
    else:
        assert written.endswith(format.NO_CHANGE)


@given(st.integers(0, 10**7))
def test_one_is_singular_and_nothing_else(n):
    assert format.plural(n, "client").endswith(" client") == (n == 1)
