"""In a real browser: how soon after a slider is released numbers and rest are there.

Explore with the 50 states and all runs, against an almost empty Streamlit page with one slider; the
moves of both are taken in turn, so that they meet the same machine. Times are taken inside the page,
from the release of the pointer until the sentence or the numbers change, and until nothing changes any
more. Every limit is visited twice: the first time nobody has asked for it, the second time somebody has.
Then the processor time of a move (of the server's process, with nothing else going on), and first
pages of fresh servers against a page with one chart; `--warm` adds the exact region of a server that has
opened its pages before.

    python -m benchmarks.browser [--moves 12] [--starts 3] [--warm]
"""

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.compared import Rows
from tests.browser.driving import INSIDE, NO_BROWSER, Visitor, browsing, chromium
from tests.helpers.protocol import free_port
from tests.helpers.serving import Server, Serving

EMPTY, ONE_CHART = "benchmarks/pages/one_slider.py", "benchmarks/pages/one_chart.py"
STATES = {"experiment": "public_coverage"}
STOPS = 22  # of each slider
NEW, AGAIN = "limits nobody asked for", "asked before"
WANTED = {NEW: (5, 7), AGAIN: (3, 3)}  # times the empty page: numbers, rest
PROCESSOR = {"exact": 80, "simplex": 45}  # milliseconds of a move
FIRST_PAGE = 4  # times the page with one chart
LOOK = 0.3  # seconds before a move
STILL = 400  # milliseconds in which nothing changes: at rest
STOPWATCH = """() => {
    const said = () => [...document.querySelectorAll('.fairfl-sentence, .fairfl-numbers')]
        .map(one => one.textContent).join();
    let last = said();
    window.numbers = window.changed = window.released = undefined;
    const see = () => {
        if (window.released === undefined) return;
        window.changed = performance.now();
        if (window.numbers === undefined && said() !== last) window.numbers = window.changed;
    };
    const observer = new MutationObserver(see);
    const watch = root => observer.observe(
        root, {subtree: true, childList: true, characterData: true, attributes: true});
    watch(document.body);
    for (const one of document.querySelectorAll('[data-testid=stBidiComponentIsolated]'))
        watch(one.shadowRoot);
    addEventListener('pointerup', () => {
        last = said();
        window.numbers = undefined;
        window.changed = window.released = performance.now();
    }, true);
}"""
RESTED = f"""() => window.numbers !== undefined
    && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
    && performance.now() - window.changed > {STILL}"""
TOOK = "() => [window.numbers - window.released, window.changed - window.released]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--moves", type=int, default=12, help="limits that are visited, twice")
    parser.add_argument("--starts", type=int, default=3, help="fresh servers")
    parser.add_argument("--warm", action="store_true", help="also servers started with --warm")
    asked = parser.parse_args()
    if chromium() is None:
        print(NO_BROWSER)
        return
    columns = ("what", "yardstick", "ours", "ratio", "wanted")
    table = Rows("50 states, all runs, in a browser: one run", *columns)
    with browsing() as browser:
        for region in PROCESSOR:
            moves(browser, table, region, asked.moves)
        first_pages(browser, table, asked.starts, warm=asked.warm)
    table.show()


def row(table: Rows, what: str, yardstick: float, ours: float, wanted: float) -> None:
    """One line in ratios; times are milliseconds."""
    ratio = ours / yardstick
    missed = "" if ratio <= wanted else " missed"
    table.add(
        what, f"{yardstick:,.0f} ms", f"{ours:,.0f} ms", f"{ratio:.1f}{missed}", f"{wanted:g}"
    )


# -------------------------------------------------------------------- moves


def moves(browser, table: Rows, region: str, how_many: int) -> None:
    """Visit limits twice on Explore and on the empty page, in turn."""
    with Server(EMPTY) as plain, Server() as server:
        empty = Visitor(browser, plain).open()
        explore = Visitor(browser, server).open(**STATES, region=region)
        for visitor in (empty, explore):
            visitor.page.evaluate(STOPWATCH)
        took = {kind: {"empty": [], "explore": []} for kind in (NEW, AGAIN)}
        for kind, place in places(how_many):
            took[kind]["empty"].append(timed(empty, "Gap", place))
            took[kind]["explore"].append(timed(explore, INSIDE, place))
        processor = processor_times(explore, server, how_many)
        for visitor in (empty, explore):
            assert not visitor.trouble(), visitor.trouble()
            visitor.close()
    for kind, by_page in took.items():
        medians = {page: np.median(times, axis=0) for page, times in by_page.items()}
        for at, what in enumerate(("numbers", "rest")):
            row(
                table,
                f"{region}, {kind}: slider to {what}",
                medians["empty"][at],
                medians["explore"][at],
                WANTED[kind][at],
            )
    for kind, used in processor.items():
        wanted = PROCESSOR[region]
        cells = (f"{used:.0f} ms{'' if used <= wanted else ' missed'}", "", f"{wanted} ms")
        table.add(f"{region}, {kind}: processor time of a move", "", *cells)


def places(how_many: int) -> Iterator[tuple[str, int]]:
    """Stops of the slider, each once that nobody has been at, and once again."""
    chance = np.random.default_rng(0)
    start = 8  # where both pages begin
    new = [int(at) for at in chance.permutation(STOPS) if at != start][:how_many]
    yield from ((NEW, at) for at in new)
    yield from ((AGAIN, at) for at in new)


def timed(visitor: Visitor, label: str, place: int) -> tuple[float, float]:
    """Milliseconds from the release of a slider to numbers, and to rest."""
    time.sleep(LOOK)
    drag(visitor, label, place)
    visitor.page.wait_for_function(RESTED)
    return tuple(visitor.page.evaluate(TOOK))


def drag(visitor: Visitor, label: str, place: int) -> None:
    """Take the thumb, pull it to a stop, let go."""
    page, slider = visitor.page, visitor.slider(label)
    track = page.locator(".stSlider [data-orientation]", has=slider).last.bounding_box()
    assert track is not None
    step, now = track["width"] / (STOPS - 1), int(slider.input_value())
    height = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + now * step, height)
    page.mouse.down()
    page.mouse.move(track["x"] + place * step, height, steps=4)
    page.mouse.up()


def processor_times(explore: Visitor, server: Serving, how_many: int) -> dict[str, float]:
    """Milliseconds of the server's process for a move: every limit anew, then again.

    A clock tick is ten milliseconds, so all moves of a kind are taken together. The other slider is at
    a value that none of them has been at.
    """
    drag(explore, "Gap allowed overall", 10)
    explore.page.wait_for_function(RESTED)
    used: dict[str, float] = {}
    for kind in (NEW, AGAIN):
        before = server.processor_seconds
        chosen = [place for of, place in places(how_many) if of == kind]
        for place in chosen:
            drag(explore, INSIDE, place)
            explore.page.wait_for_function(RESTED)
        used[kind] = 1e3 * (server.processor_seconds - before) / len(chosen)
    return used


# -------------------------------------------------------------------- first pages


def first_pages(browser, table: Rows, starts: int, *, warm: bool) -> None:
    """From a request to a fresh server until its first page is whole, against one with one chart."""
    link = "?experiment=public_coverage&region="
    kinds = {"one chart": (lambda: Server(ONE_CHART), ""), "simplex": (Server, f"{link}simplex")}
    if warm:
        kinds |= {f"--warm, {one}": (Warm, link + one) for one in ("simplex", "exact")}
    rounds = [
        [first_page(browser, server(), where) for server, where in kinds.values()]
        for _ in range(starts + 1)
    ][1:]  # in the first one files come from the disk
    yardstick, *ours = np.median(rounds, axis=0)
    for what, took in zip(list(kinds)[1:], ours, strict=True):
        row(table, f"first whole page of a fresh server, {what}", yardstick, took, FIRST_PAGE)


def first_page(browser, server: Serving, link: str) -> float:
    """Milliseconds until a fresh server's page is whole, in a browser that comes for the first time."""
    with server:
        visitor = Visitor(browser, server)
        begun = time.perf_counter()
        visitor.follow(f"{server.address}/{link}")
        took = time.perf_counter() - begun
        assert not visitor.trouble(), visitor.trouble()
        visitor.close()
    return 1e3 * took


class Warm(Serving):
    """`fairfl app --warm`: pages have been opened once before it answers."""

    def __init__(self) -> None:
        port = free_port()
        words = ["-m", "fairfl_core", "app", "--warm", "--headless", "--port", str(port)]
        super().__init__([sys.executable, *words], port)


if __name__ == "__main__":
    main()
