"""What is told of a predictor: expectations, intervals, floors."""

import json

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binomtest, norm

from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import evaluate, evaluate_answers
from fairfl_core.fairness.intervals import expected_gap, gap_interval
from fairfl_core.fairness.notions import Notion, gaps
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import FairPredictor
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic


def judged(counts, lottery, name="eop"):
    notion = Notion.of(name, counts.labels, counts.favourable)
    return evaluate_answers(counts.under_lottery(lottery), counts, notion)


@given(count_tables(), notion_and_region(), epsilons, epsilons)
def test_on_the_fitted_counts_it_tells_what_the_program_told(counts, chosen, overall, local):
    solution = FairnessProgram(counts, *chosen).solve(overall, local)
    found = evaluate(FairPredictor.from_solution(solution), counts)
    assert found.accuracy == pytest.approx(solution.accuracy, abs=1e-12)
    assert found.before.accuracy == pytest.approx(counts.model_accuracy, abs=1e-12)
    assert found.gaps.overall == pytest.approx(solution.gaps.overall, abs=1e-12, nan_ok=True)
    np.testing.assert_allclose(found.gaps.local, solution.gaps.local, atol=1e-12)
    json.dumps(found.to_json(), allow_nan=False)


@given(count_tables(), notion_and_region(), epsilons)
def test_limits_hold_the_estimate_and_stay_in_range(counts, chosen, epsilon):
    solution = FairnessProgram(counts, *chosen).solve(epsilon, epsilon)
    found = evaluate(FairPredictor.from_solution(solution), counts)
    low, high = found.local_interval
    there = ~np.isnan(found.gaps.local)
    assert (np.isnan(low) == ~there).all() and (np.isnan(found.noise_floor) == ~there).all()
    assert (low[there] >= 0).all() and (high[there] <= 1).all()
    assert (low[there] <= found.gaps.local[there] + 1e-9).all()
    assert (found.gaps.local[there] <= high[there] + 1e-9).all()
    assert (found.one_draw[1:][there] >= found.gaps.local[there] - 5e-3).all()
    shares = np.nan_to_num(found.changed)
    assert ((shares >= -1e-12) & (shares <= 1)).all()


@pytest.mark.parametrize(
    ("groups", "labels", "notion"), [(2, 2, "eop"), (2, 3, "eo"), (3, 2, "eo")]
)
def test_one_draw_is_the_mean_gap_of_real_draws(groups, labels, notion):
    counts = synthetic(4, groups, labels, rows=150, seed=groups)
    solution = FairnessProgram(counts, notion).solve(0.01, 0.01)
    predictor = FairPredictor.from_solution(solution)
    found = evaluate(predictor, counts)
    rng = np.random.default_rng(0)
    chances = np.broadcast_to(predictor.lottery[:, :, None], (*counts.table.shape, labels))
    chances = chances / chances.sum(axis=-1, keepdims=True)
    drawn = [
        gaps(
            found.notion.answered(rng.multinomial(counts.table, chances).sum(axis=3)), found.people
        )
        for _ in range(3000)
    ]
    local = np.mean([one.local for one in drawn], axis=0)
    np.testing.assert_allclose(found.one_draw[1:], local, atol=0.006)
    overall = np.mean([one.overall for one in drawn])
    assert found.one_draw[0] == pytest.approx(overall, abs=0.004)


def test_the_noise_floor_is_of_the_gap_that_is_shown():
    """A lottery that ignores the model shows no gap in expectation, however few people."""
    counts = synthetic(3, 2, 2, rows=60)
    coin = np.full(counts.table.shape, 0.5)
    np.testing.assert_allclose(judged(counts, coin).noise_floor, 0.0, atol=1e-6)
    rng, people = np.random.default_rng(5), (23, 300)
    lottery = np.broadcast_to(np.array([[0.7, 0.3], [0.1, 0.9]]), (2000, 2, 2, 2))
    table = np.zeros((2000, 2, 2, 2), dtype=np.int64)
    for a in range(2):
        said = rng.binomial(people[a], 0.6, 2000)
        table[:, a, 1] = np.stack([people[a] - said, said], axis=1)
    many = ClientCounts(table, tuple(map(str, range(2000))), ("f", "m"), ("no", "yes"))
    found = judged(many, lottery)
    assert found.noise_floor.mean() == pytest.approx(found.gaps.local.mean(), rel=0.05)


def test_the_limits_of_a_worst_gap_hold_for_the_worst_gap():
    """Three groups, two rates: six differences at once."""
    rng = np.random.default_rng(2)
    truth = np.array([[0.6, 0.7], [0.65, 0.7], [0.7, 0.5]])
    people = np.array([[30, 60], [45, 20], [80, 35]])
    drawn = rng.binomial(people, truth, (4000, 3, 2)) / people
    low, high = gap_interval(drawn, np.broadcast_to(people, drawn.shape).astype(float))
    true_gap = (truth.max(axis=0) - truth.min(axis=0)).max()
    assert ((low <= true_gap) & (true_gap <= high)).mean() >= 0.95


@pytest.mark.parametrize(("groups", "rates"), [(2, 1), (2, 2), (4, 2)])
def test_the_expected_gap_of_normals_is_the_simulated_one(groups, rates):
    rng = np.random.default_rng(3)
    mean = rng.uniform(0.2, 0.8, (6, groups, rates))
    spread = rng.uniform(0, 0.1, (6, groups, rates))
    spread[0] = 0
    drawn = mean + spread * rng.standard_normal((40_000, 6, groups, rates))
    expected = (drawn.max(axis=2) - drawn.min(axis=2)).max(axis=2).mean(axis=0)
    found = expected_gap(mean, spread**2, np.ones(mean.shape, bool))
    np.testing.assert_allclose(found, np.minimum(expected, 1), atol=0.003)


@pytest.mark.parametrize("keep", [1.0, 0.7])
def test_the_debiased_gap_is_unbiased(keep):
    """Over many small samples gap squared less its variance has the true square as its mean."""
    rng = np.random.default_rng(4)
    clients, truth, people = 4000, np.array([0.8, 0.65]), (12, 30)
    table = np.zeros((clients, 2, 2, 2), dtype=np.int64)
    for a in range(2):
        right = rng.binomial(people[a], truth[a], clients)
        table[:, a, 1] = np.stack([people[a] - right, right], axis=1)
    counts = ClientCounts(table, tuple(map(str, range(clients))), ("f", "m"), ("no", "yes"))
    lottery = np.broadcast_to(keep * np.eye(2) + (1 - keep) / 2, (clients, 2, 2, 2))
    found = judged(counts, lottery).debiased()
    true_gap = keep * (truth[0] - truth[1])
    # The mean of 4,000 squares has a standard error of about 0.0005.
    assert found.gap**2 == pytest.approx(true_gap**2, abs=0.002)
    assert np.mean(judged(counts, lottery).gaps.local) > true_gap + 0.01  # the plain one is not
    fair = table.copy()
    fair[:, 0, 1, 1] = rng.binomial(12, 0.65, clients)
    fair[:, 0, 1, 0] = 12 - fair[:, 0, 1, 1]
    same = judged(
        ClientCounts(fair, counts.clients, counts.groups, counts.labels), lottery
    ).debiased()
    assert abs(same.gap) < 0.05


def test_who_cannot_be_debiased_is_counted():
    table = synthetic(4, 2, 2).table.copy()
    table[1, 0, 1] = [0, 1]  # one person: no variance
    table[2, 0] = 0
    counts = ClientCounts(table, tuple("abcd"), ("f", "m"), ("no", "yes"))
    found = judged(counts, np.broadcast_to(np.eye(2), table.shape))
    assert (found.debiased().clients, found.debiased().left_out) == (2, 2)
    assert found.larger_half.size == 2


def test_tables_hold_every_client_group_and_rate():
    counts = synthetic(3, 2, 3)
    solution = FairnessProgram(counts, "eo").solve(0.05, 0.05)
    found = evaluate(FairPredictor.from_solution(solution), counts)
    assert list(found.client_table().client) == list(counts.clients)
    assert found.client_table().n.sum() == counts.n == found.group_table().n.sum()
    rates = found.rate_table()
    assert len(rates) == 3 * 2 * 3
    assert ((rates.rate_low <= rates.rate) & (rates.rate <= rates.rate_high)).all()
    weighted = (found.group_table().accuracy * found.group_table().n).sum() / counts.n
    assert weighted == pytest.approx(found.accuracy)
    before = (found.client_table().accuracy_before * counts.n_client).sum() / counts.n
    assert before == pytest.approx(counts.model_accuracy)


def test_a_group_of_one_is_compared_and_a_group_of_none_is_not():
    table = np.zeros((2, 2, 2, 2), dtype=np.int64)
    table[:, :, 1] = [[[0, 1], [30, 10]], [[0, 0], [30, 10]]]
    counts = ClientCounts(table, ("one", "none"), ("f", "m"), ("no", "yes"))
    found = judged(counts, np.broadcast_to(np.eye(2), table.shape))
    assert found.gaps.local[0] == 0.75 and np.isnan(found.gaps.local[1])
    limits = np.transpose(found.local_interval)
    assert by_hand(1, 1, 10, 40)[0] < 0  # either group may be the one that is better off
    assert limits[0] == pytest.approx([0.0, min(by_hand(1, 1, 10, 40)[1], 1.0)])
    assert np.isnan(limits[1]).all()
    for figure in (found.one_draw[1:], found.noise_floor):
        assert figure[0] > 0 and np.isnan(figure[1])
    assert found.one_draw[0] > 0
    nobody = ClientCounts(table[1:], ("none",), counts.groups, counts.labels)
    alone = judged(nobody, np.broadcast_to(np.eye(2), nobody.table.shape))
    assert np.isnan(alone.one_draw[0])
    debiased = alone.debiased()
    assert np.isnan(debiased.gap) and (debiased.clients, debiased.left_out) == (0, 1)


def small_and_large():
    """Two clients without people of the label "no": women, men; of whom so many hear yes."""
    table = np.zeros((2, 2, 2, 2), dtype=np.int64)
    table[:, :, 1] = [[[2, 8], [9, 1]], [[300, 100], [90, 110]]]
    return ClientCounts(table, ("small", "large"), ("women", "men"), ("no", "yes"))


def scipys_wilson(right, n):
    return tuple(binomtest(right, n).proportion_ci(0.95, method="wilson"))


def by_hand(right_1, n_1, right_0, n_0):
    """Limits of the difference of two shares, from scipy's exact limits of each."""
    share_1, share_0 = right_1 / n_1, right_0 / n_0
    below, above = [], []
    for z, together in ((1.959964, np.hypot), (1.959964 / np.sqrt(2), np.add)):
        level = 2 * norm.cdf(z) - 1
        low_1, high_1 = binomtest(right_1, n_1).proportion_ci(level)
        low_0, high_0 = binomtest(right_0, n_0).proportion_ci(level)
        below.append(together(share_1 - low_1, high_0 - share_0))
        above.append(together(high_1 - share_1, share_0 - low_0))
    return share_1 - share_0 - max(below), share_1 - share_0 + max(above)


def test_the_limits_of_gaps_are_exact_ones_of_each_client_and_of_everyone():
    """Pooled, men hear yes more often, as in the large client; the mean of the rates says women."""
    counts = small_and_large()
    found = judged(counts, np.broadcast_to(np.eye(2), counts.table.shape))
    assert found.gaps.overall == pytest.approx(111 / 210 - 108 / 410)
    assert found.global_interval == pytest.approx(by_hand(111, 210, 108, 410), abs=1e-7)
    small, large = by_hand(8, 10, 1, 10), by_hand(110, 200, 100, 400)
    np.testing.assert_allclose(found.local_interval, np.transpose([small, large]), atol=1e-7)


def test_the_limits_of_shares_are_wilsons_at_ninety_five_percent():
    counts = small_and_large()
    found = judged(counts, np.broadcast_to(np.eye(2), counts.table.shape))
    assert found.accuracy_interval == pytest.approx(scipys_wilson(219, 620), abs=1e-9)
    rates = found.rate_table().set_index(["client", "group"])
    for cell, (right, n) in zip(
        rates.index, [(8, 10), (1, 10), (100, 400), (110, 200)], strict=True
    ):
        row = rates.loc[cell]
        assert (row.n, row.rate) == (n, pytest.approx(right / n))
        assert (row.rate_low, row.rate_high) == pytest.approx(scipys_wilson(right, n), abs=1e-9)
