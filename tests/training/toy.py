"""A method in one file that uses every moment of a round, and every memory there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import sleep
from typing import ClassVar

import numpy as np

from fairfl_core.training.method import (
    Clients,
    HeldOut,
    LocalRound,
    Memory,
    Method,
    Plan,
    Reply,
    State,
    Trainer,
    register,
    weighted_mean,
)

register("toy", "tests.training.toy:Toy")


@dataclass(frozen=True)
class Toy(Method):
    """Momentum at the server, weights by cell from it, and a private step kept by each client."""

    title: ClassVar[str] = "Toy"
    criterion_title: ClassVar[str] = "error"

    speed: float = 0.5
    strength: float = 1.0
    pause: float = 0.0  # seconds a round takes longer, so that it can be killed in the middle

    def begin(self, theta: np.ndarray, plan: Plan) -> State:
        cells = plan.counts.sum(axis=0)
        return State(theta, {"velocity": np.zeros_like(theta), "cells": cells / cells.sum()})

    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        cells = state.memory["cells"]
        weight = local.weight / (0.1 + cells[local.group, local.label].astype(np.float32))
        theta = trainer.epoch(state.theta, local.rows, weight, local.seed)
        truth = trainer.scores(theta, local.validation.rows)
        right = truth.argmax(axis=1) == local.validation.label
        loss = np.array(1.0 + self.strength * (1 - right.mean()))
        step = local.memory.get("step", np.zeros_like(theta)) / 2 + (theta - state.theta) / 8
        return Reply(theta, len(local), {"loss": loss}, {"step": step})

    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        sleep(self.pause)
        rows = np.array([reply.rows for reply in replies], float)
        loss = np.array([reply.sent["loss"] for reply in replies])
        move = weighted_mean(replies, rows * loss) - state.theta
        velocity = np.float32(self.speed) * state.memory["velocity"] + move
        theta = state.theta + velocity
        counts = clients.counts(theta, held_out=True)
        assert counts.shape == (*clients.plan.counts.shape, clients.plan.counts.shape[2])
        losses = clients.cell_losses(theta).sum(axis=0)
        return State(theta, {"velocity": velocity, "cells": losses / losses.sum()})

    def model(self, state: State, memory: Memory) -> np.ndarray:
        return state.theta + memory["step"]

    def criterion(self, people: HeldOut) -> float:
        return 1 - people.accuracy
