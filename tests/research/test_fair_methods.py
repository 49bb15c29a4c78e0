"""The fair methods: with fairness off they are FedAvg; what each promises holds to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from fairfl_core.data.experiments import list_methods, open_method
from fairfl_core.errors import InputError
from fairfl_core.training.method import Plan, Reply, State, make_method, method_class
from fairfl_core.training.training import prepare, train_prepared
from research.trained.cell_weights import RULES, parity_gap
from research.trained.equifl import shared_part
from research.trained.fair_fate import fairness
from research.trained.fairfed import shares_of_gap
from research.trained.fcfl import FCFL, min_max_mix, pareto_mix
from research.trained.fedfb import cell_errors
from research.trained.gaps import NOTIONS, rates_of, with_gradients
from research.trained.reweighing import cell_factors
from tests.training.tiny import RECIPE, as_adult, people

ROUNDS = 3
# Each method with its fairness switched off.
OFF = {
    "fairfed": {"beta": 0.0, "debiasing": "none"},
    "fair_fate": {"most": 0.0},
    "fcfl": {"warm": ROUNDS},
    "equifl": {"strength": 0.0, "share": "everything"},
    "fedfb": {"alpha": 0.0},
    "reweighing": {"strength": 0.0},
}
# And on, in every way that has code of its own.
ON = [
    ("fairfed", {"notion": "sp"}),
    ("fairfed", {"notion": "eop", "variant": "exponential", "debiasing": "fairbatch"}),
    ("fair_fate", {"notion": "eo", "rounds": 4}),
    ("fcfl", {"notion": "sp", "warm": 1, "min_max": 1}),
    ("equifl", {"notion": "eop", "strength": 10.0}),
    ("fedfb", {"notion": "sp", "proxy": "errors"}),
    ("fedfb", {"notion": "eo", "alpha": 0.01}),
    ("reweighing", {"notion": "eop", "scope": "global"}),
]


@pytest.fixture(scope="module")
def prepared():
    return with_gradients(prepare(as_adult(), replace(RECIPE, batch=64), 0))


def trained(prepared, method, settings, rounds=ROUNDS, **options):
    recipe = replace(prepared.recipe, method=method, method_settings=settings, rounds=rounds)
    return train_prepared(prepared, recipe, **options)


@pytest.fixture(scope="module")
def fedavg(prepared):
    return trained(prepared, "fedavg", {})


@pytest.fixture
def counts():
    """n[client, group, label, answer] of three clients."""
    return np.random.default_rng(3).integers(1, 60, (3, 2, 2, 2))


# ------------------------------------------------------------------ fairness off, going on


@pytest.mark.parametrize("method", OFF)
def test_with_fairness_off_it_is_fedavg(prepared, fedavg, method):
    off = trained(prepared, method, OFF[method])
    assert np.allclose(off.loss, fedavg.loss, atol=1e-6)
    assert np.allclose(off.accuracy, fedavg.accuracy, atol=1e-12)


@pytest.mark.parametrize(("method", "settings"), ON, ids=str)
def test_with_fairness_on_it_differs_goes_on_and_is_the_same_each_time(
    prepared, fedavg, method, settings, tmp_path
):
    whole = trained(prepared, method, settings)
    assert not np.allclose(whole.loss, fedavg.loss, atol=1e-6)
    trained(prepared, method, settings, rounds=2, folder=tmp_path)
    seen = []
    again = trained(
        prepared, method, settings, folder=tmp_path, on_progress=lambda run: seen.append(run.round)
    )
    assert seen == [2, 3]
    assert np.array_equal(again.scores, whole.scores)


@pytest.mark.parametrize(
    ("method", "settings", "sentence"),
    [
        ("fairfed", {"notion": "eo"}, 'no notion "eo"; choose one of: sp, eop'),
        ("fairfed", {"variant": "newest"}, 'variant "newest" is none of: published, exponential'),
        ("fairfed", {"beta": -1.0}, "beta must not be below 0"),
        ("fair_fate", {"most": 2.0}, "most must lie between 0 and 1"),
        ("fcfl", {"rate": 0.0}, "rate above it"),
        ("equifl", {"share": "nothing"}, 'share "nothing" is none of'),
        ("fedfb", {"proxy": "taste"}, 'proxy "taste" is none of'),
        ("reweighing", {"strength": -1.0}, "strength must not be below 0"),
    ],
)
def test_wrong_settings_are_sentences(method, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        make_method(method, settings)


@pytest.fixture(scope="module")
def three_labels():
    return with_gradients(prepare(people(), replace(RECIPE, batch=64), 0))


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("method", OFF)
def test_every_tick_of_table_1_is_trained_with(prepared, three_labels, method, notion):
    """The page ticks what a method does here: so it trains, or is refused in a sentence."""
    cls = method_class(method)
    settings = {"notion": notion} | ({"warm": 0} if method == "fcfl" else {})
    for labels, whose in ((2, prepared), (3, three_labels)):
        if notion not in cls.notions or (labels == 3 and not cls.multi_class):
            with pytest.raises(InputError):
                trained(whose, method, settings, rounds=1)
        elif labels == 2 or notion == "eo":  # each notion of three labels is compiled anew
            made = trained(whose, method, settings, rounds=1)
            assert np.isfinite(made.scores).all() and np.isfinite(made.loss).all()


@pytest.mark.parametrize("experiment", ["adult", "public_coverage"])
@pytest.mark.parametrize("method", OFF)
def test_what_is_shipped_says_what_the_method_can(method, experiment):
    if method not in list_methods(experiment):
        pytest.skip("it is not shipped")
    cls = method_class(method)
    can = open_method(experiment, method).manifest["capabilities"]
    assert can == {
        "level": cls.level,
        "approach": cls.approach,
        "notions": list(cls.notions),
        "multi_class": cls.multi_class,
    }


# ------------------------------------------------------------------ identities


@pytest.mark.parametrize("notion", ["sp", "eop"])
def test_fairfeds_shares_sum_to_the_pooled_gap(counts, notion):
    share = counts.sum(axis=(1, 2, 3)) / counts.sum()
    pooled = rates_of(notion, counts.sum(axis=0), 1).signed
    assert share @ shares_of_gap(notion, counts, 1) == pytest.approx(pooled, abs=1e-12)


def test_fedfbs_proxy_with_errors_is_the_gap(counts):
    table = counts.sum(axis=0)
    gap = rates_of("sp", table, 1).signed
    proxy = parity_gap(cell_errors(table), table.sum(axis=-1).astype(float))
    assert proxy == pytest.approx([0, -gap], abs=1e-12)


@pytest.mark.parametrize("notion", RULES)
def test_cell_weights_start_even_keep_their_sum_and_lean_on_the_worse_off(counts, notion):
    n = counts.sum(axis=(0, 3)).astype(float)
    rule = RULES[notion]
    start = rule.start(n)
    assert rule.factors(start, n) == pytest.approx(np.ones((2, 2)), abs=1e-12)
    losses = np.array([[1.0, 1.0], [1.0, 9.0]]) * n  # the second group's favourable rows fare ill
    moved = rule.moved(start, losses, n, 0.01, 1)
    assert moved.sum() == pytest.approx(start.sum(), abs=1e-12)
    assert rule.factors(moved, n)[1, 1] > 1
    assert (rule.moved(start, losses, n, 1e6, 1) >= 0).all()


def test_reweighing_makes_group_and_label_independent(counts):
    n = counts.sum(axis=(0, 3))
    weighted = n * cell_factors("sp", n, 1)
    rate = weighted[:, 1] / weighted.sum(axis=1)
    assert rate[0] == pytest.approx(rate[1], abs=1e-12)
    assert weighted.sum() == pytest.approx(n.sum())
    weighted = n * cell_factors("eop", n, 1)
    assert weighted[0, 1] == pytest.approx(weighted[1, 1], abs=1e-12)
    empty = np.array([[5, 0], [5, 5]])
    assert cell_factors("sp", empty, 1)[0, 1] == 1


def test_fcfls_closed_form_is_its_linear_program():
    rng = np.random.default_rng(0)
    for _ in range(200):
        directions = rng.normal(size=(2, 3)) * rng.uniform(0.1, 3, (2, 1))
        products = directions @ directions.T
        for feasible in (True, False):
            loss, both, gap = products[0, 0], products[0, 1], products[1, 1]
            # alpha in [0, 1]: how fast loss and disparity fall along the mix
            falls = {"loss": (loss - both, both), "gap": (both - gap, gap)}
            goal, kept = ("loss", None) if feasible else ("gap", "loss")
            rows = {} if kept is None else {"A_ub": [[-falls[kept][0]]], "b_ub": [falls[kept][1]]}
            best = linprog([-falls[goal][0]], bounds=[(0, 1)], **rows)
            alpha = min_max_mix(products, feasible=feasible)
            reached = falls[goal][0] * alpha
            assert reached == pytest.approx(-best.fun, abs=1e-9)


def test_fcfls_pareto_step_lets_no_objective_rise():
    rng = np.random.default_rng(1)
    for _ in range(50):
        rows = rng.normal(size=(4, 6))
        alpha = pareto_mix(rows, rows[:3].mean(axis=0))
        assert alpha.sum() == pytest.approx(1)
        assert (rows @ (alpha @ rows) >= -1e-9).all()


@pytest.mark.parametrize("number", [0, 1, 2, 5])
def test_fcfls_temperatures_fall_in_its_first_stage_only(number):
    """Flat slopes: a round of the min-max stage (0 and 1) cools, one of the Pareto stage not."""
    method = FCFL(epsilon=0.0, rate=0.1, warm=0, min_max=2)
    state = State(np.zeros(3, "f4"), {"temperature": np.array([0.5, 0.005])})
    gradients = [np.eye(3)[[0, 1]], np.eye(3)[[1, 2]]]  # norms far below 10 times .5
    replies = [
        Reply(state.theta, 20, {"values": np.array([0.7, gap]), "gradients": each})
        for gap, each in zip((0.2, 0.1), gradients, strict=True)
    ]

    class Clients:
        round = number

    after = method.server(state, replies, Clients()).memory["temperature"]
    # The gap's direction has norm 1 at temperature .005, so .1 > .005: it never falls here.
    assert after == pytest.approx([0.005 if number < 2 else 0.5, 0.005])


def test_fair_fates_score_is_a_ratio_of_rates(counts):
    rates = rates_of("sp", counts.sum(axis=0), 1).rates[:, 0]
    assert fairness("sp", counts.sum(axis=0), 1) == pytest.approx(rates.min() / rates.max())
    nobody = counts.sum(axis=0).copy()
    nobody[0, :, 1] = 0  # the first group is never answered the favourable label
    assert fairness("sp", nobody, 1) == 0


def test_fair_fates_equalized_odds_are_the_ratios_of_tpr_and_fpr():
    """TPR 6/8 and 8/10, FPR 1/10 and 4/16: ratios .9375 and .4; TNR's would be .833."""
    table = np.array([[[9, 1], [2, 6]], [[12, 4], [2, 8]]])  # n[group, label, answer]
    assert fairness("eo", table, 1) == pytest.approx((0.75 / 0.8 + 0.1 / 0.25) / 2)
    # With the first label favourable they are the rates of that answer.
    assert fairness("eo", table, 0) == pytest.approx((0.75 / 0.9 + 0.2 / 0.25) / 2)
    # No false positives in one group: that ratio is 0, and the other still counts.
    table[0, 0] = 10, 0
    assert fairness("eo", table, 1) == pytest.approx(0.75 / 0.8 / 2)
    table[:, :, 0] += table[:, :, 1]
    table[:, :, 1] = 0  # nobody is answered the favourable label
    assert fairness("eo", table, 1) == 0


def test_fair_fate_follows_the_clients_that_are_fairer_than_the_server():
    """Ratios of selection rates: .5 the server's, .7, 1, .4 and .45 the clients'."""
    ratio = {0.0: 0.5, 1.0: 0.7, 2.0: 1.0, 3.0: 0.4, 4.0: 0.45}

    class Clients:
        plan = Plan(np.ones((1, 2, 2), int), 1, ((1, 2), (2,)))

        def counts(self, theta, *, held_out, every):
            selected = round(20 * ratio[float(theta[0])])
            table = np.zeros((1, 2, 2, 2), int)
            table[0, 0, 1], table[0, 1, 1] = (20 - selected, selected), (0, 20)
            return table

    replies = [Reply(np.array([value, 10 * value], "f4"), 1) for value in (1.0, 2.0, 3.0, 4.0)]
    method = make_method("fair_fate", {"notion": "sp"})
    step = method._fairer_step(State(np.zeros(2, "f4")), replies, Clients())
    # Between the least fair (0) and the fairest (1) the first is at .5; two are behind the server.
    assert step == pytest.approx([(0.5 * 1 + 2) / 1.5, 10 * (0.5 * 1 + 2) / 1.5])


def test_equifls_server_leaves_private_parts_alone():
    shapes = ((2, 3), (3,), (3, 2), (2,))
    shared = shared_part(shapes)
    assert shared.tolist() == [True] * 6 + [False] * 11
    method = make_method("equifl", {})
    state = method.begin(np.zeros(17, "f4"), Plan(np.ones((2, 2, 2), int), 1, shapes))
    replies = [Reply(np.full(17, value, "f4"), 1, memory={}) for value in (1.0, 3.0)]
    after = method.server(state, replies, None)
    assert after.theta.tolist() == [2] * 6 + [0] * 11
    own = method.model(State(after.theta, state.memory), {"theta": np.full(17, 7, "f4")})
    assert own.tolist() == [2] * 6 + [7] * 11


def test_what_a_client_sends_and_receives_is_counted():
    plan = Plan(np.ones((2, 2, 2), int), 1, ((2, 3), (3,), (3, 2), (2,)))
    counted = {name: make_method(name, {}).numbers(plan) for name in ("fedavg", *OFF)}
    assert counted["fedavg"] == (0, 34)
    assert counted["equifl"] == (0, 12)
    assert counted["fcfl"][1] == 53
    assert counted["fedfb"] == (4, 42)
