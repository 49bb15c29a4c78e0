"""Statistics of clients: what is believed of corners and budgets, and whose part a client sees."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.federation.messages import HostileReply, Parcel
from fairfl_core.federation.statistics import _check_statistic, held_out, own_parts
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.privacy.mechanisms import Mechanism
from tests.federation.hospitals import QUESTION, STUDY
from tests.helpers.strategies import synthetic

TABLE = np.array([[[5, 1], [2, 4]], [[3, 0], [1, 6]]])


def corners():
    """Of each group the model's own answers, one constant, and one cut."""
    constant = np.stack([np.stack([table.sum(axis=1), [0, 0]], axis=1) for table in TABLE])
    return {
        "counts": TABLE,
        "group": np.array([0, 1, 0, 1, 0]),
        "weights": np.zeros((5, 2, 2)),
        "b": np.zeros((5, 2)),
        "answers": np.array([[0, 1], [0, 1], [0, 0], [0, 0], [-1, -1]]),
        "confusion": np.concatenate([TABLE, constant, TABLE[:1]]).astype(float),
        "kept": np.zeros(5),
    }


def refusal(change, header=None, question=QUESTION, kind="corners"):
    arrays = corners()
    change(arrays)
    try:
        _check_statistic(question, STUDY, kind, Parcel(kind, header or {}, arrays))
    except HostileReply as error:
        return str(error)
    return None


def put(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def shorter(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


GROUPS = "its corners are not of the study's groups"
LABELS = "its corners answer with labels that the study does not have"
PEOPLE = "its corners count other people than its table"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda arrays: None, None),
        (put("group", 4, 2), GROUPS),
        (put("answers", 1, [1, 0]), GROUPS),  # nobody keeps the model's answers in group 1
        (shorter("kept"), GROUPS),
        (shorter("weights"), GROUPS),
        (put("answers", 4, [-2, -1]), LABELS),
        (put("answers", 2, [2, 2]), LABELS),
        (put("answers", 2, [1, 1]), None),
        (put("confusion", (2, 0, 0), 6 + 2e-6), PEOPLE),
        (put("confusion", (2, 0, 0), 6 + 5e-7), None),
        (put("confusion", (2, 0, 0), 6 - 2e-6), PEOPLE),
    ],
)
def test_corners_are_believed_where_they_are_of_the_study_and_of_its_people(change, said):
    assert refusal(change) == said


def test_a_budget_that_was_spent_is_the_one_that_was_asked_for():
    noisy = replace(QUESTION, privacy=Mechanism(epsilon=2.0))
    said = "it spent another privacy budget than was asked for"
    for budget, wanted in ((2.0, None), (2, None), (2.0 + 1e-8, said), (1.0, said), ("2", said)):
        nothing = lambda arrays: None  # noqa: E731
        assert refusal(nothing, {"budget": budget}, noisy, "counts") == wanted
    assert refusal(lambda arrays: None, {}, noisy, "counts") == said
    assert refusal(lambda arrays: None, {}, QUESTION, "counts") is None


def test_a_client_sees_its_own_part_and_no_other_name():
    counts = synthetic(3, 2, 2)
    fair = FairPredictor.from_solution(FairnessProgram(counts).solve(0.1, 0.2))
    whole, parts = fair.to_json(), own_parts(fair)
    assert list(parts) == list(counts.clients)
    for place, (name, part) in enumerate(parts.items()):
        assert part["clients"] == [whole["clients"][place]]
        assert list(part["epsilon"]["local"]) == list(part["reached"]["gap"]["local"]) == [name]
        assert part["epsilon"]["local"][name] == 0.2
        gap = whole["reached"]["gap"]
        assert part["reached"]["gap"] == gap | {"local": {name: gap["local"][name]}}
        assert FairPredictor.from_json(part).clients == (name,)


def test_where_nobody_tells_of_test_people_there_is_no_verdict():
    replies = {name: Parcel("predictor", {}, {}) for name in STUDY.clients}
    assert held_out(STUDY, QUESTION, None, replies) is None
    assert held_out(STUDY, QUESTION, None, {}) is None
