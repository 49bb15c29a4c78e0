"""What solving seldom comes to: unlucky numbers, rules in words, regions that look at scores."""

import numpy as np
import pytest

from fairfl_core.errors import InputError, SolveError
from fairfl_core.fairness.notions import Notion
from fairfl_core.solving import clients_apart
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.clients_apart import ClientsApart
from fairfl_core.solving.exact.pricing import _best_cut
from fairfl_core.solving.exact.rules import ScoreRules
from fairfl_core.solving.regions import region_kind, region_names
from fairfl_core.solving.whole import Whole
from tests.helpers.strategies import synthetic


def test_where_numbers_are_unlucky_the_whole_program_is_solved(monkeypatch):
    program = FairnessProgram(synthetic(3, 2, 2), "eo", "simplex")
    sharing = program._listed_columns()
    given = program._rows, sharing, *program._objective(sharing)
    limits = [np.full(3, 0.1), np.full(3, 0.01)]
    want = [Whole(*given).solve(0.02, limits[0]), list(Whole(*given).grid([0.5, 0.02], limits))]

    def unlucky(*_):
        raise SolveError("unlucky")

    monkeypatch.setattr(clients_apart._Master, "solve", unlucky)
    for found, wanted in zip(ClientsApart(*given).solve(0.02, limits[0]), want[0], strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(
        list(ClientsApart(*given).grid([0.5, 0.02], limits)), want[1], atol=1e-9
    )


def test_a_rule_is_told_in_words():
    answers = np.array([[0, 1, 2], [1, 1, 1], [0, 2, 2], [2, 1, 0], [-1, -1, -1]])
    zero = np.zeros(5, np.int64)
    rules = ScoreRules(zero, zero, np.zeros((5, 3, 3)), np.zeros((5, 3)), answers)
    labels = ("no", "maybe", "yes")
    assert [rules.sentence(rule, labels) for rule in range(5)] == [
        "model's answer",
        "always maybe",
        "maybe to yes",
        "no to yes, yes to no",
        "the largest of no 0.00 r +0.00, maybe 0.00 r +0.00, yes 0.00 r +0.00",
    ]


def test_a_region_of_scores_has_no_rules_for_counts():
    with pytest.raises(InputError) as refused:
        region_kind("exact").answer_rules(("no", "yes"))
    assert str(refused.value) == (
        'the region "exact" looks at scores, which counts do not hold; choose one of simplex, '
        "kernel, or give the scores."
    )


def test_a_region_serves_a_notion_unless_it_says_why_not():
    for name in region_names():
        kind = region_kind(name)
        for notion in ("sp", "eop", "eo", "eo-full"):
            asked = Notion.of(notion, ("no", "maybe", "yes"), "yes")
            assert kind.serves(asked) is (kind.refusal(asked) is None)
            assert (name in region_names(notion=asked)) is kind.serves(asked)


def test_a_part_with_nobody_in_it_keeps_its_cut():
    nobody, now = np.zeros(0), np.array([0.25, 0.5])
    assert _best_cut(nobody.astype(int), nobody, nobody, now).tolist() == [0.25, 0.5]
