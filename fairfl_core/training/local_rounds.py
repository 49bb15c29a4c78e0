"""Make the inputs of a client's round: the same rows, order and weights on whichever machine."""

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.datasets import People
from fairfl_core.training.method import LocalRound, Memory, Plan, Rows

__all__ = ["count_cells", "make_local_round", "row_weights", "with_cells"]

_STREAM = 4  # this stream of random numbers; see `data`


def make_local_round(
    people: People,
    training: NDArray[np.int32],
    *,
    client: int,
    round: int,
    seed: int,
    weight: NDArray[np.float32],
    validation: Rows,
    memory: Memory,
    plan: Plan,
) -> LocalRound:
    """Make the round of a client with these training rows; `weight` has an entry a row of `people`."""
    # one stream of random numbers for each (seed, round, client): no memory to save
    rng = np.random.default_rng([seed, _STREAM, round, client])
    rows = with_cells(people, rng.permutation(training))
    return LocalRound(
        rows.rows,
        rows.group,
        rows.label,
        client=client,
        round=round,
        weight=weight[rows.rows],
        seed=int(rng.integers(2**30)),
        validation=validation,
        memory=memory,
        plan=plan,
    )


def with_cells(people: People, rows: NDArray[np.int32]) -> Rows:
    """Rows with their groups and labels."""
    return Rows(rows, people.group[rows], people.label[rows])


def row_weights(people: People, counts: NDArray[np.integer] | None) -> NDArray[np.float32]:
    """1 for each row; with the pooled training rows of each label, n / (N n_y)."""
    if counts is None:
        return np.ones(len(people), np.float32)
    by_label = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return by_label[people.label].astype(np.float32)


def count_cells(
    people: People,
    rows: NDArray[np.int32],
    last: NDArray[np.integer],
    size: int,
    weight: NDArray[np.floating] | None = None,
) -> NDArray[np.float64]:
    """Rows counted (or weights summed) by client, group, label and one code more."""
    shape = (len(people.clients), len(people.groups), len(people.labels), size)
    cell = np.ravel_multi_index(
        (people.client[rows], people.group[rows], people.label[rows], last), shape
    )
    table = np.bincount(cell, weights=weight, minlength=int(np.prod(shape)))
    return table.reshape(shape).astype(float)
