"""Parallel training gives the same bits whatever the number of threads, and passes errors on."""

import os
import threading
from dataclasses import replace
from time import sleep

import numpy as np
import pytest

from fairfl_core.training.trainers import parallel_clients, parallel_map
from fairfl_core.training.training import prepare, train_prepared
from research.trained import register_all
from research.trained.tensorflow_gradients import TensorFlowGradients
from tests.training import toy  # noqa: F401  (it makes itself known)
from tests.training.tiny import RECIPE, as_adult, pictures

register_all()
SETTINGS = {
    "equifl": {"notion": "sp"},
    "toy": {"strength": 3.0},  # it asks for everything that a trainer can do
}


def alone_and_together(people, recipe):
    """The same twice; steps are compiled when one thread, or several, first ask for them."""
    prepared = prepare(people, recipe, 0)
    return [
        replace(prepared, trainer=TensorFlowGradients(prepared.federation, recipe, parallel))
        for parallel in (1, 3)
    ]


@pytest.fixture(scope="module")
def both_ways():
    return alone_and_together(as_adult(), replace(RECIPE, batch=64))


def check_same(both_ways, **changes):
    ways = []
    for prepared in both_ways:
        runs = []
        recipe = replace(prepared.recipe, **changes)
        scores = train_prepared(prepared, recipe, on_progress=runs.append).scores
        ways.append(([run.state.theta for run in runs], scores))
    (thetas, scores), (thetas_together, scores_together) = ways
    assert np.array_equal(thetas, thetas_together)
    assert np.array_equal(scores, scores_together)
    assert not np.array_equal(thetas[0], thetas[-1])


@pytest.mark.parametrize("method", SETTINGS)
def test_threads_change_no_bit(both_ways, method):
    check_same(both_ways, method=method, method_settings=SETTINGS[method], rounds=3)


def test_nor_do_they_with_pictures():
    recipe = replace(RECIPE, model="cnn", augment=True, batch=32, rounds=1)
    check_same(alone_and_together(pictures(), recipe))


def test_chunks_are_scored_at_once_in_their_order(both_ways, monkeypatch):
    alone, together = (prepared.trainer for prepared in both_ways)
    for trainer in (alone, together):
        monkeypatch.setattr(trainer, "_chunk", 64)
    theta, rows = alone.model.initial(0), np.arange(600, dtype=np.int32)
    assert np.array_equal(alone.scores(theta, rows), together.scores(theta, rows))


def test_answers_stand_in_their_order_and_the_largest_begin():
    begun, both = [], threading.Barrier(2)

    def local(place):
        begun.append(place)
        if len(begun) <= 2:
            both.wait(60)  # nobody passes alone: two are at work at once
        return place * 10

    assert parallel_map(local, [3, 9, 1, 7], 2) == [0, 10, 20, 30]
    assert set(begun[:2]) == {1, 3}
    assert begun[-1] == 2


def test_alone_they_take_turns_in_their_order():
    begun = []
    parallel_map(begun.append, [1, 5, 3], 1)
    assert begun == [0, 1, 2]


def test_an_error_is_passed_on_and_nobody_begins_after_it():
    begun, failed = [], threading.Event()

    def local(place):
        begun.append(place)
        if place == 0:
            failed.set()
            raise ValueError("the first client has no rows")
        failed.wait(60)
        sleep(0.02)  # the others would be at work for seconds

    with pytest.raises(ValueError, match="has no rows"):
        parallel_map(local, [9] + [1] * 400, 2)
    assert len(begun) < 401


def test_no_more_turns_than_clients_or_cores():
    allowed = os.sched_getaffinity(0)
    assert parallel_clients(1000, 1) == len(allowed)
    assert parallel_clients(1000, 1000) == 1
    assert parallel_clients(1, 1) == 1
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert parallel_clients(1000, 1) == 1
    finally:
        os.sched_setaffinity(0, allowed)
