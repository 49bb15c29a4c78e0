"""The shipped log of the demo run: every kind of its messages, with the protocol's own words."""

import pytest

from fairfl_core.teaching.hospitals import demo_log


def test_the_lesson_shows_a_whole_run_in_the_words_of_the_protocol():
    pytest.importorskip("flwr")
    from fairfl_core.federation.wire import KINDS

    log = demo_log()
    kinds = [one["kind"] for one in log.messages]
    assert kinds[0] == "moments" and kinds[-1] == "predictor"
    assert kinds.count("train") == kinds.count("evaluate") == 2 * log.rounds
    for place, one in enumerate(log.messages):
        asked = place % 2 == 0
        assert one["way"] == ("received" if asked else "sent")
        assert one["purpose"] == (KINDS[one["kind"]].asks if asked else KINDS[one["kind"]].replies)


def test_what_was_sent_is_far_smaller_than_the_people():
    log = demo_log()
    assert 0 < log.sent < log.rows  # less than a byte a person
    assert all(log.rows not in sum(one["arrays"].values(), []) for one in log.messages)
