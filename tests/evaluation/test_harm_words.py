"""How harm is told: the small words, and where each of them begins."""

import pytest

from fairfl_core.evaluation.alarms import SHOWN, BlindLottery, blindness
from fairfl_core.evaluation.closed_gaps import ClosedGap, GroupRate
from fairfl_core.evaluation.harm import ClientHarm, harm_of
from fairfl_core.fairness.notions import Rate
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


@pytest.mark.parametrize(
    ("attention", "counts"),
    [
        (0.0, "0"),
        (0.0004, "0"),
        (0.0005, "0.1"),
        (0.0006, "0.1"),
        (0.004, "0.4"),
        (0.0094, "0.9"),
        (0.0096, "1"),
        (0.0149, "1"),
        (0.092, "9"),
    ],
)
def test_how_much_a_models_answer_counts_is_told_to_what_it_is_worth(attention, counts):
    assert blind(attention).told() == (
        "almost whatever the model says, 97.3 % of men (n = 1,200) are answered “no”: its answer "
        f"counts for {counts} in 100"
    )


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


def closed(raised, lowered, lower, higher):
    """A gap of .4 in which `lower` and `higher` moved from .2 and .6."""
    return ClosedGap(
        "clinic",
        Rate("yes", "yes"),
        0.4,
        0.4 - raised - lowered,
        raised,
        lowered,
        GroupRate("men", 50, 0.2, lower),
        GroupRate("women", 1000, 0.6, higher),
    )


FEWER, MORE = "by recognising fewer women (60.0 % →", "by recognising more men (20.0 % →"
TOO = ("and fewer men (20.0 % →", "and more women (60.0 % →")


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, None),
        (0.0049, None),
        (0.006, "a little"),
        (0.19, "a little"),
        (0.25, "a quarter"),
        (0.33, "a third"),
        (0.5, "half"),
        (0.66, "two thirds"),
        (0.75, "three quarters"),
        (0.85, "most"),
        (0.9951, "all"),
        (1.0, "all"),
    ],
)
def test_how_much_came_from_lowering_is_told_in_words(share, words):
    gap = closed(0.2 * (1 - share), 0.2 * share, 0.2 + 0.2 * (1 - share), 0.6 - 0.2 * share)
    assert gap.share_lowered == pytest.approx(share)
    said = gap.sentence()
    assert said.startswith("clinic, “yes” recognised: the gap went from 0.400 to 0.200, ")
    assert (f"{words} of that {FEWER}" in said) if words else (FEWER not in said)
    assert (MORE in said) == (share < 0.995)


@pytest.mark.parametrize(("moved", "told"), [(0.0, False), (SHOWN, False), (SHOWN + 1e-6, True)])
def test_a_group_that_moved_along_is_told_from_what_can_be_shown(moved, told):
    down = closed(0.0, 0.2, 0.2 - moved, 0.4)
    assert (TOO[0] in down.sentence()) == told and TOO[1] not in down.sentence()
    up = closed(0.2, 0.0, 0.4, 0.6 + moved)
    assert (TOO[1] in up.sentence()) == told and TOO[0] not in up.sentence()


@pytest.mark.parametrize(
    ("lower", "higher", "crossed"),
    [(0.5, 0.6, False), (0.5, 0.5, False), (0.5 + SHOWN, 0.5, False), (0.501, 0.5, True)],
)
def test_groups_change_places_from_what_can_be_shown(lower, higher, crossed):
    assert closed(0.1, 0.1, lower, higher).crossed == crossed


def test_what_is_not_told_of_a_client_is_counted():
    lost = [one for one in harm_of(disaster().evaluations(unseen=True)).lost if one.client]
    one, *_, last = sorted(lost, key=lambda alarm: alarm.order)
    for alarms, most, rest in (
        ((one, last), 2, ""),
        ((one, last), 1, " Recognition falls in 1 more group and label."),
        ((one, last, last), 1, " Recognition falls in 2 more of its groups and labels."),
    ):
        harm = ClientHarm("clinic", alarms)
        said = " ".join(f"{alarm.brief()}." for alarm in alarms[:most])
        assert harm.told(most) == said + rest
        assert harm.told(most, rest=False) == said
        assert harm.sentence(most) == f"clinic: {said}{rest}"
    before = ClientHarm(None, (blind(0.0), one, last)).sentence(1)
    assert before == (
        f"Overall: {blindness([blind(0.0)])}. {one.brief()}. Recognition falls in 1 more group "
        "and label."
    )
