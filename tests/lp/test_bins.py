"""Bins of a score, shared by all groups: against a dense program, and beside the other regions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.calibration import Calibration
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.lp import bins as score_bins
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.oracles import rates_of
from tests.helpers.peers import best_lottery
from tests.helpers.scored import scored_network, scored_people
from tests.helpers.strategies import epsilons

BLIND = Policy(without_group=True)
people_of_two_labels = scored_people(clients=(1, 3), groups=(2, 3), labels=(2, 2), most=80)
notions = st.sampled_from(["sp", "eop", "eo", "eo-full"])


def dense(people, place, notion, eps_global, eps_local, *, shared=True):
    """The best accuracy over p[client, bin] (or, not shared, p[client, group, bin]) by people."""
    clients, groups, bins = len(people.clients), len(people.groups), int(place.max()) + 1
    cell = (people.client if shared else people.cell) * bins + place
    cells = clients * (1 if shared else groups) * bins
    correct = np.zeros((cells, 2))
    np.add.at(correct, (cell, people.label), 1)
    hits, totals = [], []
    for label, answer in rates_of(notion, 2, people.labels.index(people.favourable)):
        mine = np.ones(len(people), bool) if label is None else people.label == label
        counted, total = np.zeros((cells, 2, clients, groups)), np.zeros((clients, groups))
        np.add.at(counted, (cell[mine], answer, people.client[mine], people.group[mine]), 1)
        np.add.at(total, (people.client[mine], people.group[mine]), 1)
        hits.append(counted.reshape(-1, clients, groups))
        totals.append(total)
    mixing = np.kron(np.eye(cells), np.ones(2))
    of = (correct.ravel(), hits, totals)
    return best_lottery(*of, eps_global, eps_local, mixing, len(people))


def bin_program(people, notion, *, bins=score_bins.BINS, **how):
    """The exact region without the group, its rates counted, with so many bins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_bins, "BINS", bins)
        return FairnessProgram(people, notion, "exact", rates="labels", policy=BLIND, **how)


@given(people_of_two_labels, notions, st.data())
def test_the_program_agrees_with_a_dense_one(people, notion, data):
    overall = data.draw(epsilons)
    local = [data.draw(epsilons) for _ in people.clients]
    program = bin_program(people, notion, bins=data.draw(st.integers(1, 5)))
    place = program._rules.rules.bins.places(people.client, people.predicted, people.scores[:, 1])
    found = program.solve(overall, local)
    assert found.accuracy == pytest.approx(dense(people, place, notion, overall, local), abs=1e-7)
    assert found.accuracy <= dense(people, place, notion, overall, local, shared=False) + 1e-7
    assert not found.gaps.overall > overall + 1e-7
    assert not (found.gaps.local > np.array(local) + 1e-7).any()


@given(people_of_two_labels, notions, epsilons, epsilons)
def test_regions_hold_each_other_without_the_group_too(people, notion, overall, local):
    accuracy = [
        FairnessProgram(people, notion, region, rates="labels", policy=BLIND)
        .solve(overall, local)
        .accuracy
        for region in ("simplex", "kernel", "exact")
        if not (notion == "eo-full" and region == "simplex")
    ]
    assert (np.diff(accuracy) >= -1e-7).all()
    kernel = FairnessProgram(people, notion, "kernel", rates="labels", policy=BLIND)
    one_bin = bin_program(people, notion, bins=1)
    assert one_bin.solve(overall, local).accuracy == pytest.approx(
        kernel.solve(overall, local).accuracy, abs=1e-7
    )


@pytest.mark.parametrize("proof", ["measured", "proved"])
def test_a_confidence_can_be_had_and_costs_something(proof):
    people = scored_network(3, 2, 2, rows=3000, seed=1)
    sure = Guarantee(0.9, "each", proof)
    plain, certain, knowing = (
        FairnessProgram(people, "sp", "exact", rates="labels", guarantee=guarantee, policy=policy)
        for guarantee, policy in ((None, BLIND), (sure, BLIND), (sure, Policy()))
    )
    for eps in (0.05, 0.15):
        found = certain.solve(eps, eps)
        assert found.accuracy <= plain.solve(eps, eps).accuracy + 1e-7
        # Cuts at the edges of shared bins are among the cuts of every cell: but for their scores.
        assert found.accuracy <= knowing.solve(eps, eps).accuracy + 0.01
        assert found.gaps.local_worst < eps
        second = found.rules.chances(found.beta)
        assert ((second >= -1e-12) & (second <= 1 + 1e-12)).all()
    # With four times the people the same rates leave more room.
    assert certain.as_if(4.0).solve(0.05, 0.05).accuracy >= certain.solve(0.05, 0.05).accuracy


def test_a_confident_limit_holds_on_the_population():
    """Samples of a known population, judged on it: the limit holds nearly always."""
    population = scored_network(1, 2, 2, rows=60_000, seed=5, sharp=1.0)
    rng = np.random.default_rng(0)
    held = {None: 0, Guarantee(0.95): 0}
    for _ in range(40):
        chosen = rng.choice(len(population), 1500)
        sample = replace(
            population,
            **{
                part: getattr(population, part)[chosen]
                for part in ("client", "group", "label", "scores", "predicted")
            },
        )
        for guarantee in held:
            program = bin_program(sample, "sp", guarantee=guarantee)
            found = program.solve(1.0, 0.1)
            place = found.rules.bins.places(
                population.client, population.predicted, population.scores[:, 1]
            )
            chance = found.rules.chances(found.beta)[population.client, place]
            rate = [chance[population.group == a].mean() for a in (0, 1)]
            held[guarantee] += abs(rate[0] - rate[1]) <= 0.1
    assert held[Guarantee(0.95)] >= 36
    assert held[None] < 20


def test_floors_are_kept_without_the_group():
    people = scored_network(3, 2, 2, rows=900, seed=2)
    floors = (Floor("l1", 0.7), Floor("l0", keeps=0.2))
    program = FairnessProgram(
        people, "sp", "exact", rates="labels", policy=replace(BLIND, floors=floors)
    )
    found = program.solve(0.3, 0.3)
    place = found.rules.bins.places(people.client, people.predicted, people.scores[:, 1])
    chance = found.rules.chances(found.beta)[people.client, place]
    for c, a in np.ndindex(3, 2):
        mine = (people.client == c) & (people.group == a)
        assert chance[mine & (people.label == 1)].mean() >= 0.7 - 1e-7
        first = mine & (people.label == 0)
        assert (1 - chance[first]).mean() >= (people.predicted[first] == 0).mean() - 0.2 - 1e-7
    every = replace(BLIND, floors=tuple(Floor(label, 1.0) for label in people.labels))
    strict = FairnessProgram(people, "sp", "exact", rates="labels", policy=every)
    with pytest.raises(InfeasibleError):
        strict.solve(0.3, 0.3)


def test_its_lottery_is_told_by_where_the_score_lies():
    people = scored_network(2, 2, 2, rows=900, seed=4)
    program = bin_program(people, "sp", bins=2)
    found = program.solve(0.1, 0.1)
    for client in range(2):
        output = found.lottery_of(client, 0)
        assert output == found.lottery_of(client, 1)
        shares = [one.share for one in output]
        assert shares == sorted(shares, reverse=True) and 0 < min(shares) <= max(shares) <= 1
        assert all(one.rule.startswith("“l1” where its score is") for one in output)
    loose = program.solve(1.0, 1.0)
    assert [one.rule for one in loose.lottery_of(0, 0)] == ["“l1” where its score is above 0.500"]
    some = replace(found, beta=np.zeros_like(found.beta))
    some.beta[..., [1, 3, 5, 7]] = 1.0  # the second answer in each of four bins
    assert [one.rule for one in some.lottery_of(1, 0)] == ["“l1” for everybody"]
    some.beta[...] = 1 - some.beta
    assert [one.rule for one in some.lottery_of(1, 0)] == ["“l0” for everybody"]


def test_where_a_better_score_is_worse_it_is_said():
    people = scored_network(2, 2, 2, rows=900, seed=4)
    found = FairnessProgram(people, "sp", "exact", rates="labels", policy=BLIND).solve(0.0, 0.0)
    falls = [
        bool(
            (np.diff(found.rules.chances(found.beta)[c][found.rules.bins.there[c]]) < -1e-9).any()
        )
        for c in range(2)
    ]
    assert found.rules.turns(found.beta).tolist() == falls and any(falls)
    assert any(f"In {sum(falls)} of 2 clients a higher score" in one for one in found.remarks())
    assert found.attention.shape == (2, 2)


def test_what_cannot_be_had_is_refused_with_a_sentence():
    three = scored_network(2, 2, 3)
    with pytest.raises(InputError, match="serves two labels, but there are 3"):
        FairnessProgram(three, "eo", "exact", policy=BLIND)
    people = scored_network(2, 2, 2)
    with pytest.raises(InputError, match="give the model's own scores"):
        FairnessProgram(people.recalibrated(Calibration.fit(people)), "eo", "exact", policy=BLIND)
    with pytest.raises(InputError, match="give the table of scores"):
        FairnessProgram(people.counts, "eo", "exact", policy=BLIND)
