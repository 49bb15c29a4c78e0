"""The lesson's examples say what the lesson says of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.lp.program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.hospitals import equalising_rate, precision


def gap(counts, notion):
    return lesson.untouched(counts, notion).gaps.overall


def test_the_network_is_unfair_inside_and_less_so_overall():
    found = lesson.untouched(lesson.network(), "eop").gaps
    np.testing.assert_allclose(found.local, [0.1, 0.4 / 3, 0.15])
    assert found.overall < found.local.min()
    healthy = lesson.untouched(lesson.network(), "eo").rates[..., 0]
    np.testing.assert_allclose(1 - healthy, [[0.1, 0.15], [0.2, 0.15], [1 / 12, 0.125]])


@pytest.mark.parametrize(
    ("ill", "said", "broken"),
    [
        ("AC", "AC", ""),
        ("AC", "ABC", "sp eo"),  # a healthy woman called ill
        ("AC", "BC", "eop eo"),  # one woman each, the wrong one: parity holds
        ("AC", "A", "sp eop eo"),
        ("AC", "ABCD", ""),  # everybody alike
        ("ACD", "ACD", "sp"),  # a perfect model where base rates differ
    ],
)
def test_four_people_break_each_notion_on_its_own(ill, said, broken):
    who = [[letter in chosen for letter in "ABCD"] for chosen in (ill, said)]
    counts = lesson.four_people(*who)
    assert counts.n == 4
    assert [name for name in ("sp", "eop", "eo") if gap(counts, name) > 1e-9] == broken.split()


@pytest.mark.parametrize(
    ("case", "local", "overall"),
    [("fair", [0, 0], 0.24), ("unfair", [0.2, 0.2], 0), ("reversed", [0.1, 0.1], 0.14)],
)
def test_the_pairs_have_the_gaps_the_lesson_tells(case, local, overall):
    pair = lesson.PAIRS[case]
    counts = lesson.pair_of_hospitals(pair, pair.women)
    found = lesson.untouched(counts, "eop")
    np.testing.assert_allclose(found.gaps.local, local, atol=1e-12)
    assert found.gaps.overall == pytest.approx(overall, abs=1e-12)
    whole = lesson.untouched(lesson.together(counts), "eop")
    assert whole.gaps.local[0] == pytest.approx(overall, abs=1e-12)
    if case == "fair":
        np.testing.assert_allclose(whole.rates[0, :, 0], [0.58, 0.82])
    if case == "reversed":  # women ahead in each, behind in the whole
        assert (found.rates[:, 0, 0] > found.rates[:, 1, 0]).all()
        assert whole.rates[0, 0, 0] < whole.rates[0, 1, 0]


@pytest.mark.parametrize("north", range(10, 100, 10))
@pytest.mark.parametrize("case", list(lesson.PAIRS))
def test_any_composition_keeps_each_hospitals_rates(case, north):
    pair = lesson.PAIRS[case]
    counts = lesson.pair_of_hospitals(pair, (north, 50))
    rates = lesson.untouched(counts, "eop").rates[..., 0]
    np.testing.assert_allclose(100 * rates, [pair.north, pair.south])
    alike = lesson.pair_of_hospitals(pair, (north, north))
    if case == "fair":
        assert gap(alike, "eop") == pytest.approx(0, abs=1e-12)


def test_the_models_point_lies_on_its_curve_and_lotteries_in_the_triangle():
    counts = lesson.one_hospital()
    program = FairnessProgram(counts, "eo")
    corners = lesson.corners(counts, "simplex")
    np.testing.assert_allclose(corners[:, 1:], [[[1, 0], [0, 1]]] * 2)
    assert lesson.corners(counts, "kernel").shape == (2, 4, 2)
    for a, curve in enumerate(lesson.roc_curves()):
        assert (curve.false_alarms[0], curve.recognised[0]) == (0, 0)
        assert (curve.false_alarms[-1], curve.recognised[-1]) == (1, 1)
        away = np.hypot(
            curve.false_alarms - 1 + corners[a, 0, 0], curve.recognised - corners[a, 0, 1]
        )
        assert away.min() < 1e-12
    for epsilon in (0.0, 0.05, 1.0):
        found = lesson.reach(program, epsilon)
        assert np.ptp(found.share, axis=0).max() <= epsilon + 1e-7
        weights = np.linalg.solve(
            np.concatenate([corners, np.ones((2, 3, 1))], axis=2).transpose(0, 2, 1),
            np.concatenate([found.share, np.ones((2, 1))], axis=1)[..., None],
        )
        assert weights.min() >= -1e-7
    assert lesson.reach(program, 1.0).accuracy == pytest.approx(counts.model_accuracy)


def test_a_limit_on_few_people_does_not_carry_over():
    found = [lesson.carried_over(n, 0.01) for n in (100, 1000, 5000)]
    assert 0.06 <= found[0].typical <= 0.1  # "about 0.08"
    assert found[0].typical > found[1].typical > found[2].typical
    assert found[0].floor > found[1].floor > found[2].floor
    for each in found:
        assert each.range[0] <= each.typical <= each.range[1]
        assert each.low <= 0.01 <= each.high
    again = lesson.carried_over(100, 0.01)
    np.testing.assert_array_equal(again.true, found[0].true)


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
