"""A class at once: forty people who each move a slider every five seconds, and one worker killed.

`fairfl serve` with `--workers`, its visitors without browsers (`tests/helpers/crowd.py`), all on
this machine. Then headlines that were read are read again by one visitor alone, from a server of
one process that nobody else uses.

    python benchmarks/load.py --minutes 10 --kill     # what was wanted of a class
    python benchmarks/load.py --minutes 60            # a soak: what becomes of memory
"""

import argparse
import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.crowd import alone, crowd  # noqa: E402
from tests.helpers.serving import Served, Server  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=5.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--region", default="exact")
    parser.add_argument("--kill", action="store_true", help="kill a worker half way")
    parser.add_argument("--check", type=int, default=100, help="headlines read again, at most")
    asked = parser.parse_args()
    seconds = 60 * asked.minutes
    link = {"experiment": "public_coverage", "region": asked.region}
    busy = [os.getloadavg()[0]]
    memory: list[float] = []
    with Served(asked.workers) as served:

        def begin() -> None:
            """Everybody is there: set the clocks of the looks at memory, and of the killing."""
            for share in (0.1, 0.99):
                _later(share * seconds, lambda: memory.append(served.megabytes))
            if asked.kill:
                _later(seconds / 2, served.kill_a_worker)

        begun = time.process_time()
        seen = asyncio.run(
            crowd(served.address, asked.people, seconds, asked.every, on_all_there=begin, **link)
        )
        driver = (time.process_time() - begun) / max(len(seen.moves), 1)
    busy.append(os.getloadavg()[0])
    some = set(sorted(seen.said)[: asked.check])
    with Server() as server:
        wrong = asyncio.run(alone(server.address, some, **link))
    print(*dict.fromkeys(seen.trouble), *wrong, sep="\n")
    table = Table(title=f"{asked.people} people, one move each {asked.every:g} s, {asked.region}")
    for column in ("what", "measured", "wanted"):
        table.add_column(column, justify="left" if column == "what" else "right")
    rate = len(seen.moves) / seconds
    table.add_row("moves", f"{len(seen.moves):,}", f"{asked.people / asked.every:.3g} a second")
    table.add_row("moves a second", f"{rate:.2f}", "")
    table.add_row("median", f"{seen.percentile(0.5):.2f} s", "")
    table.add_row("95 % within", f"{seen.percentile(0.95):.2f} s", "1 s")
    table.add_row("errors", str(len(seen.trouble)), "0")
    table.add_row("headlines other than alone", f"{len(wrong)} of {len(some)}", "0")
    table.add_row(
        "most reloads of one visitor", str(max(seen.reloads)), "1" if asked.kill else "0"
    )
    table.add_row("driver's processor time a move", f"{1e3 * driver:.0f} ms", "")
    early, late = memory
    table.add_row("memory of the workers, early", f"{early:,.0f} MB", "")
    table.add_row("memory, at the end", f"{late:,.0f} MB, {late / early:.2f}x", "1.5x")
    table.add_row("load of the machine", " → ".join(f"{one:.1f}" for one in busy), "")
    Console(width=100).print(table)


def _later(seconds: float, act: Callable[[], object]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    main()
