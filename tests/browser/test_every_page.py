"""Every page the navigation shows: whole, quiet, at home on a telephone, light and dark.

    PICTURES=1 pytest tests/browser/test_every_page.py

takes pictures of them, into screenshots/.
"""

import os
import sys
from pathlib import Path

from tests.browser.driving import INSIDE, Visitor
from tests.helpers.serving import ROOT

PICTURES = ROOT / "screenshots"
WIDE, NARROW = 1280, 390
ELSEWHERE = {"experiment": "public_coverage", "notion": "sp", "region": "kernel", "seed": "1"}
LIGHTNESS = """() => {
    const colour = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor;
    const [red, green, blue] = colour.match(/\\d+/g).map(Number);
    return red + green + blue > 382 ? 'light' : 'dark';
}"""


def test_every_page_by_its_address(regular, server):
    """Light: wide, then as narrow as a telephone."""
    pages = regular.open().navigation()
    assert len(pages) >= 2
    wrong = {}
    for title, path in pages.items():
        if path:  # the first one is open
            regular.open(path)
        wrong |= {
            f"{title}, {width}": found for width, found in _looked_at(regular, path, "light")
        }
        if path == "learn":
            wrong |= _steps(regular)
    regular.resize(WIDE)
    assert not wrong
    if sys.platform.startswith("linux"):  # reads /proc
        loaded = Path(f"/proc/{server.process.pid}/maps").read_text().lower()
        assert "highs" in loaded
        assert "tensorflow" not in loaded


def test_every_page_by_the_navigation_in_the_dark(tab):
    """With fifty clients, in large letters as in a hall: nothing is cut, every setting is kept.

    `tests/pages` opens the other experiments.
    """
    visitor = tab()
    visitor.page.emulate_media(color_scheme="dark")
    visitor.open(large="True", **ELSEWHERE)
    said = visitor.changes(lambda: visitor.press(INSIDE))
    settings = visitor.link
    first, *others = visitor.navigation().items()
    wrong = {}
    for title, path in (*others, first):
        visitor.resize(WIDE).go(title)
        assert {name: visitor.link.get(name) for name in ELSEWHERE} == ELSEWHERE, title
        wrong |= {f"{title}, {width}": found for width, found in _looked_at(visitor, path, "dark")}
    assert not wrong
    assert visitor.headline == said
    assert settings.items() <= visitor.link.items()


def _steps(visitor: Visitor) -> dict[str, list[str]]:
    """What is wrong with the lesson's steps on a telephone, each with its question answered."""
    wrong = {}
    onward = visitor.page.get_by_role("button", name="Next:")
    step = 1
    while onward.count():
        onward.click()
        step += 1
        visitor.page.wait_for_function(
            "step => new URLSearchParams(location.search).get('step') === step", arg=str(step)
        )
        visitor.settle()
        asked = visitor.page.get_by_test_id("stRadio").locator("label").filter(visible=True)
        if asked.count():
            asked.nth(1).click()
            visitor.page.get_by_text("Choose first").wait_for(state="detached")
            visitor.settle()
        found = visitor.misfits()
        if found:
            wrong[f"step {step}"] = found
    assert step == 10
    return wrong


def _looked_at(visitor: Visitor, path: str, theme: str) -> list[tuple[int, list[str]]]:
    """What is wrong with a page, at both widths; takes its picture where asked."""
    wrong = []
    for width in (WIDE, NARROW):
        visitor.resize(width)
        found = [*visitor.trouble(), *visitor.misfits()]
        if visitor.page.evaluate(LIGHTNESS) != theme:
            found.append(f"is not {theme}")
        if found:
            wrong.append((width, found))
        if "PICTURES" in os.environ:
            _take_picture(visitor, width, f"{path or 'explore'}-{width}-{theme}.png")
    return wrong


def _take_picture(visitor: Visitor, width: int, name: str) -> None:
    """Streamlit scrolls inside, so the window is made as tall as the page."""
    PICTURES.mkdir(exist_ok=True)
    height = visitor.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    visitor.resize(width, min(max(height, 400), 8000))
    visitor.page.screenshot(path=PICTURES / name)


def test_charts_are_whole_on_paper(regular):
    """A browser that prints has no time to draw anew: the picture of the screen has to shrink.

    On a page wider than a chart's column it stays as it is: larger, it would be cut below.
    """
    regular.open("clients", experiment="adult", split="paper", region="simplex", seed=0)
    regular.page.emulate_media(media="print")
    seen = {}
    for width in (360, 620):
        regular.page.set_viewport_size({"width": width, "height": 900})
        seen[width] = regular.page.locator(".fairfl-chart").evaluate_all(
            """charts => charts.map(chart => {
                const all = [...chart.querySelectorAll('.main-svg')];
                const bottoms = all.map(svg => svg.getBoundingClientRect().bottom);
                return {
                    paper: chart.clientWidth,
                    drawn: Math.max(...all.map(svg => Number(svg.getAttribute('width')))),
                    shown: Math.max(...all.map(svg => svg.getBoundingClientRect().width)),
                    cut: Math.max(...bottoms) - chart.getBoundingClientRect().bottom,
                };
            })"""
        )
    assert regular.page.get_by_test_id("stSidebar").is_hidden()
    regular.page.emulate_media(media="screen")
    regular.resize(1280)
    assert any(chart["drawn"] > chart["paper"] for chart in seen[360])
    assert any(chart["drawn"] < chart["paper"] for chart in seen[620])
    for chart in (*seen[360], *seen[620]):
        assert chart["shown"] < chart["paper"] + 1 and chart["cut"] < 1, seen
