"""What a hall sees: Explore's screen, larger, one picture at a time, and a presenter's keys."""

import pytest

from tests.browser.driving import Visitor

PAPERS = {"experiment": "ham10000", "split": "paper", "region": "simplex", "seed": 0}
SCREENS = ("map", "gaps", "found", "compare")
TYPE = """() => {
    const size = one => parseFloat(getComputedStyle(one).fontSize);
    const texts = root => [...root.querySelectorAll('text')].filter(one => one.textContent.trim());
    const drawn = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
        .flatMap(one => texts(one.shadowRoot));
    const charts = [...document.querySelectorAll('.js-plotly-plot')].flatMap(texts);
    return {axes: [...drawn, ...charts].map(size), sentence: size(document.querySelector('.fairfl-sentence'))};
}"""


def turn(visitor: Visitor, key: str, to: int) -> None:
    """Press a key of the presenter's and wait for the screen that it leads to."""
    visitor.page.keyboard.press(key)
    visitor.page.wait_for_function(
        "to => (new URLSearchParams(location.search).get('screen') ?? '1') === to", arg=str(to)
    )
    visitor.settle()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_every_screen_has_verdict_numbers_and_a_picture_in_large_type(tab, width, height):
    visitor = tab()
    visitor.page.set_viewport_size({"width": width, "height": height})
    usual = visitor.open(**PAPERS).page.evaluate(TYPE)["sentence"]
    said = visitor.said
    visitor.page.get_by_role("button", name="Present").click()
    visitor.page.locator(".st-key-presenter").wait_for()
    visitor.settle()
    wrong = []
    for at, name in enumerate(SCREENS, 1):
        if at > 1:
            turn(visitor, "ArrowRight" if at % 2 else "PageDown", at)
        seen, type_ = visitor.first_screen(), visitor.page.evaluate(TYPE)
        shown = visitor.page.get_by_test_id("stMain").inner_text()
        assert name in visitor.page.locator(".st-key-presenter").inner_text()
        assert visitor.said == said and any(word in shown for word in ("met", "not sure yet"))
        wrong += [f"{name}: {one}" for one in visitor.misfits()]
        if name != "compare" and not seen["whole"]:  # a table there
            wrong.append(f"{name}: no whole picture, the lowest ends at {seen['lowest']} px")
        if min(type_["axes"], default=99) < 16:
            wrong.append(f"{name}: letters of {min(type_['axes'])} px")
        if type_["sentence"] < 1.35 * usual:
            wrong.append(f"{name}: a sentence of {type_['sentence']} px, usually {usual}")
        if visitor.page.get_by_test_id("stHeader").is_visible():
            wrong.append(f"{name}: the navigation is seen")
    turn(visitor, "ArrowLeft", len(SCREENS) - 1)
    turn(visitor, "PageUp", len(SCREENS) - 2)
    assert not wrong, "\n".join(wrong)
    visitor.page.locator(".st-key-leave button").click()
    visitor.page.get_by_role("button", name="Present").wait_for(timeout=20_000)
    visitor.settle()
    assert visitor.page.get_by_test_id("stHeader").is_visible()
    assert "present" not in visitor.link
