"""How soon something happens: a command on counts, and the first page of a server that just started.

Processor time of whole processes, each beside its yardstick in the same run (the least of
several): `fairfl solve` beside `import numpy, highspy`; the dashboard, until its first page is
usable (the headline is told and both limits can be moved) and until it is whole, beside a whole
Streamlit page with one slider and one chart. No browser takes part: a visitor speaks Streamlit's
own protocol. Seconds by the clock stand beside, for machines that have nothing else to do. All
of it as when started for the second time: Python has compiled every module before.
"""

import argparse
import asyncio
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fairfl_core.people import experiments  # noqa: E402
from tests.helpers.protocol import INSIDE, OVERALL, Visitor  # noqa: E402
from tests.helpers.serving import Server  # noqa: E402

ONE_CHART = "benchmarks/pages/one_chart.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as compiled:
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        Console(width=130).print(measured(times))


def measured(times: int) -> Table:
    """Everything, beside its yardstick."""
    table = Table(title="starting, processor seconds (and by the clock)")
    for column in ("what", "yardstick", "ours", "ratio", "wanted"):
        table.add_column(column, justify="left" if column == "what" else "right")
    row(table, "`solve` on counts beside numpy and highspy", *commands(times), 4.0)
    for what, link in (
        ("as it starts (ten runs, exact)", {}),
        ("50 states, simplex, ten runs", STATES | {"region": "simplex"}),
        ("50 states, exact, ten runs", STATES | {"region": "exact"}),
    ):
        yardstick, usable, whole = pages(max(times // 2, 1), link)
        row(table, f"server to first usable page, {what}", yardstick, usable, 2.5)
        row(table, "the same, whole", yardstick, whole)
    return table


STATES = {"experiment": "public_coverage"}


class Took(NamedTuple):
    """What something took, seconds."""

    processor: float
    clock: float

    def __str__(self) -> str:
        return f"{self.processor:.2f} ({self.clock:.2f})"


def row(table: Table, what: str, yardstick: Took, ours: Took, wanted: float = math.inf) -> None:
    ratio = ours.processor / yardstick.processor
    missed = "" if ratio <= wanted else " missed"
    asked = "" if wanted == math.inf else f"{wanted:g}"
    table.add_row(what, str(yardstick), str(ours), f"{ratio:.1f}{missed}", asked)


def commands(times: int) -> list[Took]:
    """Both commands in turn, so that they meet the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        experiments.open("adult").counts(0, "validation").write(counts)
        yardstick = [sys.executable, "-c", "import numpy, highspy"]
        ours = [sys.executable, "-m", "fairfl_core", "solve", str(counts), "--json"]
        return least([[spent(yardstick), spent(ours)] for _ in range(times + 1)])


def spent(command: list[str]) -> Took:
    """What a command takes."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(processor, time.perf_counter() - begun)


def pages(times: int, link: dict[str, str]) -> list[Took]:
    """The yardstick's whole page, and ours until it is usable and whole, in turn."""
    took = [[*first_page(ONE_CHART, {}), *first_page("app.py", link)] for _ in range(times + 1)]
    return least([[yardstick, usable, whole] for _, yardstick, usable, whole in took])


def least(rounds: list[list[Took]]) -> list[Took]:
    """The least of each, by processor and by clock; in the first round Python compiles."""
    return [Took(*map(min, zip(*took, strict=True))) for took in zip(*rounds[1:], strict=True)]


def first_page(script: str, link: dict[str, str]) -> tuple[Took, Took]:
    """From a server's start until its first page is usable, and whole."""
    begun = time.perf_counter()
    with Server(script) as server:
        told: list[Took] = []

        def look(visitor: Visitor) -> None:
            if not told and visitor.headline and visitor.sliders.keys() >= limits:
                told.append(Took(server.processor_seconds, time.perf_counter() - begun))

        limits = {OVERALL, INSIDE} if script == "app.py" else set()
        asyncio.run(visit(Visitor(server.address, on_seen=look), link))
        return told[0], Took(server.processor_seconds, time.perf_counter() - begun)


async def visit(visitor: Visitor, link: dict[str, str]) -> None:
    await visitor.open(**link)
    await visitor.close()


if __name__ == "__main__":
    main()
