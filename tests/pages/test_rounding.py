"""Numbers are written as the design rounds them: looked for on every bundled experiment.

`fairfl_core._io.numbers` is what writes them; here the pages are read as a visitor reads them.
"""

import re

import pytest

from fairfl_core.data import experiments
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
# Every experiment as it opens, and where a larger region could write other numbers.
CASES = [
    *((name, "simplex") for name in experiments.list_experiments()),
    *(("adult", "exact"), ("public_coverage", "exact"), ("ham10000", "kernel")),
]


def found(lines):
    """What is unwanted in some lines."""
    return [(what, line) for line in lines for what, look in UNWANTED.items() if look.search(line)]


@pytest.mark.parametrize(("name", "region"), CASES)
def test_nothing_is_written_that_nobody_would_say(opened, name, region):
    app = opened(experiment=name, region=region, seed=0, client=experiments.open(name).clients[1])
    for key in ("verdict", "harm"):
        app.session_state[key] = True
    for limit in (0.05, 0.01, 1):
        for which in ("eps_global", "eps_local"):
            app.select_slider(key=f"widget_{which}").set_value(limit)
        assert not found(visible(healthy(app.run())))
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
