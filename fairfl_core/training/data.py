"""From people to a federation: scenario drawn, rows split inside each client, features scaled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl_core.data.datasets import People
from fairfl_core.data.resample import client_names
from fairfl_core.errors import InputError
from fairfl_core.training.recipes import Recipe

__all__ = [
    "TEST",
    "TRAINING",
    "VALIDATION",
    "Federation",
    "Scaler",
    "check_folds",
    "draw_clients",
    "federate",
    "moments_of",
    "scaled",
    "scaler_of",
    "split_people",
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


def moments_of(values: NDArray[np.number]) -> Floats:
    """Rows, and of each quantity their sum and the sum of their squares; no row is in them.

    They add up over clients, so that a federation has the scaler it would have in one place.
    """
    exact = values.astype(np.float64)
    return np.concatenate([[len(exact)], exact.sum(axis=0), np.square(exact).sum(axis=0)])


def scaler_of(moments: Floats, least: float = 0.0) -> Scaler:
    """Mean and standard deviation, `least` at least; 1 for what never varies."""
    mean, square = np.split(moments[1:] / moments[0], 2)
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
    """Draw the scenario's clients if there is one, split inside each client, scale quantities."""
    if recipe.shares:
        people = _redrawn(people, recipe, seed)
    split = split_people(people, recipe, seed, fold)
    return Federation(_scaled(people, split == TRAINING), split)


def split_people(
    people: People, recipe: Recipe, seed: int, fold: int | None = None
) -> NDArray[np.int8]:
    """Split units (so lesions, not images) inside each client by the recipe's shares of rows.

    With a `fold` (cross-fitting) the people of training and validation are dealt anew into
    `recipe.folds` folds; the one named is held out as validation, the others train. Test people
    are the same with and without.
    """
    split = _deal(people.client, people.unit, recipe.split, np.random.default_rng([seed, _SPLIT]))
    if fold is None:
        return split
    dealt = _dealt(people, split, recipe.folds, seed)
    held_out = np.where(dealt == fold, VALIDATION, TRAINING)
    return np.where(split == TEST, TEST, held_out).astype(np.int8)


def check_folds(people: People, recipe: Recipe, seeds: Sequence[int]) -> None:
    """Refuse a number of folds that some client cannot carry in some seed, before any training."""
    if not recipe.folds:
        return
    if recipe.folds < 2:
        raise InputError(
            f"--folds {recipe.folds}: cross-fitting needs at least 2 folds; 4 are usual."
        )
    for seed in seeds:
        drawn = _redrawn(people, recipe, seed) if recipe.shares else people
        split_people(drawn, recipe, seed, fold=0)


def _dealt(people: People, split: NDArray[np.int8], folds: int, seed: int) -> NDArray[np.int8]:
    """Deal everyone but test people into folds of equal size, in each client; -1 for test people."""
    dealt, rows = np.full(len(people), -1, np.int8), np.flatnonzero(split != TEST)
    client, rng = people.client[rows], np.random.default_rng([seed, _FOLD])
    dealt[rows] = _deal(client, people.unit[rows], (1 / folds,) * folds, rng)
    for code in np.unique(people.client):
        mine = dealt[rows][client == code]
        if len(np.unique(mine)) < folds:
            raise InputError(
                f'client "{people.clients[code]}" has {len(mine)} rows to train on, which '
                f"leaves one of {folds} folds empty in seed {seed}; ask for fewer folds."
            )
    return dealt


def _deal(
    client: NDArray[np.integer],
    unit: NDArray[np.integer],
    shares: tuple[float, ...],
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Deal units into parts by shares of each client's rows."""
    part, cuts = np.empty(len(client), np.int8), np.cumsum(shares)[:-1]
    for c in np.unique(client):
        rows = np.flatnonzero(client == c)
        _, position, sizes = np.unique(unit[rows], return_inverse=True, return_counts=True)
        order = rng.permutation(len(sizes))
        # a unit goes where its middle row falls among the client's rows
        middle = np.empty(len(sizes))
        middle[order] = np.cumsum(sizes[order]) - sizes[order] / 2
        part[rows] = np.searchsorted(cuts, middle[position] / len(rows), side="right")
    return part


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


# -------------------------------------------------------------------- scenarios of heterogeneity


def draw_clients(
    group: ArrayLike,
    shares: Sequence[float],
    size: int,
    *,
    seed: int | Sequence[int],
    unit: ArrayLike | None = None,
) -> NDArray[np.int16]:
    """Draw clients of `size` rows, without replacement, with given shares of group 0.

    Parameters
    ----------
    group : array of int
        Group a of each row: 0 or 1.
    shares : sequence of float
        Pr(A = 0 | C = c) for each client c.
    size : int
        Rows of each client.
    seed : int or sequence of int
        The same seed draws the same clients.
    unit : array of int, optional
        Rows of one unit (images of one lesion) go to one client at most. A unit that would
        overfill a client loses its last rows.

    Returns
    -------
    ndarray of int
        The client of each row; -1 where the row was not drawn.
    """
    groups = np.asarray(group)
    units = np.arange(len(groups)) if unit is None else np.asarray(unit)
    if size < 1 or not all(0 <= share <= 1 for share in shares):
        raise InputError("shares must lie between 0 and 1, and a client needs at least one row.")
    first = np.array([round(share * size) for share in shares], int)
    rng = np.random.default_rng(seed)
    drawn = np.full(len(groups), -1, np.int16)
    for code, wanted in enumerate((first, size - first)):
        rows = _shuffled_by_unit(np.flatnonzero(groups == code), units, rng)
        _hand_out(rows, units[rows], wanted, drawn, code)
    return drawn


def _shuffled_by_unit(
    rows: NDArray[np.intp], units: NDArray[np.integer], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows in random order, those of one unit side by side."""
    present, position = np.unique(units[rows], return_inverse=True)
    return rows[np.argsort(rng.permutation(len(present))[position], kind="stable")]


def _hand_out(
    rows: NDArray[np.intp],
    units: NDArray[np.integer],
    wanted: NDArray[np.integer],
    drawn: NDArray[np.int16],
    code: int,
) -> None:
    """Hand out rows client by client; each client starts at a fresh unit."""
    starts = np.flatnonzero(np.r_[True, units[1:] != units[:-1]]) if len(units) else units
    at = 0
    for client, count in enumerate(wanted):
        if at + count > len(rows):
            raise InputError(
                f"group {code} has {len(rows):,} rows, too few for these clients; "
                "ask for smaller clients or other shares."
            )
        drawn[rows[at : at + count]] = client
        after = np.searchsorted(starts, at + count)
        at = int(starts[after]) if after < len(starts) else len(rows)
