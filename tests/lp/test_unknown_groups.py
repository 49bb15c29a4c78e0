"""Limits that hold whatever groups the people without one have, against every assignment."""

from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl_core.data.weighting import MissingGroup
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.oracles import rates_of, rules_of
from tests.helpers.strategies import synthetic


def with_missing(counts, seed, most=9):
    rng = np.random.default_rng(seed)
    shape = (len(counts.clients), len(counts.labels), len(counts.labels))
    table = rng.integers(0, most, shape)
    return replace(counts, missing=MissingGroup("bound", int(table.sum()), table))


def subsets(kinds):
    return chain.from_iterable(combinations(kinds, n) for n in range(len(kinds) + 1))


def _rate(a, joining, table, rules, inside, labels, answer, kinds):
    """A group's rate by cell and rule if those who join are its own, and its people for certain."""
    of = np.zeros((*table.shape[:2], len(rules)))
    n = sum(table[c, a, y].sum() for c in inside for y in labels)
    for p, rule in enumerate(rules):
        for c, y, j in product(inside, labels, range(len(rule))):
            of[c, a, p] += table[c, a, y, j] * (rule[j] == answer)
        for c, j in joining:
            of[c, a, p] += kinds[c, j] * (rule[j] == answer)
    return of / max(n + sum(kinds[kind] for kind in joining), 1), n


def robust_optimum(counts, notion, region, eps):
    """A row for every pair of groups and every choice of who joins either of them."""
    table, size = np.asarray(counts.table, float), len(counts.labels)
    clients, groups = table.shape[:2]
    rules = rules_of(region, size)
    shape = (clients, groups, len(rules))
    rows, upper = [], []
    for label, answer in rates_of(notion, size, counts.labels.index(counts.favourable)):
        given_label = range(size) if label is None else [label]
        for inside, limit in [(range(clients), eps[0]), *(([c], eps[1]) for c in range(clients))]:
            kinds = {
                (c, j): counts.missing.table[c, list(given_label), j].sum()
                for c in inside
                for j in range(size)
            }
            kinds = {kind: n for kind, n in kinds.items() if n}

            for a, b in product(range(groups), range(groups)):
                where = (table, rules, inside, given_label, answer, kinds)
                if a != b and _rate(a, (), *where)[1] and _rate(b, (), *where)[1]:
                    for one, other in product(list(subsets(kinds)), list(subsets(kinds))):
                        apart = _rate(a, one, *where)[0] - _rate(b, other, *where)[0]
                        rows.append(apart.ravel())
                        upper.append(limit)
    correct = np.zeros(shape)
    for c, a, p in np.ndindex(shape):
        correct[c, a, p] = sum(table[c, a, rules[p][j], j] for j in range(size))
    found = linprog(
        -correct.ravel() / counts.n,
        A_ub=np.array(rows),
        b_ub=upper,
        A_eq=np.kron(np.eye(clients * groups), np.ones(len(rules))),
        b_eq=np.ones(clients * groups),
    )
    assert found.status == 0
    return -found.fun


@given(
    seed=st.integers(0, 10_000),
    groups=st.integers(2, 3),
    how=st.sampled_from([("sp", "simplex"), ("eop", "simplex"), ("eo", "kernel")]),
    eps=st.sampled_from([(0.02, 0.05), (1.0, 0.1), (0.05, 1.0), (0.0, 0.0)]),
)
def test_the_optimum_is_that_of_every_choice(seed, groups, how, eps):
    counts = with_missing(synthetic(2, groups, 2, rows=80, seed=seed), seed)
    solution = FairnessProgram(counts, *how).solve(*eps)
    assert solution.accuracy == pytest.approx(robust_optimum(counts, *how, eps), abs=2e-6)
    most = evaluate(predictor_of(solution), counts).unknown[1]
    assert most[0] <= eps[0] + 1e-6 and np.nanmax(most[1:]) <= eps[1] + 1e-6


def test_nobody_missing_is_the_program_as_it_was():
    counts = synthetic(3, 3, 3, rows=500, seed=3)
    none = replace(counts, missing=MissingGroup("bound", 0, np.zeros((3, 3, 3), int)))
    for notion in ("sp", "eop", "eo"):
        one, other = (FairnessProgram(each, notion).solve(0.03, 0.06) for each in (counts, none))
        assert one.accuracy == pytest.approx(other.accuracy, abs=1e-7)
        assert one.price_global == pytest.approx(other.price_global, abs=1e-5)


def test_what_cannot_be_had_beside_it_says_so():
    counts = with_missing(synthetic(2, 2, 2), 1)
    for more in ({"guarantee": Guarantee(0.9)}, {"policy": Policy(ratio_local=0.8)}):
        with pytest.raises(InputError, match="missing groups"):
            FairnessProgram(counts, "eo", **more)
    kept = FairnessProgram(counts, "eop", policy=Policy(floors=(Floor("l1", 0.3),)))
    assert kept.solve(0.1, 0.1).status == "optimal"
