"""One Hypothesis profile for all tests: no deadline, and in CI the same examples every time.

A deadline measures the machine, not the code: two busy cores miss it, and nothing is wrong.
"""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.register_profile(
    "ci", settings.get_profile("house"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "house")
