"""Limits that hold with a confidence: the program's rows, and what they promise."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import beta as beta_distribution
from scipy.stats import chi2, norm

from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.optimism import measure_optimism
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of, read_predictor
from tests.helpers.oracles import rates_of, shares
from tests.helpers.scored import exact_program, scored_network
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic

two_groups = count_tables(groups=(2, 2), labels=(2, 3))
guarantees = st.builds(
    Guarantee,
    st.sampled_from([0.8, 0.95]),
    st.sampled_from(["each", "all"]),
    st.sampled_from(["measured", "proved"]),
)


def errors_of(counts, notion, guarantee):
    """alpha' and Scheffe's z, from the definitions."""
    labels = len(counts.labels)
    compared = {"sp": 1 if labels == 2 else labels, "eop": 1, "eo": labels}[notion]
    if guarantee.scope == "all":
        compared *= len(counts.clients) + 1
    alpha = (1 - guarantee.confidence) / compared
    return alpha, np.sqrt(chi2.ppf(1 - alpha, 2))


def simplex_oracle(counts, notion, guarantee, eps_local):
    """The best accuracy of the simplex under local margins, by a dense LP from the spec's text."""
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    rules = [tuple(range(labels)), *[(k,) * labels for k in range(labels)]]
    alpha, z = errors_of(counts, notion, guarantee)
    correct = np.zeros((clients, groups, len(rules)))
    for c, a, p in np.ndindex(correct.shape):
        correct[c, a, p] = sum(table[c, a, rules[p][said], said] for said in range(labels))
    rows = []
    for rate in rates_of(notion, labels, counts.labels.index(counts.favourable)):
        hits, people = shares(table, rules, rate)
        for c in range(clients):
            q, up, down = np.zeros((2, len(rules))), np.zeros((2, len(rules))), None
            down = np.zeros((2, len(rules)))
            for a in range(2):
                n = people[c, a]
                for p in range(len(rules)):
                    if p:  # a constant: its rate is known
                        q[a, p] = float(rules[p][0] == rate[1])
                        continue
                    q[a, p] = hits[c, a, p] / n if n else 0.5
                    h = hits[c, a, p]
                    tail = norm.sf(z) if guarantee.proof == "measured" else alpha / 4
                    high = beta_distribution.ppf(1 - tail, h + 1, n - h) if h < n else 1.0
                    low = beta_distribution.ppf(tail, h, n - h + 1) if h > 0 else 0.0
                    up[a, p] = high - q[a, p] if n else 0.5
                    down[a, p] = q[a, p] - low if n else 0.5
            measured = guarantee.proof == "measured"
            for t in np.linspace(0, np.pi / 2, 9) if measured else (None,):
                turn = (1.005 * np.cos(t), 1.005 * np.sin(t)) if measured else (1.0, 1.0)
                # Nobody behind a rate: a range, which is added in every direction.
                first, second = (x if people[c, a] else 1.0 for a, x in enumerate(turn))
                one = np.zeros((clients, groups, len(rules)))
                one[c, 0], one[c, 1] = q[0] + first * up[0], -q[1] + second * down[1]
                two = np.zeros_like(one)
                two[c, 0], two[c, 1] = -q[0] + first * down[0], q[1] + second * up[1]
                rows += [one.ravel(), two.ravel()]
    cells = clients * groups
    found = linprog(
        -correct.ravel(),
        A_ub=np.array(rows),
        b_ub=np.full(len(rows), eps_local),
        A_eq=np.kron(np.eye(cells), np.ones(len(rules))),
        b_eq=np.ones(cells),
    )
    assert found.status == 0
    return -found.fun / table.sum()


@given(two_groups, st.sampled_from(["sp", "eop", "eo"]), guarantees, st.floats(0, 0.6))
def test_the_simplex_agrees_with_a_dense_program(counts, notion, guarantee, eps_local):
    ours = FairnessProgram(counts, notion, guarantee=guarantee).solve(1.0, eps_local)
    expected = simplex_oracle(counts, notion, guarantee, eps_local)
    assert ours.accuracy == pytest.approx(expected, abs=1e-7)


@settings(max_examples=5)  # each solves many small cone programs
@given(count_tables(), notion_and_region(), guarantees, epsilons, epsilons)
def test_it_is_always_feasible_and_within_what_was_asked(
    counts, chosen, guarantee, overall, local
):
    found = FairnessProgram(counts, *chosen, guarantee=guarantee).solve(overall, local)
    plain = FairnessProgram(counts, *chosen).solve(overall, local)
    assert found.accuracy <= plain.accuracy + 1e-7
    assert np.nan_to_num(found.gaps.overall) <= overall + 1e-7
    assert np.nanmax([*found.gaps.local, 0.0]) <= local + 1e-7
    lottery = found.rules.lottery(found.beta)
    np.testing.assert_allclose(lottery.sum(axis=3), 1.0, atol=1e-9)
    assert (lottery >= -1e-12).all()
    json.dumps(found.to_json(), allow_nan=False)


@settings(max_examples=8)
@given(
    count_tables(groups=(2, 2), labels=(2, 2), clients=(1, 6)),
    st.sampled_from(["sp", "eop"]),
    st.floats(0.001, 0.4),
)
def test_the_overall_margin_is_the_whole_cone(counts, notion, overall):
    """|gap| + z |errors of cells and weights| stays within the limit, and touches it if it costs."""
    guarantee = Guarantee(0.9)
    program = FairnessProgram(counts, notion, guarantee=guarantee)
    found = program.solve(overall, 1.0)
    optimism = measure_optimism(program)[:, 0]
    _, z = errors_of(counts, notion, guarantee)
    favourable = counts.labels.index(counts.favourable)
    label = favourable if notion == "eop" else None
    table = np.asarray(counts.table, float)
    hits, people = shares(table, [(0, 1)], (label, favourable))
    total = people.sum(axis=0)
    if (total == 0).any():
        return
    keep = found.beta[..., 0]
    always = found.beta[..., 1 + favourable]
    few = people < 5  # such a rate may be anything: 1/2 +- 1/2, which does not average out
    n = np.maximum(people, 1)
    q = np.where(few, 0.5, hits[..., 0] / n)
    middle = (people * q + z**2 / 2) / (people + z**2)
    s = np.where(few, 0.0, np.sqrt(middle * (1 - middle) / n))
    up = np.where(few, 0.5, 0.0)
    down = np.where(few, 0.5, optimism / (2 * np.sqrt(n)))
    weight = people / total
    rate = keep * q + always
    top, bottom = ((weight * (rate + keep * one)).sum(axis=0) for one in (up, -down))
    # The weights are shares of a multinomial: variance of their sum, by its covariance matrix.
    # Answers adapt to all of them: Scheffe's constant of as many dimensions.
    of_weights = chi2.isf(chi2.sf(z**2, 2), max(len(people) - 1, 2))
    w = (people + of_weights / len(people)) / (total + of_weights)
    between = [
        rate[:, a]
        @ ((np.diag(w[:, a]) - np.outer(w[:, a], w[:, a])) / (total[a] + of_weights))
        @ rate[:, a]
        for a in (0, 1)
    ]
    # A group in one client only has no variance between; in floats that may be -1e-18.
    chance = z**2 * ((weight * keep * s) ** 2).sum()
    margin = np.sqrt(chance + of_weights * max(sum(between), 0.0))
    reached = max(top[0] - bottom[1], top[1] - bottom[0]) + margin
    assert reached <= overall + 1e-6
    if found.price_global > 1e-4:
        assert reached >= overall - 1e-5


@given(
    count_tables(groups=(2, 2), labels=(2, 2), clients=(1, 6)),
    st.sampled_from(["sp", "eop"]),
    st.floats(0.05, 0.9),
)
def test_the_proved_overall_margin_covers_rates_and_weights(counts, notion, overall):
    """The worst gap over all true rates within the limits of cells, and all weights within TV."""
    guarantee = Guarantee(0.9, "each", "proved")
    found = FairnessProgram(counts, notion, guarantee=guarantee).solve(overall, 1.0)
    alpha, _ = errors_of(counts, notion, guarantee)
    favourable = counts.labels.index(counts.favourable)
    label = favourable if notion == "eop" else None
    hits, people = shares(np.asarray(counts.table, float), [(0, 1)], (label, favourable))
    hits, clients = hits[..., 0], len(people)
    tail = alpha / (8 * clients)
    with np.errstate(invalid="ignore"):
        high = np.where(hits < people, beta_distribution.ppf(1 - tail, hits + 1, people - hits), 1)
        low = np.where(hits > 0, beta_distribution.ppf(tail, hits, people - hits + 1), 0)
    keep, always = found.beta[..., 0], found.beta[..., 1 + favourable]
    bounds = []
    for a in (0, 1):
        total = people[:, a].sum()
        if not total:
            return
        top, bottom = (keep[:, a] * end[:, a] + always[:, a] for end in (high, low))
        moved = min(np.sqrt((clients * np.log(2) + np.log(4 / alpha)) / (2 * total)), 1.0)
        weight = people[:, a] / total
        # The weights' worst: take `moved` from the lowest rates, give it to the highest.
        reach = moved * (top.max() - bottom.min())
        bounds.append((weight @ bottom - reach, weight @ top + reach))
    worst = max(bounds[0][1] - bounds[1][0], bounds[1][1] - bounds[0][0])
    assert worst <= overall + 1e-6
    if found.price_global > 1e-6:
        assert worst >= overall - 1e-5


@settings(max_examples=4)
@given(count_tables(groups=(2, 3), labels=(2, 3)), notion_and_region(), epsilons, epsilons)
def test_more_certainty_never_costs_less(counts, chosen, overall, local):
    asked = [None, *(Guarantee(c, s) for c, s in ((0.8, "each"), (0.95, "each"), (0.95, "all")))]
    accuracy = [
        FairnessProgram(counts, *chosen, guarantee=one).solve(overall, local).accuracy
        for one in asked
    ]
    assert (np.diff(accuracy) <= 1e-7).all()


def test_cells_without_people_go_to_constants():
    table = synthetic(3, 2, 2, rows=4000).table.copy()
    table[1, 0] = 0  # no g0 in c1
    counts = ClientCounts(table, ("c0", "c1", "c2"), ("g0", "g1"), ("l0", "l1"))
    found = FairnessProgram(counts, "eop", guarantee=Guarantee()).solve(1.0, 0.1)
    assert found.beta[1, 0, 0] <= 0.2 + 1e-9  # half of what keeps the model's answer is doubt
    assert [(cell.client, cell.group) for cell in found.not_assessable] == [("c1", "g0")]
    plain = FairnessProgram(counts, "eop").solve(1.0, 0.1)
    assert plain.beta[1, 0, 0] == 1.0


def test_a_limit_of_one_asks_for_nothing_even_with_confidence():
    counts = synthetic(3, 2, 2, rows=60)
    found = FairnessProgram(counts, "eo", guarantee=Guarantee()).solve(1.0, 1.0)
    assert found.accuracy == pytest.approx(FairnessProgram(counts, "eo").solve(1.0, 1.0).accuracy)


def population(seed, clients, rows, labels=2):
    """A large network to draw people from: Pr(label, said | client, group)."""
    counts = synthetic(clients, 2, labels, rows=rows, seed=seed)
    return counts.table + 1.0


def drawn(chances, sizes, rng):
    """A sample of people: for each cell a multinomial of its size."""
    clients, groups, labels, _ = chances.shape
    flat = chances.reshape(clients, groups, -1)
    flat = flat / flat.sum(axis=2, keepdims=True)
    table = np.stack(
        [[rng.multinomial(sizes[c], flat[c, a]) for a in range(groups)] for c in range(clients)]
    ).reshape(chances.shape)
    names = [
        tuple(f"{k}{i}" for i in range(n)) for k, n in zip("cgl", chances.shape, strict=False)
    ]
    return ClientCounts(table, *names)


def test_limits_hold_on_the_population_as_often_as_promised():
    notion, chances = "eop", population(3, 10, 60_000)
    sizes = np.linspace(60, 600, 10).astype(int)
    rng = np.random.default_rng(0)
    which = Notion.of(notion, ("l0", "l1"), "l1")
    held = {"none": [], "each": [], "all": [], "proved": []}
    overall = {"none": [], "each": []}
    for _ in range(12):
        sample = drawn(chances, sizes, rng)
        for name, guarantee in (
            ("none", None),
            ("each", Guarantee(0.95)),
            ("all", Guarantee(0.95, "all")),
            ("proved", Guarantee(0.95, "each", "proved")),
        ):
            found = FairnessProgram(sample, notion, guarantee=guarantee).solve(0.05, 0.1)
            confusion = np.einsum("cayj,cajk->cayk", chances, found.rules.lottery(found.beta))
            rate = which.answered(confusion) / which.people(chances.sum(axis=3))
            gap = np.abs(rate[:, 0] - rate[:, 1]).max(axis=1)
            held[name].append(gap <= 0.1 + 1e-9)
            if name in overall:
                # The population's weights, not the sample's: labels are drawn as well.
                weight = which.people(
                    chances.sum(axis=3) * (sizes / chances.sum((2, 3)).T).T[..., None]
                )
                pooled = (weight * rate).sum(axis=0) / weight.sum(axis=0)
                overall[name].append(np.abs(pooled[0] - pooled[1]).max() <= 0.05 + 1e-9)
    cover = {name: np.mean(value) for name, value in held.items()}
    assert cover["none"] < 0.9 < 0.95 <= cover["each"] <= cover["all"] + 1e-9
    assert np.mean(held["each"], axis=0).min() >= 0.8
    assert np.mean(np.all(held["all"], axis=1)) >= 0.95
    assert cover["proved"] >= 0.97
    assert np.mean(overall["each"]) >= 0.95


def test_it_goes_with_the_predictor_and_into_maps(tmp_path):
    counts = synthetic(3, 2, 2, rows=2000)
    guarantee = Guarantee(0.9, "all", "proved")
    program = FairnessProgram(counts, "eop", guarantee=guarantee)
    solution = program.solve(0.1, 0.2)
    assert solution.to_json()["guarantee"] == {
        "confidence": 0.9,
        "scope": "all",
        "proof": "proved",
    }
    path = predictor_of(solution).write(tmp_path / "fair.json")
    assert read_predictor(path).guarantee == guarantee
    assert FairnessProgram(counts, "eop").solve(0.1, 0.2).to_json()["guarantee"] is None
    grid = frontier(program, eps_local=[0.1, 0.3], eps_global=[0.1, 1.0])
    assert grid.accuracy[0, 0] == pytest.approx(program.solve(0.1, 0.1).accuracy, abs=1e-12)
    assert (np.diff(grid.accuracy, axis=0) >= -1e-9).all()


def test_what_cannot_be_promised_is_refused():
    people = scored_network(2, 2, 2)
    for confidence in (0.0, 0.3, 0.5, 1.0, -0.5, float("nan"), "high", True):
        with pytest.raises(InputError, match="between 0.5 and 1"):
            Guarantee(confidence)
    with pytest.raises(InputError, match="no scope"):
        Guarantee(scope="some")
    with pytest.raises(InputError, match="no proof"):
        Guarantee(proof="felt")
    for rates in ("scores", "shrunk"):
        for region in ("simplex", "exact"):
            with pytest.raises(InputError, match="counted labels only"):
                FairnessProgram(people, "eop", region, rates=rates, guarantee=Guarantee())
    noisy = ClientCounts(
        people.counts.table + 0.5, *(("c0", "c1"), ("g0", "g1"), ("l0", "l1")), noisy=True
    )
    with pytest.raises(InputError, match="without noise"):
        FairnessProgram(noisy, "eop", guarantee=Guarantee())
    with pytest.raises(InputError, match="simplex or kernel"):
        exact_program(scored_network(2, 2, 3), "eo", guarantee=Guarantee())


def test_the_cuts_settle_where_many_lotteries_are_nearly_as_good():
    """HAM10000, kernel, every limit at once: the cuts went on for more than sixty rounds."""
    counts = experiments.open("ham10000").counts(2, "validation")
    program = FairnessProgram(counts, "eo", "kernel", guarantee=Guarantee(0.95, "all"))
    for eps_global in (0.05, 0.075):
        local = dict.fromkeys(counts.clients, 1.0)
        for own in ({}, {"45 to 54": 0.03}):
            assert program.solve(eps_global, local | own).gaps.overall <= eps_global
