"""From people to a federation: scenario drawn, rows split inside each client, features scaled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.datasets import People
from fairfl_core.data.resample import client_names
from fairfl_core.errors import InputError
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.scenarios import draw_clients

__all__ = [
    "TEST",
    "TRAINING",
    "VALIDATION",
    "Federation",
    "Moments",
    "Scaler",
    "check_folds",
    "deal_units",
    "federate",
    "scaled",
]

Floats = NDArray[np.float64]
TRAINING, VALIDATION, TEST = range(3)
# Streams of random numbers that must never meet: the seed comes first, then one of these.
_DRAW, _SPLIT, _FOLD = 1, 2, 5
_CONSTANT = 1e-12  # a share of the mean square below which a spread is rounding


@dataclass(frozen=True, eq=False)
class Scaler:
    """What is taken off each quantity, and what the rest is divided by."""

    shift: Floats
    spread: Floats

    def apply(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The quantities, standardised."""
        shift, spread = self.shift.astype(np.float32), self.spread.astype(np.float32)
        return np.asarray((values - shift) / spread, np.float32)


@dataclass(frozen=True, eq=False)
class Moments:
    """Rows, and of each quantity their sum and the sum of their squares; no row is in them.

    They add up over clients, so that a federation has the scaler it would have in one place.
    """

    rows: int
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, values: NDArray[np.number]) -> "Moments":
        """The moments of rows, shape (rows, quantities)."""
        exact = values.astype(np.float64)
        return cls(len(values), exact.sum(axis=0), np.square(exact).sum(axis=0))

    @classmethod
    def pooled(cls, parts: Sequence["Moments"]) -> "Moments":
        """The moments of all clients' rows, added in the order of the clients."""
        return cls(
            sum(part.rows for part in parts),
            np.sum([part.total for part in parts], axis=0),
            np.sum([part.squares for part in parts], axis=0),
        )

    def scaler(self, least: float = 0.0) -> Scaler:
        """Mean and standard deviation, `least` at least; 1 for what never varies."""
        mean, square = self.total / self.rows, self.squares / self.rows
        variance = square - mean**2
        spread = np.sqrt(np.where(variance > _CONSTANT * square, variance, 0.0))
        spread = np.maximum(spread, least)
        return Scaler(mean, np.where(spread == 0, 1.0, spread))


@dataclass(frozen=True, eq=False)
class Federation:
    """People with a place: `split` is 0 training, 1 validation, 2 test for each row."""

    people: People
    split: NDArray[np.int8]

    def rows(self, split: int) -> NDArray[np.int32]:
        """Row numbers of one split, over all clients."""
        return np.flatnonzero(self.split == split).astype(np.int32)

    def client_rows(self, split: int) -> list[NDArray[np.int32]]:
        """Row numbers of one split, client by client."""
        client = np.where(self.split == split, self.people.client, -1)
        return [
            np.flatnonzero(client == c).astype(np.int32) for c in range(len(self.people.clients))
        ]


def federate(people: People, recipe: Recipe, seed: int, fold: int | None = None) -> Federation:
    """Draw the scenario's clients if there is one, split inside each client, scale quantities.

    With a `fold` (cross-fitting) the people of training and validation are dealt anew into
    `recipe.folds` folds; the one named is held out as validation, the others train. Test people
    are the same with and without.
    """
    people, split = _split(people, recipe, seed)
    if fold is not None:
        dealt = _dealt(people, split, recipe.folds, seed)
        held_out = np.where(dealt == fold, VALIDATION, TRAINING)
        split = np.where(split == TEST, TEST, held_out).astype(np.int8)
    return Federation(_scaled(people, split == TRAINING), split)


def check_folds(people: People, recipe: Recipe, seeds: Sequence[int]) -> None:
    """Refuse a number of folds that some client cannot carry in some seed, before any training."""
    if not recipe.folds:
        return
    if recipe.folds < 2:
        raise InputError(
            f"--folds {recipe.folds}: cross-fitting needs at least 2 folds; 4 are usual."
        )
    for seed in seeds:
        drawn, split = _split(people, recipe, seed)
        _dealt(drawn, split, recipe.folds, seed)


def _split(people: People, recipe: Recipe, seed: int) -> tuple[People, NDArray[np.int8]]:
    if recipe.shares:
        people = _redrawn(people, recipe, seed)
    return people, split_rows(people.client, people.unit, recipe.split, seed)


def _dealt(people: People, split: NDArray[np.int8], folds: int, seed: int) -> NDArray[np.int8]:
    """The fold of everyone but test people; each client has people in each fold."""
    dealt = deal_folds(people.client, people.unit, split != TEST, folds, seed)
    rows = np.flatnonzero(dealt >= 0)
    sizes = np.zeros((len(people.clients), folds), int)
    np.add.at(sizes, (people.client[rows], dealt[rows]), 1)
    if not sizes.all():
        client = int(np.flatnonzero(~sizes.all(axis=1))[0])
        raise InputError(
            f'client "{people.clients[client]}" has {sizes[client].sum()} rows to train on, which '
            f"leaves one of {folds} folds empty in seed {seed}; ask for fewer folds."
        )
    return dealt


def deal_folds(
    client: NDArray[np.integer],
    unit: NDArray[np.integer],
    fitted: NDArray[np.bool_],
    folds: int,
    seed: int,
) -> NDArray[np.int8]:
    """Deal the fitted units of each client into folds of equal size; -1 for all other rows."""
    fold = np.full(len(client), -1, np.int8)
    rows = np.flatnonzero(fitted)
    shares = (1 / folds,) * folds
    fold[rows] = _deal(client[rows], unit[rows], shares, np.random.default_rng([seed, _FOLD]))
    return fold


def split_rows(
    client: NDArray[np.integer],
    unit: NDArray[np.integer],
    shares: tuple[float, float, float],
    seed: int,
) -> NDArray[np.int8]:
    """Split units (so lesions, not images) inside each client by the given shares of rows."""
    return _deal(client, unit, shares, np.random.default_rng([seed, _SPLIT]))


def _deal(
    client: NDArray[np.integer],
    unit: NDArray[np.integer],
    shares: tuple[float, ...],
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Deal units into parts by shares of each client's rows."""
    part = np.empty(len(client), np.int8)
    for c in np.unique(client):
        rows = np.flatnonzero(client == c)
        part[rows] = deal_units(unit[rows], shares, rng)
    return part


def deal_units(
    unit: NDArray[np.integer], shares: tuple[float, ...], rng: np.random.Generator
) -> NDArray[np.int8]:
    """Deal the units of one client; the stream goes on with the next client."""
    _, position, sizes = np.unique(unit, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    # a unit goes where its middle row falls among the client's rows
    middle = np.empty(len(sizes))
    middle[order] = np.cumsum(sizes[order]) - sizes[order] / 2
    cuts = np.cumsum(shares)[:-1]
    return np.searchsorted(cuts, middle[position] / len(unit), side="right").astype(np.int8)


def _redrawn(people: People, recipe: Recipe, seed: int) -> People:
    assert recipe.shares is not None
    client = draw_clients(
        people.group, recipe.shares, recipe.size, seed=[seed, _DRAW], unit=people.unit
    )
    kept = client >= 0
    return replace(
        people,
        inputs=people.inputs[kept],
        label=people.label[kept],
        group=people.group[kept],
        client=client[kept],
        unit=people.unit[kept],
        clients=client_names(recipe.shares, people.groups[0]),
    )


def _scaled(people: People, training: NDArray[np.bool_]) -> People:
    """Standardise the leading quantities on all clients' training rows (one scaler for all)."""
    if not people.scaled:
        return people
    inputs = people.inputs.copy()
    known = inputs[training, : people.scaled]
    spread = known.std(axis=0)
    spread[spread == 0] = 1
    inputs[:, : people.scaled] = (inputs[:, : people.scaled] - known.mean(axis=0)) / spread
    return replace(people, inputs=inputs)


def scaled(people: People, scaler: Scaler) -> People:
    """The same people with their leading quantities standardised."""
    inputs = people.inputs.copy()
    inputs[:, : people.scaled] = scaler.apply(inputs[:, : people.scaled])
    return replace(people, inputs=inputs)
