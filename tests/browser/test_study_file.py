"""The Explore screen as a file, in a browser without a network: what it shows is what the app shows."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from fairfl_core.explore.file import LIMITS
from pages.compare import text
from pages.compare.files import study_html
from pages.shared.catalogue import catalogue
from pages.shared.view import read_view
from tests.browser.driving import INSIDE, PATIENCE, Visitor
from tests.cli.running import run

PAPERS = {"split": "paper", "region": "simplex", "seed": "0"}
LINKS = {
    "states": PAPERS | {"experiment": "public_coverage"},
}
CELLS = ((1.0, 0.05), (0.02, 0.0))  # overall, in each client
PICTURES = ("Gaps", "Found", "Price")
WORDS = "all => all.map(one => one.innerText.replace(/\\s+/g, ' ').trim())"
# What each client's mark is called, and the charts' own sentence.
SPOKEN = """root => [...root.querySelectorAll('.client')].map(one => one.getAttribute('aria-label')).sort()"""
APP_CHART = f"""() => ({SPOKEN})(
    document.querySelector('.st-key-clients-place [data-testid=stBidiComponentIsolated]').shadowRoot)"""
APP_MAP = """() => [...document.querySelector('.st-key-map-place [data-testid=stBidiComponentIsolated]')
    .shadowRoot.querySelectorAll('.alone, .cell, .impossible')].map(one => one.textContent + (one.getAttribute('fill') ?? ''))"""
FILE_MAP = """() => [...document.querySelectorAll('.alone, .cell, .impossible')]
    .map(one => one.textContent + (one.getAttribute('fill') ?? ''))"""


class Offline:
    """A browser that opens a file and hears of no network."""

    def __init__(self, browser, path: Path, **more) -> None:
        self.context = browser.new_context(offline=True, **{"viewport": SCREENS[0]} | more)
        self.context.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.context.on("console", lambda one: self.complaints.append(one.text))
        self.context.on("weberror", lambda one: self.complaints.append(str(one.error)))
        self.context.on("request", self._request)
        self.page = self.context.new_page()
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(".sentence:not(:empty)")

    def _request(self, request) -> None:
        if not request.url.startswith("file:"):
            self.complaints.append(f"asked for {request.url}")

    def go(self, limits: Sequence[float], overall: float, inside: float) -> None:
        for slider, limit in zip(
            self.page.locator("input[type=range]").all(), (overall, inside), strict=True
        ):
            slider.fill(str(limits.index(limit)))

    def picture(self, name: str) -> list[str]:
        self.page.get_by_role("button", name=name, exact=True).click()
        return self.page.evaluate(f"() => ({SPOKEN})(document)")

    def words(self, what: str) -> list[str]:
        return self.page.locator(what).evaluate_all(WORDS)


SCREENS = (
    {"width": 1280, "height": 720},
    {"width": 1920, "height": 1080},
    {"width": 390, "height": 844},
)


@pytest.fixture
def opened(browser):
    files = []

    def open_file(path: Path, **more) -> Offline:
        files.append(Offline(browser, path, **more))
        return files[-1]

    yield open_file
    complaints = [one.complaints for one in files]
    for one in files:
        one.context.close()
    assert not any(complaints), complaints


def written(tmp_path: Path, link: dict[str, str]) -> Path:
    view, ignored = read_view(link, catalogue())
    assert not ignored
    path = tmp_path / "study.html"
    path.write_text(study_html(view, ()), encoding="utf-8")
    assert path.stat().st_size < 2e6
    return path


@pytest.mark.parametrize("name", LINKS)
def test_the_file_shows_what_the_app_shows(name, tmp_path, regular, opened):
    file = opened(written(tmp_path, LINKS[name]))
    for overall, inside in CELLS[: 2 if name == "skin" else 1]:
        regular.open(**LINKS[name], eps_global=overall, eps_local=inside)
        file.go(LIMITS, overall, inside)
        check_same(regular, file)


def check_same(visitor: Visitor, file: Offline) -> None:
    """Where both stand they say the same: sentence, numbers, chips, map, every client's mark."""
    app = visitor.page
    assert file.words(".sentence") == app.locator(".fairfl-sentence").evaluate_all(WORDS)
    assert file.words(".numbers div") == app.locator(".fairfl-numbers div").evaluate_all(WORDS)
    chips = [
        one.replace("keyboard_arrow_down", "").strip()
        for one in app.locator(".st-key-verdict button, .st-key-harm button").evaluate_all(WORDS)
    ]
    assert [word.split("expand")[0].strip() for word in chips] == file.words(".chip summary")
    assert file.page.evaluate(FILE_MAP) == app.evaluate(APP_MAP)
    for picture in PICTURES:
        app.get_by_role("radio", name=picture).or_(
            app.locator(".st-key-views button").filter(has_text=picture)
        ).first.click()
        visitor.settle()
        assert file.picture(picture) == app.evaluate(APP_CHART), picture


def test_of_an_uploaded_set_it_is_the_same(tmp_path, regular, opened):
    visitor = regular.open("your_data")
    page = visitor.page
    page.get_by_role("button", name="Try the example").click()
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("button", name="Open in Explore").click()
    page.locator(".fairfl-numbers").wait_for()
    page.wait_for_url("**experiment=yours**")
    visitor.settle()
    page.get_by_role("button", name="Files", exact=True).click()
    page.get_by_role("button", name=text.MAKE_STUDY).click()
    page.get_by_role("button", name=text.STUDY).wait_for()
    path = visitor.download(text.STUDY, tmp_path)
    page.keyboard.press("Escape")
    file = opened(path)
    check_same(visitor, file)
    visitor.changes(lambda: visitor.press(INSIDE))
    file.page.locator("input[type=range]").nth(1).press("ArrowRight")
    check_same(visitor, file)


@pytest.fixture(scope="module")
def clinics(tmp_path_factory) -> Path:
    """The file that the command writes of two clinics."""
    path = tmp_path_factory.mktemp("study") / "study.html"
    counts = Path("docs/teaching/two-clinics.json")
    assert run("explore", counts, "--noun", "clinic", "--out", path).code == 0
    return path


@pytest.mark.parametrize(
    ("screen", "theme"), zip(SCREENS, ("light", "dark", "light"), strict=True), ids=str
)
def test_it_is_read_on_any_screen_by_keyboard_and_on_paper(screen, theme, clinics, opened):
    file = opened(clinics, viewport=screen, color_scheme=theme)
    page = file.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for picture in page.locator(".picture").all():
        box = picture.bounding_box()
        assert box["width"] > 250 and box["height"] > 250
    if screen["width"] == 1280:
        assert all(
            one.bounding_box()["y"] + one.bounding_box()["height"] <= 720
            for one in page.locator(".picture").all()
        )
    assert "browser of 2024" not in page.inner_text("body")
    before = file.words(".sentence")
    page.locator("input[type=range]").nth(1).focus()
    page.keyboard.press("Home")
    assert file.words(".sentence") != before
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.at").split()[1] == "1"
    page.locator(".client").first.press("Enter")
    assert "north" in page.locator("section").inner_text()
    page.get_by_title("Watch the limit tighten").click()
    page.locator("html[data-at$=' 21']").wait_for(state="attached")
    page.emulate_media(media="print")
    assert not page.get_by_title("Watch the limit tighten").is_visible()
    assert page.locator(".picture svg").first.is_visible()


def test_where_it_cannot_be_drawn_it_says_so(browser, clinics):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(clinics.as_uri())
    assert "browser of 2024" in page.inner_text("body")
    context.close()


def test_hostile_names_are_only_text(tmp_path, opened):
    from tests.explore.test_file import HOSTILE, made, two_clinics

    path = tmp_path / "study.html"
    path.write_text(made(two_clinics(HOSTILE), title=HOSTILE), encoding="utf-8")
    file = opened(path)
    assert file.words("h1") == [HOSTILE]
    assert file.page.evaluate("document.images.length + document.scripts.length") == 2
    assert HOSTILE in json.dumps(file.picture("Gaps"))
