"""The visible text of pages, as a person approved it: words, labels, values and cells.

    APPROVE=1 pytest tests/pages/test_golden_text.py

writes what the pages say now into `tests/golden/pages/`; git then tells what has changed. Numbers
may differ in their last digit, as another machine's arithmetic does; words may not.
"""

import os
import re

import pytest

from tests.pages.conftest import TOP
from tests.pages.visible import visible

KEPT = TOP / "tests" / "golden" / "pages"
SKIN = {"experiment": "ham10000", "seed": 1, "eps_global": 1, "eps_local": 0.05}
# A page's file, its folder, and its link: add a page here and approve it.
PAGES = {
    "explore-adult": (
        "",
        {"experiment": "adult", "eps_global": 0.04, "eps_local": 0.06, "details": "reached"},
    ),
    "explore-states": ("", {"experiment": "public_coverage", "seed": 3, "region": "simplex"}),
    "explore-skin": ("", SKIN),
    "learn-step-1": ("learn", {}),
    "compare": ("compare", SKIN),
    "scenarios": ("scenarios", {}),
    "privacy": ("privacy", {"experiment": "adult"}),
    "methods": ("methods", {}),
    "your-data-empty": ("your_data", {}),
    "watch": ("watch", {"eps_local": 0.05}),
}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_was_approved(opened, name):
    page, link = PAGES[name]
    shown, path = visible(opened(page, **link)), KEPT / f"{name}.txt"
    if os.environ.get("APPROVE"):
        KEPT.mkdir(exist_ok=True)
        path.write_text("\n".join(shown) + "\n", encoding="utf-8")
    approved = path.read_text(encoding="utf-8").splitlines()
    assert list(map(words, shown)) == list(map(words, approved))
    for line, kept in zip(shown, approved, strict=True):
        assert all(map(alike, NUMBER.findall(line), NUMBER.findall(kept))), (line, kept)


def words(line):
    """A line without its numbers."""
    return NUMBER.sub("#", line)


def alike(one, other):
    """Whether two numbers differ by one in their last digit at most."""
    digits = len(one.partition(".")[2])
    size = abs(float(one.replace(",", "")) - float(other.replace(",", "")))
    return size <= 1.01 * 10.0**-digits
