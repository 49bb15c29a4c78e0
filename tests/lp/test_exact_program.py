"""The exact region: what must hold for any people, and what peers make of the same people."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data.calibration import Calibration
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, gaps
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.hull import hull_rules, lower_chain
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS, counted, measured, shrink
from fairfl_core.lp.regions import default_rates, region_kind
from fairfl_core.lp.rules import ScoreRules
from fairfl_core.lp.utility import Utility
from tests.helpers.peers import by_all_cuts, by_person, fairlearn, logofair
from tests.helpers.scored import (
    as_people,
    exact_program,
    few_people,
    scored_network,
    scored_people,
)
from tests.helpers.strategies import count_tables, epsilons

notions = st.sampled_from(["sp", "eop", "eo", "eo-full"])
every_rates = st.sampled_from(["labels", "scores", "shrunk"])
paths = st.lists(st.tuples(epsilons, epsilons), min_size=2, max_size=4)


def ready(people, rates):
    return people.recalibrated(Calibration.fit(people)) if rates == "scores" else people


@given(scored_people(), notions, every_rates, epsilons, epsilons)
def test_it_is_never_below_kernel_or_simplex_and_meets_every_constraint(
    people, notion, rates, overall, local
):
    people = ready(people, rates)
    found = exact_program(people, notion, rates=rates).solve(overall, local)
    counts = counted(people, rates)
    kernel = FairnessProgram(counts, notion, "kernel").solve(overall, local).accuracy
    assert found.accuracy >= kernel - 1e-7
    if notion != "eo-full":
        simplex = FairnessProgram(counts, notion, "simplex").solve(overall, local).accuracy
        assert found.accuracy >= simplex - 1e-7
    assert np.isnan(found.gaps.overall) or found.gaps.overall <= overall + 1e-6
    assert np.nanmax([*found.gaps.local, 0.0]) <= local + 1e-6
    assert found.bound.upper >= found.accuracy - 1e-12
    total = np.zeros((len(people.clients), len(people.groups)))
    np.add.at(total, (found.rules.client, found.rules.group), found.beta)
    np.testing.assert_allclose(total, 1.0, atol=1e-9)
    json.dumps(found.to_json(), allow_nan=False)


@given(scored_people(), notions, every_rates, epsilons, epsilons)
def test_the_rules_do_on_people_what_the_program_says_they_do(
    people, notion, rates, overall, local
):
    """Every rule applied person by person, measured by the same rates."""
    people = ready(people, rates)
    found = exact_program(people, notion, rates=rates).solve(overall, local)
    amount, right = measured(people, rates).amount, 0.0
    for p, weight in enumerate(found.beta):
        rule = np.full(len(people), p)
        answer = found.rules.answer(rule, people.scores, people.predicted)
        group = people.group == found.rules.group[p]
        cell = group & (people.client == found.rules.client[p])
        for label in range(len(people.labels)):
            hits = amount[:, label] * (answer == label)
            own = hits[cell].sum()
            if rates == "shrunk":  # a hundred rows at the group's rate are added to its own
                n, everyone = (amount[rows, label].sum() for rows in (cell, group))
                share = hits[group].sum() / everyone if everyone else 0.0
                own = n * (own + 100 * share) / (n + 100)
            right += weight * own
    assert right / len(people) == pytest.approx(found.accuracy, abs=1e-9)


@given(scored_people(most=25), notions, epsilons, epsilons)
def test_score_mode_equals_the_lp_over_all_people(people, notion, overall, local):
    people = people.recalibrated(Calibration.fit(people))
    found = exact_program(people, notion, rates="scores", gap=1e-8).solve(overall, local)
    expected = by_person(people, notion, overall, local)
    assert found.accuracy == pytest.approx(expected, abs=1e-6)
    assert found.bound.certified and found.bound.upper >= expected - 1e-7


@pytest.mark.parametrize("rates", ["scores", "shrunk"])
def test_unless_said_rules_are_sought_to_a_ten_thousandth(rates):
    people = ready(scored_network(3, 2, 3), rates)
    program = exact_program(people, "eo", rates=rates)
    found = program.solve(0.01, 0.02)
    assert found.bound.upper - found.accuracy <= 1e-4
    closer = exact_program(people, "eo", rates=rates, gap=1e-7).solve(0.01, 0.02)
    assert found.accuracy <= closer.accuracy + 1e-7 <= found.accuracy + 1e-4 + 2e-7
    # By hand: a client is told nine prices of answers for each group once and, each round, those
    # of its rules and limits; it sends a table for its people or, shrunk, for everyone's rules.
    tables = 9 * (3 if rates == "shrunk" else 1)
    numbers = 9 + found.rounds * (tables + len(program.notion.rates) + 1)
    assert found.bytes_per_client == 8 * 2 * numbers


@given(scored_people(labels=(2, 2)), notions, epsilons, epsilons)
def test_labels_mode_equals_the_lp_over_all_cuts(people, notion, overall, local):
    program = exact_program(people, notion)
    found = program.solve(overall, local)
    expected = by_all_cuts(people, notion, overall, local)
    assert found.accuracy == pytest.approx(expected, abs=1e-7)
    assert found.bound.certified and program.mode == "labels"


def test_an_optimum_is_found_where_highs_does_not_settle():
    people = ready(few_people(2, 3, 4, 31, 855285, 1024, 0.5), "scores")
    found = exact_program(people, "eo-full", rates="scores").solve(0.25, 0.0)
    assert np.nanmax(found.gaps.local) <= 1e-6 and found.bound.certified


@given(scored_people(), notions, every_rates, paths)
def test_accuracy_does_not_fall_when_epsilons_grow(people, notion, rates, path):
    program = exact_program(ready(people, rates), notion, rates=rates)
    solved = [program.solve(*pair) for pair in path]
    for one, (e, f) in zip(solved, path, strict=True):
        for two, (g, h) in zip(solved, path, strict=True):
            if e <= g and f <= h:  # rules of three labels are sought to within `gap` only
                least = 1e-7 if len(people.labels) == 2 else program.gap + 1e-7
                assert two.accuracy >= one.accuracy - least or not one.bound.certified


@pytest.mark.parametrize(
    ("notion", "constraint"),
    [
        ("eo", "equalized_odds"),
        ("sp", "demographic_parity"),
        ("eop", "true_positive_rate_parity"),
    ],
)
def test_one_client_is_at_least_as_accurate_as_fairlearn(notion, constraint):
    people = scored_network(1, 2, 2, rows=3000, seed=3)
    accuracy = fairlearn(people, constraint, grid_size=5000)
    ours = exact_program(people, notion).solve(0.0, 0.0)
    assert ours.accuracy >= accuracy - 1e-4 and ours.gaps.overall < 1e-7


@pytest.mark.parametrize("notion", ["sp", "eop"])
def test_many_clients_are_at_least_as_accurate_as_logofair(notion):
    """At the gaps its thresholds reach, on the people both were fitted on."""
    people = scored_network(4, 2, 2, rows=1500, seed=5)
    thresholds = logofair(
        people.client, people.group, people.label, people.scores[:, 1], notion, 0.02, 0.02
    )
    answer = (people.scores[:, 1] >= thresholds[people.client, people.group]).astype(int)
    its = as_people(people.client, people.group, people.label, np.eye(2)[answer], 4, 2).counts
    which = Notion.of(notion, its.labels, its.favourable)
    reached = gaps(which.answered(its.table), which.people(its.n_label))
    assert reached.overall < 0.03 and reached.local_worst < 0.08  # it does what it promises
    ours = exact_program(people, notion).solve(reached.overall, reached.local)
    assert ours.accuracy >= its.model_accuracy - 1e-9


def test_prices_are_the_slopes_of_the_optimum():
    people = scored_network(4, 2, 2, seed=2)
    program = exact_program(people, "eop")
    local = np.array([0.013, 0.021, 0.034, 0.055])
    at = program.solve(0.017, local)
    assert at.bound.upper - at.accuracy < 1e-7
    step = 1e-7
    slope = (program.solve(0.017 + step, local).accuracy - at.accuracy) / step
    assert at.price_global == pytest.approx(slope, abs=1e-4)
    for c in range(4):
        more = program.solve(0.017, local + step * (np.arange(4) == c)).accuracy
        assert at.price_local[c] == pytest.approx((more - at.accuracy) / step, abs=1e-4)
    assert at.price_local.max() > 0 and any("local" in name for name in at.binding)


def test_four_labels_gain_much_over_the_simplex():
    people = scored_network(5, 2, 4, rows=2000, seed=1, sharp=1.0)
    counts = people.counts
    simplex, kernel = (
        FairnessProgram(counts, "eo", region).solve(0.01, 0.01).accuracy
        for region in ("simplex", "kernel")
    )
    exact = exact_program(people, "eo").solve(0.01, 0.01)
    assert exact.accuracy > kernel + 0.005 and kernel >= simplex - 1e-9
    assert not exact.bound.certified


def test_people_who_look_alike_are_parted_by_the_lottery():
    """One score for all: no cut parts them, and parity is still reached by mixing."""
    client, group = np.zeros(40, int), np.arange(40) % 2
    label = (np.arange(40) < np.where(group == 0, 30, 12)).astype(int)
    scores = np.where((group == 0)[:, None], [0.3, 0.7], [0.7, 0.3])
    people = as_people(client, group, label, scores, 1, 2)
    found = exact_program(people, "sp").solve(0.1, 0.1)
    assert found.gaps.overall == pytest.approx(0.1)
    assert ((found.beta > 0.01) & (found.beta < 0.99)).any()


def test_a_cell_with_nobody_keeps_the_models_answer():
    people = scored_network(2, 2, 2)
    rows = (people.client != 1) | (people.group != 1)
    some = as_people(
        people.client[rows], people.group[rows], people.label[rows], people.scores[rows], 2, 2
    )
    found = exact_program(some, "eop").solve(0.01, 0.01)
    here = (found.rules.client == 1) & (found.rules.group == 1)
    assert here.sum() == 1 and (found.rules.answers[here] == [0, 1]).all()
    assert [(cell.client, cell.group) for cell in found.not_assessable] == [("c1", "g1")]


def test_what_cannot_be_is_refused_with_a_sentence():
    people = scored_network(2, 2, 3)
    for options, says in (
        ({"rates": "scores"}, "recalibrate"),
        ({"rates": "guesses"}, "choose one of labels, scores, shrunk"),
        ({"guarantee": Guarantee()}, "no bound holds for every rule"),
    ):
        with pytest.raises(InputError, match=says):
            exact_program(people, "eo", **options)


def test_rules_say_what_they_do():
    people = scored_network(2, 2, 2)
    found = exact_program(people, "sp").solve(0.01, 0.01)
    said = {found.rules.sentence(p, people.labels) for p in range(len(found.beta))}
    assert any(sentence.startswith("l1 where its score is above 0.") for sentence in said)
    many = scored_network(2, 2, 3)
    three = exact_program(many, "eo").solve(0.01, 0.01)
    assert all(three.rules.sentence(p, many.labels) for p in range(len(three.beta)))


def test_a_bound_is_told_in_what_is_maximised():
    people = scored_network(2, 2, 2, rows=200)
    right = exact_program(people, "eo").solve(0.05, 0.05)
    assert f"can exceed {100 * right.bound.upper:.2f}% (" in right.remarks()[0]
    dear = Policy(utility=Utility.missing(people.labels, people.labels[1], 3.0))
    costs = exact_program(people, "eo", policy=dear).solve(0.05, 0.05)
    assert f" a utility of {costs.bound.upper:.4g} (" in costs.remarks()[0]


def test_a_corner_below_others_stays_where_rounding_puts_it_beside_them():
    """Hypothesis found it: three points on an upright line, the lowest of them not the first."""
    x = np.array([0, 0.6105919003115264, 0.610591900311527, 0.610591900311527, 2.3115, 7])
    y = np.array([0, 2.0654205607476634, 8.9e-16, 1, 1, 7])
    assert lower_chain(np.zeros(6, int), x, y, 1e-9).tolist() == [0, 2, 4, 5]


def test_a_corner_where_many_points_stand_on_each_other_stays():
    """Each of them is on the line of its neighbours; they leave by turns, and one is left."""
    x, y = np.array([(0, 1)] * 2 + [(1, 0)] * 6 + [(1, 1)], float).T
    chain = lower_chain(np.zeros(9, int), x, y)
    assert list(zip(x[chain], y[chain], strict=True)) == [(0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("rates", ["labels", "shrunk"])
@settings(max_examples=20)
@given(scored_people(labels=(2, 2)))
def test_no_cut_of_a_cell_lies_outside_of_its_corners(rates, people):
    columns = hull_rules(measured(people, rates))
    for cell in range(len(people.clients) * len(people.groups)):
        points = _all_cuts(people, cell, rates)
        corners = columns.confusion[columns.block == cell][:, :, 1]
        for angle in np.linspace(0, 2 * np.pi, 25):
            direction = np.array([np.cos(angle), np.sin(angle)])
            assert (points @ direction).max() <= (corners @ direction).max() + 1e-7


def _all_cuts(people, cell, rates):
    """Who gets the second label above every score there is, by a look at each; and below it."""
    own = people.cell == cell
    group = people.group == cell % len(people.groups)
    places = np.append(np.unique(people.scores[:, 1]), 2.0)
    points = []
    for place in places:
        second = people.scores[:, 1] >= place
        point, turned = [], []
        for label in (0, 1):
            mine, pool = own & (people.label == label), group & (people.label == label)
            n, share = mine.sum(), second[pool].mean() if pool.any() else 0.0
            counted = second[mine].sum()
            if rates == "shrunk":
                counted = n * (counted + PSEUDO_ROWS * share) / (n + PSEUDO_ROWS)
            point.append(counted)
            turned.append(n - counted)
        points += [point, turned]
    return np.array(points)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("cut", [0.0, 0.25, 0.5, 1.0])
def test_a_cut_answers_the_second_label_on_one_side_of_it(cut, above):
    one = np.zeros(1, np.int64)
    rules = ScoreRules.cuts(one, one, np.array([cut]), np.array([above]))
    score = np.array([0.0, 1e-9, 0.2, 0.25, 0.3, 0.5, 0.75, 1.0 - 1e-9, 1.0])
    scores = np.stack([1 - score, score], axis=1)
    everyone = np.zeros(len(score), np.int64)
    answers = rules.answer(everyone, scores, scores.argmax(axis=1))
    assert answers.tolist() == [int(s > cut if above else s < cut) for s in score]


def test_answers_turned_round_are_told_one_by_one():
    answers = np.array([[1, 0, 2], [0, 1, 2], [2, 2, 2], [1, 2, 0]])
    nowhere = np.zeros(4, np.int64)
    rules = ScoreRules.of_answers(nowhere, nowhere, answers)
    assert [rules.sentence(rule, ("well", "cold", "flu")) for rule in range(4)] == [
        "well to cold, cold to well",
        "model's answer",
        "always flu",
        "well to cold, cold to flu, flu to well",
    ]


def test_rules_of_scores_are_not_made_of_counts():
    with pytest.raises(InputError, match="choose one of simplex, kernel, or give the scores"):
        region_kind("exact").answer_rules(("no", "yes"))
    notion = Notion.of("eo-full", ("no", "yes", "maybe"), "yes")
    assert region_kind("simplex").refusal(notion) and not region_kind("kernel").refusal(notion)


@given(count_tables())
def test_shrinking_keeps_people_and_moves_shares_to_the_pool(counts):
    found = shrink(counts)
    np.testing.assert_allclose(found.n_label, counts.n_label, atol=1e-9)
    np.testing.assert_allclose(shrink(counts, rows=1e-9).table, counts.table, atol=1e-6)
    far = shrink(counts, rows=1e12).table
    pooled = counts.table.sum(axis=0)
    for c, a, y in np.argwhere(counts.n_label > 0):
        share = pooled[a, y] / pooled[a, y].sum()
        np.testing.assert_allclose(far[c, a, y] / counts.n_label[c, a, y], share, atol=1e-6)


@given(scored_people())
def test_counts_from_scores_hold_everybody_by_what_the_model_said(people):
    ready = people.recalibrated(Calibration.fit(people))
    found = counted(ready, "scores")
    np.testing.assert_allclose(found.table.sum(axis=2), people.counts.table.sum(axis=2))
    assert found.noisy and not counted(people, "labels").noisy


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
@pytest.mark.parametrize("rates", ["labels", "scores", "shrunk", None])
def test_every_region_takes_every_choice_of_rates(region, rates):
    people = scored_network(2, 2, 2)
    program = FairnessProgram(people, "eop", region, rates=rates)
    found = program.solve(0.01, 0.01)
    assert found.gaps.overall <= 0.01 + 1e-7 and found.status == "optimal"
    if region != "exact" and (rates or default_rates(region)) == "labels":
        assert (
            found.accuracy
            == FairnessProgram(people.counts, "eop", region).solve(0.01, 0.01).accuracy
        )


def test_scores_that_nobody_recalibrated_are_not_trusted():
    with pytest.raises(InputError, match="recalibrate first"):
        counted(scored_network(2, 2, 2), "scores")
