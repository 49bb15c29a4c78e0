"""What the rivals' duals count in each cell (client, group), and their calibration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion

Floats = NDArray[np.float64]
_ENOUGH = 200  # people in a cell below which it is calibrated with all others


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of all people behind each rate of a notion.

    Attributes
    ----------
    local : ndarray, shape (clients, groups, rates)
        P(a, c) for statistical parity, P(Y=y, a, c) where a rate is of a label.
    given : tuple of (int or None)
        The label that a rate is conditioned on.
    asked : tuple of int
        The answer that it counts.
    """

    local: Floats
    given: tuple[int | None, ...]
    asked: tuple[int, ...]

    @property
    def overall(self) -> Floats:
        """The same over all clients, shape (groups, rates)."""
        overall: Floats = self.local.sum(axis=0)
        return overall


def shares_of(people: ScoredData, notion: str) -> Shares:
    """The shares of a notion on these people."""
    if len(people.groups) != 2:
        raise InputError(f"this rival compares two groups; here are {len(people.groups)}.")
    made = Notion.of(notion, people.labels, people.favourable)
    given = [
        None if rate.label is None else people.labels.index(rate.label) for rate in made.rates
    ]
    asked = [people.labels.index(rate.answer) for rate in made.rates]
    return Shares(made.people(people.counts.n_label) / len(people), tuple(given), tuple(asked))


def sides(shares: Shares) -> tuple[Floats, Floats]:
    """s_a over a share, of all and of each client: 0 where a group is not there to compare.

    s is -1 for the first group and 1 for the second.
    """
    sign = np.array([-1.0, 1.0])
    both = (shares.overall > 0).all(axis=0)
    overall = np.where(both, sign[:, None] / np.maximum(shares.overall, 1e-12), 0.0)
    both_local = (shares.local > 0).all(axis=1, keepdims=True)
    local = np.where(both_local, sign[:, None] / np.maximum(shares.local, 1e-12), 0.0)
    return overall, local


def beta_calibrated(fitted: ScoredData, people: ScoredData) -> Floats:
    """Scores of the second label of `people`, beta-calibrated on `fitted`, cell by cell.

    A logistic regression of the label on ln s and -ln(1 - s); cells of fewer than 200 people, or
    of one label only, take that of all people.
    """
    if len(fitted.labels) != 2:
        raise InputError(f"beta calibration is of two labels; here are {len(fitted.labels)}.")
    ours, theirs = _logs(fitted.scores[:, 1]), _logs(people.scores[:, 1])
    pooled = _logistic(ours, fitted.label)
    calibrated = _applied(pooled, theirs)
    for cell in range(len(fitted.clients) * len(fitted.groups)):
        rows, wanted = fitted.cell == cell, people.cell == cell
        if rows.sum() >= _ENOUGH and len(np.unique(fitted.label[rows])) == 2:
            own = _logistic(ours[rows], fitted.label[rows])
            calibrated[wanted] = _applied(own, theirs[wanted])
    return calibrated


def _logs(score: Floats) -> Floats:
    clipped = np.clip(score, 1e-6, 1 - 1e-6)
    return np.stack([np.ones(len(score)), np.log(clipped), -np.log(1 - clipped)], axis=1)


def _logistic(x: Floats, label: NDArray[np.integer]) -> Floats:
    """Weights of the least loss; a little ridge keeps separable cells finite."""
    first = np.array([0.0, 1.0, 1.0])  # the score as it is

    def loss(weights: Floats) -> tuple[float, Floats]:
        logit, away = x @ weights, 1e-3 * (weights - first)
        value = (np.logaddexp(0, logit) - label * logit).sum() + away @ (weights - first) / 2
        return float(value), x.T @ (_applied(weights, x) - label) + away

    found: Floats = minimize(loss, first, jac=True, method="BFGS").x
    return found


def _applied(weights: Floats, x: Floats) -> Floats:
    chance: Floats = 1 / (1 + np.exp(-np.clip(x @ weights, -40, 40)))
    return chance
