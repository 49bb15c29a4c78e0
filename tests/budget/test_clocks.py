"""When time is over, by clocks that a test moves; and what a machine without a budget allows."""

import os
from types import SimpleNamespace

import pytest

from fairfl_core import budget
from fairfl_core.budget import Budget, afford, look, within
from fairfl_core.errors import OverBudgetError


@pytest.fixture
def now(monkeypatch):
    """Processor time spent so far, as a test sets it."""
    clock = SimpleNamespace(work=100.0)
    monkeypatch.setattr(budget, "time", SimpleNamespace(process_time=lambda: clock.work))
    return clock


def over(clock, work):
    """Whether time is over then."""
    clock.work = work
    try:
        look()
    except OverBudgetError:
        return True
    return False


def test_time_is_over_after_its_seconds_of_work(now):
    with within(Budget(seconds=8)):
        assert not over(now, 108)
        assert over(now, 108.1)


def test_what_is_inside_ends_with_the_nearer_end(now):
    with within(Budget(seconds=8, instead="wait")):
        with within(Budget(seconds=3)):
            assert not over(now, 103) and over(now, 103.1)
        assert not over(now, 103.1)
        with within(Budget(seconds=8, instead="ask for less")):
            assert not over(now, 108)
            now.work = 108.1
            with pytest.raises(OverBudgetError) as told:
                look()
        now.work = 107.0
        with within(Budget(seconds=3)):  # begun with one second left
            assert over(now, 108.1)
    sentence = "this takes longer than the 8 seconds of work it has here; ask for less."
    assert str(told.value) == sentence


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
