"""The linear program: what must hold for any counts, and what others make of the same counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, SolveError
from fairfl_core.lp.program import FairnessProgram
from research.paper.original_form import paper_form, paper_lottery
from tests.helpers.oracles import by_enumeration, optimum
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic


@given(count_tables(), notion_and_region(), epsilons, epsilons)
def test_is_feasible_for_any_counts_and_meets_every_constraint(counts, chosen, overall, local):
    solution = FairnessProgram(counts, *chosen).solve(overall, local)
    assert solution.status == "optimal"
    assert np.isnan(solution.gaps.overall) or solution.gaps.overall <= overall + 1e-7
    assert np.nanmax([*solution.gaps.local, 0.0]) <= local + 1e-7
    assert (solution.beta >= 0).all()
    lottery = solution.rules.lottery(solution.beta)
    np.testing.assert_allclose(lottery.sum(axis=3), 1.0, atol=1e-9)


@given(count_tables(), notion_and_region(), epsilons, epsilons)
def test_equals_a_dense_program_written_from_the_definitions(counts, chosen, overall, local):
    found = FairnessProgram(counts, *chosen).solve(overall, local).accuracy
    assert found == pytest.approx(optimum(counts, *chosen, overall, local), abs=1e-8)


@settings(max_examples=15)
@given(
    count_tables(clients=(1, 1), groups=(2, 2), labels=(2, 2)),
    st.sampled_from(["sp", "eop", "eo"]),
    st.sampled_from(["simplex", "kernel"]),
    epsilons,
)
def test_equals_the_best_of_all_vertices(counts, notion, region, epsilon):
    found = FairnessProgram(counts, notion, region).solve(epsilon, epsilon).accuracy
    expected = by_enumeration(counts, notion, region, epsilon, epsilon)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    "table",
    [
        [[[[25, 19], [15, 8]], [[9, 1], [2, 0]]]],
        [[[[11, 26], [4, 17]], [[21, 25], [15, 11]]]],
        [[[[20, 29], [10, 23]], [[3, 14], [0, 12]]]],
    ],
)
def test_the_dense_program_is_exact_where_epsilons_are_tiny(table):
    """Solved to HiGHS's own tolerance it would be off by what is asked there."""
    counts = ClientCounts(table, ("a",), ("f", "m"), ("no", "yes"))
    for epsilon in (1e-7, 1e-8, 1e-9):
        best = by_enumeration(counts, "eo", "kernel", epsilon, epsilon)
        assert optimum(counts, "eo", "kernel", epsilon, epsilon) == pytest.approx(best, abs=1e-9)


@given(
    count_tables(groups=(2, 2), decent=True), st.sampled_from(["eo", "eop"]), epsilons, epsilons
)
def test_equals_the_papers_form_where_that_is_defined(counts, notion, overall, local):
    tp = np.einsum("cayy->cay", counts.table) / counts.n_label
    solution = FairnessProgram(counts, notion, "simplex").solve(overall, local)
    reference = paper_form(counts, notion, overall, local)
    # linprog keeps limits to HiGHS's own 1e-7, which is more than the smallest that are asked.
    assert solution.accuracy == pytest.approx(reference.accuracy, abs=1e-7)
    for c, a in np.ndindex(tp.shape[:2]):
        beta = paper_lottery(tp[c, a], reference.z[c, a])
        assert (beta > -1e-7).all() and beta.sum() == pytest.approx(1)


def test_the_papers_form_fails_where_ours_does_not():
    """A model worse than chance in one cell: true positives that sum to less than one."""
    table = synthetic(2, 2, 2).table.copy()
    table[0, 0] = [[10, 40], [40, 10]]
    counts = ClientCounts(table, ("c0", "c1"), ("g0", "g1"), ("l0", "l1"))
    with pytest.raises(SolveError, match="no optimum"):
        paper_form(counts, "eo", 0.05, 0.05)
    assert FairnessProgram(counts, "eo").solve(0.05, 0.05).status == "optimal"


@given(count_tables(), notion_and_region(), st.lists(epsilons, min_size=2, max_size=4), epsilons)
def test_accuracy_does_not_fall_when_an_epsilon_grows(counts, chosen, several, other):
    program = FairnessProgram(counts, *chosen)
    for pairs in ([(e, other) for e in sorted(several)], [(other, e) for e in sorted(several)]):
        accuracy = [program.solve(*pair).accuracy for pair in pairs]
        assert (np.diff(accuracy) >= -1e-9).all()


@given(count_tables(), notion_and_region(), epsilons, epsilons, st.randoms())
def test_order_of_clients_groups_and_labels_does_not_matter(
    counts, chosen, overall, local, random
):
    orders = [list(range(size)) for size in counts.table.shape[:3]]
    for order in orders:
        random.shuffle(order)
    c, a, y = orders
    shuffled = ClientCounts(
        counts.table[np.ix_(c, a, y, y)],
        tuple(counts.clients[i] for i in c),
        tuple(counts.groups[i] for i in a),
        tuple(counts.labels[i] for i in y),
        counts.favourable,
    )
    one = FairnessProgram(counts, *chosen).solve(overall, local)
    two = FairnessProgram(shuffled, *chosen).solve(overall, local)
    assert one.accuracy == pytest.approx(two.accuracy, abs=1e-9)


@given(count_tables(), st.sampled_from(["sp", "eop", "eo"]), epsilons, epsilons)
def test_kernel_contains_simplex_and_no_limit_costs_nothing(counts, notion, overall, local):
    simplex = FairnessProgram(counts, notion, "simplex")
    kernel = FairnessProgram(counts, notion, "kernel")
    assert kernel.solve(overall, local).accuracy >= simplex.solve(overall, local).accuracy - 1e-9
    assert simplex.solve(1, 1).accuracy >= counts.model_accuracy - 1e-9


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("notion", ["sp", "eop", "eo"])
def test_prices_are_the_slopes_of_the_optimum(notion, groups):
    counts = synthetic(4, groups, 2, seed=groups)
    program = FairnessProgram(counts, notion)
    local = np.array([0.013, 0.021, 0.034, 0.055])
    step = 1e-7

    def accuracy(overall, eps):
        return program.solve(overall, eps).accuracy

    at = program.solve(0.017, local)
    slope = (accuracy(0.017 + step, local) - at.accuracy) / step
    assert at.price_global == pytest.approx(slope, abs=1e-6)
    for c in range(4):
        more = local + step * (np.arange(4) == c)
        slope = (accuracy(0.017, more) - at.accuracy) / step
        assert at.price_local[c] == pytest.approx(slope, abs=1e-6)
    assert at.price_local.max() > 0


@given(count_tables(), notion_and_region())
def test_a_price_is_never_less_than_what_more_tolerance_buys(counts, chosen):
    """At epsilon 0 there is a kink: the dual is an upper bound of the slope, and so it is called."""
    program = FairnessProgram(counts, *chosen)
    at, step = program.solve(0.0, 0.0), 1e-4
    more = program.solve(step, 0.0).accuracy
    assert (more - at.accuracy) / step <= at.price_global + 1e-3


@pytest.mark.parametrize("tiny", [1e-9, 1e-10, 1e-12])
def test_an_epsilon_below_the_solvers_tolerance_is_solved(tiny):
    counts = ClientCounts(
        [[[[6, 30], [2, 10]], [[18, 24], [9, 12]]]], ("a",), ("f", "m"), ("no", "yes")
    )
    program = FairnessProgram(counts, "eo")
    expected = program.solve(0.0, 0.0).accuracy
    for pair in ((tiny, 0.0), (0.0, tiny), (tiny, tiny)):
        assert program.solve(*pair).accuracy == pytest.approx(expected, abs=1e-7)


def test_a_tiny_client_beside_a_huge_one_still_counts():
    table = np.stack([synthetic(1, 2, 2, rows=40).table[0], synthetic(1, 2, 2).table[0] * 10**7])
    counts = ClientCounts(table, ("small", "large"), ("f", "m"), ("no", "yes"))
    solution = FairnessProgram(counts, "eo").solve(0.0, 0.0)
    assert solution.gaps.overall < 1e-8 and (solution.gaps.local < 1e-8).all()


def test_binding_constraints_are_named_and_sit_at_their_limit():
    counts = synthetic(3, 2, 2, seed=5)
    solution = FairnessProgram(counts, "eop").solve(0.01, {"c0": 0.02, "c1": 1.0, "c2": 0.03})
    for name in solution.binding:
        scope, rate = name.split(": ")
        assert rate == "Pr(answer=l1 | label=l1)"
        if scope == "global":
            assert solution.gaps.overall == pytest.approx(0.01, abs=1e-9)
        else:
            c = counts.clients.index(scope.removeprefix("local "))
            assert solution.gaps.local[c] == pytest.approx(solution.eps_local[c], abs=1e-9)
            assert solution.price_local[c] > 0
    assert any(name.startswith("local c0") for name in solution.binding)
    assert not any("c1" in name for name in solution.binding)


def test_empty_cells_are_left_out_and_named():
    table = synthetic(3, 3, 2).table.copy()
    table[0, 1, 1] = 0  # nobody of group g1 with label l1 in c0
    table[1, 1:] = 0  # client c1 has group g0 only
    counts = ClientCounts(table, ("c0", "c1", "c2"), ("g0", "g1", "g2"), ("l0", "l1"))
    solution = FairnessProgram(counts, "eop").solve(0.0, 0.0)
    missing = {(cell.client, cell.group, cell.label, cell.n) for cell in solution.not_assessable}
    assert missing == {("c0", "g1", "l1", 0.0), ("c1", "g1", "l1", 0.0), ("c1", "g2", "l1", 0.0)}
    assert np.isnan(solution.gaps.local[1]) and not np.isnan(solution.gaps.local[[0, 2]]).any()
    assert solution.gaps.local_mean == pytest.approx(0.0, abs=1e-9)  # over two clients
    expected = optimum(counts, "eop", "simplex", 0.0, 0.0)
    assert solution.accuracy == pytest.approx(expected, abs=1e-9)


def test_people_no_data_speaks_of_keep_the_models_answer():
    table = synthetic(2, 2, 2).table.copy()
    table[0, 1] = 0
    table[1, 0, :, 1] = 0  # there the model never says l1
    counts = ClientCounts(table, ("c0", "c1"), ("g0", "g1"), ("l0", "l1"))
    for region in ("simplex", "kernel"):
        solution = FairnessProgram(counts, "sp", region).solve(0.0, 0.0)
        lottery = solution.rules.lottery(solution.beta)
        np.testing.assert_array_equal(lottery[0, 1], np.eye(2))
    np.testing.assert_array_equal(lottery[1, 0, 1], [0, 1])


def test_a_solver_that_stops_early_is_an_error_with_its_reason():
    program = FairnessProgram(synthetic(20, 2, 3), "eo")
    program._own_solver()._highs._highs.setOptionValue("simplex_iteration_limit", 1)
    with pytest.raises(SolveError, match="(?i)iteration limit"):
        program.solve(0.01, 0.01)


def test_what_cannot_be_asked_is_said():
    counts = synthetic(2, 2, 2)
    with pytest.raises(InputError, match='needs the region "kernel"'):
        FairnessProgram(counts, "eo-full", "simplex")
    with pytest.raises(InputError, match="no notion"):
        FairnessProgram(counts, "fair")
    with pytest.raises(InputError, match="no region"):
        FairnessProgram(counts, "eo", "circle")
    program = FairnessProgram(counts, "eo")
    for wrong in (-0.1, 1.1, float("nan"), "much", None):
        with pytest.raises(InputError, match="between 0 and 1"):
            program.solve(wrong, 0.1)
        with pytest.raises(InputError, match="between 0 and 1"):
            program.solve(0.1, wrong)
    with pytest.raises(InputError, match='"elsewhere" is not a client'):
        program.solve(0.1, {"c0": 0.1, "c1": 0.1, "elsewhere": 0.1})
    with pytest.raises(InputError, match='"c1" has none'):
        program.solve(0.1, {"c0": 0.1})
    for clients, named in ((8, "c6, c7"), (9, r"c6, c7 \.\.\.")):
        with pytest.raises(InputError, match=f"the clients are c0, c1, .*{named}[.]$"):
            FairnessProgram(synthetic(clients, 2, 2)).solve(0.1, {"c0": 0.1})
    with pytest.raises(InputError, match="3 values for 2 clients"):
        program.solve(0.1, [0.1, 0.2, 0.3])
