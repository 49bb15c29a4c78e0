"""Floors with a confidence: every entry of their rows, recomputed rule by rule."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, norm

from fairfl_core.lp.constraints.floors import FloorConstraints
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.hull import hull_rules
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import measured
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.scored import scored_network

FLOORS = (Floor("l1", 0.4), Floor("l0", keeps=0.2))
CLIENTS, GROUPS = 3, 2


@pytest.fixture(scope="module")
def people():
    return scored_network(CLIENTS, GROUPS, 2, rows=60, seed=4)


def below(hits, n, proof, tail, *, cuts, shares):
    """How much lower than counted the share of `hits` among `n` people may be."""
    rate = hits / n
    if proof == "measured":
        # A cut is chosen on the same people: Scheffe's constant instead of a normal's.
        tail = norm.sf(math.sqrt(-2 * math.log(tail))) if cuts else tail
    elif cuts:
        return min(math.sqrt(math.log(1 / tail) / (2 * n)), 1.0)
    else:
        tail /= shares
    return rate - (beta.ppf(tail, hits, n - hits + 1) if hits > 1e-9 else 0.0)


def above(hits, n, proof, tail, **how):
    """How much higher it may be: the others' share may be as much lower."""
    return below(n - hits, n, proof, tail, **how)


@pytest.mark.parametrize("scope", ["each", "all"])
@pytest.mark.parametrize("proof", ["measured", "proved"])
@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_a_row_holds_the_lower_end_of_every_rules_recognition(people, region, proof, scope):
    cuts = region == "exact"
    if cuts:
        columns = hull_rules(measured(people, "labels"))
    else:
        columns = FairnessProgram(people, "eop", region).linear_program.rules
    guarantee = Guarantee(0.9, scope, proof)
    rows = FloorConstraints.of(FLOORS, people.counts, guarantee, cuts=cuts)
    found = rows.matrix(columns).toarray()
    tail = 0.1 / (len(FLOORS) * GROUPS * (CLIENTS if scope == "all" else 1))
    if proof == "proved":  # what is kept may fail on two sides: the rule's and the model's own
        tail /= 2
    how = {"proof": proof, "tail": tail, "cuts": cuts}
    how["shares"] = columns.blocks // (CLIENTS * GROUPS)
    expected = np.zeros_like(found)
    for p in range(len(columns)):
        cell = (columns.client[p], columns.group[p])
        own = people.counts.table[cell]
        for floor, y in ((0, 1), (1, 0)):
            n, hits = own[y].sum(), columns.confusion[p, y, y]
            place = rows.place[0][(*cell, floor)]
            known = columns.known[p, y]
            constant = not math.isnan(known)
            if FLOORS[floor].keeps is None:
                expected[place, p] = known if constant else hits / n
                if not constant:
                    expected[place, p] -= below(hits, n, **how)
            elif not columns.keeps[p]:
                change = (hits - own[y, y]) / n
                if proof == "measured":
                    moved = n * abs(change)
                    width = (below if change > 0 else above)(moved, n, **how)
                else:
                    width = above(own[y, y], n, **how)
                    if not constant:
                        width += below(hits, n, **how)
                expected[place, p] = change - width
                if known == 1:  # who answers everybody with a label loses nobody who has it
                    expected[place, p] = max(expected[place, p], 0.0)
    assert found == pytest.approx(expected, abs=1e-9)
    assert columns.keeps.sum() == CLIENTS * GROUPS


@pytest.mark.parametrize("proof", ["measured", "proved"])
@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_what_is_kept_is_kept_where_nobody_was_counted(people, region, proof):
    """Nobody of l1 was seen in a cell: those to come keep the model's answer, or are all told l1."""
    seen = ~((people.client == 0) & (people.group == 0) & (people.label == 1))
    names = ("client", "group", "label", "scores", "predicted")
    people = replace(people, **{name: getattr(people, name)[seen] for name in names})
    program = FairnessProgram(
        people,
        "eop",
        region,
        rates="labels",
        guarantee=Guarantee(0.9, "each", proof),
        policy=Policy(floors=(Floor("l1", keeps=0.1),)),
    )
    predictor = predictor_of(program.solve(1.0, 1.0))
    score = np.linspace(0.01, 0.99, 99)
    here, said = np.zeros(99, np.int64), (score > 0.5).astype(np.int64)
    if predictor.needs_scores:
        scores = np.column_stack([1 - score, score])
        output = predictor.calibration.apply(here, here, scores)
        chances = predictor.chances(here, here, output, said)
    else:
        chances = predictor.lottery[here, here, said]
    assert (chances[said == 1, 1] >= 0.9 - 1e-6).all()
