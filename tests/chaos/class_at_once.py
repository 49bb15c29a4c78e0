"""A class at once on two replicas, one of which is killed: the short form of `benchmarks/load.py`."""

import asyncio
import time
from math import inf

from tests.chaos.table import Trouble
from tests.helpers.crowd import Seen, alone, crowd
from tests.helpers.serving import Replicas

LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
STEPS = 6  # of each slider: so few that every headline can be read again


def class_at_once(people: int, seconds: float, every: float) -> Trouble:
    """Let people move sliders; once each has moved about once, one of two replicas dies.

    Nothing is said of time but what is printed: whose move is not answered within `every` seconds
    moves again when it is.
    """
    trouble = Trouble(
        f"{people} visitors at once, a replica killed",
        "every move answered as it is to one alone; one reload for those of the dead replica",
    )
    with Replicas() as served:
        seen = asyncio.run(_killing(served, people, seconds, every))
        wrong = asyncio.run(alone(served.address, seen.said, **LINK))
        again = len(served.pids)
        log = served.log
    for _ in seen.moves:
        trouble.tried(kept=True)
    for reloads in seen.reloads:
        trouble.tried(kept=reloads <= 1, otherwise=f"{reloads} reloads")
    for complaint in (*seen.trouble, *wrong):
        trouble.tried(kept=False, otherwise=complaint)
    trouble.tried(kept=sum(seen.reloads) > 0, otherwise="nobody noticed the killed replica")
    trouble.tried(kept=again == 2, otherwise="the replica is not started again")
    trouble.tried(kept="Traceback" not in log, otherwise=log[-500:])
    print(
        f"{len(seen.moves)} moves of {people} people, median {seen.percentile(0.5):.2f} s, 95 % within "
        f"{seen.percentile(0.95):.2f} s; {len(seen.said)} headlines read again"
    )
    return trouble


async def _killing(served: Replicas, people: int, seconds: float, every: float) -> Seen:
    there: asyncio.Queue[Seen] = asyncio.Queue()
    crowded = asyncio.create_task(
        crowd(
            served.address,
            people,
            seconds,
            every,
            on_all_there=there.put_nowait,
            steps=STEPS,
            **LINK,
        )
    )
    killing = asyncio.create_task(_kill(served, there, people, every))
    await asyncio.wait({crowded, killing}, return_when=asyncio.FIRST_COMPLETED)
    return await crowded


async def _kill(served: Replicas, there: "asyncio.Queue[Seen]", people: int, every: float) -> None:
    seen = await there.get()
    planned, seen.end = seen.end, inf  # nobody leaves before it was done
    while len(seen.moves) < people:
        await asyncio.sleep(0.1)
    served.kill_one()
    # Long enough for all to move again: who waits for an answer meanwhile notices, too.
    seen.end = max(planned, time.monotonic() + 2 * every)
