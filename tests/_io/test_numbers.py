"""Numbers as text, each beside what a person would write."""

import math

import pytest

from fairfl_core._io import numbers as format


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (format.percent(0.12345), "12.3 %"),
        (format.percent(math.nan), "–"),
        (format.points(-0.0123), "1.2 points"),
        (format.points(0.0095), "0.9 points"),  # 0.95: the first of those with one decimal
        (format.points(0.0094), "0.94 points"),
        (format.signed_points(-0.0123), "-1.2 points"),
        (format.signed_points(0.0094), "+0.94 points"),
        (format.signed_points(0.0123, 2), "+1.23 points"),
        (format.gap(0.0456), "0.046"),
        (format.gap(math.nan), "none"),
        (format.gaps(0.01, 0.2), "0.010 to 0.200"),
        (format.debiased(-0.001), "fair within chance"),
        (format.debiased(0.0), "0.000"),
        (format.debiased(math.nan), "none"),
        (format.count(12345.4), "12,345"),
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
