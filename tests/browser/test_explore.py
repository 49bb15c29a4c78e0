"""Explore, by hand: sliders by keyboard, exact numbers, presets, the map, the focus."""

import pytest

from pages.shared.results import GRID
from tests.browser.driving import INSIDE, OVERALL

CELL = """(chart, [column, row]) => {
    const box = chart.querySelector('.nsewdrag').getBoundingClientRect();
    const {xaxis, yaxis} = chart._fullLayout;
    return [box.left + xaxis.l2p(column), box.top + yaxis.l2p(row)];
}"""
DRAWN = "chart => JSON.stringify(chart.layout.shapes)"  # how far what was asked reaches
FOCUSED = """() => {
    const now = document.activeElement;
    return now?.type === 'range' ? now.getAttribute('aria-label') : null;
}"""
# In the paper's split and region, which are the quickest: here it is the hand that is tried.
PAPERS = {"split": "paper", "region": "simplex"}
ADULT = PAPERS | {"experiment": "adult", "seed": "0"}
STATES = PAPERS | {"experiment": "public_coverage", "seed": "0"}
LIMITS = {"eps_global": "0.01", "eps_local": "0.05"}


@pytest.fixture
def explore(regular):
    """Explore at its start; where the test before left other limits only, they are reset."""
    at(regular, ADULT)
    if not LIMITS.items() <= regular.link.items():
        regular.changes(regular.page.get_by_role("button", name="Reset").click)
    return regular


@pytest.fixture
def states(regular):
    """Explore with the fifty states, at whatever limits the test before left."""
    return at(regular, STATES)


def at(visitor, settings):
    """Explore with settings: as the test before left it, where it left it with these."""
    there = visitor.page.url.split("?")[0] == f"{visitor.server.address}/" and (
        settings.items() <= visitor.link.items() and "options" not in visitor.link
    )
    return visitor if there else visitor.open(**settings)


@pytest.mark.parametrize("pause", [0, 150])
def test_no_quick_press_is_lost(states, pause):
    """Presses that come while the page is still being repainted for the ones before."""
    explore = states
    explore.press(INSIDE, "Home")
    explore.rest()
    assert float(explore.link["eps_local"]) == 0
    for _ in range(10):
        explore.page.keyboard.press("ArrowRight", delay=pause)
    explore.rest()
    assert float(explore.link["eps_local"]) == GRID[10]
    assert f"at most {GRID[10]:g} inside" in explore.headline


@pytest.mark.parametrize("clients", ["fifty", "nine"])
def test_click_on_map(request, clients):
    explore = request.getfixturevalue({"fifty": "states", "nine": "explore"}[clients])

    def click(overall, inside):
        chart = explore.page.locator(".st-key-explore-heat .js-plotly-plot")
        chart.scroll_into_view_if_needed()
        explore.page.mouse.click(*chart.evaluate(CELL, [GRID.index(overall), GRID.index(inside)]))

    said = set()
    for cell in ((0.1, 0.2), (0.0, 0.0), (0.3, 0.05)):
        said.add(explore.changes(lambda cell=cell: click(*cell)))
        assert tuple(map(float, explore.epsilons)) == cell
    assert len(said) == 3
    # Away by the slider and back by the same cell: it is no second click that takes it away.
    last = explore.headline
    explore.changes(lambda: explore.press(INSIDE))
    assert explore.changes(lambda: click(0.3, 0.05)) == last


@pytest.mark.parametrize(("name", "setting"), [(OVERALL, "eps_global"), (INSIDE, "eps_local")])
def test_slider_by_keyboard_and_exact_number(explore, name, setting):
    start, said = float(explore.link[setting]), explore.headline
    after = explore.changes(lambda: explore.press(name))
    upper = GRID[GRID.index(start) + 1]
    assert float(explore.link[setting]) == upper
    assert f"{upper:g}" in after
    assert explore.slider(name).get_attribute("aria-valuetext") == f"{upper:g}"
    number = explore.page.get_by_role("spinbutton", name=f"{name}, as a number")

    def enter(value):
        number.fill(value)
        number.press("Enter")

    assert "0.0123" in explore.changes(lambda: enter("0.0123"))
    assert explore.link[setting] == "0.0123"
    explore.changes(lambda: enter(f"{upper:g}"))
    assert explore.changes(lambda: explore.press(name, "ArrowLeft")) == said
    assert float(explore.link[setting]) == start


def test_presets_and_reset(explore):
    start, button = explore.headline, lambda name: explore.page.get_by_role("button", name=name)
    for name, words, shown in (
        ("No limit", "no limit on unfairness", ("no limit", "no limit")),
        ("Local only", "0.01 inside every client", ("no limit", "0.01")),
        ("Global only", "at most 0.01 overall", ("0.01", "no limit")),
        ("Both at 0.01", "0.01 inside every client and at most 0.01 overall", ("0.01", "0.01")),
    ):
        assert words in explore.changes(lambda name=name: button(name).click())
        assert explore.epsilons == shown
    assert explore.changes(lambda: button("Reset").click()) == start


def test_tab_reaches_sliders_and_shows_it(explore):
    page = explore.page
    sliders = page.get_by_test_id("stSlider")
    before = {
        label: sliders.filter(has_text=label).first.screenshot() for label in (OVERALL, INSIDE)
    }
    seen = {}
    explore.page.get_by_role("button", name="✕").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        label = page.evaluate(FOCUSED)
        if label in before and label not in seen:
            seen[label] = _looks_other(sliders.filter(has_text=label).first, before[label])
        if len(seen) == 2:
            break
    assert seen == {OVERALL: True, INSIDE: True}


def _looks_other(element, before: bytes, tries: int = 20) -> bool:
    """Whether it comes to look other than before: a focus ring fades in."""
    return any(element.screenshot() != before for _ in range(tries))


def test_a_chart_is_redrawn_once_and_where_it_stands(explore):
    """Told its buttons anew, Plotly would throw every chart away and draw the next one twice."""
    drawings = """() => {
        window.drawings = [];
        for (const chart of document.querySelectorAll('.fairfl-chart')) {
            chart.on('plotly_afterplot', () => window.drawings.push(chart));
            chart.querySelector('.main-svg').dataset.seen = 'before';
        }
        return document.querySelectorAll('.fairfl-chart').length;
    }"""
    charts = explore.resize(1280, 5000).page.evaluate(drawings)
    assert charts == 3
    explore.changes(lambda: explore.press(INSIDE))
    assert explore.page.evaluate("window.drawings.length") == charts - 1  # the map stays
    assert explore.page.locator(".main-svg[data-seen=before]").count() == charts
    explore.resize(1280)


def test_a_chart_far_away_is_drawn_anew_when_it_comes_near_or_for_paper(explore):
    """Nobody sees an old one: not by scrolling, and not on paper."""
    waiting = explore.page.locator(".fairfl-chart[data-waits]")
    clients = explore.page.locator(".st-key-explore-clients .fairfl-chart")
    explore.resize(1280, 5000)
    assert waiting.count() == 0
    explore.resize(1280, 500).changes(lambda: explore.press(INSIDE))
    assert waiting.count() >= 1 and clients.get_attribute("data-waits")
    before = clients.evaluate(DRAWN)
    clients.scroll_into_view_if_needed()
    explore.settle()
    after = clients.evaluate(DRAWN)
    assert not clients.get_attribute("data-waits") and after != before
    explore.page.locator("h4").scroll_into_view_if_needed()
    explore.changes(lambda: explore.press(INSIDE))
    assert waiting.count() >= 1
    explore.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    explore.settle()
    assert waiting.count() == 0 and clients.evaluate(DRAWN) != after
    explore.resize(1280)


def test_the_cross_stands_on_the_cell_of_the_limits(explore):
    """It moves over a map that is not drawn anew, and is drawn again where the map is."""
    for act in (lambda: explore.press(INSIDE), lambda: explore.press(OVERALL, "ArrowLeft")):
        explore.changes(act)
        _cross_is_on_its_cell(explore)
    explore.resize(700)
    _cross_is_on_its_cell(explore)
    explore.resize(1280)
    explore.go("Clients").go("Explore")
    _cross_is_on_its_cell(explore)


def _cross_is_on_its_cell(explore):
    overall, inside = map(float, explore.epsilons)
    chart = explore.page.locator(".st-key-explore-heat .js-plotly-plot")
    cell = chart.evaluate(CELL, [GRID.index(overall), GRID.index(inside)])
    box = explore.page.locator(".fairfl-mark").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert middle == pytest.approx(cell, abs=1)


def test_pinned_setting_stays_in_link(explore, tab):
    explore.page.get_by_role("button", name="Keep as an option").click()
    explore.settle()
    explore.changes(lambda: explore.press(OVERALL))
    assert "eps_global=0.01&eps_local=0.05" in explore.link["options"]
    other = tab().follow(explore.page.url)
    table = other.page.get_by_test_id("stMain").get_by_text("A: sp, simplex, ε0 0.01, εc 0.05")
    table.first.wait_for()


TALL = 1280, 5000  # pixels: every chart is in sight, and drawn
ALL_SAID = """() => {
    const said = [...document.querySelectorAll('[data-testid=stMain] [data-testid=stElementContainer]')]
        .filter(one => !one.querySelector('[data-testid=stElementContainer]') && one.offsetParent)
        .map(one => one.innerText.trim()).filter(Boolean);
    const set = [...document.querySelectorAll('[data-testid=stMain] input')]
        .map(one => `${one.getAttribute('aria-label')}: ${one.value}`);
    return [...said, ...set];
}"""


def test_after_many_moves_a_page_is_the_one_that_its_link_opens(visit):
    """Only what differs is sent after a move: what has come, has gone, or stays as it was."""
    moved = visit().open(**ADULT)
    messages = []
    moved.page.on(
        "websocket", lambda line: line.on("framereceived", lambda one: messages.append(one))
    )
    moved.page.reload()
    moved.resize(*TALL)
    for name, keys in ((INSIDE, ("Home", "ArrowRight", "End")), (OVERALL, ("End", "Home"))):
        for key in keys:
            moved.press(name, key)
            messages.clear()
            moved.rest()
            fresh = visit().open(**moved.link).resize(*TALL)
            assert moved.page.evaluate(ALL_SAID) == fresh.page.evaluate(ALL_SAID)
    assert len(messages) < 30  # of some fifty that the page is made of
