"""Long work ends where nobody waits for it: a stop button stops it, and so does who leaves."""

import os
from pathlib import Path

import pytest

from pages.explore.text import COARSE_MAP, REFINE_MAP
from pages.shared.results import COARSE, LEVELS

# Each pair of the map is a column generation: the whole one takes half a minute of work.
LESIONS = {
    "experiment": "ham10000",
    "split": "paper",
    "region": "exact",
    "notion": "eo",
    "seed": 1,
}
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="this system does not tell how a process works"
)
CELLS = ".st-key-map-place .cell, .st-key-map-place .impossible"


def working(server, visitor, seconds=1.5):
    """The share of a processor that the server takes from now on."""

    def spent():
        parts = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    before = spent()
    visitor.page.wait_for_timeout(1000 * seconds)
    return (spent() - before) / seconds


def refine(visitor):
    """Ask for the whole map, and wait until it is being solved."""
    visitor.page.get_by_role("button", name=REFINE_MAP).click()
    visitor.page.locator("[data-testid=stProgress]").first.wait_for()


def test_the_button_stops_a_map_and_the_coarse_one_is_back(server, regular):
    refine(regular.open(**LESIONS))
    regular.page.get_by_role("button", name=COARSE_MAP).click()
    regular.page.get_by_role("button", name=REFINE_MAP).wait_for()
    regular.settle()
    assert regular.page.locator(CELLS).count() == (len(COARSE) + 1) ** 2 < len(LEVELS) ** 2
    assert working(server, regular) < 0.3


def test_who_leaves_stops_it_too(server, regular, tab):
    other = tab()
    refine(other.open(**LESIONS))  # it was not solved to its end before
    other.page.goto("about:blank")
    regular.page.wait_for_timeout(3_000)  # a row of the map, which is not cut short
    assert working(server, regular) < 0.3
