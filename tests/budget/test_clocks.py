"""When time is over, by clocks that a test moves; and what a machine without a budget allows."""

import os
from types import SimpleNamespace

import pytest

from fairfl_core import budget
from fairfl_core.budget import Budget, afford, look, within
from fairfl_core.errors import OverBudgetError


@pytest.fixture
def now(monkeypatch):
    """Work done so far and the time on the wall, on a machine of four cores."""
    clock = SimpleNamespace(work=100.0, wall=50.0, looks=0)

    def process_time():
        clock.looks += 1
        return clock.work

    monkeypatch.setattr(
        budget, "time", SimpleNamespace(process_time=process_time, monotonic=lambda: clock.wall)
    )
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    return clock


def over(clock, work, wall):
    """Whether time is over then."""
    clock.work, clock.wall = work, wall
    try:
        look()
    except OverBudgetError:
        return True
    return False


def test_time_is_over_after_its_seconds_of_work(now):
    with within(Budget(seconds=8)):
        assert not over(now, 108, 60)
        assert over(now, 108.1, 60)
        now.looks = 0
        assert not over(now, 109, 51.9)  # four cores cannot have used it up by then
        assert now.looks == 0 and over(now, 109, 52)


def test_where_nobody_knows_how_many_cores_there_is_one(now, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    with within(Budget(seconds=8)):
        assert not over(now, 109, 57.9) and over(now, 109, 58)


def test_what_is_inside_ends_with_the_nearer_end(now):
    with within(Budget(seconds=8, instead="wait")):
        with within(Budget(seconds=3)):
            assert not over(now, 103, 60) and over(now, 103.1, 60)
        assert not over(now, 103.1, 60)
        with within(Budget(seconds=8, instead="ask for less")):
            assert not over(now, 108, 60)
            now.work = 108.1
            with pytest.raises(OverBudgetError) as told:
                look()
        now.work = 107.0
        with within(Budget(seconds=3)):  # begun with one second left
            assert over(now, 108.1, 60)
    sentence = "this takes longer than the 8 seconds of work it has here; ask for less."
    assert str(told.value) == sentence


def test_what_is_inside_is_looked_at_as_soon_as_the_outer_is(now):
    with within(Budget(seconds=8)):
        now.work, now.wall = 101.0, 51.9
        with within(Budget(seconds=7.9)):
            assert over(now, 109, 52)


def test_without_a_budget_it_is_most_of_the_machine(monkeypatch):
    pages = {"SC_PHYS_PAGES": 1000 * 2**8, "SC_PAGE_SIZE": 2**12}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    afford(800, "this", "less")
    with pytest.raises(OverBudgetError) as told:
        afford(800.6, "this", "do less")
    sentence = "this needs about 801 MB of memory, and 800 MB are allowed for it here; do less."
    assert str(told.value) == sentence
    with pytest.raises(OverBudgetError, match=r"about 1\.0 GB of memory"):
        afford(1000, "this", "do less")

    def silent(name):
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", silent)
    afford(1e15, "this", "less")
