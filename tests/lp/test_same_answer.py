"""The same question, the same answer: whatever was solved before, in whichever thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.highs import FullSolver
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.scored import scored_network
from tests.helpers.strategies import count_tables, epsilons, notion_and_region

paths = st.lists(st.tuples(epsilons, epsilons), min_size=2, max_size=8)


def assert_same(one, two):
    np.testing.assert_array_equal(one.beta, two.beta)
    np.testing.assert_array_equal(one.price_local, two.price_local)
    assert (one.accuracy, one.price_global, one.binding) == (
        two.accuracy,
        two.price_global,
        two.binding,
    )


def walk(build, path):
    """Solve along a path: each solution is a new program's, and is found again at the end."""
    warm = build()
    walked = [warm.solve(*pair) for pair in path]
    for pair, solution in zip(path, walked, strict=True):
        assert_same(build().solve(*pair), solution)
        assert_same(warm.solve(*pair), solution)


@given(count_tables(), notion_and_region(), paths)
def test_a_solution_does_not_depend_on_what_was_solved_before(counts, chosen, path):
    walk(lambda: FairnessProgram(counts, *chosen), path)


@settings(max_examples=4)  # each is a hundred times the work of one without a guarantee
@given(
    count_tables(groups=(2, 3), labels=(2, 3)),
    notion_and_region(),
    paths.map(lambda path: path[:3]),
)
def test_nor_with_a_guarantee(counts, chosen, path):
    walk(lambda: FairnessProgram(counts, *chosen, guarantee=Guarantee(0.8)), path)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("rates", ["labels", "scores", "shrunk"])
def test_nor_in_the_exact_region(labels, rates):
    people = scored_network(3, 2, labels, rows=150)
    rng = np.random.default_rng(labels)
    path = [tuple(rng.choice([0.0, 0.01, 0.05, 0.2, 1.0], 2)) for _ in range(8)]
    warm = FairnessProgram(people, "eo", "exact", rates=rates)
    walked = [warm.solve(*pair) for pair in path]
    for pair, solution in zip(path, walked, strict=True):
        fresh = FairnessProgram(people, "eo", "exact", rates=rates).solve(*pair)
        assert_same(fresh, solution)


def test_nor_on_real_people_nor_on_threads():
    """The case that was seen: 50 states, a sweep of limits and back again."""
    experiment = experiments.open("public_coverage")
    counts = experiment.counts(0, "validation")
    people = ScoredData.from_experiment(experiment, 0, "validation")
    for build in (
        lambda: FairnessProgram(counts, "eop"),
        lambda: FairnessProgram(counts, "eo", "kernel"),
        lambda: FairnessProgram(people, "eop", "exact"),
    ):
        shared, pairs = build(), [(e, f) for e in (0.0, 0.01, 0.1) for f in (0.0, 0.05, 0.3)]
        cold = [build().solve(*pair) for pair in pairs]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(shared.solve, *zip(*(pairs[::-1] + pairs), strict=True)))
        for pair, solution in zip(pairs[::-1] + pairs, together, strict=True):
            assert_same(cold[pairs.index(pair)], solution)


# -------------------------------------------------------------------- whatever the way to it


def assert_decided(program, limits, seed=0, atol=1e-9):
    """One lottery, whatever the order of columns and whichever way leads to it."""
    lp, rng = program.linear_program, np.random.default_rng(seed)
    fall_back = program.guarantee is None
    local = [np.full(len(program.counts.clients), inside) for _, inside in limits]
    found = [
        lp.weights(FullSolver(lp).solve(overall, each)[0], fall_back=fall_back)
        for (overall, _), each in zip(limits, local, strict=True)
    ]
    shuffled = rng.permutation(len(lp.rules))
    other = LinearProgram.of(
        lp.constraints, lp.rules.take(shuffled), lp.objective[shuffled], lp.tie_break[shuffled]
    )
    solver = FullSolver(other)
    grid = solver.grid([overall for overall, _ in limits], local)
    on_the_way = [row[place] for place, row in enumerate(grid)]
    for place, (overall, _) in enumerate(limits):
        alone = solver.solve(overall, local[place])[0]
        for x in (alone, on_the_way[place]):
            weights = other.weights(x, fall_back=fall_back)
            np.testing.assert_allclose(weights, found[place][shuffled], atol=atol)


@given(count_tables(labels=(2, 3)), notion_and_region(), st.integers(0, 9))
def test_the_order_of_columns_and_the_way_to_an_optimum_decide_nothing(counts, chosen, seed):
    limits = [(0.03, 0.07), (0.0, 0.1), (0.3, 0.02)]
    # Groups whom the model tells nothing apart make bases that are all but singular.
    assert_decided(FairnessProgram(counts, *chosen), limits, seed, atol=1e-7)


@pytest.mark.parametrize("name", ["ham10000", "ham10000_scenario2", "public_coverage_sex_race"])
def test_nor_on_real_people_whose_optima_are_not_unique(name):
    """The case that was seen: three labels, a weight of 0 or 1, an unseen gap of .103 or .127."""
    counts = experiments.open(name).counts(0, "validation")
    for notion in ("eo", "eop"):
        assert_decided(FairnessProgram(counts, notion, "kernel"), [(0.05, 0.05), (0.01, 0.1)])


@pytest.mark.parametrize("notion", ["eo", "sp"])
def test_nor_among_cuts_of_a_score(notion):
    people = scored_network(4, 2, 2, rows=200)
    program = FairnessProgram(people, notion, "exact", rates="labels")
    assert_decided(program, [(0.05, 0.05), (0.0, 0.1), (0.01, 0.3)])


@pytest.mark.parametrize("region", ["simplex", "kernel"])
def test_of_two_cells_that_would_pay_the_same_the_first_pays(region):
    """Women hear yes 60 times of 100, men 40; closing the gap costs as many right answers there."""
    women, men = [[30, 20], [10, 40]], [[40, 10], [20, 30]]
    for cells, turned in (([women, men], 1), ([men, women], 0)):
        counts = ClientCounts([cells], ("a",), ("1", "2"), ("no", "yes"))
        solution = FairnessProgram(counts, "sp", region).solve(0.0, 1.0)
        lottery = solution.rules.lottery(solution.beta)[0]
        np.testing.assert_array_equal(lottery[1], np.eye(2))
        assert lottery[0, turned, turned] == pytest.approx(2 / 3)
