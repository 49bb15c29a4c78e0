"""Limits that name a grouping: sex, race, or both, pooled over whatever else groups cross."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.grouping import Grouping
from fairfl_core.errors import InputError
from fairfl_core.lp.policy import GroupingLimit, Policy
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.oracles import EXACT, rates_of, rules_of, shares
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic

CROSSED = Grouping(("sex", "race"), (("m", "x"), ("m", "y"), ("f", "x"), ("f", "y")))
COARSE = {"sex": [[0, 1], [2, 3]], "race": [[0, 2], [1, 3]], "sex*race": [[0], [1], [2], [3]]}
limits = st.lists(
    st.builds(
        GroupingLimit,
        st.sampled_from(sorted(COARSE)),
        st.sampled_from(["local", "global"]),
        epsilons,
    ),
    min_size=1,
    max_size=3,
)


def crossed(counts):
    return replace(counts, grouping=CROSSED)


def dense(counts, notion, region, eps_global, eps_local, asked):
    """The best accuracy by a dense program over deterministic maps, gaps pair by pair."""
    table = np.asarray(counts.table, float)
    clients, groups, labels, _ = table.shape
    rules = rules_of(region, labels)
    shape = (clients, groups, len(rules))
    right = np.zeros(shape)
    for c, a, p in np.ndindex(shape):
        right[c, a, p] = sum(table[c, a, rules[p][said], said] for said in range(labels))
    rows, bounds = [np.zeros(right.size)], [0.0]
    every = [("sex*race", "global", eps_global), ("sex*race", "local", eps_local)]
    every += [(one.grouping, one.scope, one.eps) for one in asked]
    for rate in rates_of(notion, labels, counts.labels.index(counts.favourable)):
        hits, people = shares(table, rules, rate)
        for grouping, scope, eps in every:
            for some in [range(clients)] if scope == "global" else [[c] for c in range(clients)]:
                for one, other in combinations(COARSE[grouping], 2):
                    whom = [sum(people[c, a] for c in some for a in part) for part in (one, other)]
                    if min(whom) <= 0:
                        continue
                    row = np.zeros(shape)
                    for part, n, sign in ((one, whom[0], 1.0), (other, whom[1], -1.0)):
                        for c in some:
                            for a in part:
                                row[c, a] += sign * hits[c, a] / n
                    rows += [row.ravel(), -row.ravel()]
                    bounds += [eps, eps]
    mixing = np.kron(np.eye(clients * groups), np.ones(len(rules)))
    found = linprog(
        -right.ravel(), rows, bounds, mixing, np.ones(len(mixing)), method="highs", options=EXACT
    )
    assert found.status == 0
    return -found.fun / table.sum()


@given(
    count_tables(clients=(1, 3), groups=(4, 4), labels=(2, 3)),
    notion_and_region(),
    epsilons,
    epsilons,
    limits,
)
def test_it_agrees_with_a_dense_program(counts, chosen, overall, local, asked):
    policy = Policy(limits=tuple(asked))
    found = FairnessProgram(crossed(counts), *chosen, policy=policy).solve(overall, local)
    expected = dense(counts, *chosen, overall, local, asked)
    assert found.accuracy == pytest.approx(expected, abs=1e-7)


def test_the_crossing_itself_is_what_the_epsilons_mean():
    counts = crossed(synthetic(3, 4, 2, rows=2000, seed=1))
    by_eps = FairnessProgram(counts, "eop").solve(0.05, 0.1)
    same = Policy(
        limits=(GroupingLimit("sex*race", "global", 0.05), GroupingLimit("race*sex", "local", 0.1))
    )
    assert FairnessProgram(counts, "eop", policy=same).solve().accuracy == pytest.approx(
        by_eps.accuracy, abs=1e-9
    )


def test_fair_by_either_column_is_not_fair_by_the_crossing():
    """Both columns equal on their own, the crossing apart: what crossing is for."""
    table = np.zeros((1, 4, 2, 2), int)
    for group, recognised in enumerate((90, 10, 10, 90)):
        table[0, group] = [[100, 0], [100 - recognised, recognised]]
    names = ("m · x", "m · y", "f · x", "f · y")
    counts = crossed(ClientCounts(table, ("c",), names, ("no", "yes")))
    alone = Policy(
        limits=(GroupingLimit("sex", "local", 0.01), GroupingLimit("race", "local", 0.01))
    )
    found = FairnessProgram(counts, "eop", policy=alone).solve()
    assert found.accuracy == pytest.approx(counts.model_accuracy)
    assert found.gaps.local[0] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("grouping", "sentence"), [("age", "no column"), ("sex*sex", "twice"), ("", "no column")]
)
def test_a_grouping_that_is_not_there_is_refused(grouping, sentence):
    policy = Policy(limits=(GroupingLimit(grouping, "local", 0.1),))
    with pytest.raises(InputError, match=sentence):
        FairnessProgram(crossed(synthetic(2, 4, 2)), policy=policy)
    with pytest.raises(InputError, match="--group COLUMN,COLUMN"):
        FairnessProgram(synthetic(2, 4, 2), policy=policy)
