"""The predictor of the exact region: what it draws, keeps, writes and refuses."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core._io.files import write_json
from fairfl_core.data.answers import answers_to
from fairfl_core.data.calibration import Calibration
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import ScorePredictor, read_predictor
from tests.helpers.scored import as_people, exact_program, scored_network, scored_people
from tests.helpers.strategies import epsilons


def fitted(people, notion="eop", **options):
    return ScorePredictor.from_solution(exact_program(people, notion, **options).solve(0.01, 0.01))


def names_of(people):
    return np.array(people.clients)[people.client], np.array(people.groups)[people.group]


@given(scored_people(), st.sampled_from(["sp", "eop", "eo", "eo-full"]), epsilons, st.booleans())
def test_on_the_fitted_people_it_does_what_the_program_told(people, notion, epsilon, recalibrate):
    if recalibrate:
        people = people.recalibrated(Calibration.fit(people))
    solution = exact_program(people, notion, rates="labels").solve(epsilon, epsilon)
    predictor = ScorePredictor.from_solution(solution)
    found = evaluate(predictor, people)
    assert found.accuracy == pytest.approx(solution.accuracy, abs=1e-9)
    assert found.gaps.overall == pytest.approx(solution.gaps.overall, abs=1e-9, nan_ok=True)
    np.testing.assert_allclose(found.gaps.local, solution.gaps.local, atol=1e-9)
    assert found.before.accuracy == pytest.approx(people.counts.model_accuracy)
    json.dumps(found.to_json(), allow_nan=False)


@given(scored_people(), st.sampled_from(["sp", "eo", "eo-full"]), st.booleans())
def test_json_brings_the_same_answers_back(people, notion, recalibrate):
    ready = people.recalibrated(Calibration.fit(people)) if recalibrate else people
    fair = fitted(ready, notion, rates="scores" if recalibrate else "labels")
    value = json.loads(json.dumps(fair.to_json(), allow_nan=False))
    back = ScorePredictor.from_json(value)
    assert back.to_json() == fair.to_json()
    np.testing.assert_array_equal(back.chances_of(people), fair.chances_of(people))
    np.testing.assert_allclose(back.chances_of(people).sum(axis=1), 1.0, atol=1e-6)


def test_broken_files_and_rows_are_refused_with_a_sentence(tmp_path):
    people = scored_network(2, 2, 2)
    fair = fitted(people)
    value = fair.to_json()
    rule = value["clients"][0]["rules"][0][0]

    def with_rules(rules):
        first = {"name": "c0", "rules": [rules, *value["clients"][0]["rules"][1:]]}
        return value | {"clients": [first, *value["clients"][1:]]}

    def with_groups(rules):
        return value | {"clients": [{"name": "c0", "rules": rules}, *value["clients"][1:]]}

    for broken, says in (
        (with_groups("ab"), "a list with one entry per group"),
        (with_groups({"g0": [rule], "g1": [rule]}), "a list with one entry per group"),
        (with_groups([[rule]]), "a list with one entry per group"),
        (with_rules([]), "needs a list of rules"),
        (with_rules([rule | {"probability": 0.2}]), "do not sum to one"),
        (with_rules([{"probability": 1.0, "answers": ["l0", "no"]}]), "one of the labels"),
        (with_rules([{"probability": 1.0, "theta": [1.0], "b": [0.0, 0.0]}]), "one entry per"),
        (with_rules([{"probability": 1.0}]), "give one"),
        (with_rules(["rule"]), "must be an object"),
        (value | {"rates": "guesses"}, "rates"),
        (value | {"region": "exactly"}, "region"),
        (value | {"calibration": 3}, "must be an object"),
    ):
        path = write_json(tmp_path / "broken.json", broken)
        with pytest.raises(InputError, match=says):
            read_predictor(path) if broken["region"] == "exact" else ScorePredictor.from_json(
                broken
            )
    client, group = names_of(people)
    with pytest.raises(InputError, match="not probabilities"):
        fair.sample(client, group, people.scores * 3, seed=0)
    with pytest.raises(InputError, match="one column for each"):
        fair.sample(client, group, people.scores[:, :1], seed=0)
    with pytest.raises(InputError, match="differ in number"):
        fair.sample(client, group, people.scores[:5], seed=0)
    with pytest.raises(InputError, match="looks at scores"):
        evaluate(fair, people.counts)
    other = people.recalibrated(Calibration.fit(people))
    with pytest.raises(InputError, match="another calibration"):
        evaluate(fair, other)


def test_scores_of_one_person_must_be_probabilities():
    with pytest.raises(InputError, match="data row 2"):
        as_people([0, 0], [0, 1], [0, 1], np.array([[0.5, 0.5], [-0.1, 1.1]]), 1, 2)


@pytest.mark.parametrize("low", [0.75, np.nextafter(0.75, 1)])
@pytest.mark.parametrize("label", [[0, 1], [1, 0]])
def test_people_whose_scores_are_neighbouring_floats_are_parted(low, label):
    """There is no number between the two; the cut must fall between them all the same."""
    score = np.array([low, np.nextafter(low, 1)] * 4)
    scores = np.stack([1 - score, score], axis=1)
    people = as_people([0] * 8, [0, 0, 1, 1] * 2, label * 4, scores, 1, 2)
    solution = exact_program(people, "eo").solve(0.0, 0.0)
    assert solution.accuracy == pytest.approx(1.0)
    fair = ScorePredictor.from_solution(solution)
    output = fair.chances(people.client, people.group, people.scores, people.predicted)
    np.testing.assert_allclose(output, np.eye(2)[people.label], atol=1e-9)


@given(scored_people(labels=(2, 2)), st.sampled_from(["sp", "eop", "eo"]), epsilons, epsilons)
def test_sums_between_cuts_are_the_sums_over_people(people, notion, overall, local):
    """The quick ways of two labels against each person's own rules."""
    solution = FairnessProgram(people, notion, "exact", rates="labels").solve(overall, local)
    fair = ScorePredictor.from_solution(solution)
    scores = people.scores_by(fair.calibration)
    slow = fair.chances(people.client, people.group, scores, people.predicted)
    np.testing.assert_allclose(fair.chances_of(people), slow, atol=1e-12)
    quick = fair.answers_to(people)
    kept = slow[np.arange(len(people)), people.predicted]
    right = kept * (people.predicted == people.label)
    shape = people.counts.table.shape
    plain = answers_to(people.cell, people.label, slow, 1 - kept, right, shape)
    for part in ("confusion", "squares", "turned", "both_right"):
        np.testing.assert_allclose(getattr(quick, part), getattr(plain, part), atol=1e-9)
