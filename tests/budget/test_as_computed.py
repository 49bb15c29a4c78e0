"""What a piece of work may take, as it was approved; see `helpers/approved.py`."""

from pathlib import Path

from fairfl_core.budget import Budget, OverBudgetError, afford, look, watched, within
from tests.helpers.approved import check, declared, refusal, tell

APPROVED = Path(__file__).with_name("as_computed")


def spent():
    """Time that is over before it begins."""
    with within(Budget(seconds=-1.0, instead="ask for less")):
        look()


def inside():
    """A longer budget inside a spent one."""
    with within(Budget(seconds=-1.0)), within(Budget(seconds=100.0, instead="wait")):
        look()


def large(megabytes, most):
    def attempt():
        with within(Budget(megabytes=most)):
            afford(megabytes, "a map of 3", "choose a smaller one")

    return attempt


def test_budgets_are_what_was_approved():
    shown = {
        "spent": refusal(spent),
        "inside": refusal(inside),
        "alone": [watched(), refusal(look)],
        "sizes": [
            refusal(large(m, most)) for m, most in ((5, 5), (6, 5), (999, 5), (2500.4, 1000))
        ],
        "endless": refusal(lambda: afford(1e12, "all", "less")).partition(" are allowed")[0][:60],
        "kind": OverBudgetError.__mro__[1].__name__,
    }
    check(APPROVED / "budgets.txt", tell(**shown))


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("budget"))
