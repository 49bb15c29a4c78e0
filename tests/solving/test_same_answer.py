"""The same question, the same answer: whatever was solved before, in whichever thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.people import experiments
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.solving.build import build_program
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.program import FairnessProgram
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


@settings(max_examples=60)
@given(count_tables(), notion_and_region(), paths, st.sampled_from([None, Guarantee(0.8)]))
def test_a_solution_does_not_depend_on_what_was_solved_before(counts, chosen, path, guarantee):
    warm = FairnessProgram(counts, *chosen, guarantee=guarantee)
    walked = [warm.solve(*pair) for pair in path]
    for pair, solution in zip(path, walked, strict=True):
        assert_same(FairnessProgram(counts, *chosen, guarantee=guarantee).solve(*pair), solution)
        assert_same(warm.solve(*pair), solution)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("rates", ["labels", "scores", "shrunk"])
def test_nor_in_the_exact_region(labels, rates):
    people = scored_network(3, 2, labels, rows=150)
    rng = np.random.default_rng(labels)
    path = [tuple(rng.choice([0.0, 0.01, 0.05, 0.2, 1.0], 2)) for _ in range(8)]
    warm = build_program(people, "eo", "exact", rates=rates)
    walked = [warm.solve(*pair) for pair in path]
    for pair, solution in zip(path, walked, strict=True):
        fresh = build_program(people, "eo", "exact", rates=rates).solve(*pair)
        assert_same(fresh, solution)


def test_nor_on_real_people_nor_on_threads():
    """The case that was seen: 50 states, a sweep of limits and back again."""
    experiment = experiments.open("public_coverage")
    counts = experiment.counts(0, "validation")
    people = ScoredPeople.from_experiment(experiment, 0, "validation")
    for build in (
        lambda: FairnessProgram(counts, "eop"),
        lambda: FairnessProgram(counts, "eo", "kernel"),
        lambda: build_program(people, "eop", "exact"),
    ):
        shared, pairs = build(), [(e, f) for e in (0.0, 0.01, 0.1) for f in (0.0, 0.05, 0.3)]
        cold = [build().solve(*pair) for pair in pairs]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(shared.solve, *zip(*(pairs[::-1] + pairs), strict=True)))
        for pair, solution in zip(pairs[::-1] + pairs, together, strict=True):
            assert_same(cold[pairs.index(pair)], solution)
