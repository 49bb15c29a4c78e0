"""Every page as a stranger finds it: one screen, a picture first, few words, nothing cut.

    PICTURES=1 pytest tests/browser/test_every_page.py

takes pictures of all of them, into screenshots/.
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.driving import INSIDE, OVERALL, Visitor
from tests.helpers.serving import ROOT

FOUR_OPTIONS = "|".join(
    f"experiment=ham10000&eps_global={overall}&eps_local={inside}"
    for overall, inside in ((1, 0.05), (0.05, 0.05), (0.1, 0.2), (0.01, 0.01))
)
# Links of the pages that are looked at; the first of them is what a first visit opens.
PAGES = (
    "",
    "?experiment=ham10000",
    "?experiment=public_coverage&split=paper&region=simplex&seed=0",
    "?experiment=public_coverage_sex_race&split=paper&region=simplex&seed=0",
    "learn",
    "learn?step=10",
    "compare",
    f"compare?experiment=ham10000&options={quote(FOUR_OPTIONS)}",
    "scenarios",
    "scenarios?apart=own",
    "privacy",
    "methods",
    "your_data",
    "watch",
)
WITHOUT_PICTURE = ("your_data",)  # while nothing has been brought
# A lecture's, a desk's and a telephone's size; a theme changes colours, and no place.
LOOKS = (
    ("dark", (1280, 720)),
    *(("light", size) for size in ((1920, 1080), (390, 844), (1280, 720))),
)
MOST_WORDS, MOST_ABOVE = 110, 35  # on the first screen, and above its first picture
FIRST_PICTURE = {(1280, 720): 720, (390, 844): 620}  # pixels above which it begins
LIGHTNESS = """() => {
    const colour = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor;
    const [red, green, blue] = colour.match(/\\d+/g).map(Number);
    return red + green + blue > 382 ? 'light' : 'dark';
}"""
FOCUSED = """() => {
    let now = document.activeElement;
    const place = now?.closest('[class*=st-key-]')?.className.match(/st-key-([\\w-]+)/)[1] ?? '';
    while (now?.shadowRoot?.activeElement) now = now.shadowRoot.activeElement;
    const text = now?.matches('button, a') ? now.innerText : '';
    return `${place} ${now?.getAttribute('aria-label') ?? ''} ${text}`;
}"""
ON_PAPER = """() => [
    ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
        .map(one => one.getBoundingClientRect()).filter(box => box.left < 0 || box.right > 720)
        .map(box => `cuts a picture at ${box.right} px`),
    ...(document.querySelector('[data-testid=stMain]').scrollWidth > 720 ? ['is too wide'] : []),
    ...[...document.querySelectorAll('[data-testid=stHeader], .st-key-frame-tools')]
        .filter(one => one.checkVisibility()).map(one => `shows ${one.className}`),
]"""
# Whoever presses Tab goes through a page as it is read, unless something asks to come first.
OUT_OF_ORDER = (
    "() => [...document.querySelectorAll('[tabindex]')].filter(one => one.tabIndex > 0).length"
)
# In the order in which a hand on the keyboard meets them.
STOPS = ("Settings", "Experiment", OVERALL, INSIDE, "explore-map", "explore-clients")


@pytest.mark.parametrize("link", PAGES)
def test_a_page_fits_every_screen(regular, link):
    wrong = []
    page = regular.page
    regular.follow(f"{regular.server.address}/{link}")
    for theme, size in LOOKS:
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(f"theme => ({LIGHTNESS})() === theme", arg=theme)
        found = _wrong(regular.resize(*size), link, size)
        wrong += [f"{theme}, {size[0]}x{size[1]}: {one}" for one in found]
        if "PICTURES" in os.environ:
            (ROOT / "screenshots").mkdir(exist_ok=True)
            name = f"{link[:40] or 'explore'}-{size[0]}-{theme}.png".replace("?", "-")
            page.screenshot(path=ROOT / "screenshots" / name)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})  # about A4
    wrong += [f"on paper: {one}" for one in page.evaluate(ON_PAPER)]
    page.emulate_media(media="screen")
    regular.resize(1280, 720)
    assert not wrong, "\n".join(wrong)


def _wrong(visitor: Visitor, link: str, size: tuple[int, int]) -> list[str]:
    """What is wrong with a page as it stands, in words."""
    found = [*visitor.misfits(), *visitor.trouble()]
    screen = visitor.first_screen()
    if visitor.page.evaluate(OUT_OF_ORDER):
        found.append("Tab goes elsewhere than the eye")
    if screen["words"] > MOST_WORDS and size[1] < 1000:  # a larger screen shows more of the page
        found.append(f"{screen['words']} words: {screen['said']}")
    if link in WITHOUT_PICTURE:
        return found
    if size == (1280, 720) and screen["above"] > MOST_ABOVE:
        found.append(f"{screen['above']} words above the first picture")
    if not screen["first"] < FIRST_PICTURE.get(size, size[1]):
        found.append(f"the first picture begins at {screen['first']} px")
    if size == (1280, 720) and not screen["whole"]:
        found.append("no whole picture on the first screen")
    explore = not link or link.startswith("?")
    if size == (1280, 720) and explore and screen["height"] > 720:
        found.append(f"ends at {screen['height']} px")
    return found


def test_all_pages_are_looked_at(regular):
    shown = regular.open().navigation()
    assert set(shown.values()) < set(PAGES)


def test_the_server_of_pages_needs_no_tensorflow(regular, server):
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    regular.open()
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text().lower()
    assert "highs" in loaded and "tensorflow" not in loaded


def test_tab_meets_settings_experiment_sliders_map_and_clients_in_this_order(regular):
    regular.open()
    met = []
    for _ in range(40):
        regular.page.keyboard.press("Tab")
        met.append(regular.page.evaluate(FOCUSED))
        if STOPS[-1] in met[-1]:
            break
    places = [next((k for k, at in enumerate(met) if stop in at), None) for stop in STOPS]
    assert None not in places and places == sorted(places), (places, met)
