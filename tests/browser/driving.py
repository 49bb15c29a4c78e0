"""A real server and a real browser, driven as a visitor would: for the tests and the benchmark."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Request,
    TimeoutError,
    sync_playwright,
)

from tests.helpers.serving import Server

NO_BROWSER = "There is no Chromium on this machine: `make browser` installs one."
OVERALL, INSIDE = "Gap allowed overall", "In each"  # how their labels begin
PATIENCE = 60_000  # milliseconds; a machine may be slow, and busy with other tests
SHORTLY = 3_000  # milliseconds in which what is new has faded in, and charts fit a new window
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Nothing runs, nothing is stale, and every chart is drawn, and that for a while.
QUIET = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    const quiet = app && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && document.querySelector('[data-testid=stMain] [data-testid=stElementContainer]')
        && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
        && [...document.querySelectorAll('.stPlotlyChart')].every(one => one.querySelector('.main-svg'))
        && [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
            .every(one => one.shadowRoot?.querySelector('svg'));
    if (!quiet) { window.quietSince = undefined; return false; }
    window.quietSince ??= performance.now();
    return performance.now() - window.quietSince > 150;
}"""
UNREST = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    const count = what => document.querySelectorAll(`[data-testid=stMain] ${what}`).length;
    return {
        connection: app?.dataset.testConnectionState, script: app?.dataset.testScriptState,
        elements: count('[data-testid=stElementContainer]'),
        skeletons: count('[data-testid=stSkeleton]'), stale: count('[data-stale=true]'),
    };
}"""
# A slider runs ahead of the server's answer, which also writes the address bar.
ANSWERED = """labels => {
    const link = new URLSearchParams(location.search);
    const shown = label =>
        document.querySelector(`input[type=range][aria-label^='${label}']`)?.ariaValueText;
    return [link.get('eps_global'), link.get('eps_local')].every((value, k) =>
        shown(labels[k]) === 'no limit' ? value === '1' : Number(shown(labels[k])) === Number(value));
}"""
SAID = """() => [...document.querySelectorAll('.fairfl-sentence, .fairfl-numbers')]
    .map(one => one.innerText.trim()).join('\\n')"""
LAYOUT = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")
FIRST_SCREEN = (Path(__file__).parent / "first_screen.js").read_text(encoding="utf-8")
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
TROUBLE = """() => [
    ...document.querySelectorAll('[data-testid=stException], [data-testid=stAlertContentError]'),
    ...[...document.querySelectorAll('[data-testid=stAlertContentWarning]')]
        .filter(box => box.innerText.includes('cannot be shown')),
].map(box => box.innerText)"""


def chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield browser
        browser.close()


class Visitor:
    """One person's browser: a context of its own, and everything in it that went wrong."""

    def __init__(
        self,
        browser: Browser,
        server: Server,
        width: int = 1280,
        theme: str = "light",
        scale: float = 1,
    ) -> None:
        self.server = server
        self.complaints: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 720}, color_scheme=theme, device_scale_factor=scale
        )
        self.context.on("console", self._console)
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.context.on("request", self._request)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("websocket", lambda socket: self._asked_for(socket.url))

    def _console(self, message: ConsoleMessage) -> None:
        # A page opened by its address first looks for Streamlit beside itself, then at the root.
        place = message.location.get("url", "")
        beside = rf"{re.escape(self.server.address)}/[\w-]+/_stcore/(health|host-config)"
        if message.type == "error" and not ("404" in message.text and re.fullmatch(beside, place)):
            self.complaints.append(f"console: {message.text} ({place})")

    def _request(self, request: Request) -> None:
        self._asked_for(request.url)

    def _asked_for(self, url: str) -> None:
        parts = urlsplit(url)
        here = urlsplit(self.server.address).netloc
        if parts.scheme not in ("data", "blob", "about", "file") and parts.netloc != here:
            self.complaints.append(f"asked another host: {url}")

    # ---------------------------------------------------------------- going

    def open(self, page: str = "", **settings: str | float) -> "Visitor":
        """Open a page by its address and wait until it is whole."""
        return self.follow(f"{self.server.address}/{page}?{urlencode(settings, quote_via=quote)}")

    def follow(self, link: str) -> "Visitor":
        """Open a link and wait until the page is whole."""
        self.page.goto(link)
        return self.settle()

    def go(self, title: str) -> "Visitor":
        """Change to another page by the navigation."""
        self.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
        self.page.wait_for_function(
            "title => document.querySelector('[data-testid=stTopNavLink][aria-current=page]')"
            "?.innerText.trim() === title",
            arg=title,
        )
        return self.settle()

    def settle(self) -> "Visitor":
        """Wait until nothing moves any more."""
        self.page.evaluate("window.quietSince = undefined")
        try:
            self.page.wait_for_function(QUIET, polling=50)
        except TimeoutError as error:
            state = self.page.evaluate(UNREST)
            raise AssertionError(f"{self.page.url}: {state}; {self.complaints}") from error
        return self

    def rest(self) -> "Visitor":
        """After moves that did not wait for their answers: wait for the last one."""
        self.page.wait_for_function(ANSWERED, arg=[OVERALL, INSIDE])
        return self.settle()

    def navigation(self) -> dict[str, str]:
        """The pages there are: title to path, as the navigation shows them."""
        links = self.page.get_by_test_id("stTopNavLink").evaluate_all(
            "links => links.map(link => [link.innerText.trim(), new URL(link.href).pathname])"
        )
        return {title: path.strip("/") for title, path in links}

    # ---------------------------------------------------------------- looking

    @property
    def headline(self) -> str:
        """The page's one sentence: what was asked, what was reached."""
        return self.page.locator(".fairfl-sentence").first.inner_text()

    @property
    def said(self) -> str:
        """The sentence and the numbers."""
        said: str = self.page.evaluate(SAID)
        return said

    @property
    def link(self) -> dict[str, str]:
        """The settings in the address bar."""
        return dict(parse_qsl(urlsplit(self.page.url).query))

    @property
    def epsilons(self) -> tuple[str, str]:
        """What the two sliders show: overall, in each client."""
        shown = [self.slider(name).get_attribute("aria-valuetext") for name in (OVERALL, INSIDE)]
        return shown[0] or "", shown[1] or ""

    def misfits(self) -> list[str]:
        """Whatever is cut, overlaps, leaves its place on the page or is hard to read, in words.

        Charts follow a window's new size a while after it, and what is new fades in: what is no
        defect passes.
        """
        looks = f"() => [...({LAYOUT})(), ...({CONTRAST})()]"
        try:
            self.page.wait_for_function(f"() => !({looks})().length", polling=200, timeout=SHORTLY)
        except TimeoutError:
            found: list[str] = self.page.evaluate(looks)
            return found
        return []

    def first_screen(self) -> dict[str, Any]:
        """Words and pictures that are on the screen without scrolling."""
        seen: dict[str, Any] = self.page.evaluate(FIRST_SCREEN)
        return seen

    def trouble(self) -> list[str]:
        """Error boxes on the page, and all complaints so far."""
        return self.page.evaluate(TROUBLE) + self.complaints

    # ---------------------------------------------------------------- moving

    def slider(self, name: str) -> Locator:
        """A slider by the beginning of its label."""
        return self.page.locator(f"input[type=range][aria-label^='{name}']")

    def press(self, name: str, key: str = "ArrowRight") -> None:
        """Move a slider by the keyboard."""
        self.slider(name).focus()
        self.page.keyboard.press(key)

    def changes(self, act: Callable[[], Any]) -> str:
        """Do something, wait until other numbers are told, and return the sentence at rest."""
        before = self.said
        act()
        self.page.wait_for_function(
            f"before => {{ const now = ({SAID})(); return now && now !== before; }}", arg=before
        )
        self.settle()
        return self.headline

    def download(self, label: str, folder: Path) -> Path:
        """Press a download button; returns the file."""
        with self.page.expect_download() as begun:
            self.page.get_by_role("button", name=label, exact=True).last.click()
        target = folder / begun.value.suggested_filename
        begun.value.save_as(target)
        return target

    def tab(self) -> "Visitor":
        """Another tab of the same browser: a session of its own on files that are here already."""
        other = copy(self)
        other.page = self.context.new_page()
        other.page.on("websocket", lambda socket: self._asked_for(socket.url))
        return other

    def resize(self, width: int, height: int = 720) -> "Visitor":
        """Make the window another size."""
        self.page.set_viewport_size({"width": width, "height": height})
        return self.settle()

    def close(self) -> None:
        """Leave."""
        self.context.close()
