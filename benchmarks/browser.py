"""In a real browser: how soon after a slider is released the new headline stands there.

Against an almost empty Streamlit page with one slider, the moves of both taken in turn. Times are
taken inside the page, from the release of the pointer to the change of the headline. Then the
parts of it (a solve, a map) and the first page after a cold start. `--crowd`: twenty people move
sliders for a minute, and every headline any of them saw is computed again alone.
"""

import argparse
import itertools
import logging
import re
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
logging.disable(logging.WARNING)  # Streamlit's, about caches used outside of it

from fairfl_core import experiments  # noqa: E402
from fairfl_core.frontier import frontier  # noqa: E402
from fairfl_core.program import FairnessProgram  # noqa: E402
from fairfl_core.study import run_study  # noqa: E402
from pages.components import words  # noqa: E402
from pages.components.results import GRID  # noqa: E402
from tests.browser.driving import (  # noqa: E402
    INSIDE,
    NO_BROWSER,
    OVERALL,
    QUIET,
    Server,
    Visitor,
    browsing,
    chromium,
)

STATES = "public_coverage"
PLAIN = "benchmarks/pages/one_slider.py"
OPTIONS = [*GRID, 1.0]
ROUNDS, STARTS = 21, 3
rng = np.random.default_rng(0)
STOPWATCH = """() => {
    const said = () => document.querySelector('h4')?.textContent;
    let last = said(), released;
    window.took = [];
    addEventListener('pointerup', () => { released = performance.now(); }, true);
    new MutationObserver(() => {
        const now = said();
        if (!now || now === last) return;
        last = now;
        if (released !== undefined) window.took.push(performance.now() - released);
        released = undefined;
    }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crowd", action="store_true", help="only the crowd")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    asked = parser.parse_args()
    if chromium() is None:
        print(NO_BROWSER)
        return
    table = Table(title="the dashboard in a browser, one run")
    for column in ("what", "measured", "limit", "measured / limit"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with browsing() as browser:
        if asked.crowd:
            crowd(browser, table, asked.people, asked.seconds)
        else:
            moves(browser, table)
            core(table)
            starts(browser, table)
    Console(width=100).print(table)


def row(table: Table, what: str, value: float, limit: float | None, unit: str) -> None:
    if limit is None:
        table.add_row(what, f"{value:,.4g} {unit}", "", "")
    else:
        ratio = value / limit if limit else float(value > 0)
        table.add_row(
            what, f"{value:,.4g} {unit}", f"{limit:,.4g} {unit}",
            f"{ratio:.2f}" + ("" if ratio <= 1 else " missed"),
        )  # fmt: skip


# -------------------------------------------------------------------- one person


def moves(browser, table: Table) -> None:
    """The moves of the three pages in turn, so that all meet the same machine."""
    with Server(PLAIN) as plain, Server() as app:
        pages = {
            "empty": (Visitor(browser, plain).open(), "Gap"),
            "one": (Visitor(browser, app).open(experiment=STATES, seed=0), INSIDE),
            "all": (Visitor(browser, app).open(experiment=STATES), INSIDE),
        }
        for visitor, _ in pages.values():
            visitor.page.evaluate(STOPWATCH)
        at = OPTIONS.index(0.05)
        for _ in range(ROUNDS + 2):
            at = int(rng.choice([place for place in range(len(OPTIONS)) if place != at]))
            for visitor, label in pages.values():
                visitor.changes(lambda v=visitor, label=label, at=at: drag(v, label, at))
        took = {
            name: visitor.page.evaluate("window.took")[2:] for name, (visitor, _) in pages.items()
        }
        assert all(len(times) == ROUNDS for times in took.values())
        for visitor, _ in pages.values():
            assert not visitor.trouble(), visitor.trouble()
            visitor.close()
    empty = statistics.median(took["empty"])
    row(table, f"almost empty page: slider to headline (median of {ROUNDS})", empty, None, "ms")
    for name, what in (("one", "one run"), ("all", "all runs")):
        middle = statistics.median(took[name])
        row(table, f"50 states, {what}: slider to headline", middle, 3 * empty, "ms")


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
        ("sp", "simplex"), ("eop", "simplex"), ("eo", "simplex"),
        ("sp", "kernel"), ("eop", "kernel"), ("eo", "kernel"), ("eo-full", "kernel"),
    ):  # fmt: skip
        begun = time.perf_counter()
        frontier(counts, notion, region, eps_local=GRID, eps_global=GRID)
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
    row(table, f"server started to page usable (median of {STARTS})", statistics.median(times), 5,
        "s")  # fmt: skip


# -------------------------------------------------------------------- a crowd


def crowd(browser, table: Table, people: int, seconds: int) -> None:
    """Everybody moves a slider in turn, whether or not the answers to others are there."""
    choices = itertools.cycle(
        (name, notion, seed)
        for seed in ("0", "1", "all")
        for name in experiments.list_experiments()
        for notion in (experiments.open(name).notion, "eo")
    )
    keys = ("ArrowRight", "ArrowRight", "ArrowLeft")
    with Server() as server:
        alone = server.megabytes
        visitors = []
        for choice in itertools.islice(choices, people):
            visitor = Visitor(browser, server)
            visitor.page.set_default_timeout(120_000)
            settings = dict(zip(("experiment", "notion", "seed"), choice, strict=True))
            visitors.append((choice, visitor.open(**settings)))
        opened = server.megabytes
        seen, moved = set(), 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for choice, visitor in visitors:
                seen |= reading(choice, visitor)
                visitor.press(str(rng.choice([OVERALL, INSIDE])), str(rng.choice(keys)))
                moved += 1
        for choice, visitor in visitors:
            seen |= reading(choice, visitor.settle())
        after = server.megabytes
        trouble = [line for _, visitor in visitors for line in visitor.trouble()]
        trouble += ["Traceback"] * server.log.count("Traceback")
        for _, visitor in visitors:
            visitor.close()
    print(*dict.fromkeys(trouble), sep="\n")
    row(table, f"moves by {people} people in {seconds} s", moved, None, "")
    row(table, "errors", len(trouble), 0, "")
    row(table, "different headlines read", len(seen), None, "")
    row(table, "of them, other than alone", others(seen), 0, "")
    row(table, "server's memory before anyone came", alone, None, "MB")
    row(table, "with all pages open", opened, None, "MB")
    row(table, "after the minute", after, 1.25 * opened, "MB")


def reading(choice: tuple[str, ...], visitor: Visitor) -> set[tuple]:
    """What a page says, if nothing is under way on it."""
    now = visitor.page.evaluate(
        f"""() => ({QUIET})() && [
            document.querySelector('h4').innerText,
            ...[...document.querySelectorAll('[data-testid=stSlider] input')].map(i => i.value)]"""
    )
    if not now:
        return set()
    said, overall, inside = now
    return {(choice, OPTIONS[int(overall)], OPTIONS[int(inside)], said)}


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
            study = run_study(list(zip(seeds, programs, strict=True)), unseen, overall, inside)
            if plain(words.headline(study)) != said.strip():
                print(f"{choice}: {said}\n  alone: {plain(words.headline(study))}")
                wrong += 1
    return wrong


def plain(markdown: str) -> str:
    """The text of a sentence without its marks."""
    return re.sub(r"\\(.)|\*\*", lambda found: found[1] or "", markdown)


if __name__ == "__main__":
    main()
