"""The browser's Back: one page or one setting a press."""

import time

import pytest

from tests.browser.driving import INSIDE, OVERALL, PATIENCE

PAPERS = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}


def back(visitor):
    before = visitor.page.url
    visitor.page.go_back()
    visitor.page.wait_for_function(
        "before => location.href !== before && !location.search.includes('back=')", arg=before
    )
    return visitor.settle()


def entries(visitor):
    """The links of the browser's history, up to the one that is shown."""
    return visitor.page.evaluate(
        "navigation.entries().slice(0, navigation.currentEntry.index + 1).map(one => one.url)"
    )


def shows(visitor, headline):
    """Whether the page comes to say so: the answer to a press may be on its way."""
    end = time.monotonic() + PATIENCE / 1000
    while visitor.headline != headline and time.monotonic() < end:
        time.sleep(0.1)
    visitor.settle()
    return visitor.headline == headline


def test_one_back_is_one_page_or_one_setting(visit):
    visitor = visit()
    visitor.page.goto("about:blank")
    visitor.open(**PAPERS, eps_global="0.05", eps_local="0.1")
    assert visitor.link["notion"] == "sp"  # written by the page, into the entry that was there
    first = visitor.headline
    moved = visitor.changes(lambda: visitor.press(OVERALL))
    again = visitor.changes(lambda: visitor.press(INSIDE))
    assert len({first, moved, again}) == 3
    last = dict(visitor.link)
    visitor.go("Clients").go("Learn")
    visitor.page.get_by_role("button", name="Next:").click()
    visitor.page.wait_for_function("location.search.includes('step=')")  # it may take a while
    assert visitor.settle().link["step"] == "2"
    back(visitor)
    assert "step" not in visitor.link and "/learn" in visitor.page.url
    back(visitor)
    assert "/clients" in visitor.page.url
    back(visitor)
    assert shows(visitor, again) and visitor.link == last
    back(visitor)
    assert shows(visitor, moved) and visitor.epsilons == ("0.06", "0.10")
    back(visitor)
    assert shows(visitor, first) and visitor.epsilons == ("0.05", "0.10")
    visitor.page.go_back()
    assert visitor.page.url == "about:blank"  # and out, by one press


@pytest.fixture(scope="module")
def _opened(_regular):
    opened = _regular.tab().open(**PAPERS)
    yield opened
    opened.page.close()


@pytest.fixture
def opened(_opened, regular):
    """A tab that two tests share; what each of them finds in its history is where it begins."""
    return _opened


def test_the_answer_to_a_step_back_is_no_step_forward(opened):
    """However late it comes."""
    before = entries(opened)
    opened.page.evaluate(
        """link => {
            history.replaceState({}, '', `${link}&back=1`);
            history.pushState({}, '', link);
        }""",
        before[-1],
    )
    assert entries(opened) == before


def test_a_setting_after_a_run_that_was_too_quick_to_be_seen_is_one_entry(opened):
    before = entries(opened)
    opened.page.evaluate("() => history.pushState({}, '', `${location.search}&k=2`)")
    opened.changes(lambda: opened.press(OVERALL))
    quick, *after = entries(opened)[len(before) :]
    assert entries(opened)[: len(before)] == before
    assert quick == before[-1] + "&k=2" and len(after) == 1


def test_a_link_written_before_the_path_of_its_page_is_one_step_with_it(tab):
    """As Streamlit does it when the browser is slower than the server."""
    visitor = tab().open(**PAPERS)  # its own: what was set just before would be one step with it
    start = visitor.page.url
    visitor.page.evaluate(
        """() => {
            history.pushState({}, '', `${location.search}&k=2`);
            history.pushState({}, '', `/clients${location.search}`);
        }"""
    )
    assert entries(visitor) == [start, start.replace("/?", "/clients?") + "&k=2"]


def test_opening_a_link_is_one_entry_on_a_slow_machine_too(tab):
    visitor = tab()
    machine = visitor.context.new_cdp_session(visitor.page)
    machine.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    visitor.open(**PAPERS, eps_global="0.05", eps_local="0.1")
    visitor.page.wait_for_function("navigation.currentEntry.index === 0")
    assert visitor.link["notion"] == "sp"  # written by the page, into the entry that was there
