"""In a real browser: how soon after a slider is released everything is at rest again.

Against an almost empty Streamlit page with one slider, the moves of both taken in turn, with a look
of a second between two, as a person has it (the server uses it, see `ahead.py`). Times are taken inside the page, from the release of the pointer to the change of the headline, and until
nothing runs, nothing is stale, every chart is drawn and nothing changes any more. Then first visits (until the map is
drawn), the parts of it (a solve, a map) and the first page after a cold start. `--crowd`: twenty people move
sliders for a minute, and every headline any of them saw is computed again alone.
"""

import argparse
import itertools
import logging
import re
import statistics
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
logging.disable(logging.WARNING)  # Streamlit's, about caches used outside of it

from pages.components.shared import text  # noqa: E402

from fairfl_core.evaluation.study import run_study  # noqa: E402
from fairfl_core.evaluation.summary import summarise  # noqa: E402
from fairfl_core.people import experiments  # noqa: E402
from fairfl_core.solving.answer_program import FairnessProgram  # noqa: E402
from fairfl_core.solving.frontier import frontier  # noqa: E402
from pages.shared.results import GRID  # noqa: E402
from tests.browser.driving import (  # noqa: E402
    INSIDE,
    NO_BROWSER,
    OVERALL,
    Visitor,
    browsing,
    chromium,
)
from tests.helpers.serving import Server  # noqa: E402

STATES = "public_coverage"
PLAIN = "benchmarks/pages/one_slider.py"
AS_MANY = "benchmarks/pages/as_many_elements.py"
OPTIONS = [*GRID, 1.0]
ROUNDS, STARTS, BROWSERS = 21, 3, 4
LOOK = 1.0  # seconds before a move
MANY = 2_000  # clients
TALL = 5_000  # pixels: the whole page
rng = np.random.default_rng(0)
STOPWATCH = """() => {
    const said = () => document.querySelector('h4')?.textContent;
    let last = said(), released;
    window.took = [];
    addEventListener('pointerup', () => {
        window.released = released = performance.now();
    }, true);
    new MutationObserver(() => {
        window.changed = performance.now();
        const now = said();
        if (!now || now === last) return;
        last = now;
        if (released !== undefined) window.took.push(performance.now() - released);
        released = undefined;
    }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}"""
RESTED = "Math.max(quietSince, changed) - released"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crowd", action="store_true", help="only the crowd")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="moves of every page")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    asked = parser.parse_args()
    if chromium() is None:
        print(NO_BROWSER)
        return
    table = Table(title="the dashboard in a browser, one run")
    for column in ("what", "measured", "limit", "measured / limit"):
        table.add_column(column, justify="left" if column == "what" else "right")
    if asked.crowd:
        crowd(table, asked.people, asked.seconds)
    else:
        with browsing() as browser:
            moves(browser, table, asked.rounds)
            many_clients(browser, table, asked.rounds)
            first_visits(browser, table)
            core(table)
            starts(browser, table)
    Console(width=100).print(table)


def row(table: Table, what: str, value: float, limit: float | None, unit: str) -> None:
    if limit is None:
        table.add_row(what, f"{value:,.4g} {unit}", "", "")
    else:
        ratio = value / limit if limit else float(value > 0)
        table.add_row(
            what,
            f"{value:,.4g} {unit}",
            f"{limit:,.4g} {unit}",
            f"{ratio:.2f}" + ("" if ratio <= 1 else " missed"),
        )


# -------------------------------------------------------------------- one person


def moves(browser, table: Table, rounds: int) -> None:
    """The moves of each page, one person at a time, in turn with those of the almost empty one."""
    kinds = {
        "as many elements as Explore, nothing computed": (AS_MANY, "Gap", 900, {}),
        "50 states, all runs, simplex": (None, INSIDE, 900, {"region": "simplex"}),
        "50 states, all runs, exact": (None, INSIDE, 900, {"region": "exact"}),
        "exact, every chart in sight": (None, INSIDE, TALL, {"region": "exact"}),
    }
    with Server(PLAIN) as plain:
        for what, (script, label, height, link) in kinds.items():
            with Server(*filter(None, [script])) as server:
                empty, visitor = Visitor(browser, plain), Visitor(browser, server)
                visitor.page.set_default_timeout(
                    300_000
                )  # ten maps, on a machine that may be busy
                visitor.page.set_viewport_size({"width": 1280, "height": height})
                visitor.open(**({"experiment": STATES} | link if link else {}))
                told = in_turn({"empty": (empty.open(), "Gap"), what: (visitor, label)}, rounds)
                for one in (empty, visitor):
                    assert not one.trouble(), one.trouble()
                    one.close()
            (headline, rest), (empty_headline, empty_rest) = told[what], told["empty"]
            limited = script is None
            row(
                table,
                f"almost empty page: slider to headline ({rounds})",
                empty_headline,
                None,
                "ms",
            )
            row(table, "almost empty page: slider to rest", empty_rest, None, "ms")
            limits = (3 * empty_headline, 2.5 * empty_rest) if limited else (None, None)
            row(table, f"{what}: slider to headline", headline, limits[0], "ms")
            row(table, f"{what}: slider to rest", rest, limits[1], "ms")


def in_turn(pages: dict[str, tuple[Visitor, str]], rounds: int) -> dict[str, tuple[float, float]]:
    """Medians from a slider's release to the headline and to rest; between two moves one looks."""
    rested: dict[str, list[float]] = {name: [] for name in pages}
    for visitor, _ in pages.values():
        visitor.page.evaluate(STOPWATCH)
    at = OPTIONS.index(0.05)
    for _ in range(rounds + 2):
        at = int(rng.choice([place for place in range(len(OPTIONS)) if place != at]))
        for name, (visitor, label) in pages.items():
            time.sleep(LOOK)
            visitor.changes(lambda v=visitor, label=label, at=at: drag(v, label, at))
            rested[name].append(visitor.page.evaluate(RESTED))
    took = {name: visitor.page.evaluate("window.took")[2:] for name, (visitor, _) in pages.items()}
    assert all(len(times) == rounds for times in took.values())
    return {
        name: (statistics.median(took[name]), statistics.median(rested[name][2:]))
        for name in pages
    }


def first_visits(browser, table: Table) -> None:
    """From a fresh server's first visit until the map is drawn: exact beside simplex."""
    drawn = {}
    for region in ("simplex", "exact"):
        with Server() as server:
            visitor = Visitor(browser, server)
            visitor.page.set_default_timeout(300_000)
            begun = time.perf_counter()
            visitor.page.goto(f"{server.address}/?experiment={STATES}&region={region}")
            visitor.page.locator(".st-key-explore-heat .main-svg").first.wait_for()
            drawn[region] = time.perf_counter() - begun
            visitor.close()
    row(table, "first visit, 50 states, all runs, simplex: map", drawn["simplex"], None, "s")
    row(table, "the same, exact: map", drawn["exact"], 5 * drawn["simplex"], "s")


def many_clients(browser, table: Table, rounds: int) -> None:
    """Moves with an uploaded set of 2,000 clients beside one of 50; every page is visited."""
    rested = {}
    with Server() as server:
        for clients in (50, MANY):
            visitor = Visitor(browser, server)
            visitor.page.set_default_timeout(300_000)
            bring(visitor.open("your_data"), clients)
            for title in visitor.navigation():
                visitor.go(title)
                assert not visitor.complaints, visitor.complaints
            visitor.go("Explore").page.evaluate(STOPWATCH)
            times = []
            at = OPTIONS.index(0.05)
            for _ in range(rounds + 2):
                at = int(rng.choice([place for place in range(12) if place != at]))
                visitor.changes(lambda v=visitor, at=at: drag(v, INSIDE, at))
                times.append(visitor.page.evaluate(RESTED))
            rested[clients] = statistics.median(times[2:])
            visitor.close()
    row(table, "an uploaded set of 50 clients: slider to rest", rested[50], None, "ms")
    row(table, f"the same, {MANY:,} clients", rested[MANY], 5 * rested[50], "ms")


def bring(visitor: Visitor, clients: int, each: int = 100) -> None:
    """Upload a table of made-up people and take it in."""
    rows = clients * each
    label = rng.random(rows) < 0.4
    people = pd.DataFrame(
        {
            "site": np.repeat([f"s{place}" for place in range(clients)], each),
            "group": rng.choice(["a", "b"], rows),
            "label": label.astype(int),
            "prediction": (rng.normal(0.35 + 0.3 * label, 0.2) > 0.5).astype(int),
            "split": np.resize(["validation", "test"], rows),
        }
    )
    file = {
        "name": "people.csv",
        "mimeType": "text/csv",
        "buffer": people.to_csv(index=False).encode(),
    }
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])
    button = visitor.page.get_by_role("button", name="Take it in and check it")
    button.wait_for()
    visitor.settle().changes(button.click)


def drag(visitor: Visitor, label: str, place: int) -> None:
    """Take the thumb, pull it to an option, let go."""
    page = visitor.page
    slider = page.get_by_test_id("stSlider").filter(has=visitor.slider(label))
    track = slider.locator("[data-orientation]").last.bounding_box()
    now = int(visitor.slider(label).input_value())
    step = track["width"] / (len(OPTIONS) - 1)
    height = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + now * step, height)
    page.mouse.down()
    page.mouse.move(track["x"] + place * step, height, steps=4)
    page.mouse.up()


def core(table: Table) -> None:
    """The parts without a browser: a warm solve, a map."""
    experiment = experiments.open(STATES)
    counts = experiment.counts(0, "validation")
    program = FairnessProgram(counts, experiment.notion)
    times = []
    for pair in rng.choice(OPTIONS, (200, 2)).tolist():
        begun = time.perf_counter()
        program.solve(*pair)
        times.append(time.perf_counter() - begun)
    row(table, "50 states: a solve (median of 200)", 1e3 * statistics.median(times), 5, "ms")
    maps = {}
    for notion, region in (
        *itertools.product(("sp", "eop", "eo"), ("simplex", "kernel")),
        ("eo-full", "kernel"),
    ):
        begun = time.perf_counter()
        frontier(FairnessProgram(counts, notion, region), eps_local=GRID, eps_global=GRID)
        maps[notion, region] = time.perf_counter() - begun
    row(table, "50 states: map 21 x 21, one run", maps[experiment.notion, "simplex"], 1, "s")
    slowest = max(maps, key=maps.get)
    row(table, f"the same, slowest choice ({', '.join(slowest)})", maps[slowest], 1, "s")


def starts(browser, table: Table) -> None:
    """From the start of the server's process to a headline and a slider to move."""
    times = []
    for _ in range(STARTS):
        begun = time.perf_counter()
        with Server() as server:
            visitor = Visitor(browser, server)
            visitor.page.goto(server.address)
            visitor.page.locator("h4").wait_for()
            visitor.slider(INSIDE).wait_for(state="attached")
            times.append(time.perf_counter() - begun)
            visitor.close()
    what = f"server started to page usable (median of {STARTS})"
    row(table, what, statistics.median(times), 5, "s")


# -------------------------------------------------------------------- a crowd


def crowd(table: Table, people: int, seconds: int) -> None:
    """Several browsers, each with some of the people, move sliders at the same time."""
    choices = itertools.cycle(
        (name, notion, seed)
        for seed in ("0", "1", "all")
        for name in experiments.list_experiments()
        for notion in (experiments.open(name).notion, "eo")
    )
    everyone = list(itertools.islice(choices, people))
    memory = {}
    with Server() as server:
        memory["before anyone came"] = server.megabytes

        def opened():
            memory["with all pages open"] = server.megabytes

        together = threading.Barrier(BROWSERS, opened)
        with ThreadPoolExecutor(BROWSERS) as threads:
            visits = [
                threads.submit(some_people, server, everyone[k::BROWSERS], seconds, together)
                for k in range(BROWSERS)
            ]
            told = [visit.result() for visit in visits]
        memory["after the minute"] = server.megabytes
        trouble = ["Traceback"] * server.log.count("Traceback")
    trouble += [line for _, _, lines in told for line in lines]
    seen = set().union(*(read for read, _, _ in told))
    print(*dict.fromkeys(trouble), sep="\n")
    row(table, f"moves by {people} people in {seconds} s", sum(n for _, n, _ in told), None, "")
    row(table, "errors", len(trouble), 0, "")
    row(table, "different headlines read", len(seen), None, "")
    row(table, "of them, other than alone", others(seen), 0, "")
    for when, megabytes in memory.items():
        limit = 1.25 * memory["with all pages open"] if when == "after the minute" else None
        row(table, f"server's memory {when}", megabytes, limit, "MB")


def some_people(
    server: Server, choices: list[tuple[str, str, str]], seconds: int, together: threading.Barrier
) -> tuple[set[tuple], int, list[str]]:
    """Open a page for each choice, then move sliders in turn, waiting for no answer.

    Returns the headlines read, the number of moves, and what went wrong.
    """
    hand = np.random.default_rng(zlib.crc32(repr(choices).encode()))
    with browsing() as browser:
        visitors = []
        for choice in choices:
            visitor = Visitor(browser, server)
            visitor.page.set_default_timeout(120_000)
            settings = dict(zip(("experiment", "notion", "seed"), choice, strict=True))
            visitors.append((choice, visitor.open(**settings)))
        together.wait()
        seen, moved = set(), 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for choice, visitor in visitors:
                seen |= reading(choice, visitor)
                key = hand.choice(["ArrowRight", "ArrowRight", "ArrowLeft"])
                visitor.press(str(hand.choice([OVERALL, INSIDE])), str(key))
                moved += 1
        for choice, visitor in visitors:
            last = reading(choice, visitor.rest())
            assert {each[1:3] for each in last} == {
                tuple(
                    OPTIONS[int(visitor.slider(name).input_value())] for name in (OVERALL, INSIDE)
                )
            }
            seen |= last
        return seen, moved, [line for _, visitor in visitors for line in visitor.trouble()]


def reading(choice: tuple[str, str, str], visitor: Visitor) -> set[tuple]:
    """The headline, with the limits that it speaks of itself: the sliders may be ahead of it."""
    said = visitor.page.evaluate("document.querySelector('h4')?.innerText")
    if not said:
        return set()
    inside = re.search(r"([\d.]+) inside every client", said)
    overall = re.search(r"([\d.]+) overall (?:costs|gains)", said)
    return {(choice, *(float(limit[1]) if limit else 1.0 for limit in (overall, inside)), said)}


def others(seen: set[tuple]) -> int:
    """How many of the headlines are not what one gets alone, from programs nobody else used."""
    wrong = 0
    for choice, group in itertools.groupby(sorted(seen), key=lambda each: each[0]):
        name, notion, seed = choice
        experiment = experiments.open(name)
        seeds = experiment.seeds if seed == "all" else (int(seed),)
        fitted = [experiment.counts(each, "validation") for each in seeds]
        unseen = [experiment.counts(each, "test") for each in seeds]
        for _, overall, inside, said in group:
            programs = [FairnessProgram(counts, notion) for counts in fitted]
            fitted_by = list(zip(seeds, programs, strict=True))
            study, unlimited = (
                run_study(fitted_by, unseen, *limits) for limits in ((overall, inside), (1.0, 1.0))
            )
            alone = plain(text.headline(summarise(study, unlimited)))
            if alone != said.strip():
                print(f"{choice}: {said}\n  alone: {alone}")
                wrong += 1
    return wrong


def plain(markdown: str) -> str:
    """The text of a sentence without its marks."""
    return re.sub(r"\\(.)|\*\*", lambda found: found[1] or "", markdown)


if __name__ == "__main__":
    main()
