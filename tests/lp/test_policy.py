"""Floors, ratios, groupings, shares and utilities, one by one: what each promises and refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.frontier import frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import (
    Floor,
    GroupingLimit,
    Policy,
    Precision,
    parse_floor,
    parse_limit,
)
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED, Utility
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.oracles import optimum
from tests.helpers.scored import scored_network
from tests.helpers.strategies import (
    CROSSED,
    count_tables,
    epsilons,
    notion_and_region,
    synthetic,
)

BLIND = Policy(without_group=True)


@pytest.mark.parametrize("favourable", ["no", "yes"])
def test_with_two_labels_a_ratio_of_all_errors_is_of_the_favourable_answer(favourable):
    table = np.array([[[[0, 1], [1, 1]], [[1, 1], [1, 1]]]])
    counts = ClientCounts(table, ("here",), ("a", "b"), ("no", "yes"), favourable)
    policy = Policy(ratio_local=0.5, utility=BALANCED)
    found = FairnessProgram(counts, "eo-full", "kernel", policy=policy).solve(1.0, 1.0)
    expected = optimum(counts, "eo-full", "kernel", 1.0, 1.0, policy)
    assert found.utility.value == pytest.approx(expected, abs=1e-9)
    assert expected == pytest.approx({"no": 0.625, "yes": 25 / 42}[favourable])


def test_a_mistake_costs_one_and_a_missed_label_more():
    costs = Utility.missing(("no", "maybe", "yes"), "yes", 4.0)
    assert costs.gain == ((0, -1, -1), (-1, 0, -1), (-4, -4, 0))


@given(count_tables(), notion_and_region(), epsilons, epsilons)
def test_the_identity_is_accuracy_to_the_last_digit(counts, chosen, overall, local):
    identity = Utility("mine", counts.labels, tuple(map(tuple, np.eye(len(counts.labels)))))
    plain = FairnessProgram(counts, *chosen).solve(overall, local)
    same = FairnessProgram(counts, *chosen, policy=Policy(utility=identity)).solve(overall, local)
    assert same.accuracy == pytest.approx(plain.accuracy, abs=1e-12)
    assert same.utility.value == pytest.approx(plain.accuracy, abs=1e-12)
    np.testing.assert_allclose(same.beta, plain.beta, atol=1e-12)


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
        precision=(Precision("a:b", "local", 0.5), Precision("a", "global", 0.25)),
        capacity_global=0.3,
        capacity_local=0.0,
    )
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy
    assert Policy.from_json(None) == Policy() and Policy().to_json() == {}


WRONG_GROUPINGS = (("age", "no column"), ("sex*sex", "twice"), ("", "no column"))


def crossed(grouping):
    """A program of crossed groups, with a limit on one grouping."""
    counts = replace(synthetic(2, 4, 2), grouping=CROSSED)
    limits = (GroupingLimit(grouping, "local", 0.1),)
    return FairnessProgram(counts, policy=Policy(limits=limits))


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
        (
            lambda: FairnessProgram(
                synthetic(2, 2, 2), guarantee=Guarantee(), policy=Policy(capacity_local=0.5)
            ),
            "precision or capacity",
        ),
        *((lambda name=name: crossed(name), says) for name, says in WRONG_GROUPINGS),
        (
            lambda: FairnessProgram(
                synthetic(2, 4, 2), policy=Policy(limits=(parse_limit("age:local:0.1"),))
            ),
            "--group COLUMN,COLUMN",
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


def test_fair_by_either_column_is_not_fair_by_the_crossing():
    """Both columns equal on their own, the crossing apart: what crossing is for."""
    table = np.zeros((1, 4, 2, 2), int)
    for group, recognised in enumerate((90, 10, 10, 90)):
        table[0, group] = [[100, 0], [100 - recognised, recognised]]
    names = ("m · x", "m · y", "f · x", "f · y")
    counts = ClientCounts(table, ("c",), names, ("no", "yes"), grouping=CROSSED)
    alone = Policy(
        limits=(GroupingLimit("sex", "local", 0.01), GroupingLimit("race", "local", 0.01))
    )
    found = FairnessProgram(counts, "eop", policy=alone).solve()
    assert found.accuracy == pytest.approx(counts.model_accuracy)
    assert found.gaps.local[0] == pytest.approx(0.8)


@pytest.mark.parametrize("seed", range(2))
def test_the_exact_region_keeps_shares_and_is_no_worse(seed):
    people = scored_network(3, 2, 2, rows=300, seed=seed)
    label = people.labels[1]
    policy = Policy(precision=(Precision(label, "local", 0.75),), capacity_global=0.4)
    exact = FairnessProgram(people, "eop", "exact", rates="labels", policy=policy).solve(0.05, 0.1)
    simplex = FairnessProgram(people.counts, "eop", policy=policy).solve(0.05, 0.1)
    assert exact.accuracy >= simplex.accuracy - 1e-6
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


@settings(max_examples=5)  # each solves cone programs
@given(count_tables(clients=(1, 2), groups=(2, 2), labels=(2, 2)), notion_and_region(), st.data())
def test_with_confidence_too_a_shared_lottery_is_one_of_the_others(counts, chosen, data):
    guarantee = data.draw(st.sampled_from([Guarantee(0.8), Guarantee(0.8, "each", "proved")]))
    limits = data.draw(epsilons), data.draw(epsilons)
    knowing, blind = (
        FairnessProgram(counts, *chosen, policy=policy, guarantee=guarantee).solve(*limits)
        for policy in (Policy(), BLIND)
    )
    np.testing.assert_array_equal(blind.beta, np.broadcast_to(blind.beta[:, :1], blind.beta.shape))
    if guarantee.proof == "measured":
        # Optimism is measured of each program by itself, so that margins differ by a hair.
        assert blind.accuracy <= knowing.accuracy + 1e-4


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


@pytest.mark.parametrize("seed", range(50, 54))
@pytest.mark.parametrize("rates", ["labels", "scores"])
def test_three_labels_find_what_their_kernel_does(seed, rates):
    """The exact region contains the kernel: what helps there helps here.

    Told was "no wider gap would help" where rules that did had not been asked for.
    """
    people = scored_network(2, 2, 3, rows=60, seed=seed).calibrated
    rng = np.random.default_rng(seed)
    floors = tuple(Floor(label, rate=float(rng.uniform(0.35, 0.95))) for label in people.labels)
    chosen = {"rates": rates, "policy": Policy(floors=floors)}
    asked = (0.01, 0.01)
    collisions = {}
    for region in ("kernel", "exact"):
        program = FairnessProgram(people, "eo", region, **chosen)
        try:
            program.solve(*asked)
        except InfeasibleError as error:
            collisions[region] = error.infeasible
            if error.infeasible.least_local is None:
                with pytest.raises(InfeasibleError):
                    program.solve(1.0, 1.0)
            else:
                program.solve(
                    min(error.infeasible.least_global + 1e-6, 1.0),
                    min(error.infeasible.least_local + 1e-6, 1.0),
                )
    if "exact" not in collisions:
        return
    exact, kernel = collisions["exact"], collisions["kernel"]
    assert exact.certain == (rates == "scores") and kernel.certain
    if kernel.least_local is not None:
        assert exact.least_local is not None
        assert exact.least_local <= kernel.least_local + 1e-6
    for label, floor in kernel.highest_floor.items():
        assert exact.highest_floor[label] >= floor - 1e-6
    if not exact.certain:
        assert "found" in exact.sentence() and "would help" not in exact.sentence()
