"""The lesson's made-up hospitals and their numbers, as they were approved; see `helpers/approved.py`."""

from pathlib import Path

import pytest

from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.teaching import hospitals as lesson
from fairfl_core.teaching.messages import demo_log
from fairfl_core.teaching.precision import equalising_rate, precision
from tests.helpers.approved import check, declared, tell

APPROVED = Path(__file__).with_name("as_computed")


def examples():
    counts = {
        "network": lesson.network(),
        "four people": lesson.four_people([True, False, True, False], [True, True, False, False]),
        "one hospital": lesson.one_hospital(),
        "skin": lesson.skin_clinic(),
        **{
            name: lesson.pair_of_hospitals(pair, pair.women) for name, pair in lesson.PAIRS.items()
        },
    }
    told = {
        name: {
            "counts": one.to_json(),
            "together": lesson.together(one).table,
            "gaps": {
                notion: vars(lesson.untouched(one, notion).gaps) for notion in ("sp", "eop", "eo")
            },
        }
        for name, one in counts.items()
    }
    return told | {"smaller": lesson.pair_of_hospitals(lesson.PAIRS["fair"], (10, 30), 100).table}


def scores():
    people = lesson.scored_hospital()
    program = FairnessProgram(lesson.one_hospital(), "eo")
    reaches = {eps: lesson.reach(program, eps) for eps in (0.0, 0.05, 0.3)}
    return {
        "scores": people.scores,
        "counts": people.counts.table,
        "roc": [[one.group, one.false_alarms, one.recognised] for one in lesson.roc_curves()],
        "corners": {
            region: lesson.corners(lesson.one_hospital(), region)
            for region in ("simplex", "kernel")
        },
        "reach": {
            str(eps): [one.share, one.accuracy, one.model_accuracy, one.gap]
            for eps, one in reaches.items()
        },
    }


def chance():
    return {
        "carried": [lesson.carried_over(n, eps, 20) for n, eps in ((60, 0.05), (1000, 0.0))],
        "usual": lesson.carried_over(200, 0.1).typical,
        "alone": [lesson.chance_alone(n) for n in (20, 100, 2000)],
        "precision": precision(0.3, 0.8, 0.1),
        "equalising": equalising_rate(0.3, 0.8, 0.6),
    }


@pytest.mark.parametrize("part", [examples, scores, chance], ids=lambda part: part.__name__)
def test_the_lesson_is_what_was_approved(part):
    check(APPROVED / f"{part.__name__}.txt", tell(**part()), close=1e-6)


def test_the_messages_are_what_was_approved():
    check(APPROVED / "messages.txt", tell(log=demo_log()))


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("teaching"))
