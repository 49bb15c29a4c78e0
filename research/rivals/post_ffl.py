"""Post-FFL (Duan et al. 2024): a lottery under a global gap and similar accuracy across clients.

The program is ours, the paper being known by its abstract: u[c, a, j] = P(answer 1 | model says j)
maximises accuracy under the global gap of one rate, with every client's accuracy near the mean.
With the clients' gaps in place of their accuracies it is the program of Duan et al. 2025 for two
labels, which tests it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError, SolveError
from fairfl_core.fairness.notions import Notion

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PostFFL:
    """The lottery P(answer 1 | model says j), shape (clients, groups, 2), and its accuracy."""

    second: Floats
    accuracy: float

    @property
    def lottery(self) -> Floats:
        """P(answer k | model says j), shape (clients, groups, 2, 2)."""
        return np.stack([1 - self.second, self.second], axis=-1)

    def chances(self, people: ScoredData) -> Floats:
        """Chances of each answer, shape (people, 2)."""
        lottery: Floats = self.lottery[people.client, people.group, people.predicted]
        return lottery


def fit_post_ffl(
    counts: ClientCounts,
    notion: str,
    eps_global: float,
    similar: float,
    *,
    eps_local: float | None = None,
) -> PostFFL:
    """Solve on counts.

    Parameters
    ----------
    counts : ClientCounts
        Two groups, two labels.
    notion : str
        One with a single rate: statistical parity or equal opportunity.
    eps_global : float
        The largest global gap.
    similar : float
        How far a client's accuracy may lie from the mean; 1 asks nothing.
    eps_local : float, optional
        Also bound each client's gap (as the program of the 2025 paper does).
    """
    table = np.asarray(counts.table, float)
    made = Notion.of(notion, counts.labels, counts.favourable)
    if table.shape[1:] != (2, 2, 2) or len(made.rates) != 1:
        raise InputError("Post-FFL is for two groups, two labels, and a notion of one rate.")
    clients = len(counts.clients)
    given, asked = (
        counts.labels.index(made.rates[0].label) if made.rates[0].label else None,
        counts.labels.index(made.rates[0].answer),
    )
    gain = table[:, :, 1] - table[:, :, 0]  # of answering 1 where the model says j
    sure = table[:, :, 0].sum(axis=(1, 2))  # right answers if 0 is always answered
    counted = table.sum(axis=2) if given is None else table[:, :, given]
    rows, bounds = _gap_rows(counted, asked, eps_global, eps_local)
    if similar < 1:
        size = table.sum(axis=(1, 2, 3))
        own = _block_rows(gain / size[:, None, None])
        mean = np.repeat(gain.reshape(1, -1) / table.sum(), clients, axis=0)
        offset = sure / size - sure.sum() / table.sum()
        apart = csr_array(own - csr_array(mean))
        rows += [apart, -apart]
        bounds += [similar - offset, similar + offset]
    solved = linprog(
        -gain.ravel() / table.sum(),
        A_ub=vstack(rows) if rows else None,
        b_ub=np.concatenate(bounds) if bounds else None,
        bounds=(0, 1),
    )
    if solved.status != 0:
        raise SolveError(
            f"Post-FFL has no solution at a global gap of {eps_global:g} with accuracies within "
            f"{similar:g} of the mean ({solved.message}); allow more."
        )
    accuracy = float((sure.sum() / table.sum()) - solved.fun)
    return PostFFL(np.clip(solved.x, 0, 1).reshape(clients, 2, 2), accuracy)


def _gap_rows(
    counted: Floats, asked: int, eps_global: float, eps_local: float | None
) -> tuple[list[csr_array], list[Floats]]:
    """Second group's rate less the first's, both ways, of all and (if asked) of each client."""
    sign = np.array([-1.0, 1.0]) * (1 if asked == 1 else -1)
    rows: list[csr_array] = []
    bounds: list[Floats] = []
    pooled = counted.sum(axis=(0, 2))
    if (pooled > 0).all():
        row = csr_array((counted * (sign / pooled)[None, :, None]).reshape(1, -1))
        rows += [row, -row]
        bounds += [np.array([eps_global])] * 2
    if eps_local is not None:
        size = counted.sum(axis=2)
        there = (size > 0).all(axis=1)
        row = _block_rows(counted * (sign / np.maximum(size, 1e-12))[:, :, None])[there]
        rows += [row, -row]
        bounds += [np.full(int(there.sum()), eps_local)] * 2
    return rows, bounds


def _block_rows(values: Floats) -> csr_array:
    """A row a client, with that client's values in its own columns."""
    clients = len(values)
    width = values[0].size
    row = np.repeat(np.arange(clients), width)
    return csr_array(
        coo_array((values.ravel(), (row, np.arange(values.size))), shape=(clients, values.size))
    )
