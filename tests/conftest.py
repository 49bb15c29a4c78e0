"""What all tests share: one Hypothesis profile, an order, and memory that is looked through once.

A deadline measures the machine, not the code: two busy cores miss it, and nothing is wrong. In CI
the examples are the same every time.
"""

import gc
import os

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.register_profile(
    "ci", settings.get_profile("house"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "house")

# They wait for a browser, a server or another process more than they work.
WAITING = (
    "tests/browser/",
    "tests/federated/flower/test_loopback.py",
    "tests/chaos/",
    "tests/pages/test_same_question.py",
    "tests/federated/test_train_cli.py",
    "tests/cli/test_serve.py",
    "tests/pages/test_gone_means_gone.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with those who wait, so that the others work meanwhile and nobody waits alone."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


def pytest_collection_finish() -> None:
    """Let garbage collection pass over what stays: every module of every test is imported by now.

    Streamlit collects garbage after each run of a page, and would go through TensorFlow each time:
    a second of processor time where the page itself takes a quarter of one.
    """
    gc.collect()
    gc.freeze()
