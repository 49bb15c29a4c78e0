"""HiGHS when it has bad luck, or nobody waits for it any more."""

import numpy as np
import pytest
from scipy import sparse

from fairfl_core.budget import Budget, within
from fairfl_core.errors import OverBudgetError
from fairfl_core.lp import highs
from fairfl_core.lp.highs import HighsSolver


def solver(clients=1):
    """Each client mixes three answers of cost 3, 1 and 2, of which the second has a limit."""
    made = HighsSolver(*limits(clients))
    limited = np.arange(3 * clients) % 3 == 1
    matrix = np.vstack([np.kron(np.eye(clients), np.ones(3)), limited])
    made.add_columns(np.tile([3.0, 1.0, 2.0], clients), sparse.csc_array(matrix))
    made.set_start(np.flatnonzero(limited), np.array([clients]))
    return made


def limits(clients=1):
    return np.r_[np.ones(clients), -np.inf], np.r_[np.ones(clients), 0.25 * clients]


def test_a_solve_is_ended_where_its_time_is_over_and_the_next_is_right(monkeypatch):
    monkeypatch.setattr(highs, "_LARGE", 100)
    want = solver(200).solve()[0]
    made = solver(200)
    with monkeypatch.context() as patch:
        patch.setattr(highs, "look", passing(1))
        patch.setattr(highs, "is_over", lambda: True)
        with within(Budget()), pytest.raises(OverBudgetError, match="over"):
            made.solve()
    with within(Budget()):
        again = made.solve(*limits(200))[0]
    assert again.sum() == pytest.approx(want.sum()) and again[1::3].sum() == pytest.approx(50)


def passing(times):
    """Looks that go well so many times, and then find time over."""
    left = [None] * times

    def look():
        if left:
            left.pop()
        else:
            raise OverBudgetError("over")

    return look
