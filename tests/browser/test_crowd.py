"""Several people at once: nobody gets another's numbers. `benchmarks/load.py` does it in full."""

import asyncio
import html
import itertools
from concurrent.futures import ThreadPoolExecutor

from tests.browser.driving import INSIDE, OVERALL
from tests.helpers import protocol

ROUNDS = 3
# In the paper's split, which is the quickest: here it is the hands that are many.
STATES = {"experiment": "public_coverage", "split": "paper", "region": "simplex", "seed": "0"}
PEOPLE = (
    {"experiment": "adult", "split": "paper", "region": "exact", "seed": "0"},
    {"experiment": "adult", "split": "paper", "notion": "eo", "region": "kernel", "seed": "1"},
    STATES,
    STATES | {"eps_local": "0.15"},
)
MOVES = (
    (OVERALL, "ArrowRight"),
    (INSIDE, "ArrowRight"),
    (OVERALL, "ArrowLeft"),
    (INSIDE, "ArrowRight"),
    (OVERALL, "ArrowRight"),
)


def test_sessions_are_not_mixed_up(server, tab):
    crowd = [tab().open(**settings) for settings in PEOPLE]
    moves = itertools.cycle(MOVES)
    for _ in range(ROUNDS):
        for visitor in crowd:  # nobody waits for another, nor for the answer
            visitor.press(*next(moves))
    for visitor in crowd:
        visitor.rest()
    said = [(visitor.link, visitor.headline) for visitor in crowd]
    for visitor, settings in zip(crowd, PEOPLE, strict=True):
        assert {"experiment": settings["experiment"], "seed": settings["seed"]}.items() <= (
            visitor.link.items()
        )
        assert not visitor.trouble()
    with ThreadPoolExecutor(1) as apart:  # Playwright has this thread's event loop
        links = [link for link, _ in said]
        assert apart.submit(asyncio.run, alone(server.address, links)).result() == said


async def alone(address, links):
    """What a visitor is told who comes by each link, and who needs no browser for it."""
    output = []
    for link in links:
        visitor = await protocol.Visitor(address).open(**link)
        output.append((link, html.unescape(visitor.headline)))
        await visitor.close()
    return output
