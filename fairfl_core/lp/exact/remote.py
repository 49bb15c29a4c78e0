"""Rules of scores from clients that are asked by messages: rules and tables travel, rows do not.

With two labels every client lists its corners once. With more the program sends what each answer
is worth, and every client replies with the rule that would help it most: duals out, one rule's
table back.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.exact.pricing import Candidates, Pricing
from fairfl_core.lp.rate_estimates import measured

__all__ = ["RemotePrices", "RemoteScores", "priced"]

Floats = NDArray[np.float64]
# gain (clients, groups, labels, labels), whether it differs by the wrong label -> as the scores
# price it, and as the counts refine it
RemotePrices = Callable[[Floats, bool], tuple[Candidates, Candidates]]


@dataclass(eq=False)
class RemoteScores:
    """Clients whose rules are asked for by messages; rates are counted labels. See `RuleSource`.

    Attributes
    ----------
    counts : ClientCounts
        What the clients counted of the people it is fitted on.
    corners : Candidates, optional
        Two labels: what the clients listed.
    prices : callable, optional
        More labels: asks the clients for a rule; see `RemotePrices`.
    sent : callable
        How many bytes a client has sent and received so far, at most.
    """

    counts: ClientCounts
    corners: Candidates | None = None
    prices: RemotePrices | None = None
    sent: Callable[[], int] = lambda: 0
    rates: str = "labels"
    _last: tuple[bytes, tuple[Candidates, Candidates]] | None = field(default=None, init=False)

    def listed(self) -> Candidates:
        """Return what the clients listed."""
        assert self.corners is not None
        return self.corners

    def pricing(self, *, full: bool) -> list[Pricing]:
        """Return what asks the clients for a rule, as the scores price it, and refined."""
        return [lambda gain: self._ask(gain, full)[0], lambda gain: self._ask(gain, full)[1]]

    def _ask(self, gain: Floats, full: bool) -> tuple[Candidates, Candidates]:
        """Ask once for both."""
        key = gain.tobytes()
        if self._last is None or self._last[0] != key:
            assert self.prices is not None
            self._last = key, self.prices(gain, full)
        return self._last[1]

    def bytes_sent(self, rounds: int, rates: int) -> int:
        """Return what a client sent and received so far."""
        return self.sent()


def priced(people: ScoredData, gain: Floats, *, full: bool) -> tuple[Candidates, Candidates]:
    """Return what a client replies at this gain: a rule a group, plain and refined."""
    plain, refined = measured(people).pricing(full=full)
    return plain(gain), refined(gain)
