"""Work has an end: refused before it begins, stopped while it runs, and as right as ever after."""

import tracemalloc
from contextlib import suppress
from itertools import product

import numpy as np
import pytest

from fairfl_core.budget import Budget, afford, look, watched, within
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import OverBudgetError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram


def counts(clients, groups=2, labels=2, seed=0):
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(labels**2), (clients, groups))
    people = rng.integers(30, 400, (clients, groups, 1))
    names = [
        tuple(f"{kind}{i}" for i in range(n))
        for kind, n in zip("cgl", (clients, groups, labels), strict=True)
    ]
    return ClientCounts(
        (1 + share * people).astype(int).reshape(clients, groups, labels, labels), *names
    )


def test_without_a_budget_nothing_is_watched():
    assert not watched()
    look()
    with within(Budget()):
        assert watched()
    assert not watched()


def test_time_over_is_a_sentence():
    with (
        within(Budget(seconds=-1, instead="ask for less")),
        pytest.raises(OverBudgetError, match="ask for less"),
    ):
        look()
    with within(Budget(seconds=-1)), within(Budget(seconds=9)), pytest.raises(OverBudgetError):
        look()  # the outer end holds


def test_memory_is_asked_for_before_it_is_taken():
    with within(Budget(megabytes=10)):
        afford(10, "this", "do that")
        with pytest.raises(
            OverBudgetError, match=r"this needs about 1\.2 GB .* 10 MB .*; do that\."
        ):
            afford(1200, "this", "do that")
    with pytest.raises(OverBudgetError):
        afford(1e9, "this", "do that")  # more than any machine has


def test_fifty_labels_with_all_errors_are_refused_at_once():
    """It took 8 GB: 20 clients, 2 groups, 50 labels, every error of every label."""
    many = counts(20, labels=50)
    tracemalloc.start()
    with within(Budget(megabytes=2000)), pytest.raises(OverBudgetError, match="50 labels"):
        FairnessProgram(many, "eo-full", "kernel")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    with within(Budget(megabytes=2000)):
        FairnessProgram(counts(20, labels=50), "eo", "simplex")


class Gone(BaseException):
    """What ends a script whose visitor has left: no error that code would catch."""


def tied():
    """Two groups that would pay the same for a gap that is closed: a second solve decides."""
    women, men = [[30, 20], [10, 40]], [[40, 10], [20, 30]]
    table = np.array([[women, men], [men, women], [women, women]])
    return ClientCounts(table, ("a", "b", "c"), ("1", "2"), ("no", "yes"))


@pytest.mark.parametrize("guarantee", [None, Guarantee(0.9)], ids=["plain", "sure"])
@pytest.mark.parametrize("make", [tied, lambda: counts(6)], ids=["tied", "drawn"])
def test_work_that_nobody_waits_for_ends_and_harms_nobody(make, guarantee):
    """Wherever it ends, others who share the program get the same answers as ever."""
    limits = [(0.05, 0.1), (0.0, 1.0), (0.2, 0.02)]

    def fresh():
        return FairnessProgram(make(), "sp", guarantee=guarantee)

    program, expected = fresh(), [fresh().solve(*one).beta for one in limits]
    for patience, asked in product(range(6), limits):
        looks = iter(range(patience))

        def wait(looks=looks):
            if next(looks, None) is None:
                raise Gone

        with within(Budget(on_look=wait)), suppress(Gone):
            program.solve(*asked)
        for one, beta in zip(limits, expected, strict=True):
            np.testing.assert_array_equal(program.solve(*one).beta, beta)
