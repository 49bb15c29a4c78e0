"""What all tests share: one Hypothesis profile, and memory that is looked through once.

A deadline measures the machine, not the code: two busy cores miss it, and nothing is wrong. In CI
the examples are the same every time. `EXAMPLES=500 pytest tests/lp` asks every property of more.
"""

import gc
import os

from hypothesis import settings

settings.register_profile(
    "house", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "25"))
)
settings.register_profile(
    "ci", settings.get_profile("house"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "house")


def pytest_collection_finish() -> None:
    """Let garbage collection pass over what stays: every module of every test is imported by now.

    Streamlit collects garbage after each run of a page, and would go through TensorFlow each time:
    a second of processor time where the page itself takes a quarter of one.
    """
    gc.collect()
    gc.freeze()
