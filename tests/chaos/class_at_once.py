"""A class at once on `fairfl serve`, one of whose workers is killed: the short form of `benchmarks/load.py`."""

import asyncio

from tests.chaos.table import Trouble
from tests.helpers.crowd import Seen, alone, crowd
from tests.helpers.serving import Served

LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
CHECKED = 20  # headlines read again by one visitor alone, at most


def class_at_once(people: int, seconds: float, every: float) -> Trouble:
    """Let people move sliders; a third of the way one of two workers dies."""
    trouble = Trouble(
        f"{people} visitors at once, a worker killed",
        "every move answered as it is to one alone; one reload for those of the dead worker",
    )
    with Served(2, "--no-warm") as served:
        seen = asyncio.run(_killing(served, people, seconds, every))
        some = set(sorted(seen.said)[:CHECKED])
        wrong = asyncio.run(alone(served.address, some, **LINK))
        log = served.log
    for _ in seen.moves:
        trouble.tried(kept=True)
    for reloads in seen.reloads:
        trouble.tried(kept=reloads <= 1, otherwise=f"{reloads} reloads")
    for complaint in (*seen.trouble, *wrong):
        trouble.tried(kept=False, otherwise=complaint)
    trouble.tried(kept=sum(seen.reloads) > 0, otherwise="nobody noticed the killed worker")
    trouble.tried(kept="started again" in log, otherwise="the worker is not started again")
    trouble.tried(kept="Traceback" not in log, otherwise=log[-500:])
    return trouble


async def _killing(served: Served, people: int, seconds: float, every: float) -> Seen:
    all_there = asyncio.Event()
    crowded = asyncio.create_task(
        crowd(
            served.address, people, seconds, every, on_all_there=lambda _: all_there.set(), **LINK
        )
    )
    await asyncio.wait(
        {crowded, asyncio.create_task(all_there.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    await asyncio.sleep(seconds / 3)
    served.kill_a_worker()
    return await crowded
