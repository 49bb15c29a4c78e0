"""What every federated method answers: what a client does in a round, what the server does.

A method is one file with one class, a frozen dataclass whose fields are its settings. It keeps
nothing in itself, so that any method can be killed and go on, can run on many machines, and on one
has several clients at work at once:

- what the server remembers from round to round lives in `State`,
- what a client remembers and tells nobody lives in its own memory (`LocalRound.memory`, `Reply.memory`),
- what all know from the start stands in `Plan`.

The moments of a round, in their order: every client gets the server's `State` and answers with a
`Reply` (`Method.client`); the server makes the next `State` of the replies (`Method.server`), and
may ask all clients for tables of counts or losses on the way (`Clients`). A client then predicts
with `Method.model`, and the round to keep is the one that `Method.criterion` likes best.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from math import isfinite
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

__all__ = [
    "METHODS",
    "USUAL",
    "make_method",
    "method_class",
    "register",
    "settings_from",
    "Clients",
    "HeldOut",
    "Memory",
    "Method",
    "Plan",
    "Reply",
    "Rows",
    "State",
    "LocalRound",
    "Trainer",
    "mean_by_rows",
    "weighted_mean",
]

Theta = NDArray[np.float32]
Memory = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Plan:
    """What server and clients know before the first round.

    Attributes
    ----------
    counts : ndarray of int, shape (clients, groups, labels)
        Training rows n[c, a, y].
    favourable : int
        The label that statistical parity and equal opportunity look at.
    shapes : tuple of tuple of int
        The parts of theta, one after the other: kernel, bias, kernel, bias, ...
    """

    counts: NDArray[np.int64]
    favourable: int
    shapes: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> NDArray[np.int64]:
        """Training rows n_c of each client."""
        rows: NDArray[np.int64] = self.counts.sum(axis=(1, 2))
        return rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of one client: their numbers, groups and labels."""

    rows: NDArray[np.int32]
    group: NDArray[np.integer]
    label: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class LocalRound(Rows):
    """Inputs of one client in one round: its training rows in this round's order, and its memory.

    Attributes
    ----------
    client, round : int
        Which client, and which round (from 0).
    weight : ndarray of float
        How much each row counts in the loss: 1, or more for rare labels where the recipe says so.
    seed : int
        For whatever the client draws.
    validation : Rows
        The client's rows held out from training.
    memory : mapping of str to ndarray
        What the client kept to itself last round; empty in the first.
    plan : Plan
    """

    client: int
    round: int
    weight: NDArray[np.float32]
    seed: int
    validation: Rows
    memory: Memory
    plan: Plan

    def weighted(self, factors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Each row's weight times its cell's factor, given by group and label."""
        weight: NDArray[np.float32] = self.weight * factors[self.group, self.label].astype(
            np.float32
        )
        return weight


@dataclass(frozen=True, eq=False)
class State:
    """What the server holds between rounds: the model, and whatever else the method remembers."""

    theta: Theta
    memory: Memory = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Reply:
    """What a client sends back: its model, how many rows it has, and what the method asks for.

    `memory` is not sent: the client keeps it for its next round.
    """

    theta: Theta
    rows: int
    sent: Memory = field(default_factory=dict)
    memory: Memory = field(default_factory=dict)


class Trainer(Protocol):
    """What a client can do with a model on its own rows; see `TensorFlowTrainer` and `LinearTrainer`."""

    def epoch(
        self,
        theta: Theta,
        rows: NDArray[np.int32],
        weight: NDArray[np.float32],
        seed: int,
    ) -> Theta:
        """Train once through `rows` on the weighted loss and return the new parameters."""
        ...

    def scores(self, theta: Theta, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Scores of `rows` under `theta`, shape (rows, labels)."""
        ...


class Clients(Protocol):
    """All clients as the server meets them between rounds: it asks, and tables come back."""

    @property
    def plan(self) -> Plan:
        """What all know from the start."""
        ...

    @property
    def round(self) -> int:
        """The round (from 0)."""
        ...

    def counts(self, theta: Theta, *, held_out: bool = False, every: int = 1) -> NDArray[np.int64]:
        """n[client, group, label, prediction] of training rows, or of validation rows.

        With `every` it is enough to look at each so-many-th row, in the order of the dataset.
        """
        ...

    def cell_losses(self, theta: Theta) -> NDArray[np.float64]:
        """L[client, group, label]: the loss summed over the training rows of each cell."""
        ...


@dataclass(frozen=True, eq=False)
class HeldOut:
    """All clients' validation rows with their scores after a round; the round is chosen on them.

    Across machines the rows stay with their clients, and only `loss`, `accuracy`, `counts` and
    `plan` are there: a criterion that asks for these runs anywhere.
    """

    client: NDArray[np.integer]
    group: NDArray[np.integer]
    label: NDArray[np.integer]
    scores: NDArray[np.float64]
    plan: Plan

    @property
    def loss(self) -> float:
        """Mean cross-entropy."""
        truth = self.scores[np.arange(len(self.label)), self.label]
        return float(-np.log(truth + 1e-12).mean())

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return float((self.scores.argmax(axis=1) == self.label).mean())

    @property
    def counts(self) -> NDArray[np.int64]:
        """n[client, group, label, prediction]."""
        clients, groups, labels = self.plan.counts.shape
        shape = (clients, groups, labels, labels)
        cell = (self.client, self.group, self.label, self.scores.argmax(axis=1))
        flat = np.bincount(np.ravel_multi_index(cell, shape), minlength=int(np.prod(shape)))
        return flat.reshape(shape)


class Method(ABC):
    """A federated method; a subclass is a frozen dataclass and its fields are its settings."""

    title: ClassVar[str]
    criterion_title: ClassVar[str] = "pooled loss"

    def begin(self, theta: Theta, plan: Plan) -> State:
        """What the server holds before the first round."""
        return State(theta)

    @abstractmethod
    def client(self, state: State, local: LocalRound, trainer: Trainer) -> Reply:
        """What a client does in a round."""

    @abstractmethod
    def server(self, state: State, replies: Sequence[Reply], clients: Clients) -> State:
        """What the server does with the replies, which stand in the order of the clients."""

    def model(self, state: State, memory: Memory) -> Theta:
        """The parameters a client with this memory predicts with: the server's."""
        return state.theta

    def criterion(self, people: HeldOut) -> float:
        """How bad a round is, on validation rows; the first round with the least is kept."""
        return people.loss

    def numbers(self, plan: Plan) -> tuple[float, float]:
        """How many numbers a client receives and sends: once, and in each round."""
        size = sum(int(np.prod(shape)) for shape in plan.shapes)
        return 0, 2 * size


def mean_by_rows(replies: Sequence[Reply]) -> Theta:
    """FedAvg's mean: each client by its rows."""
    return weighted_mean(replies, np.array([reply.rows for reply in replies], float))


def weighted_mean(replies: Sequence[Reply], weights: NDArray[np.floating]) -> Theta:
    """The mean of the clients' models: sum over c of omega_c theta_c, with omega summing to 1."""
    omega = weights / weights.sum()
    mean = sum(w * reply.theta.astype(float) for w, reply in zip(omega, replies, strict=True))
    return np.asarray(mean, np.float32)


# -------------------------------------------------------------------- methods by name

# A method's name, and the module and class that is it.
METHODS: dict[str, str] = {"fedavg": "fairfl_core.training.fedavg:FedAvg"}
USUAL = next(iter(METHODS))


def register(name: str, target: str) -> None:
    """Make a method known by name; `target` is written ``package.module:Class``."""
    if METHODS.setdefault(name, target) != target:
        raise InputError(f'the method "{name}" is {METHODS[name]} already; choose another name.')


def method_class(name: str) -> type[Method]:
    """The class of the method of that name."""
    if name not in METHODS:
        raise InputError(f'there is no method "{name}"; choose one of: {", ".join(METHODS)}.')
    module, _, attribute = METHODS[name].partition(":")
    cls: type[Method] = getattr(import_module(module), attribute)
    return cls


def make_method(name: str, settings: Mapping[str, Any]) -> Method:
    """The method of that name with these settings, the others as the method has them."""
    cls = method_class(name)
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            raise InputError(
                f'{cls.title} has no setting "{setting}"; '
                + (f"it has: {', '.join(known)}." if known else "it has none.")
            )
    return cls(**settings)


def settings_from(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Settings written ``name=value``, each of the type that the method's default has."""
    cls = method_class(name)
    usual = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    settings: dict[str, Any] = {}
    for word in words:
        setting, equals, value = word.partition("=")
        if not equals:
            raise InputError(f'--setting "{word}" is not like name=value.')
        if setting in settings:
            raise InputError(f'the setting "{setting}" is given twice; give it once.')
        settings[setting] = _value(setting, value, usual.get(setting, ""))
    make_method(name, settings)
    return settings


def _value(setting: str, text: str, usual: Any) -> Any:
    if isinstance(usual, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f'the setting {setting} is true or false, not "{text}".')
        return text.lower() == "true"
    if isinstance(usual, int | float):
        kind = "a whole number" if isinstance(usual, int) else "a number"
        try:
            number = type(usual)(text)
            if not isfinite(number):
                raise ValueError
        except ValueError as error:
            raise InputError(f'the setting {setting} is {kind}, not "{text}".') from error
        return number
    return text
