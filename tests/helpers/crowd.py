"""Many visitors at once, without browsers: each moves a slider now and then and reads what is shown."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from websockets.exceptions import WebSocketException

from tests.helpers.protocol import INSIDE, OVERALL, Gone, Visitor

_PATIENCE = 600  # seconds in which a dead replica is back, on a machine that is busy


@dataclass
class Seen:
    """What a crowd met: seconds of every move, the headline at which limits, what went wrong.

    It leaves at `end`, by the clock, or later if a move is not answered before; whoever watches may
    put that off.
    """

    end: float = 0.0
    moves: list[float] = field(default_factory=list)
    headlines: set[tuple[str, str, str]] = field(default_factory=set)
    reloads: list[int] = field(default_factory=list)  # of every visitor
    trouble: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Seconds within which so many of the moves were answered."""
        return sorted(self.moves)[min(int(share * len(self.moves)), len(self.moves) - 1)]


@dataclass
class Person:
    """A visitor who comes back when the connection is lost, with the link they had."""

    address: str
    link: dict[str, object]
    reloads: int = 0

    async def come(self) -> "Person":
        self.visitor = await Visitor(self.address).open(**self.link)
        return self

    async def _come_back(self) -> None:
        """As a browser does, which tries again while the door still believes in the dead replica."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                await self.come()
                return
            except (Gone, OSError, WebSocketException):
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.5)

    async def move(self, name: str, step: str) -> float:
        begun = time.perf_counter()
        while True:
            try:
                await self.visitor.move(name, step)
                break
            except Gone:
                self.reloads += 1
                await self._come_back()
        self.link[name] = "1" if step == "no limit" else step
        return time.perf_counter() - begun


async def crowd(
    address: str,
    people: int,
    seconds: float,
    every: float,
    on_all_there: Callable[[Seen], object] = lambda _: None,
    before_leaving: Callable[[], object] = lambda: None,
    steps: int = 0,
    **link: object,
) -> Seen:
    """Let people move sliders, each on a clock of their own, to any of the first `steps` (0: all).

    Once all are there `on_all_there` is given what they will have seen, which grows meanwhile;
    `before_leaving` is called while they are still there.
    """
    seen = Seen()
    everyone = [Person(address, dict(link)) for _ in range(people)]
    for person in everyone:  # a lecture hall opens its laptops one after the other
        await person.come()
    seen.end = time.monotonic() + seconds
    on_all_there(seen)
    await asyncio.gather(
        *(_visit(person, k, seen, every, steps or None) for k, person in enumerate(everyone))
    )
    seen.reloads = [person.reloads for person in everyone]
    before_leaving()
    for person in everyone:
        await person.visitor.close()
    return seen


async def _visit(person: Person, number: int, seen: Seen, every: float, steps: int | None) -> None:
    chance = random.Random(number)
    limits = (OVERALL, INSIDE)
    await asyncio.sleep(chance.random() * every)
    while time.monotonic() < seen.end:
        begun = time.monotonic()
        label = chance.choice(limits)
        step = chance.choice(person.visitor.sliders[label].steps[:steps])
        try:
            seen.moves.append(await person.move(label, step))
        except Exception as error:
            seen.trouble.append(repr(error))
            return
        seen.trouble += person.visitor.warnings
        limits_asked = tuple(str(person.link.get(name, "")) for name in limits)
        seen.headlines.add((*limits_asked, person.visitor.headline))
        await asyncio.sleep(max(0.0, begun + every - time.monotonic()))


async def alone(address: str, headlines: set[tuple[str, str, str]], **link: object) -> list[str]:
    """What one visitor reads at the same limits; returns where that is something else."""
    wrong = []
    for overall, inside, headline in sorted(headlines):
        limits = {"eps_global": overall, "eps_local": inside}
        asked = link | {name: value for name, value in limits.items() if value}
        visitor = await Visitor(address).open(**asked)
        if visitor.headline != headline:
            wrong.append(f"{overall}, {inside}: {headline} / alone: {visitor.headline}")
        await visitor.close()
    return wrong
