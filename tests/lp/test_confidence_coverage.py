"""Limits with a confidence hold where few people stand behind a rate, and over many clients.

A few draws of the hardest cases: how often limits hold is measured by `benchmarks/coverage.py`.
"""

import numpy as np
import pytest

from benchmarks.coverage import Setting, covered, network, one_client


@pytest.mark.parametrize(("region", "notion"), [("exact", "eop"), ("kernel", "eo")])
def test_few_people_behind_a_rate(region, notion):
    """One client of 2,000 + 40 people, of whom one of the small group has the label, on average."""
    setting = Setting("few", one_client(1), notion, region, eps_local=0.1)
    found, errors = covered(setting, draws=40, seconds=np.inf)
    assert not errors and found[:, 0].mean() >= 0.94


def test_the_overall_limit_over_many_clients():
    """Answers adapt to the rates in every client, and to how many people it happens to have."""
    setting = Setting("many", network(np.full(50, 100)), "eop", "exact", 0.05)
    found, errors = covered(setting, draws=3, seconds=np.inf)
    assert not errors and found[:, 0].mean() >= 0.88
