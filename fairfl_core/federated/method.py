"""What every federated method answers: what a client does in a round, what the server does.

A method is one file with one class. It keeps nothing in itself: what the server remembers from
round to round lives in `State`, which the training loop saves, so that any method can be killed
and go on.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Method", "Reply", "State", "Turn", "Worker"]


class Worker(Protocol):
    """What a client can do with a model on its own rows; see `work.Work`."""

    def epoch(
        self,
        theta: NDArray[np.float32],
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
        seed: int,
    ) -> NDArray[np.float32]:
        """Train once through `rows` and return the new parameters."""
        ...

    def scores(self, theta: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Scores of `rows` under `theta`."""
        ...


@dataclass(frozen=True, eq=False)
class State:
    """What the server holds between rounds: the model, and whatever else the method remembers."""

    theta: NDArray[np.float32]
    memory: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Turn:
    """One client's turn in a round: its rows in this round's order, and how much each counts."""

    client: int
    rows: NDArray[np.int32]
    weight: NDArray[np.float32]
    seed: int


@dataclass(frozen=True, eq=False)
class Reply:
    """What a client sends back: its model, how many rows it has, and what the method asks for."""

    theta: NDArray[np.float32]
    rows: int
    sent: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Method(ABC):
    """A federated method."""

    def begin(self, theta: NDArray[np.float32], clients: int) -> State:
        """What the server holds before the first round."""
        return State(theta)

    @abstractmethod
    def client(self, state: State, turn: Turn, worker: Worker) -> Reply:
        """What a client does in a round."""

    @abstractmethod
    def server(self, state: State, replies: Sequence[Reply]) -> State:
        """What the server does with the replies."""
