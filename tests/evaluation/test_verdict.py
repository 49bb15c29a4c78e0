"""Holds, does not hold, cannot be told: one rule for chance, and who stands behind a gap."""

import numpy as np
import pytest

from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.evaluation.study import run_study
from fairfl_core.evaluation.verdict import verdict_of
from fairfl_core.fairness.intervals import gap_interval
from fairfl_core.fairness.notions import Notion
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.program import FairnessProgram
from tests.helpers.strategies import synthetic


def judged(rates, people, label_people=50):
    """An evaluation of the model's own answers: (clients, groups) true-positive rates of l1."""
    rates, people = np.asarray(rates, float), np.asarray(people, int)
    table = np.zeros((*rates.shape, 2, 2), int)
    table[..., 1, 1] = np.rint(rates * people)
    table[..., 1, 0] = people - table[..., 1, 1]
    table[..., 0, 0] = label_people
    clients = tuple(f"c{i}" for i in range(len(rates)))
    counts = ClientCounts(table, clients, ("women", "men"), ("l0", "l1"))
    notion = Notion.of("eop", counts.labels, "l1")
    keep = np.broadcast_to(np.eye(2), table.shape)
    return evaluate_answers(counts.under_lottery(keep), counts, notion)


def test_a_gap_beyond_chance_is_broken_and_its_people_are_named():
    one = judged([[0.5, 0.5], [0.3, 0.7]], [[400, 500], [310, 620]])
    found = verdict_of([one], 1.0, np.array([0.1, 0.1]))
    assert found.word == "does not hold" and [f.client for f in found.above] == ["c1"]
    worst = found.above[0]
    assert worst.gap == pytest.approx(0.4, abs=2e-3) and worst.n == 310 + 620 + 100
    assert str(worst.behind) == "310 women and 620 men with “l1”"
    low, high = gap_interval(one.rates, one.people, 0.95)
    assert (worst.low, worst.high) == pytest.approx((low[1], high[1]))
    joint, _ = gap_interval(one.rates, one.people, 0.975)  # two limits asked
    assert worst.floor == pytest.approx(joint[1]) and joint[1] < low[1]
    said = found.sentence()
    assert said.startswith("c1: gap 0.400 on unseen people where 0.1 was asked")
    assert (
        f"({low[1]:.3f} to {high[1]:.3f}; 310 women and 620 men with “l1” stand behind it)" in said
    )


def test_few_people_cannot_tell_and_the_number_needed_would():
    one = judged([[0.4, 0.6]], [[12, 20]])
    found = verdict_of([one], 1.0, np.array([0.1]))
    assert found.word == "cannot be told" and "12 women and 20 men" in found.sentence()
    needed = found.findings[0].needed
    assert f"about {needed:,} of the smaller group" in found.sentence()
    more = judged([[0.4, 0.6]], [[needed, round(needed * 20 / 12)]])
    low, high = gap_interval(more.rates, more.people, 0.95)
    assert (high[0] - low[0]) / 2 == pytest.approx(0.1, rel=0.12)
    assert verdict_of([more], 1.0, np.array([0.1])).findings[0].width == pytest.approx(
        0.1, rel=0.12
    )


def test_compatible_and_told_holds():
    one = judged([[0.5, 0.52], [0.6, 0.6]], [[4000, 5000], [3000, 3000]])
    found = verdict_of([one], 1.0, np.array([0.05, 0.05]))
    assert found.word == "holds" and not found.untold
    assert found.sentence() == "Unseen people are compatible with every limit asked."
    small = judged([[0.5, 0.52], [0.6, 0.5]], [[4000, 5000], [9, 9]], label_people=10)
    also = verdict_of([small], 1.0, np.array([0.05, 0.05]))
    assert also.word == "holds" and [f.client for f in also.untold] == ["c1"]
    assert "For 1 of 2 limits" in also.sentence() and "9 men and 9 women" in also.sentence()


def test_a_guarantee_settles_what_unseen_people_do_not_contradict():
    one = judged([[0.5, 0.6]], [[15, 15]])
    found = verdict_of([one], 1.0, np.array([0.1]), Guarantee(0.9, "all"))
    assert found.word == "holds"
    assert found.sentence().startswith(
        "With 90 % confidence no client's gap exceeds 0.1 (all at once)"
    )
    broken = judged([[0.1, 0.9]], [[200, 200]])
    assert verdict_of([broken], 1.0, np.array([0.1]), Guarantee()).word == "does not hold"


def test_what_was_not_asked_is_not_judged_and_worse_than_before_is_said():
    one = judged([[0.1, 0.9]], [[300, 300]])
    assert verdict_of([one], 1.0, np.array([1.0])).findings == ()
    counts = one.counts
    lottery = np.broadcast_to(np.eye(2), counts.table.shape).copy()
    lottery[0, 1] = [[0, 1], [0, 1]]  # every man gets l1
    lottery[0, 0] = [[1, 0], [1, 0]]
    worse = evaluate_answers(counts.under_lottery(lottery), counts, one.notion)
    found = verdict_of([worse], 1.0, np.array([0.1]))
    assert found.above[0].worse and "worse than before (0.800)" in found.sentence()


def test_fitted_people_settle_nothing():
    one = judged([[0.5, 0.5]], [[4000, 4000]])
    found = verdict_of([one], 0.05, np.array([0.05]), unseen=False)
    assert found.word == "cannot be told" and "no unseen people" in found.sentence()


def test_runs_are_averaged_and_the_overall_limit_is_judged_too():
    fit = [synthetic(3, 2, 2, rows=900, seed=s) for s in (0, 1)]
    test = [synthetic(3, 2, 2, rows=900, seed=s + 5) for s in (0, 1)]
    programs = [(s, FairnessProgram(counts, "eop")) for s, counts in enumerate(fit)]
    study = run_study(programs, test, 0.02, 0.05)
    found = verdict_of(study.evaluations(unseen=True), 0.02, study.first.solution.eps_local)
    by_client = {finding.client: finding for finding in found.findings}
    assert set(by_client) == {None, "c0", "c1", "c2"}
    gaps = study.client_mean(lambda e: e.gaps.local, unseen=True)
    assert [by_client[f"c{c}"].gap for c in range(3)] == pytest.approx(gaps)
    overall = study.over(lambda e: e.gaps.overall, unseen=True).mean
    assert by_client[None].gap == pytest.approx(overall)
    before = study.client_mean(lambda e: e.before.gaps.local, unseen=True)
    assert by_client["c1"].before == pytest.approx(before[1])
    assert len(found.to_json()["above"]) == len(found.above)


def test_three_labels_name_the_label_behind_the_gap():
    table = np.zeros((1, 2, 3, 3), int)
    table[0, :, 0] = [[50, 0, 0], [60, 0, 0]]
    table[0, :, 1] = [[0, 40, 10], [0, 45, 5]]
    table[0, :, 2] = [[3, 0, 0], [0, 0, 6]]  # three women and six men with a rare label
    counts = ClientCounts(table, ("65 and over",), ("women", "men"), ("mole", "cancer", "vessel"))
    fair = predictor_of(FairnessProgram(counts, "eo").solve(1.0, 1.0))
    one = evaluate(fair, counts)
    found = verdict_of([one], 1.0, np.array([0.05]))
    assert "3 women and 6 men with “vessel”" in found.sentence()
