"""What evaluation seldom comes to: one draw, nothing asked, floors in the way, nobody to compare."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairfl_core.evaluation import held_out_curve
from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.evaluation.closed_gaps import _named
from fairfl_core.evaluation.harm import ClientHarm
from fairfl_core.evaluation.holding.coverage import Coverage
from fairfl_core.evaluation.holding.settings import ALL
from fairfl_core.evaluation.holding.wanted import Wish
from fairfl_core.fairness.notions import Rate
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.policy import Floor, Policy
from tests.helpers.strategies import synthetic


def test_of_one_draw_there_is_no_standard_error():
    def of(*held):
        draws = len(held)
        local = np.array([[0.0, 0.0] if one else [1.0, 0.0] for one in held])
        setting = SimpleNamespace(eps_local=0.1)
        return Coverage(setting, np.arange(draws), local, np.zeros(draws), np.ones(draws))

    assert np.isnan(of(True).error) and of(True).mean == 1.0
    assert of(True, False).mean == 0.75 and of(True, False).error == pytest.approx(0.25)


def test_a_wish_is_reached_from_its_side_or_was_only_to_be_told():
    def reached(value, bound, at_least=False):
        return Wish("a figure", lambda half: value, bound, at_least).reached(ALL)

    assert reached(0.5, None) == ""
    assert [reached(value, 0.5) for value in (0.4, 0.5, 0.6)] == ["yes", "yes", "no"]
    assert [reached(value, 0.5, True) for value in (0.4, 0.5, 0.6)] == ["no", "yes", "yes"]


def test_a_rate_is_named_as_people_speak_of_it():
    assert _named(Rate("ill", None)) == "answered “ill”"
    assert _named(Rate("ill", "ill")) == "“ill” recognised"
    assert _named(Rate("ill", "well")) == "“well” answered “ill”"


def test_harm_is_beyond_chance_where_one_alarm_is():
    sure, unsure = (SimpleNamespace(beyond_chance=one) for one in (True, False))
    found = [ClientHarm("A", alarms).beyond_chance for alarms in ((), (unsure,), (unsure, sure))]
    assert found == [False, False, True]


def test_limits_that_floors_do_not_allow_are_too_dear():
    counts = synthetic(3, 2, 2, rows=600)
    floors = Policy(floors=tuple(Floor(label, keeps=0.0) for label in counts.labels))
    free, kept = (
        tightest_limits([FairnessProgram(counts, "eo", policy=policy)], 100.0)
        for policy in (Policy(), floors)
    )
    assert free.eps == 0.0 < kept.eps
    assert kept.accuracy >= kept.unlimited - 1e-9  # what floors leave costs nothing


def test_where_no_seed_has_clients_to_compare_nothing_is_pooled(monkeypatch):
    squares = {"none": [np.nan, np.nan], "one": [0.04], "two": [-0.01, 0.05]}
    monkeypatch.setattr(held_out_curve, "squared_debiased", lambda study: np.array(squares[study]))
    assert np.isnan(held_out_curve.pooled_debiased("none")).all()
    middle, *limits = held_out_curve.pooled_debiased("one")
    assert middle == pytest.approx(0.2) and np.isnan(limits).all()
    assert held_out_curve.pooled_debiased("two") == pytest.approx((0.02**0.5, -0.2, 0.08**0.5))
