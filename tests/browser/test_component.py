"""The two charts that follow a slider, in a real browser on a page of their own."""

import pytest

from tests.helpers.serving import Server

PAGE = """
import random
import streamlit as st
from pages.shared.component import client_chart, limit_map

st.set_page_config(layout="wide")
asked = st.query_params
view, large, count = asked.get("view", "gaps"), "large" in asked, int(asked.get("n", 5))
state = st.session_state
for name, start in (("here", [2, 1]), ("visits", 0), ("chosen", ""), ("turn", 0)):
    state.setdefault(name, start)


def go():
    state.here = state["map"].go
    state.visits += 1


def choose():
    state.chosen = state["clients"].client


st.html("<style>[class*='st-key-place'] { flex: none; height: 400px; }</style>")
if st.button("Another turn"):
    state.turn += 1
st.text(f"here {state.here[0]} {state.here[1]}, visits {state.visits}, chosen {state.chosen}.")
limits = [0.0, 0.01, 0.05, 0.1, 0.3, 1.0]
accuracy = [[None if x + y < 1 else 70 + x + y + state.turn for x in range(6)] for y in range(6)]
codes = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT".split()
names = ["<b>Ada</b> & sons", *codes[1:count]] if count <= 12 else codes[:count]
chance = random.Random(state.turn)


def share(low, high):
    return low + (high - low) * chance.random()


gaps = [
    {"name": name, "n": 7 * k + 1, "before": 0.2, "after": share(0.05, 0.19), "low": 0.03,
     "high": 0.31, "asked": 0.05 if k % 2 else 0.02, "within": k == 0, "above": k == 1}
    for k, name in enumerate(names)
]
found = [
    {"name": name, "n": 100, "alarm": k == 1, "groups": [
        {"before": 61.2, "after": share(40, 60), "n": 50, "sure": True},
        {"before": None, "after": None, "n": 0, "sure": False},
    ]}
    for k, name in enumerate(names)
]
price = [{"name": name, "n": 9, "points": share(-4, 1)} for name in names]
pictures = {
    "gaps": {"clients": gaps, "axis": "gap between women and men"},
    "map": {"clients": gaps, "axis": "gap between women and men"},
    "found": {"clients": found, "groups": ["women", "men"], "label": "<i>cancer</i>"},
    "price": {"clients": price},
}
left, right = st.columns(2)
with left, st.container(key="place-map"):
    limit_map(
        "map", {"accuracy": accuracy, "limits": limits, "here": state.here, "kept": [["A", 4, 3.5]],
        "low": 70, "high": 85, "free": [[4, 4, 4, 6], [4, 4, 6, 4]]},
        noun="<u>state</u>", note="new people", title="Accuracy by pair of limits",
        alone=[("in each state", -6.7), ("overall", -0.04)], spoken="Told aloud", large=large,
        on_go=go,
    )
for one in pictures if view == "all" else [view]:
    with right, st.container(key=f"place-of-{one}"):
        client_chart(
            "clients" if one == view else f"all-{one}", pictures[one], view=one, spoken="Told, too", large=large,
            on_client=choose,
        )
"""
DRAWN = """many => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .filter(one => one.shadowRoot?.querySelector('.client, .cell')).length === many"""
# Texts that leave their chart sideways, or stand on each other; what is scrolled away is not cut.
MISFITS = """() => {
    const found = [];
    for (const root of [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)) {
        const box = root.querySelector('.ff')?.getBoundingClientRect();
        if (!box) continue;
        const texts = [...root.querySelectorAll('text, .head span, .alone span')]
            .filter(text => text.textContent && getComputedStyle(text).visibility !== 'hidden');
        const rects = texts.map(text => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            const seen = (text.closest('.scroll') ?? text).getBoundingClientRect();
            return { left, right, top: Math.max(top, seen.top), bottom: Math.min(bottom, seen.bottom) };
        });
        rects.forEach((one, at) => {
            if (one.left < box.left - 1 || one.right > box.right + 1) found.push(`cut: ${texts[at].textContent}`);
            rects.slice(at + 1).forEach((two, k) => {
                const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
                const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
                if (wide > 1 && high > 4) found.push(`${texts[at].textContent} on ${texts[at + 1 + k].textContent}`);
            });
        });
    }
    return found;
}"""
# The size of each text, and how far it is from what is behind it.
TEXTS = """() => {
    const parts = colour => {
        const numbers = colour.match(/[\\d.]+/g).map(Number);
        return colour.startsWith('color') ? numbers.slice(0, 3) : numbers.slice(0, 3).map(n => n / 255);
    };
    const light = colour => parts(colour).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [.2126, .7152, .0722][k], 0);
    const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const told = [];
    for (const root of [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)) {
        for (const text of root.querySelectorAll('.ff text, .ff .head span, .ff .alone span')) {
            const style = getComputedStyle(text), tile = text.closest('.client')?.querySelector('.tile');
            if (!text.textContent || style.visibility === 'hidden') continue;
            const behind = text.matches('.letter') ? 'rgb(50, 50, 50)'
                : tile ? getComputedStyle(tile).fill : getComputedStyle(document.querySelector('.stApp')).backgroundColor;
            const colour = text.namespaceURI.endsWith('svg') ? style.fill : style.color;
            told.push([text.textContent, parseFloat(style.fontSize), contrast(light(colour), light(behind))]);
        }
    }
    return told;
}"""


@pytest.fixture(scope="module")
def context(browser, tmp_path_factory):
    """The page, served, in a browser that has its files from the second visit on."""
    script = tmp_path_factory.mktemp("charts") / "page.py"
    script.write_text(PAGE, encoding="utf-8")
    with Server(str(script)) as server:
        context = browser.new_context(base_url=server.address, reduced_motion="reduce")
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        complaints: list[str] = []
        yield context
        context.close()
        assert not complaints
        assert "Traceback" not in server.log, server.log


@pytest.fixture
def visit(context):
    page = context.new_page()

    def open_page(query="", width=1280, theme="light"):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.goto(f"/?{query}")
        page.wait_for_function(DRAWN, arg=5 if "view=all" in query else 2)
        page.wait_for_function("document.fonts.status === 'loaded'")
        return page

    yield open_page
    page.close()


def output(page, text):
    page.get_by_text(text).wait_for()


def middle(page, x, y):
    """Where a cell is on the screen."""
    box = page.locator(".ff .cells > *").nth(6 * y + x).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def client(page, name):
    return page.locator(".ff .client").filter(has=page.get_by_text(name, exact=True))


def test_tab_goes_from_the_map_to_one_client_and_on(visit):
    page = visit()
    page.locator(".ff .field").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    output(page, "chosen <b>Ada</b> & sons.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    output(page, "chosen AK.")


def test_a_tile_is_reached_by_arrows(visit):
    page = visit("view=map&n=26")
    client(page, "CA").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    output(page, "chosen AR.")


def test_a_tip_tells_the_client(visit):
    page = visit()
    client(page, "AK").hover()
    tip = page.locator(".ff .tip.shown")
    tip.wait_for()
    lines = tip.inner_text().splitlines()
    assert lines[0] == "AK · 8 people"
    assert lines[1].startswith("gap 0.20 → ")
    assert lines[2:] == ["95 %: 0.03 to 0.31", "allowed 0.05: above, beyond chance"]


def test_text_of_the_data_stays_text(visit):
    page = visit("view=all")
    name = "<b>Ada</b> & sons"
    for view in ("gaps", "found"):
        page.locator(f".st-key-place-of-{view} .client").filter(
            has=page.get_by_text(name)
        ).first.hover()
        page.locator(f".st-key-place-of-{view} .tip.shown").get_by_text(name).wait_for()
    assert page.locator(".ff .head b, .ff i:not(.scale, .price), .ff u, .ff svg b").count() == 0
    page.get_by_text("gap allowed in each <u>state</u>, εc").wait_for()


def test_other_data_are_drawn_in_place(visit):
    page = visit()
    page.evaluate("""() => { window.first = [...document.querySelectorAll('*')]
        .flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll('.ff svg')] : []); }""")
    dots = page.locator(".ff .client .dot").evaluate_all("all => all.map(d => d.style.transform)")
    page.get_by_role("button", name="Another turn").click()
    page.wait_for_function(
        """before => { const dots = [...document.querySelectorAll('*')]
            .flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll('.client .dot')] : []);
        return dots.length === before.length && dots.some((d, k) => d.style.transform !== before[k]);
        }""",
        arg=dots,
    )
    assert page.evaluate("window.first.length >= 3 && window.first.every(svg => svg.isConnected)")


def test_what_is_spoken(visit):
    page = visit("view=all")
    page.get_by_role("img", name="Told aloud").wait_for()
    assert page.get_by_role("group", name="Told, too").count() == 4
    assert page.locator(".ff .client[tabindex='0']").count() == 4


@pytest.mark.parametrize(
    ("width", "count", "large"),
    [(390, 12, ""), (390, 26, ""), (390, 5, "&large"), (1280, 12, "&large"), (1280, 26, "&large"), (1920, 2, "")],
)  # fmt: skip
def test_every_word_has_its_place(visit, width, count, large):
    assert visit(f"view=all&n={count}{large}", width=width).evaluate(MISFITS) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_are_readable(visit, theme):
    for text, size, contrast in visit("view=all&large", theme=theme).evaluate(TEXTS):
        assert size >= 16, text
        assert contrast >= 4.5, (text, contrast)


def test_few_clients_stand_together(visit):
    rows = (
        visit("n=2")
        .locator(".ff .hit")
        .evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    )
    assert len(rows) == 2
    assert 90 < max(rows) < 150  # and take the room there is
