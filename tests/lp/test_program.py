"""The linear program: what must hold for any counts and policy, and what others make of the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from research.paper.original_form import paper_form, paper_lottery
from tests.helpers.oracles import broken_by, by_enumeration, gain_of, optimum
from tests.helpers.strategies import (
    POLICIES,
    count_tables,
    epsilons,
    notion_and_region,
    questions,
    synthetic,
)


def solved(counts, chosen, overall, local, policy=None):
    """A solution, or None where nothing keeps all that is asked."""
    try:
        return FairnessProgram(counts, *chosen, policy=policy or Policy()).solve(overall, local)
    except InfeasibleError:
        return None


def scale_of(policy, counts):
    return max(1.0, np.abs(gain_of(policy, counts)).max())


@pytest.mark.parametrize("kind", POLICIES)
@given(st.data())
def test_it_agrees_with_a_dense_program_written_from_the_definitions(kind, data):
    counts, chosen, overall, local, policy = data.draw(questions(kind))
    asked = (counts, *chosen, overall, local, policy)
    found, expected = solved(counts, chosen, overall, local, policy), optimum(*asked)
    if found is None:  # what just fits, or just does not, is either to a solver with tolerances
        assert optimum(*asked, slack=-1e-6) is None
        return
    if expected is None:
        expected = optimum(*asked, slack=1e-6)
    tolerance = 1e-7 * scale_of(policy, counts)
    assert found.utility.value == pytest.approx(expected, abs=tolerance)
    assert not found.gaps.overall > overall + 1e-7
    assert not (found.gaps.local > np.array(local) + 1e-7).any()
    lottery = found.rules.lottery(found.beta)
    assert broken_by(counts, chosen[0], overall, local, lottery, policy) <= 1e-6
    np.testing.assert_allclose(lottery.sum(axis=3), 1.0, atol=1e-9)
    assert (found.beta >= 0).all()
    if policy.without_group:
        np.testing.assert_array_equal(lottery, np.broadcast_to(lottery[:, :1], lottery.shape))


@settings(max_examples=15)
@given(
    count_tables(clients=(1, 1), groups=(2, 2), labels=(2, 2)),
    st.sampled_from(["sp", "eop", "eo"]),
    st.sampled_from(["simplex", "kernel"]),
    epsilons,
)
def test_it_equals_the_best_of_all_vertices(counts, notion, region, epsilon):
    found = FairnessProgram(counts, notion, region).solve(epsilon, epsilon).accuracy
    expected = by_enumeration(counts, notion, region, epsilon, epsilon)
    assert found == pytest.approx(expected, abs=1e-8)


@given(
    count_tables(groups=(2, 2), decent=True), st.sampled_from(["eo", "eop"]), epsilons, epsilons
)
def test_it_equals_the_papers_form_where_that_is_defined(counts, notion, overall, local):
    tp = np.einsum("cayy->cay", counts.table) / counts.n_label
    solution = FairnessProgram(counts, notion, "simplex").solve(overall, local)
    reference = paper_form(counts, notion, overall, local)
    # linprog keeps limits to HiGHS's own 1e-7, which is more than the smallest that are asked.
    assert solution.accuracy == pytest.approx(reference.accuracy, abs=1e-7)
    for c, a in np.ndindex(tp.shape[:2]):
        beta = paper_lottery(tp[c, a], reference.z[c, a])
        assert (beta > -1e-7).all() and beta.sum() == pytest.approx(1)


def lenient(policy, by):
    """A policy that asks for less."""
    floors = [
        Floor(one.label, max(one.rate - by, 0.0))
        if one.keeps is None
        else Floor(one.label, keeps=min(1.0, one.keeps + by))
        for one in policy.floors
    ]
    ratios = {
        name: value and max(value - by, 0.01)
        for name in ("ratio_global", "ratio_local")
        if (value := getattr(policy, name)) is not None
    }
    limits = [replace(one, eps=min(1.0, one.eps + by)) for one in policy.limits]
    precision = [replace(one, rate=max(one.rate - by, 0.0)) for one in policy.precision]
    return replace(policy, floors=floors, limits=limits, precision=precision, **ratios)


@pytest.mark.parametrize("kind", ["nothing", "all"])
@given(st.data(), st.floats(0, 0.5), st.floats(0, 0.5))
def test_asking_for_less_never_gives_less(kind, data, by, wider):
    counts, chosen, overall, local, policy = data.draw(questions(kind))
    strict = solved(counts, chosen, overall, local, policy)
    assume(strict is not None)
    limits = min(1.0, overall + wider), np.minimum(1.0, np.array(local) + by)
    loose = solved(counts, chosen, *limits, lenient(policy, by))
    tolerance = 1e-7 * scale_of(policy, counts)
    assert loose.utility.value >= strict.utility.value - tolerance
    if policy.without_group:
        knowing = solved(counts, chosen, overall, local, replace(policy, without_group=False))
        assert knowing.utility.value >= strict.utility.value - tolerance
    if chosen == ("eo", "simplex"):
        kernel = solved(counts, ("eo", "kernel"), overall, local, policy)
        assert kernel.utility.value >= strict.utility.value - tolerance
    if kind == "nothing":
        assert solved(counts, chosen, 1.0, 1.0).accuracy >= counts.model_accuracy - 1e-9


@pytest.mark.parametrize("kind", ["nothing", "floors", "without_group"])
@given(st.data())
def test_the_order_of_clients_groups_and_labels_does_not_matter(kind, data):
    counts, chosen, overall, local, policy = data.draw(questions(kind))
    names = (counts.clients, counts.groups, counts.labels)
    orders = [data.draw(st.permutations(range(len(each)))) for each in names]
    table = counts.table[np.ix_(*orders, orders[2])]
    turned = [tuple(each[i] for i in order) for each, order in zip(names, orders, strict=True)]
    other = ClientCounts(table, *turned, counts.favourable)
    one = solved(counts, chosen, overall, local, policy)
    two = solved(other, chosen, overall, [local[i] for i in orders[0]], policy)
    assume(one is not None and two is not None)
    assert one.utility.value == pytest.approx(two.utility.value, abs=1e-7)


@pytest.mark.parametrize("kind", ["floors", "ratios", "without_group"])
@given(st.data())
def test_a_collision_says_what_would_do(kind, data):
    counts, chosen, overall, local, policy = data.draw(questions(kind))
    local = local[0]
    floors = policy.floors or tuple(Floor(label, 0.7) for label in counts.labels)
    policy = replace(policy, floors=floors)
    program = FairnessProgram(counts, *chosen, policy=policy)
    try:
        program.solve(overall, local)
        return
    except InfeasibleError as error:
        collision = error.infeasible
    assert collision.certain and collision.to_json()["status"] == "collision"
    least = collision.least_global, collision.least_local
    if None not in least:  # together they do, and less of either does not
        assert optimum(counts, *chosen, *least, policy, slack=1e-6) is not None
        assert least != (overall, local) and collision.who
        if least[1] > local + 1e-4:
            assert optimum(counts, *chosen, 1.0, least[1] - 1e-4, policy) is None
        if least[0] > overall + 1e-4:
            assert optimum(counts, *chosen, least[0] - 1e-4, least[1], policy) is None
    else:
        assert optimum(counts, *chosen, 1.0, 1.0, policy, slack=-1e-6) is None
    lowered = [
        replace(one, rate=collision.highest_floor[one.label])
        if one.keeps is None
        else replace(one, keeps=collision.highest_keep[one.label])
        for one in floors
    ]
    fits = replace(policy, floors=lowered)
    assert optimum(counts, *chosen, overall, local, fits, slack=1e-6) is not None


@given(count_tables(), notion_and_region(), epsilons, epsilons)
def test_where_one_group_has_all_the_people_not_knowing_it_costs_nothing(
    counts, chosen, overall, local
):
    table = counts.table.copy()
    table[:, 1:] = 0
    table[table.sum(axis=(1, 2, 3)) == 0, 0, 0, 0] = 1
    alone = replace(counts, table=table)
    knowing, blind = (
        solved(alone, chosen, overall, local, Policy(without_group=one)) for one in (False, True)
    )
    assert blind.accuracy == pytest.approx(knowing.accuracy, abs=1e-9)
    # And who comes from a group that nobody was of gets that group's lottery, not the model's.
    np.testing.assert_array_equal(blind.beta[:, 0], blind.beta[:, -1])


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


grids = st.lists(epsilons, min_size=1, max_size=4)


@given(
    count_tables(clients=(1, 4), groups=(2, 2), labels=(2, 2)), notion_and_region(), grids, grids
)
def test_each_cell_is_the_optimum_and_keeps_its_limits(counts, chosen, local, overall):
    found = frontier(FairnessProgram(counts, *chosen), eps_local=local, eps_global=overall)
    for i, inside in enumerate(local):
        for j, across in enumerate(overall):
            expected = optimum(counts, *chosen, across, inside)
            assert found.accuracy[i, j] == pytest.approx(expected, abs=1e-7)
    assert (np.nan_to_num(found.gap_global) <= np.array(overall) + 1e-7).all()
    assert (np.nan_to_num(found.gap_local_worst) <= np.array(local)[:, None] + 1e-7).all()
    mean, worst = np.nan_to_num(found.gap_local_mean), np.nan_to_num(found.gap_local_worst)
    assert (mean <= worst + 1e-12).all()


def test_each_cell_is_what_one_solve_gives():
    counts = synthetic(5, 2, 3)
    grid = [0.0, 0.05, 0.2]
    heard = []
    found = frontier(
        FairnessProgram(counts, "eo", "kernel"),
        eps_local=grid,
        eps_global=grid,
        on_progress=lambda done, total: heard.append((done, total)),
    )
    for i, local in enumerate(grid):
        for j, overall in enumerate(grid):
            alone = FairnessProgram(counts, "eo", "kernel").solve(overall, local)
            assert found.accuracy[i, j] == pytest.approx(alone.accuracy, abs=1e-9)
    assert heard == [(3, 9), (6, 9), (9, 9)]


def test_an_empty_grid_is_refused():
    program = FairnessProgram(synthetic(3, 2, 2), "sp")
    with pytest.raises(InputError, match="grid is empty"):
        frontier(program, eps_local=[], eps_global=[0.1])
