"""Other people's post-processing: budgets met where they were fitted, off it is the model."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate_answers
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.program import FairnessProgram
from research.rivals.cells import beta_calibrated, shares_of
from research.rivals.fedfact import fit_fedfact
from research.rivals.logofair import LoGoFairDual, fit_logofair
from research.rivals.post_ffl import fit_post_ffl
from tests.helpers.peers import logofair as by_hand


def made(labels=2, clients=3, rows=3000, seed=0):
    """People whose scores are the truth, with groups of different base rates."""
    rng = np.random.default_rng(seed)
    client, group = rng.integers(0, clients, rows), rng.integers(0, 2, rows)
    logits = rng.normal(0, 1.2, (rows, labels))
    logits[:, -1] += 0.9 * group - 0.4 + 0.3 * client
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (scores.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=labels - 1)
    names = tuple(f"label {y}" for y in range(labels))
    return ScoredData(
        client,
        group,
        label,
        scores,
        scores.argmax(axis=1),
        tuple(f"client {c}" for c in range(clients)),
        ("a", "b"),
        names,
        names[-1],
    )


def judged(rule, people, notion):
    made_notion = Notion.of(notion, people.labels, people.favourable)
    return evaluate_answers(people.under_chances(rule.chances), people, made_notion)


@pytest.fixture(scope="module")
def people():
    return made()


@pytest.mark.parametrize("notion", ["sp", "eop"])
def test_logofairs_bisection_is_the_slow_ones(people, notion):
    rule = fit_logofair(people, notion, 0.03, 0.05, calibrated=False)
    slow = by_hand(
        people.client, people.group, people.label, people.scores[:, 1], notion, 0.03, 0.05
    )
    answers = people.scores[:, 1] >= slow[people.client, people.group]
    assert np.mean(rule.chances(people)[:, 1] != answers) < 2e-3


def best_lottery(people, eta, notion, eps_global, eps_local):
    """Greatest mean of (2 eta - 1) chance over all chances of every person, gaps within budgets.

    Equal opportunity is that of the scores: people count by their chance of the second label.
    """
    counted = np.ones(len(eta)) if notion == "sp" else eta
    behind = np.ones(len(eta)) if notion == "sp" else people.label == 1
    sign = np.where(people.group == 1, 1.0, -1.0)

    def gap_row(of):
        sizes = np.bincount(people.group[of], behind[of], minlength=2)
        return np.where(of, sign * counted / sizes[people.group], 0.0)

    rows = [gap_row(np.ones(len(eta), bool))]
    rows += [gap_row(people.client == c) for c in range(len(people.clients))]
    limits = np.array([eps_global] + [eps_local] * len(people.clients))
    solved = linprog(
        (1 - 2 * eta) / len(eta),
        A_ub=np.vstack([rows, -np.array(rows)]),
        b_ub=np.concatenate([limits, limits]),
        bounds=(0, 1),
    )
    assert solved.status == 0
    return -solved.fun, np.array(rows), limits


@pytest.mark.parametrize("levels", [4, 10, 1000])
@pytest.mark.parametrize("limits", [(0.02, 0.04), (0.0, 0.0), (0.05, 1.0), (1.0, 0.03)])
@pytest.mark.parametrize("notion", ["sp", "eop"])
def test_logofair_draws_ties_so_that_budgets_are_met_and_nothing_is_lost(notion, limits, levels):
    """Few distinct scores: a threshold without a chance takes or leaves hundreds of people."""
    people = made(rows=1500)
    second = np.clip(np.round(levels * people.scores[:, 1]) / levels, 0.01, 0.99)
    tied = replace(people, scores=np.stack([1 - second, second], axis=1))
    rule = fit_logofair(tied, notion, *limits, calibrated=False)
    chance = rule.chances(tied)[:, 1]
    best, rows, budgets = best_lottery(tied, second, notion, *limits)
    assert (np.abs(rows @ chance) <= budgets + 1e-8).all()
    assert (2 * second - 1) @ chance / len(tied) == pytest.approx(best, abs=1e-8)
    # A cell draws for one score only, and people of one score are treated alike.
    for cell in range(6):
        drawn = (tied.cell == cell) & (chance > 0) & (chance < 1)
        assert len(np.unique(second[drawn])) <= 1 and len(np.unique(chance[drawn])) <= 1


def test_logofairs_ties_survive_calibration_and_other_people(people):
    """Equal scores stay equal after calibration, whoever else is there."""
    second = np.clip(np.round(5 * people.scores[:, 1]) / 5, 0.01, 0.99)
    tied = replace(people, scores=np.stack([1 - second, second], axis=1))
    rule = fit_logofair(tied, "sp", 0.02, 0.04)
    chance = rule.chances(tied)[:, 1]
    rate = [[chance[tied.cell == 2 * c + a].mean() for a in range(2)] for c in range(3)]
    assert (np.abs(np.diff(rate)) <= 0.04 + 1e-8).all()
    pooled = [chance[tied.group == a].mean() for a in range(2)]
    assert abs(pooled[1] - pooled[0]) <= 0.02 + 1e-8
    assert ((chance > 0) & (chance < 1)).sum() > 50, "nobody was drawn: the test tests nothing"
    for size in (1, 2, 7, 100):
        columns = ("client", "group", "label", "scores", "predicted")
        few = replace(tied, **{name: getattr(tied, name)[:size] for name in columns})
        assert np.array_equal(rule.chances(few)[:, 1], chance[:size])


@pytest.mark.parametrize("notion", ["sp", "eop"])
def test_logofairs_distributed_solver_comes_near_the_dual(people, notion):
    shares = shares_of(people, notion)
    dual = LoGoFairDual(people, people.scores[:, 1], shares, 0.02, 0.04)
    exact, far = dual.value(*dual.solve()[:2]), dual.value(0.0, np.zeros(3))
    near = dual.value(*dual.solve_distributed())
    assert exact - 1e-9 <= near <= exact + 0.2 * (far - exact)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert dual.value(rng.normal(0, 0.1), rng.normal(0, 0.1, 3)) >= exact - 1e-9


def test_beta_calibration_mends_scores_that_are_too_sure(people):
    sure = people.scores**3 / (people.scores**3).sum(axis=1, keepdims=True)
    wrong = ScoredData(
        people.client,
        people.group,
        people.label,
        sure,
        people.predicted,
        people.clients,
        people.groups,
        people.labels,
        people.favourable,
    )
    mended = beta_calibrated(wrong, wrong)
    assert (
        np.abs(mended - people.scores[:, 1]).mean() < np.abs(sure - people.scores)[:, 1].mean() / 3
    )


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("notion", ["sp", "eop", "eo"])
def test_fedfact_meets_its_budgets_by_scores_and_any_number_of_labels(labels, notion):
    people = made(labels, clients=2, rows=4000)
    rule = fit_fedfact(people, notion, 0.02, 0.05)
    fitted = judged(rule, people, notion)
    assert fitted.gaps.overall < 0.02 + 0.05  # its rates are the scores', these are counted
    assert fitted.gaps.overall < fitted.before.gaps.overall / 2
    free = fit_fedfact(people, notion, 1.0, 1.0)
    assert np.array_equal(free.chances(people).argmax(axis=1), people.predicted)


def test_fedfact_and_logofair_are_one_for_two_labels(people):
    one = fit_fedfact(people, "sp", 0.03, 0.05).chances(people)
    other = fit_logofair(people, "sp", 0.03, 0.05, calibrated=False).chances(people)
    assert np.mean(one != other) < 0.01


@pytest.mark.parametrize(("notion", "region"), [("sp", "kernel"), ("eop", "simplex")])
def test_post_ffl_with_clients_gaps_is_the_papers_program(people, notion, region):
    theirs = fit_post_ffl(people.counts, notion, 0.03, 1.0, eps_local=0.05)
    ours = FairnessProgram(people.counts, notion, region).solve(0.03, 0.05)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=1e-8)


def test_post_ffl_keeps_clients_alike_and_without_limits_is_the_model(people):
    free = fit_post_ffl(people.counts, "eop", 1.0, 1.0)
    assert free.accuracy == pytest.approx((people.predicted == people.label).mean())
    alike = judged(fit_post_ffl(people.counts, "eop", 0.02, 0.002), people, "eop")
    assert np.ptp(alike.client_accuracy) <= 0.004 + 1e-9
    assert np.ptp(judged(free, people, "eop").client_accuracy) > 0.004
    assert alike.gaps.overall <= 0.02 + 1e-9


def test_what_a_rival_is_not_for_is_said():
    four = made(4, rows=200)
    with pytest.raises(InputError, match="two labels"):
        fit_logofair(four, "eop", 0.1, 0.1, calibrated=False)
    with pytest.raises(InputError, match="two groups, two labels"):
        fit_post_ffl(four.counts, "eop", 0.1, 1.0)
