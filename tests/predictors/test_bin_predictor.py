"""Predictors that do not ask for the group: what they answer, and what their files say."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core._io.files import write_json
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import (
    BinPredictor,
    FairPredictor,
    ScorePredictor,
    predictor_of,
    read_predictor,
)
from tests.helpers.scored import scored_network, scored_people
from tests.helpers.strategies import epsilons

BLIND = Policy(without_group=True)


def fitted(people, region="exact", notion="sp", eps=0.02, **how):
    program = FairnessProgram(people, notion, region, rates="labels", policy=BLIND, **how)
    return predictor_of(program.solve(eps, eps))


def names_of(people):
    return np.array(people.clients)[people.client], np.array(people.groups)[people.group]


def seen_by(fair, people):
    return people.scores if fair.needs_scores else np.array(people.labels)[people.predicted]


@settings(max_examples=10)
@given(scored_people(labels=(2, 2)), st.sampled_from(["sp", "eo"]), epsilons, st.booleans())
def test_json_brings_the_same_answers_back(people, notion, eps, sure):
    fair = fitted(people, notion=notion, eps=eps, guarantee=Guarantee(0.8) if sure else None)
    value = json.loads(json.dumps(fair.to_json(), allow_nan=False))
    back = BinPredictor.from_json(value)
    assert back.to_json() == fair.to_json()
    np.testing.assert_array_equal(back.chances_of(people), fair.chances_of(people))
    np.testing.assert_allclose(back.attention, fair.attention)
    # Chances rise where edges lie, and nowhere else: one for each bin of the client.
    for client in value["clients"]:
        for part in client["bins"]:
            assert len(part["chances"]) == len(part["edges"]) + 1


@given(scored_people(labels=(2, 2)), st.sampled_from(["sp", "eop", "eo"]), epsilons)
def test_it_reaches_what_the_program_found(people, notion, eps):
    program = FairnessProgram(people, notion, "exact", rates="labels", policy=BLIND)
    solution = program.solve(eps, eps)
    found = evaluate(predictor_of(solution), people)
    assert found.accuracy == pytest.approx(solution.accuracy, abs=1e-9)
    np.testing.assert_allclose(found.gaps.local, solution.gaps.local, atol=1e-9)


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_the_group_is_not_asked_for_and_changes_nothing(region):
    people = scored_network(3, 2, 2, rows=600, seed=2)
    fair = fitted(people, region)
    assert not fair.needs_group
    client, group = names_of(people)
    seen, ids = seen_by(fair, people), np.arange(len(people))
    whole = fair.decide(client, None, seen, row_id=ids)
    assert (whole != np.array(people.labels)[people.predicted]).any()
    for other in (group, group[::-1], ["somebody"] * len(people)):
        np.testing.assert_array_equal(whole, fair.decide(client, other, seen, row_id=ids))
    once = fair.sample(client, None, seen, seed=3)
    np.testing.assert_array_equal(once, fair.sample(client, group[::-1], seen, seed=3))
    with pytest.raises(InputError, match="differ in number"):
        fair.sample(client[:5], None, seen, seed=0)


@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_a_predictor_that_looks_at_the_group_asks_for_it(region):
    people = scored_network(2, 2, 2)
    fair = predictor_of(FairnessProgram(people, "eo", region).solve(0.1, 0.1))
    assert fair.needs_group
    with pytest.raises(InputError, match="give the group of every row"):
        fair.sample(names_of(people)[0], None, seen_by(fair, people), seed=0)


def test_people_in_another_order_of_names_are_judged_alike():
    people = scored_network(3, 2, 2, seed=1)
    fair = fitted(people)
    turned = ScoredData(
        2 - people.client,
        1 - people.group,
        1 - people.label,
        people.scores[:, ::-1].copy(),
        1 - people.predicted,
        people.clients[::-1],
        people.groups[::-1],
        people.labels[::-1],
        people.favourable,
    )
    np.testing.assert_allclose(fair.chances_of(turned)[:, ::-1], fair.chances_of(people))
    one, two = evaluate(fair, people), evaluate(fair, turned)
    assert one.accuracy == pytest.approx(two.accuracy)
    np.testing.assert_allclose(one.gaps.local, two.gaps.local[::-1])


def test_a_score_on_an_edge_belongs_below_it():
    people = scored_network(1, 2, 2, rows=400, seed=6)
    value = fitted(people).to_json()
    bins = [{"edges": [0.25], "chances": [0.0, 1.0]}, {"edges": [], "chances": [1.0]}]
    value["clients"] = [{"name": "c0", "bins": bins}]
    fair = BinPredictor.from_json(value)
    scores = np.array([0.1, 0.25, np.nextafter(0.25, 1), 0.5, 0.7])
    answers = fair.sample(["c0"] * 5, None, np.stack([1 - scores, scores], axis=1), seed=0)
    assert answers.tolist() == ["l0", "l0", "l1", "l1", "l1"]


def test_files_are_read_by_what_they_look_at(tmp_path):
    people = scored_network(2, 2, 2)
    kinds = {}
    for region in ("simplex", "exact"):
        for policy in (Policy(), BLIND):
            program = FairnessProgram(people, "eop", region, policy=policy)
            path = predictor_of(program.solve(0.01, 0.01)).write(tmp_path / "fair.json")
            back = read_predictor(path)
            kinds[region, policy.without_group] = type(back)
            assert back.needs_group is not policy.without_group
            assert evaluate(back, people).accuracy > 0.5
    assert kinds == {
        ("simplex", False): FairPredictor,
        ("simplex", True): FairPredictor,
        ("exact", False): ScorePredictor,
        ("exact", True): BinPredictor,
    }


def test_broken_files_and_people_are_refused_with_a_sentence(tmp_path):
    people = scored_network(2, 2, 2)
    value = fitted(people).to_json()
    first = value["clients"][0]

    def with_bins(bins):
        return value | {"clients": [first | {"bins": bins}, *value["clients"][1:]]}

    fine = {"edges": [0.2], "chances": [0.0, 1.0]}
    for broken, says in (
        (with_bins([fine]), "one entry per answer"),
        (with_bins({}), "one entry per answer"),
        (with_bins([fine, []]), 'with "edges" and "chances"'),
        (with_bins([fine, {"edges": []}]), 'lacks the key "chances"'),
        (with_bins([fine, fine | {"edges": 3}]), "must be a list"),
        (with_bins([fine, fine | {"edges": ["a"]}]), "not a number"),
        (with_bins([fine, fine | {"edges": [0.2, 0.2], "chances": [0, 0, 1]}]), "do not rise"),
        (with_bins([fine, fine | {"chances": [0.5]}]), "one entry per bin"),
        (with_bins([fine, fine | {"chances": [0.5, 1.5]}]), "not a probability"),
        (value | {"rates": "guesses"}, "rates"),
        (value | {"labels": ["l0", "l1", "l2"]}, "two labels"),
        (value | {"policy": {"without_group": True, "more": 1}}, "unknown key"),
    ):
        path = write_json(tmp_path / "broken.json", broken)
        with pytest.raises(InputError, match=says):
            read_predictor(path)
    with pytest.raises(InputError, match="without_group"):
        BinPredictor.from_json(value | {"policy": None})
    fair = fitted(people)
    with pytest.raises(InputError, match="looks at scores"):
        evaluate(fair, people.counts)
    with pytest.raises(InputError, match="give the model's own scores"):
        evaluate(fair, people.recalibrated(Calibration.fit(people)))
    with pytest.raises(InputError, match="not probabilities"):
        fair.sample(["c0"], None, [[3.0, 1.0]], seed=0)


def test_a_file_may_not_say_that_it_is_blind_and_be_not(tmp_path):
    people = scored_network(2, 2, 2)
    for region, says in (("simplex", "lotteries of their own"), ("exact", "rules of its own")):
        fair = predictor_of(FairnessProgram(people, "sp", region).solve(0.0, 0.0))
        value = fair.to_json() | {"policy": BLIND.to_json()}
        with pytest.raises(InputError, match=says):
            type(fair).from_json(value)


def test_lotteries_of_two_groups_that_differ_by_little_are_not_blind():
    """A tenth more for one group of one client is a lottery of its own; rounding is not."""
    people = scored_network(2, 2, 2)
    fair = predictor_of(FairnessProgram(people, "sp", "kernel", policy=BLIND).solve(0.1, 0.1))
    one_for_all = np.full(fair.lottery.shape, 0.5)
    for by, refused in ((0.1, True), (1e-7, True), (1e-12, False)):
        lottery = one_for_all.copy()
        lottery[1, 1] += by * np.array([1.0, -1.0])
        if refused:
            with pytest.raises(InputError, match='the groups of client "c1" have lotteries'):
                replace(fair, lottery=lottery)
        else:
            assert replace(fair, lottery=lottery).lottery.tolist() == lottery.tolist()
