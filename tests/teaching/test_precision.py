"""Precision, and the false-positive rate at which it is what one wants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.teaching.hospitals import equalising_rate, precision


def test_of_a_hundred_people():
    """20 ill, 10 of them told so, and 16 of the 80 healthy: 10 of 26, more wrong than right."""
    assert precision(0.2, 0.5, 0.2) == pytest.approx(10 / 26)
    assert precision(0.2, 0.0, 0.2) == 0
    assert np.isnan(precision(0.2, 0.0, 0.0))


@given(ill=st.floats(0.01, 0.99), told=st.floats(0.01, 1), wanted=st.floats(0.01, 1))
def test_at_the_equalising_rate_precision_is_what_was_wanted(ill, told, wanted):
    rate = equalising_rate(ill, told, wanted)
    if np.isnan(rate):  # even everybody healthy told ill leaves it above
        assert precision(ill, told, 1.0) > wanted - 1e-9
    else:
        assert precision(ill, told, rate) == pytest.approx(wanted)
