"""A class at once: forty people who each move a slider every five seconds, one replica killed.

`deploy/replicas.sh`, its visitors without browsers (`tests/helpers/crowd.py`), all on this machine.
Then headlines that were read are read again by one visitor alone, from a server of its own.

    python -m benchmarks.load --minutes 10 --kill     # what was wanted of a class
    python -m benchmarks.load --minutes 60            # a soak: what becomes of memory

A line of JSON is printed when everybody has come and every minute after that. On a machine that is busy with other things ask less often:
`--people 20 --every 10`. A soak is about memory, and every move asks for another result.
"""

import argparse
import asyncio
import json
import os
import threading
import time
from typing import Any

from benchmarks.compared import Rows
from tests.helpers.crowd import Seen, alone, crowd
from tests.helpers.serving import Replicas, Server


class Watch(threading.Thread):
    """Looks at the server and its visitors at the beginning, now and then, and at the end."""

    def __init__(self, served: Replicas, seen: Seen, every: float) -> None:
        super().__init__(daemon=True)
        self.served, self.seen, self.every = served, seen, every
        self.looks: list[dict[str, Any]] = []
        self.begun, self._over, self._told = time.monotonic(), threading.Event(), 0
        self._look()

    def run(self) -> None:
        """Until it is over."""
        while not self._over.wait(self.every):
            self._look()

    def end(self) -> None:
        """Look once more, while the visitors are still there."""
        self._over.set()
        self.join()
        self._look()

    def _look(self) -> None:
        lately = Seen(moves=self.seen.moves[self._told :])
        self._told += len(lately.moves)
        self.looks.append(
            {
                "seconds": round(time.monotonic() - self.begun),
                "moves": self._told,
                "median": round(lately.percentile(0.5), 3) if lately.moves else None,
                "95 % within": round(lately.percentile(0.95), 3) if lately.moves else None,
                "errors": len(self.seen.trouble),
                "MB of the replicas": round(self.served.megabytes),
                "MB of all": round(self.served.megabytes_of_all),
                "load": round(os.getloadavg()[0], 1),
            }
        )
        print(json.dumps(self.looks[-1]), flush=True)


def main() -> None:
    asked = _asked()
    seconds = 60 * asked.minutes
    link = {"experiment": "public_coverage", "region": asked.region}
    watches: list[Watch] = []
    with Replicas(warm=True) as served:

        def begin(seen: Seen) -> None:
            watches.append(Watch(served, seen, 60 * asked.look))
            watches[0].start()
            if asked.kill:
                killing = threading.Timer(seconds / 2, served.kill_one)
                killing.daemon = True
                killing.start()

        begun = time.process_time()
        seen = asyncio.run(
            crowd(
                served.address,
                asked.people,
                seconds,
                asked.every,
                on_all_there=begin,
                before_leaving=lambda: watches[0].end(),
                **link,
            )
        )
        driver = (time.process_time() - begun) / max(len(seen.moves), 1)
    some = set(sorted(seen.headlines)[: asked.check])
    with Server() as server:
        wrong = asyncio.run(alone(server.address, some, **link))
    print(*dict.fromkeys(seen.trouble), *wrong, sep="\n")
    table = _table(asked, seen, watches[0].looks)
    table.add("headlines other than alone", f"{len(wrong)} of {len(some)}", "0")
    table.add("driver's processor time a move", f"{1e3 * driver:.0f} ms", "")
    table.show()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two moves")
    parser.add_argument("--region", default="exact")
    parser.add_argument("--kill", action="store_true", help="kill a replica half way")
    parser.add_argument("--check", type=int, default=100, help="headlines read again, at most")
    parser.add_argument("--look", type=float, default=1.0, help="minutes between two looks")
    return parser.parse_args()


def _table(asked: argparse.Namespace, seen: Seen, looks: list[dict[str, Any]]) -> Rows:
    title = f"{asked.people} people, one move each {asked.every:g} s, {asked.region}"
    table, (first, *_, last) = Rows(title, "what", "measured", "wanted"), looks
    rate = len(seen.moves) / max(last["seconds"], 1)
    table.add("moves", f"{len(seen.moves):,}", "")
    table.add("moves a second", f"{rate:.2f}", f"{asked.people / asked.every:.3g}")
    table.add("median", f"{seen.percentile(0.5):.2f} s", "")
    table.add("95 % within", f"{seen.percentile(0.95):.2f} s", "1 s")
    table.add("errors", len(seen.trouble), "0")
    table.add("most reloads of one visitor", max(seen.reloads), "1" if asked.kill else "0")
    for whose in ("MB of the replicas", "MB of all"):
        grown = f"{first[whose]:,} → {last[whose]:,}, {last[whose] / first[whose]:.2f}x"
        table.add(f"{whose}, everybody there → end", grown, "1.5x")
    table.add("load of the machine", f"{first['load']} → {last['load']}", "")
    return table


if __name__ == "__main__":
    main()
