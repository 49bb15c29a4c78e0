"""One rule for all groups of a client: against a dense program over shared weights."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from tests.helpers.oracles import EXACT, rates_of, rules_of, shares
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic

BLIND = Policy(without_group=True)
tables = count_tables(clients=(1, 3), groups=(2, 3), labels=(2, 3))


def dense(counts, notion, region, eps_global, eps_local, floors=()):
    """The best accuracy over x[client, rule], one weight for all groups; None if there is none."""
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    rules = rules_of(region, labels)
    correct = np.zeros((clients, len(rules)))
    for (c, p), (a, said) in (
        (one, other) for one in np.ndindex(correct.shape) for other in np.ndindex(groups, labels)
    ):
        correct[c, p] += table[c, a, rules[p][said], said]
    rows, limits = [np.zeros(correct.size)], [0.0]

    def at_most(row, limit):
        rows.append(row.ravel())
        limits.append(limit)

    for rate in rates_of(notion, labels, counts.labels.index(counts.favourable)):
        hits, people = shares(table, rules, rate)  # (clients, groups, rules), (clients, groups)
        for a, b in combinations(range(groups), 2):
            for c in range(clients):
                if people[c, a] > 0 and people[c, b] > 0:
                    row = np.zeros_like(correct)
                    row[c] = hits[c, a] / people[c, a] - hits[c, b] / people[c, b]
                    at_most(row, eps_local[c])
                    at_most(-row, eps_local[c])
            whole = people.sum(axis=0)
            if whole[a] > 0 and whole[b] > 0:
                row = hits[:, a] / whole[a] - hits[:, b] / whole[b]
                at_most(row, eps_global)
                at_most(-row, eps_global)
    for floor in floors:
        y = counts.labels.index(floor.label)
        hits, people = shares(table, rules, (y, y))
        for c, a in zip(*np.nonzero(people), strict=True):
            row = np.zeros_like(correct)
            row[c] = -hits[c, a] / people[c, a]
            at_most(row, -floor.rate)
    mixing = np.kron(np.eye(clients), np.ones(len(rules)))
    found = linprog(
        -correct.ravel(), rows, limits, mixing, np.ones(clients), method="highs", options=EXACT
    )
    return -found.fun / table.sum() if found.status == 0 else None


@given(tables, notion_and_region(), st.data())
def test_the_program_agrees_with_a_dense_one(counts, chosen, data):
    overall = data.draw(epsilons)
    local = [data.draw(epsilons) for _ in counts.clients]
    found = FairnessProgram(counts, *chosen, policy=BLIND).solve(overall, local)
    expected = dense(counts, *chosen, overall, local)
    assert found.accuracy == pytest.approx(expected, abs=1e-7)
    # What the lottery reaches, from the lottery alone.
    lottery = found.rules.lottery(found.beta)
    confusion = np.einsum("cayj,cajk->cayk", np.asarray(counts.table, float), lottery)
    assert np.einsum("cayy->", confusion) / counts.n == pytest.approx(expected, abs=1e-7)
    assert not found.gaps.overall > overall + 1e-7
    assert not (found.gaps.local > np.array(local) + 1e-7).any()


@given(tables, notion_and_region(), st.data())
def test_and_floors_are_kept_or_collide_as_there(counts, chosen, data):
    floors = tuple(
        Floor(label, data.draw(st.sampled_from([0.0, 0.3, 0.6, 0.9]))) for label in counts.labels
    )
    overall = data.draw(epsilons)
    local = [data.draw(epsilons) for _ in counts.clients]
    expected = dense(counts, *chosen, overall, local, floors)
    program = FairnessProgram(counts, *chosen, policy=replace(BLIND, floors=floors))
    try:
        found = program.solve(overall, local)
    except InfeasibleError as error:
        lowered = error.infeasible.highest_floor
        nearly = max(one.rate - lowered[one.label] for one in floors) < 1e-6
        assert expected is None or nearly
        fits = [Floor(one.label, max(lowered[one.label] - 1e-6, 0.0)) for one in floors]
        program.asking(replace(BLIND, floors=tuple(fits))).solve(overall, local)
        return
    assert found.accuracy == pytest.approx(expected, abs=1e-7)


def test_a_collision_with_confidence_says_what_would_do_here_too():
    """Cuts of the overall margin, found column by column, are about shared weights."""
    counts = synthetic(4, 2, 2, rows=4000, seed=1)
    floors = tuple(Floor(label, 0.6) for label in counts.labels)
    program = FairnessProgram(
        counts,
        "eo",
        "kernel",
        guarantee=Guarantee(0.9),
        policy=replace(BLIND, floors=floors),
    )
    with pytest.raises(InfeasibleError) as error:
        program.solve(0.01, 0.5)
    found = error.value.infeasible
    assert found.least_global > 0.01
    program.solve(found.least_global + 1e-6, found.least_local + 1e-6)
    with pytest.raises(InfeasibleError):
        program.solve(found.least_global - 1e-4, found.least_local)


@given(tables, notion_and_region(), st.data())
def test_every_group_of_a_client_has_the_same_lottery(counts, chosen, data):
    guarantee = data.draw(
        st.sampled_from([None, Guarantee(0.8), Guarantee(0.8, "each", "proved")])
    )
    program = FairnessProgram(counts, *chosen, policy=BLIND, guarantee=guarantee)
    beta = program.solve(data.draw(epsilons), data.draw(epsilons)).beta
    np.testing.assert_array_equal(beta, np.broadcast_to(beta[:, :1], beta.shape))


@given(tables, notion_and_region(), st.data())
def test_it_is_never_better_than_with_the_group(counts, chosen, data):
    """Nor with confidence: shared weights are among the others."""
    guarantee = data.draw(st.sampled_from([None, Guarantee(0.8)]))
    limits = data.draw(epsilons), [data.draw(epsilons) for _ in counts.clients]
    knowing, blind = (
        FairnessProgram(counts, *chosen, policy=policy, guarantee=guarantee).solve(*limits)
        for policy in (Policy(), BLIND)
    )
    assert blind.accuracy <= knowing.accuracy + 1e-7


@given(tables, notion_and_region(), epsilons, epsilons)
def test_where_one_group_has_all_the_people_it_costs_nothing(counts, chosen, overall, local):
    table = counts.table.copy()
    table[:, 1:] = 0
    table[table.sum(axis=(1, 2, 3)) == 0, 0, 0, 0] = 1
    alone = replace(counts, table=table)
    knowing, blind = (
        FairnessProgram(alone, *chosen, policy=policy).solve(overall, local)
        for policy in (Policy(), BLIND)
    )
    assert blind.accuracy == pytest.approx(knowing.accuracy, abs=1e-9)
    # And who comes from a group that nobody was of gets that group's lottery, not the model's.
    np.testing.assert_array_equal(blind.beta[:, 0], blind.beta[:, -1])


@given(tables, notion_and_region(), st.data())
def test_the_order_of_groups_does_not_matter(counts, chosen, data):
    order = data.draw(st.permutations(range(len(counts.groups))))
    turned = ClientCounts(
        counts.table[:, order],
        counts.clients,
        tuple(counts.groups[a] for a in order),
        counts.labels,
        counts.favourable,
    )
    limits = data.draw(epsilons), data.draw(epsilons)
    one, two = (
        FairnessProgram(people, *chosen, policy=BLIND).solve(*limits)
        for people in (counts, turned)
    )
    assert one.accuracy == pytest.approx(two.accuracy, abs=1e-7)


def test_a_cell_without_people_takes_the_clients_lottery():
    """One block is empty in one group only: the model's answer there would tell the groups apart."""
    table = np.zeros((2, 2, 2, 2), int)
    table[0] = [[[40, 10], [20, 30]], [[0, 0], [0, 0]]]
    table[1] = [[[30, 20], [10, 40]], [[60, 0], [40, 0]]]  # the model never says yes to one group
    counts = ClientCounts(table, ("a", "b"), ("f", "m"), ("no", "yes"))
    for region in ("simplex", "kernel"):
        found = FairnessProgram(counts, "sp", region, policy=BLIND).solve(0.0, 0.0)
        lottery = found.rules.lottery(found.beta)
        np.testing.assert_array_equal(lottery[:, 0], lottery[:, 1])
        assert found.gaps.overall <= 1e-7


def test_a_block_that_nobody_of_the_client_falls_into_keeps_the_models_answer():
    table = np.zeros((1, 2, 3, 3), int)
    table[0, :, :, :2] = [[[30, 9], [8, 30], [5, 5]], [[10, 20], [20, 12], [9, 1]]]
    counts = ClientCounts(table, ("a",), ("f", "m"), ("x", "y", "z"))
    found = FairnessProgram(counts, "sp", "kernel", policy=BLIND).solve(0.0, 0.0)
    assert (found.rules.lottery(found.beta)[0, :, 2] == [0, 0, 1]).all()


def test_a_utility_and_ratios_go_with_it():
    counts = synthetic(4, 3, 2, rows=900, seed=3)
    policy = replace(BLIND, utility=BALANCED, ratio_local=0.9)
    found = FairnessProgram(counts, "sp", "kernel", policy=policy).solve(0.1, 0.1)
    knowing = FairnessProgram(
        counts, "sp", "kernel", policy=replace(policy, without_group=False)
    ).solve(0.1, 0.1)
    assert found.utility.value < knowing.utility.value
    lottery = found.rules.lottery(found.beta)
    table = np.asarray(counts.table, float)
    rate = np.einsum("cayj,caj->ca", table, lottery[..., 1]) / table.sum(axis=(2, 3))
    assert (rate.min(axis=1) >= 0.9 * rate.max(axis=1) - 1e-7).all()


def test_a_map_of_it_is_solved_cell_by_cell():
    counts = synthetic(3, 2, 2, rows=600, seed=1)
    program = FairnessProgram(counts, "eop", policy=BLIND)
    grid = frontier(program, eps_local=[0.0, 0.1], eps_global=[0.0, 1.0])
    for i, local in enumerate((0.0, 0.1)):
        for j, overall in enumerate((0.0, 1.0)):
            expected = dense(counts, "eop", "simplex", overall, [local] * 3)
            assert grid.accuracy[i, j] == pytest.approx(expected, abs=1e-7)


def test_another_policy_turns_it_off_and_on_again():
    counts = synthetic(3, 2, 2, rows=600, seed=2)
    plain = FairnessProgram(counts, "eo")
    blind = plain.asking(BLIND)
    again = blind.asking(Policy())
    solved = [one.solve(0.01, 0.02) for one in (plain, blind, again)]
    assert solved[1].accuracy < solved[0].accuracy
    np.testing.assert_array_equal(solved[0].beta, solved[2].beta)
    fresh = FairnessProgram(counts, "eo", policy=BLIND).solve(0.01, 0.02)
    np.testing.assert_array_equal(solved[1].beta, fresh.beta)
