"""A network in memory: clients in the same process, for tests and for measuring what travels."""

from collections.abc import Callable, Mapping, Sequence

from fairfl_core.federation.messages import Parcel
from fairfl_core.federation.roster import Silence

__all__ = ["MemoryGrid"]

Answer = Callable[[Parcel], Parcel | Silence]


class MemoryGrid:
    """Nodes that answer at once, each by a function.

    Attributes
    ----------
    exchanges : list of tuple
        Node, message and reply of everything that travelled.
    """

    def __init__(self, nodes: Mapping[int, Answer]) -> None:
        self._nodes = dict(nodes)
        self.exchanges: list[tuple[int, Parcel, Parcel | Silence]] = []

    def nodes(self) -> Sequence[int]:
        """The nodes that are there."""
        return list(self._nodes)

    def ask(self, parcels: Mapping[int, Parcel], patience: float) -> dict[int, Parcel | Silence]:
        """Ask one node after the other."""
        replies = {node: self._nodes[node](parcel) for node, parcel in parcels.items()}
        for node, reply in replies.items():
            self.exchanges.append((node, parcels[node], reply))
        return replies
