"""Explore, by hand: sliders, the map, a client's drawer, play, chips, links, large type."""

import pytest

from pages.shared.results import LEVELS
from tests.browser.driving import INSIDE, OVERALL, Visitor

# In the paper's split and region, which are the quickest: here it is the hand that is tried.
PAPERS = {"split": "paper", "region": "simplex", "seed": "0"}
ADULT = PAPERS | {"experiment": "adult"}
STATES = PAPERS | {"experiment": "public_coverage"}
START = ("0.01", "0.05")  # the limits that a page opens with
# Whatever is told and set, but for tips; a chart's words come in the order of their places.
ALL_SAID = """() => {
    const charts = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
        .flatMap(one => [...one.shadowRoot.querySelectorAll('text, .head, .alone')])
        .map(one => one.textContent).filter(Boolean).sort();
    const set = [...document.querySelectorAll('[data-testid=stMain] input')]
        .map(one => `${one.getAttribute('aria-label')}: ${one.ariaValueText ?? one.value}`);
    return [document.querySelector('[data-testid=stMain]').innerText, ...charts, ...set];
}"""


@pytest.fixture
def explore(regular) -> Visitor:
    """Explore at its start."""
    return regular.open(**ADULT)


def cell(visitor: Visitor, overall: float, inside: float) -> tuple[float, float]:
    """Where a pair of limits stands on the map, in pixels."""
    at = LEVELS.index(inside) * len(LEVELS) + LEVELS.index(overall)
    cells = visitor.page.locator(".st-key-map-place .cell, .st-key-map-place .impossible")
    assert cells.count() == len(LEVELS) ** 2
    box = cells.nth(at).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def client(visitor: Visitor, name: str):
    """A client's place in the picture."""
    return visitor.page.locator(".st-key-clients-place .client").filter(has_text=name).first


def test_a_slider_asks_and_numbers_tell(explore):
    for place, (name, setting) in enumerate(((OVERALL, "eps_global"), (INSIDE, "eps_local"))):
        said, start = explore.said, float(explore.epsilons[place])
        after = explore.changes(lambda name=name: explore.press(name))
        upper = LEVELS[LEVELS.index(start) + 1]
        assert float(explore.link[setting]) == upper == float(explore.epsilons[place])
        assert f"{upper:g}" in after
        explore.changes(lambda name=name: explore.press(name, "ArrowLeft"))
        assert explore.said == said
    assert "No limit asked" not in explore.changes(lambda: explore.press(INSIDE, "End"))
    assert explore.epsilons[1] == "no limit"


def test_no_quick_press_is_lost(regular):
    """Presses that come while the page is still being repainted for the ones before."""
    regular.open(**STATES)
    regular.press(INSIDE, "Home")
    regular.rest()
    assert float(regular.link["eps_local"]) == 0
    for pause in (0, 150) * 5:
        regular.page.keyboard.press("ArrowRight", delay=pause)
    regular.rest()
    assert float(regular.link["eps_local"]) == LEVELS[10]
    assert f"Asked {LEVELS[10]:g} in each" in regular.headline


def test_a_click_and_a_drag_on_the_map_go_to_a_cell(explore):
    mouse, said = explore.page.mouse, set()
    for limits in ((0.1, 0.2), (0.0, 0.0), (0.3, 0.05)):
        said.add(explore.changes(lambda to=limits: mouse.click(*cell(explore, *to))))
        assert tuple(map(float, explore.epsilons)) == limits
    assert len(said) == 3

    def drag():
        mouse.move(*cell(explore, 0.3, 0.05))
        mouse.down()
        mouse.move(*cell(explore, 0.1, 0.1), steps=4)
        assert tuple(map(float, explore.epsilons)) == (0.3, 0.05)  # asked when it is let go
        mouse.move(*cell(explore, 0.02, 0.15), steps=4)
        mouse.up()

    explore.changes(drag)
    assert tuple(map(float, explore.epsilons)) == (0.02, 0.15)
    # Away by the slider and back by the same cell.
    last = explore.said
    explore.changes(lambda: explore.press(INSIDE))
    explore.changes(lambda: mouse.click(*cell(explore, 0.02, 0.15)))
    assert explore.said == last


def test_arrow_keys_choose_a_cell_and_enter_goes_there(explore):
    explore.page.locator(".st-key-map-place .field").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        explore.page.keyboard.press(key)
    assert explore.epsilons == START  # chosen, not yet asked
    explore.changes(lambda: explore.page.keyboard.press("Enter"))
    overall, inside = (LEVELS.index(float(limit)) for limit in START)
    assert tuple(map(float, explore.epsilons)) == (LEVELS[overall + 2], LEVELS[inside + 1])


def test_a_click_opens_a_clients_drawer_and_escape_closes_it(explore):
    drawer = explore.page.get_by_role("dialog")
    client(explore, "doctorate").click()
    drawer.wait_for()
    explore.settle()
    assert "doctorate" in drawer.inner_text()
    explore.page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    client(explore, "no doctorate").focus()
    explore.page.keyboard.press("Enter")  # by keyboard, too, and a second time
    drawer.wait_for()
    explore.settle()
    assert "no doctorate" in drawer.inner_text()
    explore.page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    assert explore.epsilons == START


def test_play_sweeps_until_it_is_stopped(explore):
    """That it goes on to zero is asked of the page without a browser."""
    play = explore.page.locator(".st-key-play button").first
    start = explore.page.evaluate("history.length")
    play.click()
    explore.page.wait_for_function(
        """label => {
            const now = Number(document.querySelector(`input[aria-label^='${label}']`).ariaValueText);
            return 0.05 < now && now < 0.3;
        }""",
        arg=INSIDE,
    )
    play.click()  # stops, somewhere on the way
    explore.page.wait_for_function(
        "document.querySelector('.st-key-play button').innerText.trim() === '▶'"
    )
    explore.rest()
    stopped = explore.epsilons
    assert 0 < float(stopped[1]) < 0.3
    explore.page.wait_for_timeout(1_000)  # more than a step
    assert explore.epsilons == stopped
    assert explore.page.evaluate("history.length") <= start + 2  # no step of its own for Back


def test_what_is_below_comes_into_sight_when_it_is_opened(explore):
    explore.page.get_by_text("Reached", exact=True).click()
    explore.page.locator(".fairfl-table").wait_for()
    explore.page.wait_for_function(
        "document.querySelector('.fairfl-table').getBoundingClientRect().bottom < innerHeight"
    )
    explore.settle()
    assert explore.link["details"] == "reached" and explore.epsilons == START


def test_chips_open_and_tell_why(explore):
    for chip in ("verdict", "harm"):
        explore.page.locator(f".st-key-{chip} button").click()
        output = explore.page.get_by_test_id("stPopoverBody").filter(visible=True)
        output.wait_for()
        explore.settle()
        assert len(output.inner_text().split()) > 5
        explore.page.keyboard.press("Escape")
        output.wait_for(state="hidden")


def test_a_kept_setting_is_on_the_map_and_in_the_link(explore, tab):
    explore.page.get_by_role("button", name="Keep", exact=True).click()
    kept = explore.page.locator(".st-key-map-place .letter")
    kept.wait_for()
    explore.changes(lambda: explore.press(OVERALL))
    other = tab().follow(explore.page.url)
    assert other.page.locator(".st-key-map-place .letter").all_text_contents() == ["A"]


def test_a_link_opens_the_same_page_after_many_moves(explore, tab):
    """Settings, picture and numbers: nothing is left over from before."""
    explore.page.locator(".st-key-views").get_by_text("Gaps", exact=True).click()
    explore.page.wait_for_function("location.search.includes('picture=gaps')")
    for name, key in ((INSIDE, "Home"), (OVERALL, "End"), (INSIDE, "ArrowRight")):
        explore.changes(lambda name=name, key=key: explore.press(name, key))
    fresh = tab().open(**explore.link)
    assert explore.page.evaluate(ALL_SAID) == fresh.page.evaluate(ALL_SAID)
    assert fresh.link == explore.link


def test_large_type_is_large_and_kept_in_the_link(explore):
    size = "parseFloat(getComputedStyle(document.querySelector('.fairfl-sentence')).fontSize)"
    small = explore.page.evaluate(size)
    explore.page.locator(".st-key-settings button").click()
    explore.page.get_by_text("Large type").click()
    explore.page.wait_for_function(f"{size} > {small}")
    explore.settle()
    assert explore.link["large"]
    assert not explore.follow(explore.page.url).misfits()
    assert explore.page.evaluate(size) > small
    ticks = explore.page.locator(".st-key-map-place text, .st-key-clients-place text")
    sizes = ticks.evaluate_all("all => all.map(one => parseFloat(getComputedStyle(one).fontSize))")
    assert min(sizes) >= 16


def test_back_goes_one_setting_and_one_page_back(tab):
    visitor = tab().open(**ADULT)
    shown, opened = [(visitor.epsilons, visitor.said)], visitor.page.evaluate("history.length")
    for name in (OVERALL, INSIDE):
        visitor.changes(lambda name=name: visitor.press(name))
        visitor.rest()
        shown.append((visitor.epsilons, visitor.said))
    assert visitor.page.evaluate("history.length") == opened + 2
    visitor.go("Methods")
    visitor.page.go_back()
    visitor.page.locator(".st-key-map-place").wait_for(timeout=20_000)
    visitor.settle()
    assert (visitor.epsilons, visitor.said) == shown[2]
    for before in (shown[1], shown[0]):
        visitor.changes(visitor.page.go_back)
        assert (visitor.epsilons, visitor.said) == before


def test_a_picture_that_nobody_chose_stays_while_limits_move(regular):
    """Whether somebody's loss is sure changes on the way."""
    regular.open(experiment="public_coverage", region="simplex")
    shown = regular.page.locator(
        ".st-key-views [aria-checked=true], .st-key-views [data-selected]"
    )
    first = shown.first.inner_text()
    for key in ("Home", "End"):
        regular.changes(lambda key=key: regular.press(INSIDE, key))
        assert shown.first.inner_text() == first


def test_each_of_eight_groups_has_a_colour_of_its_own(regular):
    regular.open(**STATES | {"experiment": "public_coverage_sex_race", "picture": "found"})
    legend = regular.page.locator(".st-key-clients-place .head svg")
    drawn = legend.evaluate_all("all => all.map(one => one.style.getPropertyValue('--c'))")
    colours = [colour for colour in drawn if colour.startswith("#")]
    assert len(colours) == len(set(colours)) == 8
