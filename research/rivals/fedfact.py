"""FedFACT's post-processing (Zhang et al. 2025): an argmax of scores under prices, any labels.

In cell (a, c) label j is worth r_j (1 - s_a (lambda_j / P(Y=j, a) + mu_cj / P(Y=j, a, c))) for
equalized odds, and r_j - s_a (lambda_j / P(a) + mu_cj / P(a, c)) for statistical parity. The
prices minimise the mean of the largest worth plus the budgets: a convex function, smoothed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fairfl_core.data.scored import ScoredData
from research.rivals.cells import Shares, shares_of, sides

Floats = NDArray[np.float64]
_BOUND = 5.0  # the authors' bound of the prices
_TEMPERATURES = (0.1, 0.02, 0.005)  # the authors' first; colder ones follow it to the maximum


@dataclass(frozen=True, eq=False)
class FedFact:
    """Prices of each cell, shape (clients, groups, rates), and what a rate is about."""

    prices: Floats
    shares: Shares

    def chances(self, people: ScoredData) -> Floats:
        """Certain answers, shape (people, labels)."""
        worth = _worth(people.scores, self.prices[people.client, people.group], self.shares)
        chances = np.zeros_like(worth)
        chances[np.arange(len(people)), worth.argmax(axis=1)] = 1.0
        return chances


def fit_fedfact(people: ScoredData, notion: str, eps_global: float, eps_local: float) -> FedFact:
    """Fit prices on people; their scores are taken as calibrated."""
    shares = shares_of(people, notion)
    overall, local = sides(shares)
    clients, _, rates = local.shape
    size = rates * (1 + clients)
    budget = np.concatenate([np.full(rates, eps_global), np.full(clients * rates, eps_local)])

    def prices_of(x: Floats) -> Floats:
        signed = x[:size] - x[size:]
        return overall * signed[:rates] + local * signed[rates:].reshape(clients, 1, rates)

    def dual(x: Floats, temperature: float) -> tuple[float, Floats]:
        cell_prices = prices_of(x)
        worth = _worth(people.scores, cell_prices[people.client, people.group], shares)
        top = worth.max(axis=1, keepdims=True)
        soft = np.exp((worth - top) / temperature)
        total = soft.sum(axis=1, keepdims=True)
        value = float((top + temperature * np.log(total)).mean() + budget @ (x[:size] + x[size:]))
        mass = _mass(soft / total, people, shares)
        slope = -np.concatenate(
            [(overall * mass).sum(axis=(0, 1)), (local * mass).sum(axis=1).ravel()]
        )
        return value, np.concatenate([slope + budget, budget - slope])

    x = np.zeros(2 * size)
    for temperature in _TEMPERATURES:
        solved = minimize(
            dual,
            x,
            args=(temperature,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, _BOUND)] * (2 * size),
            options={"maxiter": 100},
        )
        x = solved.x
    return FedFact(prices_of(x), shares)


def _worth(scores: Floats, prices: Floats, shares: Shares) -> Floats:
    """What each answer is worth to each person; `prices` has a row a person, a column a rate."""
    worth = np.array(scores, float)
    for rate, (given, asked) in enumerate(zip(shares.given, shares.asked, strict=True)):
        behind = 1.0 if given is None else scores[:, given]
        worth[:, asked] -= prices[:, rate] * behind
    return worth


def _mass(chances: Floats, people: ScoredData, shares: Shares) -> Floats:
    """Share of people whom each rate counts, by cell: shape (clients, groups, rates)."""
    shape = (len(people.clients), len(people.groups))
    columns = []
    for given, asked in zip(shares.given, shares.asked, strict=True):
        behind = 1.0 if given is None else people.scores[:, given]
        counted = np.bincount(
            people.cell, chances[:, asked] * behind, minlength=shape[0] * shape[1]
        )
        columns.append(counted.reshape(shape) / len(people))
    return np.stack(columns, axis=-1)
