"""Floors, ratios and utilities: the program against a dense one, and what they promise."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy, parse_floor, parse_limit
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import ACCURACY, BALANCED, Utility
from tests.helpers.oracles import EXACT, rates_of, rules_of, shares
from tests.helpers.scored import scored_network
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic

tables = count_tables(clients=(1, 3), groups=(2, 3), labels=(2, 3))


@st.composite
def policies(draw, counts, *, floors=True):
    """Any mixture of floors, kept rates, ratios and a table of gains."""
    labels, kinds = counts.labels, []
    for label in labels if floors else ():
        if draw(st.booleans()):
            kinds.append(Floor(label, draw(st.floats(0, 1))))
        if draw(st.booleans()):
            kinds.append(Floor(label, keeps=draw(st.floats(0, 1))))
    ratios = st.one_of(st.none(), st.sampled_from([0.5, 0.8, 1.0]))
    gain = tuple(
        tuple(draw(st.integers(-20, 20)) + 25.0 * (y == k) for k in range(len(labels)))
        for y in range(len(labels))
    )
    assume(any(len(set(row)) > 1 for row in gain))  # a utility that is no utility is refused
    utility = draw(st.sampled_from([ACCURACY, BALANCED, Utility("gains", labels, gain)]))
    return Policy(tuple(kinds), draw(ratios), draw(ratios), utility=utility)


def gain_of(policy, counts):
    """U, from the definitions."""
    size = len(counts.labels)
    if policy.utility.labels:
        return np.array(policy.utility.gain)
    if policy.utility.name == "accuracy":
        return np.eye(size)
    people = counts.table.sum(axis=(0, 1, 3))
    there = people > 0
    return np.diag([people.sum() / n / there.sum() if n else 0.0 for n in people])


def dense(counts, notion, region, eps_global, eps_local, policy):
    """The best utility by a dense LP over lotteries of deterministic maps; None if there is none."""
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    rules = rules_of(region, labels)
    gain = gain_of(policy, counts)
    shape = (clients, groups, len(rules))
    worth = np.zeros(shape)
    for c, a, p in np.ndindex(shape):
        worth[c, a, p] = sum(
            gain[y, rules[p][said]] * table[c, a, y, said]
            for y in range(labels)
            for said in range(labels)
        )
    rows, limits = [np.zeros(worth.size)], [0.0]  # a row that asks nothing, lest there be none

    def at_most(row, limit):
        rows.append(row.ravel())
        limits.append(limit)

    favourable = counts.labels.index(counts.favourable)
    # One answer's share is 1 less the other's: gaps are the same, ratios not, so it is said whose.
    of_favourable = notion == "sp" or (notion == "eo-full" and labels == 2)
    for rate in rates_of(notion, labels, favourable):
        hits, people = shares(table, rules, rate)
        for scope in (None, *range(clients)):
            weight = np.zeros((clients, groups))
            for a in range(groups):
                whom = people[:, a].sum() if scope is None else people[scope, a]
                if whom > 0:
                    weight[slice(None) if scope is None else scope, a] = 1 / whom
            present = [a for a in range(groups) if weight[:, a].any()]
            eps = eps_global if scope is None else eps_local[scope]
            rho = policy.ratio_global if scope is None else policy.ratio_local
            for a, b in combinations(present, 2):
                one, other = np.zeros(shape), np.zeros(shape)
                one[:, a] = weight[:, a, None] * hits[:, a]
                other[:, b] = weight[:, b, None] * hits[:, b]
                at_most(one - other, eps)
                at_most(other - one, eps)
                if rho is not None and (rate[1] == favourable or not of_favourable):
                    at_most(rho * one - other, 0.0)
                    at_most(rho * other - one, 0.0)
    for floor in policy.floors:
        y = counts.labels.index(floor.label)
        hits, people = shares(table, rules, (y, y))
        for c, a in np.ndindex(clients, groups):
            if people[c, a] > 0:
                row = np.zeros(shape)
                row[c, a] = hits[c, a] / people[c, a]
                own = table[c, a, y, y] / people[c, a]
                at_most(-row, -(floor.rate if floor.keeps is None else own - floor.keeps))
    mixing = np.kron(np.eye(clients * groups), np.ones(len(rules)))
    found = linprog(
        -worth.ravel(), rows, limits, mixing, np.ones(len(mixing)), method="highs", options=EXACT
    )
    return -found.fun / table.sum() if found.status == 0 else None


@pytest.mark.parametrize("favourable", ["no", "yes"])
def test_with_two_labels_a_ratio_of_all_errors_is_of_the_favourable_answer(favourable):
    table = np.array([[[[0, 1], [1, 1]], [[1, 1], [1, 1]]]])
    counts = ClientCounts(table, ("here",), ("a", "b"), ("no", "yes"), favourable)
    policy = Policy(ratio_local=0.5, utility=BALANCED)
    found = FairnessProgram(counts, "eo-full", "kernel", policy=policy).solve(1.0, 1.0)
    expected = dense(counts, "eo-full", "kernel", 1.0, [1.0], policy)
    assert found.utility.value == pytest.approx(expected, abs=1e-9)
    assert expected == pytest.approx({"no": 0.625, "yes": 25 / 42}[favourable])


@given(tables, notion_and_region(), st.data())
def test_the_program_agrees_with_a_dense_one(counts, chosen, data):
    policy = data.draw(policies(counts))
    overall = data.draw(epsilons)
    local = [data.draw(epsilons) for _ in counts.clients]
    expected = dense(counts, *chosen, overall, local, policy)
    program = FairnessProgram(counts, *chosen, policy=policy)
    try:
        found = program.solve(overall, local)
    except InfeasibleError as error:
        # What just fits, or just does not, is either to a solver with tolerances.
        share = error.infeasible
        assert expected is None or _nearly(share, policy, overall, local)
        return
    assert expected is not None
    scale = max(1.0, np.abs(gain_of(policy, counts)).max())
    assert found.utility.value == pytest.approx(expected, abs=1e-7 * scale)
    _keeps_what_was_asked(found, policy)


def _nearly(collision, policy, overall, local):
    lowered = [
        abs(collision.highest_floor[one.label] - one.rate)
        for one in policy.floors
        if one.keeps is None
    ] + [
        abs(collision.highest_keep[one.label] - one.keeps)
        for one in policy.floors
        if one.keeps is not None
    ]
    return max(lowered, default=0.0) < 1e-6


def _keeps_what_was_asked(found, policy):
    """Floors and ratios, computed from the lottery alone."""
    table = np.asarray(found.counts.table, float)
    confusion = np.einsum("cayj,cajk->cayk", table, found.rules.lottery(found.beta))
    people = table.sum(axis=3)
    for floor in policy.floors:
        y = found.counts.labels.index(floor.label)
        there = people[:, :, y] > 0
        rate = confusion[:, :, y, y][there] / people[:, :, y][there]
        own = table[:, :, y, y][there] / people[:, :, y][there]
        least = floor.rate if floor.keeps is None else own - floor.keeps
        assert (rate >= least - 1e-7).all()
    for rho, scope in ((policy.ratio_global, True), (policy.ratio_local, False)):
        if rho is None:
            continue
        answered, behind = found.notion.answered(confusion), found.notion.people(people)
        if scope:
            answered, behind = answered.sum(axis=0)[None], behind.sum(axis=0)[None]
        for place, one in enumerate(found.notion.rates):
            if one.label is None and one.answer != found.counts.favourable:
                continue
            for hits, n in zip(answered[..., place], behind[..., place], strict=True):
                rate = hits[n > 0] / n[n > 0]
                assert rate.size < 2 or rate.min() >= rho * rate.max() - 1e-7


@given(tables, notion_and_region(), st.data())
def test_asking_more_never_gives_more(counts, chosen, data):
    policy = data.draw(policies(counts))
    assume(policy.floors)
    lower = Policy(
        tuple(
            Floor(one.label, one.rate / 2)
            if one.keeps is None
            else Floor(one.label, keeps=min(1.0, one.keeps + 0.2))
            for one in policy.floors
        ),
        policy.ratio_global and policy.ratio_global / 2,
        policy.ratio_local and policy.ratio_local / 2,
        utility=policy.utility,
    )
    overall, local = data.draw(epsilons), data.draw(epsilons)
    try:
        strict = FairnessProgram(counts, *chosen, policy=policy).solve(overall, local)
    except InfeasibleError:
        return
    lenient = FairnessProgram(counts, *chosen, policy=lower).solve(overall, local)
    scale = max(1.0, np.abs(gain_of(policy, counts)).max())
    assert lenient.utility.value >= strict.utility.value - 1e-7 * scale


@given(tables, notion_and_region(), st.data())
def test_the_order_of_clients_groups_and_labels_does_not_matter(counts, chosen, data):
    policy = data.draw(policies(counts))
    overall, local = data.draw(epsilons), data.draw(epsilons)
    orders = [
        data.draw(st.permutations(range(len(names))))
        for names in (counts.clients, counts.groups, counts.labels)
    ]
    turned = ClientCounts(
        counts.table[np.ix_(*orders, orders[2])],
        *(
            tuple(names[i] for i in order)
            for names, order in zip(
                (counts.clients, counts.groups, counts.labels), orders, strict=True
            )
        ),
        counts.favourable,
    )
    values = []
    for one in (counts, turned):
        try:
            values.append(FairnessProgram(one, *chosen, policy=policy).solve(overall, local))
        except InfeasibleError:
            values.append(None)
    assume(None not in values)
    scale = max(1.0, np.abs(gain_of(policy, counts)).max())
    assert values[0].utility.value == pytest.approx(values[1].utility.value, abs=1e-7 * scale)


def test_a_mistake_costs_one_and_a_missed_label_more():
    costs = Utility.missing(("no", "maybe", "yes"), "yes", 4.0)
    assert costs.gain == ((0, -1, -1), (-1, 0, -1), (-4, -4, 0))


@given(tables, notion_and_region(), epsilons, epsilons)
def test_the_identity_is_accuracy_to_the_last_digit(counts, chosen, overall, local):
    identity = Utility("mine", counts.labels, tuple(map(tuple, np.eye(len(counts.labels)))))
    plain = FairnessProgram(counts, *chosen).solve(overall, local)
    same = FairnessProgram(counts, *chosen, policy=Policy(utility=identity)).solve(overall, local)
    assert same.accuracy == pytest.approx(plain.accuracy, abs=1e-12)
    assert same.utility.value == pytest.approx(plain.accuracy, abs=1e-12)
    np.testing.assert_allclose(same.beta, plain.beta, atol=1e-12)


@given(tables, notion_and_region(), st.data())
def test_a_collision_says_what_would_do(counts, chosen, data):
    policy = data.draw(policies(counts))
    assume(policy.floors)
    overall, local = data.draw(epsilons), data.draw(epsilons)
    program = FairnessProgram(counts, *chosen, policy=policy)
    try:
        program.solve(overall, local)
        return
    except InfeasibleError as error:
        collision = error.infeasible
    assert collision.to_json()["status"] == "collision"
    if collision.least_global is not None:  # together they do, and less of either does not
        wider = (collision.least_global + 1e-6, collision.least_local + 1e-6)
        program.solve(*(min(one, 1.0) for one in wider))
        assert (collision.least_global, collision.least_local) != (overall, local)
        if collision.least_local > local + 1e-4:
            with pytest.raises(InfeasibleError):
                program.solve(1.0, collision.least_local - 1e-4)
        if collision.least_global > overall + 1e-4:
            with pytest.raises(InfeasibleError):
                program.solve(collision.least_global - 1e-4, collision.least_local)
        assert collision.who
    lowered = [
        Floor(one.label, max(0.0, collision.highest_floor[one.label] - 1e-6))
        if one.keeps is None
        else Floor(one.label, keeps=min(1.0, collision.highest_keep[one.label] + 1e-6))
        for one in policy.floors
    ]
    program.asking(Policy(tuple(lowered), policy.ratio_global, policy.ratio_local)).solve(
        overall, local
    )


def test_levelling_down_is_forbidden_by_one_floor():
    """A gap closed by answering everybody alike: with a floor it is closed by raising."""
    table = np.zeros((1, 2, 2, 2), int)
    table[0, 0] = [[90, 10], [5, 95]]  # the better-off group: 95 % of label 1 recognised
    table[0, 1] = [[90, 10], [60, 40]]
    counts = ClientCounts(table, ("c",), ("a", "b"), ("no", "yes"))
    plain = FairnessProgram(counts, "eop", "kernel").solve(1.0, 0.0)
    floored = FairnessProgram(
        counts, "eop", "kernel", policy=Policy(floors=(Floor("yes", keeps=0.0),))
    ).solve(1.0, 0.0)
    rate = [
        np.einsum("aj,ajk->ak", table[0, :, 1], one.rules.lottery(one.beta)[0])[:, 1] / 100
        for one in (plain, floored)
    ]
    assert (rate[1] >= np.array([0.95, 0.40]) - 1e-9).all()
    assert rate[1].min() == pytest.approx(0.95) and floored.accuracy <= plain.accuracy


@pytest.mark.parametrize("labels", [2, 3])
def test_the_exact_region_takes_all_of_it(labels):
    people = scored_network(4, 2, labels, rows=600, seed=2)
    last = people.counts.labels[-1]
    policy = Policy(
        floors=(Floor(last, 0.3), Floor(people.counts.labels[0], keeps=0.3)), ratio_local=0.5
    )
    notion = "eop"
    kernel, exact = (
        FairnessProgram(people, notion, region, rates="labels", policy=policy).solve(0.05, 0.1)
        for region in ("kernel", "exact")
    )
    assert exact.utility.value >= kernel.utility.value - 1e-4
    costs = Utility(
        "costs",
        people.counts.labels,
        tuple(
            tuple(float(y == k) - 5.0 * (y == labels - 1 and k != y) for k in range(labels))
            for y in range(labels)
        ),
    )
    dear = Policy(utility=costs)
    kernel, exact = (
        FairnessProgram(people, notion, region, rates="labels", policy=dear).solve(0.05, 0.1)
        for region in ("kernel", "exact")
    )
    assert exact.utility.value >= kernel.utility.value - 5e-4
    assert exact.bound.upper >= exact.utility.value - 1e-12


def test_the_exact_region_collides_too():
    people = scored_network(3, 2, 3, rows=400, seed=1)
    every = Policy(floors=tuple(Floor(label, 1.0) for label in people.counts.labels))
    with pytest.raises(InfeasibleError) as error:
        FairnessProgram(people, "eo", "exact", rates="labels", policy=every).solve(0.1, 0.1)
    found = error.value.infeasible
    assert set(found.highest_floor) == set(people.counts.labels)
    assert 0 < min(found.highest_floor.values()) < 1


@pytest.mark.parametrize("proof", ["measured", "proved"])
def test_a_floor_with_confidence_holds_on_the_population(proof):
    """Samples of a known population: a floor asked with confidence is met there, too."""
    population = synthetic(4, 2, 2, rows=80_000, seed=7)
    chances = np.asarray(population.table, float)
    rng = np.random.default_rng(1)
    floors = (Floor("l1", 0.6), Floor("l0", keeps=0.1))
    met = {None: [], proof: []}
    for _ in range(30):
        drawn = [rng.multinomial(900, cell / cell.sum()) for cell in chances.reshape(8, 4)]
        sample = ClientCounts(
            np.array(drawn).reshape(chances.shape),
            *(population.clients, population.groups),
            population.labels,
        )
        for name in met:
            guarantee = None if name is None else Guarantee(0.95, "each", proof)
            program = FairnessProgram(
                sample, "eop", guarantee=guarantee, policy=Policy(floors=floors)
            )
            try:
                found = program.solve(1.0, 0.15)
            except InfeasibleError:
                continue
            confusion = np.einsum("cayj,cajk->cayk", chances, found.rules.lottery(found.beta))
            people = chances.sum(axis=3)
            recognised = confusion[:, :, 1, 1] / people[:, :, 1]
            lost = chances[:, :, 0, 0] / people[:, :, 0] - confusion[:, :, 0, 0] / people[:, :, 0]
            met[name].append((recognised >= 0.6 - 1e-9) & (lost <= 0.1 + 1e-9))
    assert len(met[proof]) > 10 and np.mean(met[proof]) >= 0.97
    assert np.mean(met[None]) < np.mean(met[proof])


def test_maps_leave_out_what_collides():
    counts = synthetic(3, 2, 2, rows=900, seed=3)
    floors = tuple(Floor(label, keeps=0.0) for label in counts.labels)
    program = FairnessProgram(counts, "eo", policy=Policy(floors=floors))
    grid = frontier(program, eps_local=[0.0, 0.5, 1.0], eps_global=[0.0, 1.0])
    assert np.isnan(grid.accuracy[0, 0])
    assert grid.accuracy[2, 1] == pytest.approx(counts.model_accuracy)


def test_it_is_said_in_json_and_read_back():
    policy = Policy(
        floors=(Floor("yes", 0.6), Floor("no", keeps=0.05)),
        ratio_local=0.8,
        ratio_leave_out=0.02,
        limits=(parse_limit("race:local:0.05"), parse_limit("sex*race:global:0.1")),
        utility=Utility("costs", ("no", "yes"), ((0.0, -1.0), (-20.0, 0.0))),
        without_group=True,
    )
    assert Policy.from_json(policy.to_json()) == policy
    assert Policy.from_json(None) == Policy() and Policy().to_json() == {}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Floor("yes", 1.2), "between 0 and 1"),
        (lambda: Floor("yes", keeps=-0.1), "between 0 and 1"),
        (lambda: Floor("yes", float("nan")), "between 0 and 1"),
        (lambda: Policy(ratio_local=0.0), "above 0"),
        (lambda: Policy(ratio_global=1.1), "at most 1"),
        (lambda: Policy(floors=(Floor("yes", 0.1), Floor("yes", 0.2))), "two floors"),
        (lambda: parse_floor("yes", "--floor"), "LABEL=NUMBER"),
        (lambda: parse_floor("=0.5", "--keep"), "LABEL=NUMBER"),
        (lambda: parse_limit("race:0.05"), "GROUPING:SCOPE:EPS"),
        (lambda: parse_limit("race:inside:0.05"), "local .* or global"),
        (lambda: parse_limit("race:local:2"), "between 0 and 1"),
        (lambda: Utility("profit"), "no utility"),
        (lambda: Utility.from_json({"labels": ["a", "b"], "gain": [[1]]}), "gain"),
        (lambda: Utility.from_json({"labels": ["a", 2], "gain": [[1, 0], [0, 1]]}), "of names"),
        (lambda: Utility("u", ("a", "b"), ((1.0, float("nan")), (0.0, 1.0))), "no number"),
        (lambda: Utility("u", ("a", "b"), ((1.0, 1.0), (1.0, 1.0))), "nothing is better"),
        (
            lambda: FairnessProgram(
                synthetic(2, 2, 2), policy=Policy(floors=(Floor("maybe", 0.5),))
            ),
            "no label",
        ),
        (
            lambda: FairnessProgram(
                synthetic(2, 2, 2),
                policy=Policy(utility=Utility("u", ("a", "b"), ((1, 0), (0, 1)))),
            ),
            "the people have",
        ),
        (
            lambda: FairnessProgram(
                synthetic(2, 2, 2), guarantee=Guarantee(), policy=Policy(ratio_local=0.8)
            ),
            "not for ratios",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_collision_is_told_where_the_dual_simplex_ends_without_a_word():
    """Seen by chance: no point keeps all rows, and HiGHS said "Unknown" from either start."""
    table = np.ones((3, 2, 3, 3), int)
    table[0] = [[[4, 1, 1], [1, 1, 1], [1, 28, 1]], [[21, 1, 1], [1, 1, 0], [7, 1, 1]]]
    table[1, 0, 0, 0], table[1, 1, 2, 0], table[2, 0, 1, 1] = 28, 0, 9
    counts = ClientCounts(table, ("a", "b", "c"), ("f", "m"), ("x", "y", "z"), "x")
    policy = Policy(floors=(Floor("y", keeps=0.0), Floor("z", keeps=0.125)))
    with pytest.raises(InfeasibleError):
        FairnessProgram(counts, "eo-full", "kernel", policy=policy).solve(0.0, 0.0)
