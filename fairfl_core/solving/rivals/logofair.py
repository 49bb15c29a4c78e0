"""LoGoFair (Zhang et al. 2025): a threshold of the calibrated score for each client and group.

The dual H(lambda, mu) has one multiplier for the global gap and one for each client's. It is
convex in each mu_c given lambda, and in lambda after minimising over mu: nested bisection on
sub-gradients finds it exactly. The authors' distributed solver stands beside it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.solving.rivals.cells import Shares, beta_calibrated, shares_of, sides

__all__ = ["LoGoFair", "LoGoFairDual", "fit_logofair"]

Floats = NDArray[np.float64]
_STEPS = 60  # of a bisection: to 2^-60 of the dual's range
_BOUND = 4.0  # multipliers are shares of accuracy, none is worth more


@dataclass(frozen=True, eq=False)
class LoGoFair:
    """Thresholds t[client, group]: answer the second label where the calibrated score reaches it."""

    fitted: ScoredPeople
    calibrated: bool
    threshold: Floats

    def chances(self, people: ScoredPeople) -> Floats:
        """Certain answers of people of the same clients, shape (people, 2)."""
        eta = beta_calibrated(self.fitted, people) if self.calibrated else people.scores[:, 1]
        second = eta >= self.threshold[people.client, people.group]
        return np.stack([~second, second], axis=1).astype(float)


class LoGoFairDual:
    """H of one rate: statistical parity, or equal opportunity of the second label.

    Parameters
    ----------
    people : ScoredPeople
    eta : ndarray, shape (people,)
        Calibrated scores of the second label.
    shares : Shares
    eps_global, eps_local : float
        The budgets delta_g and delta_c.
    """

    def __init__(
        self,
        people: ScoredPeople,
        eta: Floats,
        shares: Shares,
        eps_global: float,
        eps_local: float,
    ) -> None:
        given, asked = shares.given[0], shares.asked[0]
        if len(shares.asked) != 1 or len(people.labels) != 2 or (given not in (None, 1)):
            raise InputError(
                "LoGoFair is for two labels, statistical parity, or equal opportunity of the "
                "second label."
            )
        # Group 1's rate of the second label less group 0's: turned where the first is counted.
        turn = 1.0 if asked == 1 else -1.0
        overall, local = sides(shares)
        self.overall, self.local = turn * overall[:, 0], turn * local[..., 0]
        self.eps_global, self.eps_local = eps_global, eps_local
        self.clients, self.n = len(people.clients), len(people)
        self._by_label = given is not None
        order = np.lexsort((eta, people.cell))
        self._cell, self._eta = people.cell[order], eta[order]
        tilt = self._eta if self._by_label else np.ones(self.n)
        self._key = self._cell + 0.5 * self._eta  # each cell's scores apart from the next one's
        self._sum = np.concatenate([[0.0], np.cumsum(tilt)]) / self.n
        self._sum_eta = np.concatenate([[0.0], np.cumsum(self._eta)]) / self.n
        self._end = np.searchsorted(self._cell, np.arange(2 * self.clients), side="right")

    def kappa(self, overall: float, local: Floats) -> Floats:
        """What the prices ask of each cell, shape (clients, 2)."""
        return overall * self.overall + local[:, None] * self.local

    def threshold(self, kappa: Floats) -> Floats:
        """The score from which the second label is answered; infinite where it never is."""
        if self._by_label:
            return np.where(kappa < 2, 1 / np.maximum(2 - kappa, 1e-12), np.inf)
        return (1 + kappa) / 2

    def accepted(self, kappa: Floats) -> Floats:
        """Mass counted by the rate in each cell under these prices, shape (clients, 2)."""
        return self._above(kappa, self._sum)

    def value(self, overall: float, local: Floats) -> float:
        """H(lambda, mu)."""
        kappa = self.kappa(overall, local)
        gain = 2 * self._above(kappa, self._sum_eta) - self._above(
            kappa, np.arange(self.n + 1) / self.n
        )
        gain = gain - kappa * self.accepted(kappa)
        budget = self.eps_global * abs(overall) + self.eps_local * np.abs(local).sum()
        return float(gain.sum() + budget)

    def solve(self) -> tuple[float, Floats]:
        """Lambda and mu by nested bisection."""
        low, high = -_BOUND, _BOUND
        for _ in range(_STEPS):
            overall = (low + high) / 2
            kappa = self.kappa(overall, self._settled(overall))
            slope = -(self.overall * self.accepted(kappa)).sum()
            slope += self.eps_global * np.sign(overall)
            low, high = (overall, high) if slope < 0 else (low, overall)
        overall = (low + high) / 2
        return overall, self._settled(overall)

    def solve_distributed(
        self, rounds: int = 30, steps: int = 20, sharpness: float = 100.0
    ) -> tuple[float, Floats]:
        """Lambda and mu as the authors' clients and server find them, one number each way a round.

        A client moves its mu, held as the difference of two positive numbers, by multiplicative
        steps on its own smoothed part of H. The server descends on the sum of their slopes in
        lambda (the authors average the clients' own lambdas, which is a heuristic).
        """
        overall, plus, minus = 0.0, np.full(self.clients, 0.02), np.full(self.clients, 0.02)
        scale = np.maximum(
            np.abs(self.local).max(axis=1), 1.0
        )  # steps of a small client are small
        best = (self.value(0.0, np.zeros(self.clients)), 0.0, np.zeros(self.clients))
        for t in range(1, rounds + 1):
            for _ in range(steps):
                slope = self._smooth_slope(overall, plus - minus, sharpness)[0]
                push = np.clip(2.0 * slope, -1, 1)
                plus = np.clip(plus * np.exp(-push - 2.0 * self.eps_local), 1e-7 / scale, _BOUND)
                minus = np.clip(minus * np.exp(push - 2.0 * self.eps_local), 1e-7 / scale, _BOUND)
            slope_overall = self._smooth_slope(overall, plus - minus, sharpness)[1]
            overall -= 0.1 / np.sqrt(t) * (slope_overall + self.eps_global * np.sign(overall))
            reached = self.value(overall, plus - minus)
            if reached < best[0]:
                best = (reached, overall, plus - minus)
        return best[1], best[2]

    def _settled(self, overall: float) -> Floats:
        """The best mu given lambda, all clients at once."""
        low, high = np.full(self.clients, -_BOUND), np.full(self.clients, _BOUND)
        for _ in range(_STEPS):
            local = (low + high) / 2
            kappa = self.kappa(overall, local)
            slope = -(self.local * self.accepted(kappa)).sum(axis=1)
            slope = slope + self.eps_local * np.sign(local)
            low, high = np.where(slope < 0, local, low), np.where(slope < 0, high, local)
        return (low + high) / 2

    def _above(self, kappa: Floats, sums: Floats) -> Floats:
        """Differences of running sums between each cell's threshold and its end."""
        cells = np.arange(2 * self.clients)
        at = np.clip(self.threshold(kappa).ravel(), -0.4, 1.4)
        first = np.searchsorted(self._key, cells + 0.5 * at, side="right")
        start = np.concatenate([[0], self._end[:-1]])
        first = np.clip(first, start, self._end)
        return (sums[self._end] - sums[first]).reshape(self.clients, 2)

    def _smooth_slope(
        self, overall: float, local: Floats, sharpness: float
    ) -> tuple[Floats, float]:
        """Slopes of the smoothed H in mu and lambda, without the budgets' terms."""
        kappa = self.kappa(overall, local).ravel()[self._cell]
        tilt = self._eta if self._by_label else 1.0
        bracket = 2 * self._eta - 1 - kappa * tilt
        soft = 1 / (1 + np.exp(-np.clip(sharpness * bracket, -40, 40)))
        mass = np.bincount(self._cell, soft * tilt, minlength=2 * self.clients) / self.n
        mass = mass.reshape(self.clients, 2)
        return -(self.local * mass).sum(axis=1), float(-(self.overall * mass).sum())


def fit_logofair(
    people: ScoredPeople,
    notion: str,
    eps_global: float,
    eps_local: float,
    *,
    calibrated: bool = True,
    distributed: bool = False,
) -> LoGoFair:
    """Fit thresholds on people: exactly, or by the distributed solver."""
    eta = beta_calibrated(people, people) if calibrated else people.scores[:, 1]
    dual = LoGoFairDual(people, eta, shares_of(people, notion), eps_global, eps_local)
    prices = dual.solve_distributed() if distributed else dual.solve()
    return LoGoFair(people, calibrated, dual.threshold(dual.kappa(*prices)))
