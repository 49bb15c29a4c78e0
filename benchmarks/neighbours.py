"""What a visitor notices of another one's heavy work: a slider's moves alone, and meanwhile.

One server of one process. The light visitor moves a slider of the Adult experiment four times a
second; the heavy one brings files and has them taken in, again and again: 50 labels, a large table,
rows that are all malformed, counts of 15,000 clients. The heavy one's own laptop is a process of
lower priority here. Both are measured in turns, so that what else the machine does meets both.

Clocks depend on what else the machine does. So the same work is also done here, beside a thread
that sleeps a millisecond again and again: how much later than that it has its turn tells how long
heavy work keeps the interpreter to itself (Python's lock), whatever the machine does.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages.components.your_data import text  # noqa: E402

from fairfl_core.budget import Budget, within  # noqa: E402
from fairfl_core.errors import InputError  # noqa: E402
from fairfl_core.intake import (  # noqa: E402
    apart,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from fairfl_core.people.counts import ClientCounts  # noqa: E402
from fairfl_core.solving.build import build_program  # noqa: E402
from tests.helpers.protocol import OVERALL, Gone, Visitor  # noqa: E402
from tests.helpers.serving import Server  # noqa: E402

LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
EVERY = 0.25  # seconds between two moves
POLITE = 3  # how much less than the server somebody else's laptop may take of this machine
rng = np.random.default_rng(0)


class Light(threading.Thread):
    """Somebody who moves a slider again and again; `moves` are when each began and its seconds."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address, self.moves, self.over = address, [], threading.Event()
        self.there = threading.Event()

    def run(self) -> None:
        """Until it is over."""
        asyncio.run(self._move())

    async def _move(self) -> None:
        visitor = await Visitor(self.address).open(**LINK)
        steps = visitor.sliders[OVERALL].steps
        for step in steps:  # so that a move meanwhile computes nothing that one alone does not
            await visitor.move(OVERALL, step)
        self.there.set()
        place = 0
        while not self.over.is_set():
            place += 1
            begun = time.monotonic()
            self.moves.append((begun, await visitor.move(OVERALL, steps[place % len(steps)])))
            await asyncio.sleep(max(0.0, begun + EVERY - time.monotonic()))

    def between(self, begin: float, end: float) -> list[float]:
        """Seconds of the moves that began then."""
        return [took for begun, took in self.moves if begin <= begun < end]


# -------------------------------------------------------------------- what the heavy one brings


def fifty_labels(folder: Path) -> Path:
    n = 20_000
    frame = pd.DataFrame({"client": rng.integers(0, 20, n), "group": rng.choice(["a", "b"], n)})
    frame["label"] = [f"l{i}" for i in rng.integers(0, 50, n)]
    frame["prediction"] = [f"l{i}" for i in rng.integers(0, 50, n)]
    frame.to_csv(folder / "labels.csv", index=False)
    return folder / "labels.csv"


def large_table(folder: Path) -> Path:
    n = 3_000_000
    label = rng.integers(0, 2, n)
    frame = pd.DataFrame({"client": rng.integers(0, 50, n), "group": rng.choice(["a", "b"], n)})
    frame["label"], frame["prediction"] = label, np.where(rng.random(n) < 0.8, label, 1 - label)
    frame.to_csv(folder / "large.csv", index=False)
    return folder / "large.csv"


def malformed(folder: Path) -> Path:
    path = folder / "malformed.csv"
    path.write_bytes(b"client,group,label,prediction\n" + b"a\n" * 20_000_000)
    return path


def many_clients(folder: Path) -> Path:
    clients, groups, labels = 15_000, 3, 3
    share = rng.dirichlet(np.ones(labels**2), (clients, groups))
    table = (share * rng.integers(30, 400, (clients, groups, 1))).astype(int)
    names = [
        tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("c", clients), ("g", 3), ("l", 3))
    ]
    return ClientCounts(table.reshape(clients, groups, labels, labels), *names).write(
        folder / "clients.json"
    )


async def bring_again(address: str, kind: str, file: Path, seconds: float) -> None:
    """Bring a file and take it in where it is not refused, and come back with it until it is over."""
    print("there", flush=True)
    end, data = time.monotonic() + seconds, file.read_bytes()
    uploader = {"table": text.TABLE_FILE, "counts": text.COUNTS_FILES}[kind]
    while time.monotonic() < end:
        visitor = await Visitor(address).open("your_data", bring=kind)
        with suppress(TimeoutError, Gone):
            async with asyncio.timeout(
                end - time.monotonic()
            ):  # then they leave, whatever is done
                await visitor.bring(uploader, file.name, data)
                if text.TAKE_IN in visitor.buttons:
                    await visitor.press(text.TAKE_IN)
        await visitor.close()


HEAVY: dict[str, tuple[Callable[[Path], Path], str]] = {
    "50 labels, 20 clients": (fifty_labels, "table"),
    "3 million rows": (large_table, "table"),
    "20 million malformed rows": (malformed, "table"),
    "15,000 clients, 3 groups, 3 labels": (many_clients, "counts"),
}


# -------------------------------------------------------------------- waiting for a turn


class Turns(threading.Thread):
    """Somebody who wants to run every millisecond, and notes how long they had to wait."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.waits: list[float] = []

    def run(self) -> None:
        """As long as the process lives."""
        while True:
            begun = time.perf_counter()
            time.sleep(0.001)
            self.waits.append(time.perf_counter() - begun - 0.001)


def taken_in(file: Path) -> ClientCounts:
    """What a page does with a file: look at it, take it in."""
    data = file.read_bytes()
    if file.suffix == ".json":
        experiment = apart(experiment_from_counts, [(file.name, data)]).experiment
    else:
        table = apart(open_table, file.name, data)
        experiment = apart(experiment_from_table, table, guess_roles(table)).experiment
    (seed,) = experiment.seeds
    return experiment.counts(seed, experiment.fit_split)


def waiting(folder: Path, only: str) -> Table:
    """How long another thread waits while files are taken in and solved, within a page's budget."""
    table = Table(title="how long another thread waits for its turn")
    for column in ("work", "processor", "mean wait", "99 % within", "longest"):
        table.add_column(column, justify="left" if column == "work" else "right")
    turns = Turns()
    turns.start()

    def look(what: str, work: Callable[[], ClientCounts | None]) -> ClientCounts | None:
        turns.waits.clear()
        begun = time.process_time()
        done = None
        with suppress(InputError), within(Budget(seconds=20, megabytes=2000)):
            done = work()
        waits = 1e3 * np.array(turns.waits)
        seconds = time.process_time() - begun
        if len(waits):  # else it was refused before anybody could wait for it
            cells = [waits.mean(), np.quantile(waits, 0.99), waits.max()]
            table.add_row(what, f"{seconds:.1f} s", *(f"{cell:.1f} ms" for cell in cells))
        return done

    look("none", lambda: time.sleep(2))
    for what, (make, _) in HEAVY.items():
        if only not in what:
            continue
        file = make(folder)
        counts = look(f"{what}: taken in", lambda file=file: taken_in(file))
        for region in ("simplex", "kernel") if counts is not None else ():
            look(
                f"{what}: eo, {region}",
                lambda counts=counts, region=region: build_program(counts, "eo", region).solve(
                    0.02, 0.02
                ),
            )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="heavy work whose name has this in it")
    parser.add_argument("--seconds", type=float, default=10, help="of one turn, alone or beside")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--waits-only", action="store_true", help="no server")
    parser.add_argument("--heavy", nargs=3, metavar=("ADDRESS", "KIND", "FILE"), help="its part")
    asked = parser.parse_args()
    if asked.heavy:
        address, kind, file = asked.heavy
        asyncio.run(bring_again(address, kind, Path(file), asked.seconds))
        return
    with tempfile.TemporaryDirectory() as name:
        Console(width=100).print(waiting(Path(name), asked.only))
    if not asked.waits_only:
        Console(width=100).print(moves_beside(asked))


def moves_beside(asked: argparse.Namespace) -> Table:
    """A light visitor's moves alone and beside each heavy work."""
    table = Table(title="a slider's move, alone and beside heavy work")
    for column in ("heavy work", "moves", "median", "95 % within", "times alone", "95 %"):
        table.add_column(column, justify="left" if column == "heavy work" else "right")
    with tempfile.TemporaryDirectory() as name, Server() as server:
        light = Light(server.address)
        light.start()
        light.there.wait()
        for what, (make, kind) in HEAVY.items():
            if asked.only not in what:
                continue
            file = make(Path(name))
            alone, beside = [], []
            for _ in range(asked.turns):
                alone += _turn(light, lambda: time.sleep(asked.seconds))
                with _heavy(server, asked, kind, file) as heavy:
                    beside += _turn(light, heavy.wait)
                time.sleep(3)  # until it has ended
            median, most = (np.quantile(beside, share) for share in (0.5, 0.95))
            table.add_row("nobody", *_told(alone), "", "")
            ratios = median / np.median(alone), most / np.quantile(alone, 0.95)
            table.add_row(what, *_told(beside), *(f"{ratio:.1f}" for ratio in ratios))
        light.over.set()
        light.join()
    return table


def _turn(light: Light, act: Callable[[], object]) -> list[float]:
    """Seconds of the light visitor's moves while something is done."""
    begun = time.monotonic()
    act()
    return light.between(begun, time.monotonic())


def _heavy(
    server: Server, asked: argparse.Namespace, kind: str, file: Path
) -> "subprocess.Popen[str]":
    """Somebody else's laptop, once it is switched on; what it computes should not count."""
    given = ["--heavy", server.address, kind, str(file), "--seconds", str(asked.seconds)]
    heavy = subprocess.Popen(
        [sys.executable, __file__, *given],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.nice(POLITE),
    )
    assert heavy.stdout is not None
    heavy.stdout.readline()
    return heavy


def _told(moves: list[float]) -> list[str]:
    return [
        str(len(moves)),
        *(f"{1e3 * np.quantile(moves, share):.0f} ms" for share in (0.5, 0.95)),
    ]


if __name__ == "__main__":
    main()
