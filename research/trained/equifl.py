"""EquiFL (Makhija et al. 2024): a local fairness penalty, and only kernels shared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.training.method import (
    Clients,
    LocalRound,
    Memory,
    Plan,
    Reply,
    State,
    Trainer,
    mean_by_rows,
)
from research.trained.fair_method import FairMethod, check_choice
from research.trained.gaps import Penalty, gradients_of


@dataclass(frozen=True)
class EquiFL(FairMethod):
    """Clients minimise loss + strength x (soft gap)^2 and keep biases and the last layer.

    The form of the penalty is ours: the paper is known to us by its abstract. Its two means run
    along over batches, as the square of a gap on one batch is mostly noise.

    Attributes
    ----------
    notion : {"sp", "eop", "eo"}
    strength : float
        The weight w of the penalty; 0 is none.
    share : {"kernels", "everything"}
        What the server averages: hidden layers' kernels, or all.
    momentum : float
        How long the penalty's means look back; see `Penalty`.
    """

    title: ClassVar[str] = "EquiFL"
    level: ClassVar[str] = "local and global"
    multi_class: ClassVar[bool] = True
    criterion_title: ClassVar[str] = "error plus local gap (clients weighted by rows)"
    looks_inside_clients: ClassVar[bool] = True

    strength: float = 100.0
    share: str = "kernels"
    momentum: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("share", self.share, ("kernels", "everything"))
        self.check_not_below_0("strength")

    def begin(self, theta: NDArray[np.float32], plan: Plan) -> State:
        """The model, and which of its numbers are shared."""
        everything = self.share == "everything"
        shared = np.ones(len(theta), bool) if everything else shared_part(plan.shapes)
        return State(theta, {"shared": shared})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """Take the shared part, train with the penalty, keep the rest."""
        theta = self.model(state, local.memory)
        if self.strength:
            penalty = Penalty(self.soft_gaps(local), self.strength, self.momentum, clip=1.0)
            theta = gradients_of(trainer).penalised_epoch(
                theta, local.rows, local.weight, local.seed, penalty
            )
        else:
            theta = trainer.epoch(theta, local.rows, local.weight, local.seed)
        return Reply(theta, len(local), memory={"theta": theta})

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """Average the shared part by rows; what is private stays as it was at the start."""
        mean = mean_by_rows(replies)
        return State(np.where(state.memory["shared"], mean, state.theta), state.memory)

    def model(self, state: State, memory: Memory) -> NDArray[np.float32]:
        """The server's shared part with the client's own private one."""
        if state.memory["shared"].all() or "theta" not in memory:
            return state.theta
        return np.where(state.memory["shared"], state.theta, memory["theta"])

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """Only the shared part, down and up."""
        everything = self.share == "everything"
        shared = shared_part(plan.shapes)
        return 0, 2 * (len(shared) if everything else int(shared.sum()))


def shared_part(shapes: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Which parameters are kernels of hidden layers: no biases, and not the last layer."""
    last = max(place for place, shape in enumerate(shapes) if len(shape) > 1)
    parts = [
        np.full(int(np.prod(shape)), len(shape) > 1 and place != last)
        for place, shape in enumerate(shapes)
    ]
    return np.concatenate(parts)
