"""The short form of `python -m tests.chaos`; training is killed in tests/training/test_train_cli.py.

The class at once has a file of its own.
"""

from tests.chaos.__main__ import trouble


def test_promises_hold_in_trouble():
    for one in trouble(stops=2, files=60, people=0, seconds=0, seed=1):
        assert one.tries and not one.broken, (one.name, one.broken)
