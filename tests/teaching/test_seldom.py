"""What a lesson seldom comes to."""

import numpy as np

from fairfl_core.teaching.precision import equalising_rate


def test_no_rate_gives_a_precision_that_cannot_be():
    assert np.isnan(equalising_rate(1.0, 0.5, 0.5))  # everybody is ill: precision is 1
    assert np.isnan(equalising_rate(0.2, 0.5, 0.0))
    assert np.isnan(equalising_rate(0.5, 1.0, 0.4))  # would take a rate above 1
    assert equalising_rate(0.5, 1.0, 0.5) == 1.0 and equalising_rate(0.999, 0.5, 1.0) == 0.0
