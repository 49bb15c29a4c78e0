"""How harm is told: the small words, and where each of them begins."""

from dataclasses import replace

import pytest

from fairfl_core.evaluation.harm import BlindLottery, LostLabel, blindness, harm_of
from fairfl_core.evaluation.study import effect_of
from tests.evaluation.test_harm import disaster


def blind(attention, group="men", answer="no", share=0.973):
    return BlindLottery(
        client="clinic",
        group=group,
        label=None,
        n=1200,
        attention=attention,
        answer=answer,
        share=share,
        before=0.5,
        p_value=0.01,
    )


def lost(before, after, n=1902, p_value=0.2, client="clinic"):
    return LostLabel(
        client=client,
        group="men",
        label="over 50K",
        n=n,
        before=before,
        after=after,
        low=after,
        high=after,
        p_value=p_value,
    )


@pytest.mark.parametrize(
    ("before", "after", "unsure"),
    [
        (0.62, 0.56, "that it fell by more than 5 points may be chance"),
        (0.1, 0.04, "that it fell by more than 5 points may be chance"),
        (0.08, 0.03, "that it fell by more than half may be chance"),
    ],
)
def test_an_alarm_that_may_be_chance_says_what_is_not_sure(before, after, unsure):
    """On many people that it fell is sure; whether by more than an alarm allows is not."""
    assert f"(n = 1,902: {unsure})" in lost(before, after).brief()
    assert f": {unsure})." in lost(before, after).sentence()
    assert "(n = 1,902: beyond chance)" in lost(before, after, p_value=0.01).brief()


@pytest.mark.parametrize(
    ("alarms", "counted"),
    [
        ([0.2], "1 alarm in 1 of 3 clients, not beyond chance."),
        ([0.01], "1 alarm in 1 of 3 clients, beyond chance."),
        ([0.2, 0.2], "In all 2 alarms in 1 of 3 clients, none of them beyond chance."),
        ([0.01, 0.2], "In all 2 alarms in 1 of 3 clients, 1 of them beyond chance."),
        ([0.01, 0.01], "In all 2 alarms in 1 of 3 clients, all of them beyond chance."),
    ],
)
def test_alarms_are_counted_in_singular_and_plural(alarms, counted):
    some = harm_of(disaster().evaluations(unseen=True))
    some = replace(some, scopes=(None, "clinic", "b", "c"))
    harm = replace(some, alarms=tuple(lost(0.6, 0.5, p_value=p) for p in alarms))
    assert harm.counted() == counted and harm.sentence().endswith(counted)
    few = replace(some, alarms=(lost(0.6, 0.5, n=9),))
    assert few.sentence() == (
        "1 alarm in 1 of 3 clients, on fewer than 10 people, not beyond chance."
    )
    overall = replace(some, alarms=(lost(0.6, 0.5, client=None),))
    assert overall.counted() == "1 alarm over all clients together, not beyond chance."


def test_who_gains_all_the_same_is_told_by_those_who_are_more_than_a_few():
    """A label lost on nine people does not stand for a group of 1,200 answered alike."""
    some = harm_of(disaster().evaluations(unseen=True))
    harm = replace(some, alarms=(blind(0.0), lost(0.6, 0.5, n=9)))
    assert effect_of(0.01, harm, "clinic").but == blind(0.0).brief()
    both = replace(some, alarms=(blind(0.0), lost(0.6, 0.5)))
    assert effect_of(0.01, both, "clinic").but == lost(0.6, 0.5).brief()


def test_two_groups_are_told_together_with_one_answer_or_with_two():
    women, men = blind(0.02, "women", share=0.99), blind(0.0, "men", share=1.0)
    assert blindness([women, men]) == (
        "almost whatever the model says, 99.0 % of women (n = 1,200) and 100.0 % of men "
        "(n = 1,200) are answered “no”: its answer counts for 2 and 0 in 100"
    )
    other = blind(0.05, "men", answer="yes", share=0.951)
    assert blindness([women, other]) == (
        "almost whatever the model says, 99.0 % of women (n = 1,200) are answered “no” and "
        "95.1 % of men (n = 1,200) are answered “yes”: its answer counts for 2 and 5 in 100"
    )
