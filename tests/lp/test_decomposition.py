"""Clients solved apart: the optimum, the lottery and the prices that HiGHS finds for the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.lp import decomposition
from fairfl_core.lp.decomposition import Decomposition
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.highs import FullSolver
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from tests.helpers.scored import exact_program, scored_network, scored_people
from tests.helpers.strategies import biased, count_tables, epsilons, notion_and_region

pairs_of_groups = count_tables(clients=(1, 6), groups=(2, 2), labels=(2, 3))
policies = st.sampled_from([Policy(), Policy(utility=BALANCED), Policy(without_group=True)])
local_limits = st.one_of(epsilons, st.lists(epsilons, min_size=6, max_size=6))


def both_ways(program, eps_global, eps_local):
    """(values, duals) apart and whole, of one program."""
    whole = program.linear_program
    local = np.resize(np.asarray(eps_local, float), len(program.counts.clients))
    return whole.objective, [
        kind(whole).solve(eps_global, local) for kind in (Decomposition, FullSolver)
    ]


@given(pairs_of_groups, notion_and_region(), policies, epsilons, local_limits)
def test_apart_and_whole_are_worth_the_same(counts, chosen, policy, overall, local):
    program = FairnessProgram(counts, *chosen, policy=policy)
    worth, ((apart, duals), (whole, _)) = both_ways(program, overall, local)
    per_person = program._objective.utility_per_unit
    # A limit within a solver's tolerance may be kept as if it were 0, or twice itself.
    hair = max((limit for limit in (overall, *np.ravel(local)) if limit < 1e-7), default=0.0)
    assert abs(worth @ (apart - whole)) * per_person <= 1e-8 + 2 * hair
    lp = program.linear_program
    confusion = lp.rules.expected_counts(lp.shares @ apart, *counts.table.shape[:2])
    assert (apart >= 0).all() and np.allclose(confusion.sum(axis=3), counts.n_label, atol=1e-7)
    # Weak duality, from the rows alone: no lottery is worth more than this.
    rows = lp.constraints
    lower, upper = rows.bounds(overall, np.resize(local, len(counts.clients)))
    if len(duals) != len(rows):
        return  # it was solved in one piece after all
    reduced = worth + lp.matrix.T @ duals
    most = np.full(lp.variables.blocks, -np.inf)
    np.maximum.at(most, lp.variables.block, reduced)
    bound = most.sum() - np.where(duals > 0, lower * duals, upper * duals).sum()
    tiny = min(overall, np.min(local)) < 1e-6 < max(overall, np.max(local))
    assert (bound - worth @ apart) * per_person <= (1e-8 if tiny else 1e-9) + 2 * hair


@settings(max_examples=20)
@given(scored_people(labels=(2, 2)), st.sampled_from(["sp", "eop", "eo"]), epsilons, epsilons)
def test_so_they_are_over_the_cuts_of_a_score(people, notion, overall, local):
    if len(people.groups) != 2:
        return
    program = exact_program(people, notion)
    worth, ((apart, _), (whole, _)) = both_ways(program, overall, local)
    assert abs(worth @ (apart - whole)) * program._objective.utility_per_unit <= 1e-8


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize(("notion", "region"), [("eo", "simplex"), ("eop", "kernel")])
def test_lottery_and_prices_are_the_same_where_they_are_unique(labels, notion, region):
    counts = biased(40, labels, rows=700, seed=labels)
    program = FairnessProgram(counts, notion, region)
    local = np.linspace(0.011, 0.2, 40)
    _, ((apart, duals), (whole, expected)) = both_ways(program, 0.0137, local)
    np.testing.assert_allclose(apart, whole, atol=1e-8)
    np.testing.assert_allclose(duals, expected[: len(duals)], atol=1e-7)
    assert (
        np.abs(duals[: len(program.constraints)][program.constraints.scope < 0]) > 1e-3
    ).any()  # the overall rows bind


def test_every_cell_of_a_map_is_what_one_solve_gives():
    counts = biased(60, 2, rows=300)
    program = FairnessProgram(counts, "eo")
    solver = solver_apart(program)
    overall, local = [0.2, 0.0, 0.03, 0.03, 1.0], [0.0, 0.02, 0.3, 0.1]
    rows = solver.grid(overall, [np.full(60, eps) for eps in local])
    for eps_local, row in zip(local, rows, strict=True):
        for eps_global, values in zip(overall, row, strict=True):
            alone, _ = solver_apart(program).solve(eps_global, np.full(60, eps_local))
            np.testing.assert_allclose(values, alone, atol=1e-9)


def solver_apart(program):
    return Decomposition(program.linear_program)


def test_the_same_question_has_the_same_answer_to_the_last_bit():
    program = FairnessProgram(biased(600, 2, rows=200), "eo", "kernel")
    assert isinstance(program._own_solver(), Decomposition)
    first = program.solve(0.01, 0.05)
    program.solve(0.3, 0.0), program.solve(0.0, 1.0)
    again, fresh = program.solve(0.01, 0.05), FairnessProgram(program.counts, "eo", "kernel")
    for other in (again, fresh.solve(0.01, 0.05)):
        np.testing.assert_array_equal(first.beta, other.beta)
        np.testing.assert_array_equal(first.price_local, other.price_local)
        assert first.price_global == other.price_global


@pytest.mark.parametrize(
    ("notion", "region", "labels"),
    [("eo", "kernel", 3), ("sp", "kernel", 2), ("eo", "simplex", 3)],
)
def test_the_order_of_rules_decides_no_tie(notion, region, labels):
    """Twelve people a client have many optima; without the tie-break these differ."""
    whole = FairnessProgram(biased(60, labels, rows=12), notion, region).linear_program
    shuffled = np.random.default_rng(0).permutation(len(whole.rules))
    other = LinearProgram.of(
        whole.constraints,
        whole.rules.take(shuffled),
        whole.objective[shuffled],
        whole.tie_break[shuffled],
    )
    for overall, inside in ((0.02, 0.05), (0.0, 0.1), (0.05, 0.0)):
        local = np.full(60, inside)
        one, two = (
            program.weights(Decomposition(program).solve(overall, local)[0])
            for program in (whole, other)
        )
        np.testing.assert_allclose(one[shuffled], two, atol=1e-9)


def test_what_cannot_be_taken_apart_is_solved_whole():
    """Three groups have levels, floors forbid one answer for everybody, margins couple more."""
    two, three = biased(700, 2, rows=100), scored_network(2, 3, 2).counts
    floor = Policy(floors=(Floor("l1", rate=0.2),))
    for program in (
        FairnessProgram(three, "eo"),
        FairnessProgram(two, "eo", policy=floor),
        FairnessProgram(two, "sp", guarantee=Guarantee()),
        FairnessProgram(two, "sp", policy=Policy(ratio_global=0.8)),
    ):
        assert not Decomposition.serves(program.linear_program)
        assert not isinstance(program._own_solver(), Decomposition)
    small = FairnessProgram(biased(50, 2), "eo")
    assert Decomposition.serves(small.linear_program)
    assert isinstance(small._own_solver(), FullSolver)  # HiGHS has less to set up
    many = exact_program(scored_network(260, 2, 2, rows=120), "eo")
    assert isinstance(many._own_solver(), Decomposition)


# -------------------------------------------------------------------- where patience ends


def apart_and_whole(labels=2):
    program = FairnessProgram(biased(40, labels, rows=300), "eo", "kernel")
    whole = program.linear_program
    return whole.objective, Decomposition(whole), FullSolver(whole)


@pytest.mark.parametrize("limit", ["_MOST_PIVOTS", "_MOST_ROUNDS"])
def test_what_does_not_settle_apart_is_solved_whole(monkeypatch, limit):
    _, apart, whole = apart_and_whole()
    monkeypatch.setattr(decomposition, limit, 1)
    local = np.full(40, 0.02)
    for one, other in zip(apart.solve(0.01, local), whole.solve(0.01, local), strict=True):
        np.testing.assert_array_equal(one, other)
    (found,), (expected,) = (list(way.grid([0.01, 0.2], [local])) for way in (apart, whole))
    np.testing.assert_allclose(found, expected, atol=1e-9)
