"""Precision and capacity as rows of the program, against a dense LP written from the definitions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy, Precision
from fairfl_core.lp.program import FairnessProgram
from tests.cli.running import run
from tests.helpers.oracles import EXACT, rates_of, rules_of
from tests.helpers.scored import scored_network
from tests.helpers.strategies import synthetic


def _optimum(counts, notion, region, eps, policy):
    """The best accuracy; one variable a cell and deterministic map, everything pair by pair."""
    table, size = np.asarray(counts.table, float), len(counts.labels)
    clients, groups = table.shape[:2]
    rules = rules_of(region, size)
    answered = np.zeros((clients, groups, len(rules), size, size))  # label, answer
    for p, rule in enumerate(rules):
        for said, answer in enumerate(rule):
            answered[:, :, p, :, answer] += table[:, :, :, said]
    rows, upper = [], []

    def at_most(of, limit):
        rows.append(of.ravel())
        upper.append(limit)

    favourable = counts.labels.index(counts.favourable)
    scopes = [(range(clients), eps[0], "global")]
    scopes += [([c], eps[1], "local") for c in range(clients)]
    for inside, limit, scope in scopes:
        mask = np.isin(np.arange(clients), list(inside))[:, None, None]
        for label, answer in rates_of(notion, size, favourable):
            hit = (
                answered[..., answer].sum(axis=3)
                if label is None
                else answered[..., label, answer]
            )
            behind = table.sum(axis=(2, 3)) if label is None else table[:, :, label].sum(axis=2)
            for a in range(groups):
                for b in range(groups):
                    n = [behind[list(inside), g].sum() for g in (a, b)]
                    if a != b and min(n) > 0:
                        of = np.zeros(answered.shape[:3])
                        of[:, a] = hit[:, a] / n[0]
                        of[:, b] = -hit[:, b] / n[1]
                        at_most(of * mask, limit)
        people = table[list(inside)].sum()
        share = policy.capacity_global if scope == "global" else policy.capacity_local
        if share is not None:
            at_most(answered[..., favourable].sum(axis=3) * mask, share * people)
        for one in policy.precision:
            if one.scope == scope:
                k = counts.labels.index(one.label)
                all_of = answered[..., k].sum(axis=3)
                at_most((one.rate * all_of - answered[..., k, k]) * mask, 0.0)
    cells = clients * groups
    mixing = np.kron(np.eye(cells), np.ones(len(rules)))
    found = linprog(
        -np.einsum("capyy->cap", answered).ravel() / counts.n,
        A_ub=np.array(rows),
        b_ub=upper,
        A_eq=mixing,
        b_eq=np.ones(cells),
        options=EXACT,
    )
    return -found.fun if found.status == 0 else None


POLICIES = st.builds(
    lambda kinds, rate, share: Policy(
        precision=tuple(Precision("l1", scope, rate) for scope in kinds & {"local", "global"}),
        capacity_global=share if "cap" in kinds else None,
        capacity_local=share + 0.1 if "caps" in kinds else None,
    ),
    st.sets(st.sampled_from(["local", "global", "cap", "caps"]), min_size=1),
    st.sampled_from([0.3, 0.6, 0.8, 0.95]),
    st.sampled_from([0.0, 0.2, 0.4]),
)


@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(1, 3), st.integers(2, 3), st.integers(2, 3)),
    how=st.sampled_from([("sp", "simplex"), ("eop", "simplex"), ("eo", "kernel")]),
    eps=st.sampled_from([(0.02, 0.05), (1.0, 0.1), (1.0, 1.0)]),
    policy=POLICIES,
)
def test_the_optimum_is_the_dense_programs(seed, shape, how, eps, policy):
    counts = synthetic(*shape, rows=120, seed=seed)
    program = FairnessProgram(counts, *how, policy=policy)
    best = _optimum(counts, *how, eps, policy)
    if best is None:
        with pytest.raises(InfeasibleError):
            program.solve(*eps)
        return
    assert program.solve(*eps).accuracy == pytest.approx(best, abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_region_keeps_them_and_is_no_worse(seed):
    people = scored_network(3, 2, 2, rows=300, seed=seed)
    label = people.labels[1]
    policy = Policy(precision=(Precision(label, "local", 0.75),), capacity_global=0.4)
    exact = FairnessProgram(people, "eop", "exact", rates="labels", policy=policy).solve(0.05, 0.1)
    simplex = FairnessProgram(people.counts, "eop", policy=policy).solve(0.05, 0.1)
    assert exact.accuracy >= simplex.accuracy - 1e-6
    from fairfl_core.evaluation.evaluation import evaluate
    from fairfl_core.predictors.kinds import predictor_of

    answered = evaluate(predictor_of(exact), people).confusion.sum(axis=1)
    assert answered[:, :, 1].sum() / answered.sum() <= 0.4 + 1e-6
    precise = answered[:, 1, 1] - 0.75 * answered[:, :, 1].sum(axis=1)
    assert (precise >= -1e-4 * answered.sum(axis=(1, 2))).all()


def test_nothing_binds_where_nothing_is_asked_and_names_say_what_does():
    counts = synthetic(3, 2, 2, rows=600, seed=1)
    label = counts.favourable
    free = FairnessProgram(counts, "eop").solve(0.1, 0.1)
    wide = Policy(precision=(Precision(label, "global", 0.0),), capacity_local=1.0)
    assert FairnessProgram(counts, "eop", policy=wide).solve(0.1, 0.1).accuracy == pytest.approx(
        free.accuracy, abs=1e-9
    )
    tight = FairnessProgram(counts, "eop", policy=Policy(capacity_global=0.1)).solve(0.1, 0.1)
    assert f"global: share answered “{label}”" in tight.binding


def test_what_collides_is_told_in_a_sentence(tmp_path):
    counts = synthetic(2, 2, 2, rows=300, seed=1)
    path = counts.write(tmp_path / "counts.json")
    label = counts.favourable
    ended = run(
        *("solve", path, "--floor", f"{label}=0.9", "--capacity-global", "0.05", "--json"),
    )
    assert ended.code == 3 and json.loads(ended.out)["status"] == "collision"
    other = next(one for one in counts.labels if one != label)
    hard = ("--precision", f"{other}:local:1", "--precision", f"{label}:local:1")
    ended = run("solve", path, *hard, "--capacity-global", "0.01")
    assert ended.code == 3 and ended.err.count("\n") == 1
    with pytest.raises(InputError, match="precision or capacity"):
        FairnessProgram(counts, guarantee=Guarantee(0.9), policy=Policy(capacity_local=0.5))
    both = Policy(floors=(Floor(label, 0.9),), capacity_global=0.05)
    with pytest.raises(InfeasibleError):
        FairnessProgram(counts, policy=both).solve()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--precision", "l0:0.5"), "LABEL:SCOPE:RATE"),
        (("--precision", "l0:here:0.5"), "choose local"),
        (("--precision", "l0:local:2"), "between 0 and 1"),
        (("--precision", "nobody:local:0.5"), "no label"),
        (("--capacity-global", "-1"), "between 0 and 1"),
        (("--precision", "l0:local:0.5", "--precision", "l0:local:0.6"), "twice"),
    ],
)
def test_wrong_precisions_and_capacities(tmp_path, more, says):
    path = synthetic(2, 2, 2).write(tmp_path / "counts.json")
    ended = run("solve", path, *more)
    assert ended.code == 2 and says in ended.err, ended


def test_they_come_back_from_json():
    policy = Policy(
        precision=(Precision("a:b", "local", 0.5), Precision("a", "global", 0.25)),
        capacity_global=0.3,
        capacity_local=0.0,
    )
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy
