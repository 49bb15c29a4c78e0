"""Numbers are written as the design rounds them: looked for on every bundled experiment.

`fairfl_core._io.numbers` is what writes them; here the pages are read as a visitor reads them.
"""

import re

import pytest

from fairfl_core.data import experiments
from fairfl_core.fairness.notions import notion_names
from pages.shared.view import regions_of
from tests.pages.conftest import healthy
from tests.pages.visible import charts, numbers, visible

UNWANTED = {
    "a negative zero": re.compile(r"[-−]0(\.0+)?(?![\d.])"),
    "the same on both sides of an arrow": re.compile(r"(?<![\d.])(\d[\d.]*(?: %)?) → \1(?![\d.])"),
    "one of many": re.compile(
        r"(?<![\d.,])1 (groups|clients|people|points|states|age bands|alarms|runs|women|men)\b"
    ),
    "not a number": re.compile(r"\b(nan|inf|None)\b"),
    "a gap with four digits": re.compile(r"(?<![\d.])0\.\d{4,}"),
}
CASES = [
    (name, notion, region)
    for name in experiments.list_experiments()
    for notion in notion_names()
    for region in regions_of(experiments.open(name), notion)
]


def found(lines):
    """What is unwanted in some lines."""
    return [(what, line) for line in lines for what, look in UNWANTED.items() if look.search(line)]


@pytest.mark.parametrize(("name", "notion", "region"), CASES)
def test_nothing_is_written_that_nobody_would_say(opened, name, notion, region):
    client = experiments.open(name).clients[1]
    for limit in (1, 0.05, 0.01):
        asked = {"eps_global": limit, "eps_local": limit, "client": client}
        app = opened(experiment=name, notion=notion, region=region, seed=0, **asked)
        for key in ("verdict", "harm"):
            app.session_state[key] = True
        said = visible(healthy(app.run()))
        assert not found(said)
        # The four numbers: before and after are told apart, or it is said that nothing changed.
        for one in numbers(app):
            was = one.was + (" %" if one.now.endswith(" %") else "")
            assert not one.was or was != one.now
            assert "no change" in one.note or one.was or one.label == "Answers changed"
        drawn = charts(app).get("explore-map", {"alone": []})
        assert not [points for _, points in drawn["alone"] if str(points) == "-0.0"]


def test_what_is_unwanted_would_be_found():
    wrong = (
        "-0.0 points",
        "79.3 % → 79.3 %",
        "1 groups lose",
        "gap nan",
        "0.1234",
        "−0.00 points",
    )
    assert [line for _, line in found(wrong)] == list(wrong)
    assert not found(("-0.04", "79.3 % → 79.4 %", "21 groups", "0.123", "100.0 % → 0.0 %"))
