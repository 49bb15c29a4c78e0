"""One server and one Chromium for these tests; every visitor is checked when it leaves."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.driving import NO_BROWSER, Visitor, browsing, chromium
from tests.helpers.serving import Server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let a test try again what it was too slow for.

    A page that is late on two busy cores is no defect, one that is late three times is.
    """
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=2))


# Of the package, not of the session: Playwright's event loop must not outlive these tests.
@pytest.fixture(scope="package")
def browser():
    if chromium() is None:
        pytest.skip(NO_BROWSER)
    with browsing() as started:
        yield started


@pytest.fixture(scope="package")
def server(browser) -> Iterator[Server]:
    with Server() as started:
        yield started
        assert "Traceback" not in started.log, started.log


@pytest.fixture(scope="package")
def _regular(browser, server) -> Iterator[Visitor]:
    visitor = Visitor(browser, server)
    yield visitor
    visitor.close()


@pytest.fixture
def regular(_regular) -> Iterator[Visitor]:
    """A visitor who has the app's files already; each `open` is a new session all the same."""
    _regular.complaints.clear()
    yield _regular
    trouble = _regular.trouble()
    assert not trouble, trouble


@pytest.fixture
def tab(regular) -> Iterator[Callable[[], Visitor]]:
    """Make further tabs of the regular visitor: sessions of their own, with the files at hand."""
    tabs = []

    def another() -> Visitor:
        tabs.append(regular.tab())
        return tabs[-1]

    yield another
    trouble = [each.trouble() for each in tabs]
    for each in tabs:
        each.page.close()
    assert not any(trouble), trouble


@pytest.fixture
def visit(browser, server) -> Iterator[Callable[..., Visitor]]:
    """Make visitors who come for the first time; none may have met trouble when it leaves."""
    visitors = []

    def visitor(**options) -> Visitor:
        visitors.append(Visitor(browser, server, **options))
        return visitors[-1]

    yield visitor
    trouble = [each.trouble() for each in visitors]
    for each in visitors:
        each.close()
    assert not any(trouble), trouble
