"""What a model's numbers are: one probability, logits, votes; and what is no score at all."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data.scored import ScoredData
from fairfl_core.intake import ColumnRoles, guess_roles, open_table
from tests.intake.test_intake import csv_of, people, refused, said, taken

ONE = ColumnRoles("site", "sex", "label", probability="score_1", probability_of="1")
BOTH = ColumnRoles("site", "sex", "label", scores=(("0", "score_0"), ("1", "score_1")))


def one_probability(rows=400):
    """The commonest export: the truth, and one probability."""
    return people(rows).drop(columns=["score_0", "answer"]).rename(columns={"score_1": "p_ill"})


def test_one_probability_is_guessed_and_taken():
    frame = one_probability()
    roles = guess_roles(open_table("rows.csv", csv_of(frame)))
    assert (roles.probability, roles.probability_of, roles.prediction) == ("p_ill", "1", "")
    assert roles.row_id == "id" and roles.threshold == 0.5
    found = taken(frame, roles)
    assert 'read as the probability of "1", which the model answers from 0.5 on' in said(found)
    both = taken(people(), BOTH).experiment
    mine = ScoredData.from_experiment(found.experiment, 0, "test")
    theirs = ScoredData.from_experiment(both, 0, "test")
    np.testing.assert_allclose(mine.scores, theirs.scores, atol=1e-7)
    assert (mine.counts.table == theirs.counts.table).all()


def test_it_is_guessed_of_the_label_that_it_is_named_after():
    frame = one_probability().assign(label=lambda t: t["label"].map({0: "ill", 1: "well"}))
    roles = guess_roles(open_table("rows.csv", csv_of(frame)))
    assert (roles.probability, roles.probability_of) == ("p_ill", "ill")


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.61])
@pytest.mark.parametrize("of", ["0", "1"])
def test_answers_are_those_of_the_threshold(threshold, of):
    """Whichever label it is of and whatever the threshold: the larger score is the answer."""
    frame = people(900).assign(p=lambda t: t["score_0" if of == "0" else "score_1"])
    frame.loc[:20, "p"] = threshold  # on it: answered so
    roles = ColumnRoles(
        "site", "sex", "label", probability="p", probability_of=of, threshold=threshold
    )
    found = taken(frame, roles).experiment
    answered = np.where(frame["p"] >= threshold, of, "1" if of == "0" else "0")
    by_answer = taken(
        frame.assign(answer=answered), ColumnRoles("site", "sex", "label", "answer")
    ).experiment
    for split in ("validation", "test"):
        assert (found.counts(0, split).table == by_answer.counts(0, split).table).all()
        scored = ScoredData.from_experiment(found, 0, split)
        assert (scored.counts.table == by_answer.counts(0, split).table).all()


def test_logits_and_votes_are_said_to_be():
    frame = people(600)
    chance = frame["score_1"].clip(0.01, 0.99)
    logits = frame.assign(score_0=0.3, score_1=0.3 + np.log(chance / (1 - chance)))
    refused(lambda: taken(logits, BOTH), 'column "score_1" runs from -', "between 0 and 1")
    found = taken(logits, replace(BOTH, scores_are="logits"))
    assert "The scores are logits, turned into probabilities" in said(found)
    test = ScoredData.from_experiment(found.experiment, 0, "test")
    by_hand = taken(frame.assign(score_0=1 - chance, score_1=chance), BOTH).experiment
    expected = ScoredData.from_experiment(by_hand, 0, "test").scores
    np.testing.assert_allclose(test.scores, expected, atol=1e-6)
    votes = frame.assign(score_0=frame["score_0"] * 9 + 1, score_1=frame["score_1"] * 9)
    shares = ScoredData.from_experiment(
        taken(votes, replace(BOTH, scores_are="votes")).experiment, 0, "test"
    )
    np.testing.assert_allclose(shares.scores.sum(axis=1), 1)
    refused(lambda: taken(logits, replace(BOTH, scores_are="votes")), "fewer votes than none")


@pytest.mark.parametrize(
    ("change", "roles", "says"),
    [
        ({"score_1": range(1000, 1400)}, ONE, "looks like an id"),
        ({"score_1": np.resize([20.5, 71.0], 400)}, ONE, "runs from 20.5 to 71"),
        ({"score_1": "high"}, ONE, "holds no number"),
        ({}, replace(ONE, probability="id"), "holds no number"),
        ({"score_1": range(400)}, replace(BOTH, scores_are="logits"), "looks like an id"),
        (
            {"label": np.resize(["a", "b", "c"], 400)},
            replace(ONE, probability_of="c"),
            "two labels",
        ),
        ({}, replace(ONE, threshold=1.0), "not between 0 and 1"),
        ({}, replace(ONE, probability_of="2"), "none of the labels"),
        ({}, replace(ONE, prediction="answer"), "or one probability"),
        ({}, replace(BOTH, scores=(("0", ""), ("1", "score_1"))), 'score column of the label "0"'),
        ({}, replace(ONE, client=""), "choose the column of the client"),
        ({}, replace(ONE, label=""), "choose the column of the true label"),
        ({}, replace(ONE, row_id="sex"), "two things"),
    ],
)
def test_what_is_no_score_is_refused_in_a_sentence(change, roles, says):
    refused(lambda: taken(people().assign(**change), roles), says)


def test_nothing_is_guessed_where_nothing_fits():
    """No role falls back on a column that only happens to be left."""
    frame = people()[["id", "score_0"]].assign(note=[f"text {i}" for i in range(400)])
    roles = guess_roles(open_table("rows.csv", csv_of(frame)))
    assert (roles.client, roles.group, roles.label, roles.prediction) == ("", "", "", "")
