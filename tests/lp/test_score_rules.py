"""Rules of a score: what a cut answers, and how people are put into bins."""

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.regions import region_kind
from fairfl_core.lp.rules import ScoreRules


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
