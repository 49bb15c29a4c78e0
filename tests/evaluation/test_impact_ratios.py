"""Impact ratios: by hand, on people whose groups differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.impact_ratios import impact_ratios_of
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.policy import Policy
from tests.helpers.strategies import count_tables


def judged(counts, **asked):
    solution = FairnessProgram(counts, "sp", policy=Policy(**asked)).solve()
    return evaluate(predictor_of(solution), counts)


def test_four_fifths_by_hand():
    table = np.zeros((2, 3, 2, 2), int)
    table[0, 0, 0] = [60, 40]  # 40 % selected
    table[0, 1, 0] = [80, 20]
    table[1, 0, 0] = [10, 90]
    table[1, 1, 1] = [50, 50]
    table[1, 2, 1] = [1, 2]
    counts = ClientCounts(table, ("a", "b"), ("x", "y", "z"), ("no", "yes"))
    found = impact_ratios_of([judged(counts)], leave_out=0.02)
    assert found.left_out == ("z",)
    before = found.ratio(after=False)
    np.testing.assert_allclose(before[0], [1.0, (70 / 200) / (130 / 200), np.nan])
    np.testing.assert_allclose(before[1], [1.0, 0.5, np.nan])
    np.testing.assert_allclose(before[2], [1.0, 0.5 / 0.9, np.nan])
    np.testing.assert_allclose(
        impact_ratios_of([judged(counts)]).ratio(after=False)[2], [1, 0.5 / 0.9, 0.6 / 0.9 / 0.9]
    )
    assert found.rates.after.n[0].tolist() == [200, 200, 3]
    rows = found.to_json()["groups"]
    assert rows[0]["client"] is None and rows[0]["n"] == 200
    assert rows[3]["client"] == "a" and rows[3]["group"] == "x"
    assert rows[2]["impact_ratio"] is None


@settings(max_examples=30)
@given(count_tables(groups=(2, 3)), st.sampled_from([0.5, 0.8, 1.0]))
def test_what_the_program_is_asked_for_the_table_shows(counts, rho):
    found = impact_ratios_of([judged(counts, ratio_global=rho, ratio_local=rho)])
    assert np.nanmin(found.ratio()) >= rho - 1e-6
    assert np.nanmax(found.ratio()) <= 1 + 1e-12


def test_nobody_selected_is_no_ratio_below_one():
    counts = ClientCounts(
        np.array([[[[5, 0], [5, 0]], [[9, 0], [1, 0]]]]), ("a",), ("x", "y"), ("n", "p")
    )
    assert impact_ratios_of([judged(counts)]).ratio(after=False) == pytest.approx(np.ones((2, 2)))
