"""Every page the navigation shows: whole, quiet, at home on a telephone, light and dark."""

import sys
from pathlib import Path

import pytest

from tests.browser.driving import ROOT

PICTURES = ROOT / "screenshots"
WIDTHS, THEMES = (1280, 390), ("light", "dark")
# What is wider than the window and does not scroll in a box of its own.
TOO_WIDE = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    return [document.scrollingElement, document.body, main]
        .filter(each => each.scrollWidth > each.clientWidth + 1)
        .map(each => `${each.tagName} ${each.scrollWidth} > ${each.clientWidth}`);
}"""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_page_is_whole(regular, visit, width, theme):
    visitor = visit(width=width, theme=theme)
    pages = regular.open().navigation()
    assert len(pages) >= 2
    PICTURES.mkdir(exist_ok=True)
    wrong = {}
    for title, path in pages.items():
        visitor.open(path)
        found = [*visitor.trouble(), *visitor.page.evaluate(TOO_WIDE)]
        if found:
            wrong[title] = found
        if visitor.page.evaluate(LIGHTNESS) != theme:
            wrong[title] = [*found, f"is not {theme}"]
        _picture(visitor, PICTURES / f"{path or 'explore'}-{width}-{theme}.png")
    assert not wrong


LIGHTNESS = """() => {
    const colour = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor;
    const [red, green, blue] = colour.match(/\\d+/g).map(Number);
    return red + green + blue > 382 ? 'light' : 'dark';
}"""


def _picture(visitor, path: Path) -> None:
    """The whole page: Streamlit scrolls inside, so the window is made as tall as the page."""
    page = visitor.page
    size = page.viewport_size
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(max(height, 400), 8000)})
    visitor.settle()
    page.screenshot(path=path)
    page.set_viewport_size(size)


def test_fifty_clients_on_every_page(regular):
    """Every page takes the 50 states; `tests/pages` opens every experiment."""
    visitor = regular.open(experiment="public_coverage", seed=0)
    for title in visitor.navigation():
        visitor.go(title)
        assert not visitor.trouble(), title
        assert visitor.link["experiment"] == "public_coverage", title


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Reads /proc, so only on Linux.")
def test_app_never_loads_tensorflow(regular, server):
    visitor = regular.open()
    for title in visitor.navigation():
        visitor.go(title)
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text().lower()
    assert "highs" in loaded
    assert "tensorflow" not in loaded
