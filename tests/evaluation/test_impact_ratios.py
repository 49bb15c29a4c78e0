"""Impact ratios: by hand, on people whose groups differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.all_rates import all_rates_of, impact_ratios_of
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
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
    before = found.groups.ratio(after=False)
    np.testing.assert_allclose(before[0], [1.0, (70 / 200) / (130 / 200), np.nan])
    np.testing.assert_allclose(before[1], [1.0, 0.5, np.nan])
    np.testing.assert_allclose(before[2], [1.0, 0.5 / 0.9, np.nan])
    np.testing.assert_allclose(
        impact_ratios_of([judged(counts)]).groups.ratio(after=False)[2],
        [1, 0.5 / 0.9, 0.6 / 0.9 / 0.9],
    )
    assert found.groups.rates.after.n[0].tolist() == [200, 200, 3]
    rows = found.to_json()["groups"]
    assert rows[0]["client"] is None and rows[0]["n"] == 200
    assert rows[3]["client"] == "a" and rows[3]["group"] == "x"
    assert rows[2]["impact_ratio"] is None


@given(count_tables(groups=(2, 3)), st.sampled_from([0.5, 0.8, 1.0]))
def test_what_the_program_is_asked_for_the_table_shows(counts, rho):
    found = impact_ratios_of([judged(counts, ratio_global=rho, ratio_local=rho)]).groups
    assert np.nanmin(found.ratio()) >= rho - 1e-6
    assert np.nanmax(found.ratio()) <= 1 + 1e-12


def test_nobody_selected_is_no_ratio_below_one():
    counts = ClientCounts(
        np.array([[[[5, 0], [5, 0]], [[9, 0], [1, 0]]]]), ("a",), ("x", "y"), ("n", "p")
    )
    ratio = impact_ratios_of([judged(counts)]).groups.ratio(after=False)
    assert ratio == pytest.approx(np.ones((2, 2)))


def crossed():
    """Two sexes and two races; ten women of race B in the second client."""
    table = np.zeros((2, 4, 2, 2), int)
    table[0, :, 0] = [[60, 40], [45, 5], [20, 80], [30, 20]]
    table[1, :, 1] = [[50, 50], [4, 6], [10, 90], [15, 25]]
    groups = tuple((sex, race) for sex in ("f", "m") for race in ("A", "B"))
    names = tuple(" · ".join(values) for values in groups)
    grouping = Grouping(("sex", "race"), groups)
    return ClientCounts(table, ("a", "b"), names, ("no", "yes"), grouping=grouping)


def test_each_column_of_a_crossing_is_compared_on_its_own():
    found = impact_ratios_of([judged(crossed())])
    assert [one.grouping for one in found.comparisons] == ["sex*race", "sex", "race"]
    _, sex, race = found.comparisons
    assert sex.groups == ("f", "m") and race.groups == ("A", "B")
    assert sex.rates.after.n[0].tolist() == [260, 290]
    np.testing.assert_allclose(sex.rates.before.share[0], [101 / 260, 215 / 290])
    np.testing.assert_allclose(sex.ratio(after=False)[0], [(101 / 260) / (215 / 290), 1])
    np.testing.assert_allclose(race.ratio(after=False)[1], [1, (25 / 100) / (120 / 200)])
    rows = found.to_json()["groups"]
    assert [row["grouping"] for row in rows] == ["sex*race"] * 12 + ["sex"] * 6 + ["race"] * 6


def test_a_crossed_group_under_thirty_people_is_not_assessable():
    found = impact_ratios_of([judged(crossed())])
    assert found.groups.assessable.tolist() == [[True] * 4, [True] * 4, [True, False, True, True]]
    assert np.isnan(found.groups.ratio()[2, 1]) and not np.isnan(found.groups.ratio()[0]).any()
    row = next(row for row in found.to_json()["groups"] if not row["assessable"])
    assert (row["client"], row["group"], row["n"]) == ("b", "f · B", 10)
    rates = all_rates_of([judged(crossed())])
    assert rates.assessable.tolist() == found.groups.assessable.tolist()
    table = rates.table()
    few = table[~table["assessable"]]
    assert set(few["client"]) == {"b"} and set(few["group"]) == {"f · B"}
