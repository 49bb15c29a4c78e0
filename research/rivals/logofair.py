"""LoGoFair (Zhang et al. 2025): a threshold of the calibrated score for each client and group.

The dual H(lambda, mu) has one multiplier for the global gap and one for each client's. It is
convex in each mu_c given lambda, and in lambda after minimising over mu: nested bisection on
sub-gradients finds it exactly. The authors' distributed solver stands beside it.

At the dual's minimum some people stand exactly at their threshold, all who share a score. They are
answered the second label with the chance at which the budgets are met.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from research.rivals.cells import Shares, beta_calibrated, shares_of, sides

Floats = NDArray[np.float64]
_STEPS = 60  # of a bisection: to 2^-60 of the dual's range
_BOUND = 4.0  # multipliers are shares of accuracy, none is worth more
_DIGITS = 12  # scores that agree so far are one score: calibration differs in the last bit
_CERTAIN = 1e-9  # a chance so near 0 or 1 is 0 or 1


@dataclass(frozen=True, eq=False)
class LoGoFair:
    """Answer the second label where the calibrated score is above the threshold of its cell.

    Attributes
    ----------
    fitted : ScoredData
        On whom scores are calibrated.
    calibrated : bool
        Whether they are.
    threshold : ndarray, shape (clients, groups)
    chance : ndarray, shape (clients, groups)
        Of the second label for a score that equals the threshold.
    """

    fitted: ScoredData
    calibrated: bool
    threshold: Floats
    chance: Floats

    def chances(self, people: ScoredData) -> Floats:
        """Chances of each answer for people of the same clients, shape (people, 2)."""
        eta = _scores(self.fitted, people, self.calibrated)
        cell = people.client, people.group
        at = np.where(eta == self.threshold[cell], self.chance[cell], 0.0)
        second = np.where(eta > self.threshold[cell], 1.0, at)
        return np.stack([1 - second, second], axis=1)


class LoGoFairDual:
    """H of one rate: statistical parity, or equal opportunity of the second label.

    Parameters
    ----------
    people : ScoredData
    eta : ndarray, shape (people,)
        Calibrated scores of the second label.
    shares : Shares
    eps_global, eps_local : float
        The budgets delta_g and delta_c.
    """

    def __init__(
        self,
        people: ScoredData,
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
        self._start = np.concatenate([[0], self._end[:-1]])

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

    def solve(self) -> tuple[float, Floats, Floats]:
        """Lambda, mu, and the mass that each cell is to be counted with, by nested bisection.

        The mass is a mean of the two on either side of the minimum, weighted so that no slope
        remains: with it every gap is within its budget, and at it where its price is not 0.
        """
        low, high = -_BOUND, _BOUND
        for _ in range(_STEPS):
            overall = (low + high) / 2
            slope = self._slope(overall, self._settled(overall)[1])
            low, high = (overall, high) if slope < 0 else (low, overall)
        ends = [self._settled(end)[1] for end in (low, high)]
        share = _share(self._slope(low, ends[0]), self._slope(high, ends[1]))
        overall = (low + high) / 2
        return overall, self._settled(overall)[0], (1 - share) * ends[0] + share * ends[1]

    def randomised(self, threshold: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Thresholds and chances at them with which each cell is counted with this mass.

        A threshold that parts no equal scores stays where the prices put it, between the last
        score that is refused and the first that is accepted.
        """
        end, start = self._end, self._start
        there = end > start
        reached = np.searchsorted(self._sum, self._sum[end] - mass.ravel(), side="right") - 1
        at = np.clip(reached, start, np.maximum(end - 1, start))[there]
        first = np.searchsorted(self._key, self._key[at], side="left")
        last = np.searchsorted(self._key, self._key[at], side="right")
        above = self._sum[end[there]] - self._sum[last]
        people = np.maximum(self._sum[last] - self._sum[first], 1e-300)
        chance = np.clip((mass.ravel()[there] - above) / people, 0, 1)
        none, every = chance < _CERTAIN, chance > 1 - _CERTAIN
        padded = np.concatenate([self._eta, [np.inf]])
        before = np.where(first > start[there], padded[first - 1], -np.inf)
        after = np.where(last < end[there], padded[last], np.inf)
        score = self._eta[at]
        refused = np.where(none, score, before)
        lowest = np.where(none | every, np.nextafter(refused, np.inf), score)
        moved, chances = threshold.ravel().copy(), np.ones(2 * self.clients)
        moved[there] = np.clip(moved[there], lowest, np.where(none, after, score))
        chances[there] = np.where(none | every, 1.0, chance)
        return moved.reshape(threshold.shape), chances.reshape(threshold.shape)

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

    def _settled(self, overall: float) -> tuple[Floats, Floats]:
        """The best mu given lambda, all clients at once, and the mass at which no slope remains."""
        low, high = np.full(self.clients, -_BOUND), np.full(self.clients, _BOUND)
        for _ in range(_STEPS):
            local = (low + high) / 2
            falls = self._local_slope(local, self.accepted(self.kappa(overall, local))) < 0
            low, high = np.where(falls, local, low), np.where(falls, high, local)
        ends = [self.accepted(self.kappa(overall, end)) for end in (low, high)]
        share = _share(self._local_slope(low, ends[0]), self._local_slope(high, ends[1]))[:, None]
        return (low + high) / 2, (1 - share) * ends[0] + share * ends[1]

    def _slope(self, overall: float, accepted: Floats) -> float:
        """Slope of H in lambda where cells are counted with these masses."""
        return float(self.eps_global * np.sign(overall) - (self.overall * accepted).sum())

    def _local_slope(self, local: Floats, accepted: Floats) -> Floats:
        """Slope of H in each mu."""
        slope: Floats = self.eps_local * np.sign(local) - (self.local * accepted).sum(axis=1)
        return slope

    def _above(self, kappa: Floats, sums: Floats) -> Floats:
        """Differences of running sums between each cell's threshold and its end."""
        cells = np.arange(2 * self.clients)
        at = np.clip(self.threshold(kappa).ravel(), -0.4, 1.4)
        first = np.searchsorted(self._key, cells + 0.5 * at, side="right")
        first = np.clip(first, self._start, self._end)
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


def _share(low: Any, high: Any) -> Any:
    """The weight of the second of two slopes with which their mean is 0; a half if both are 0."""
    apart = high - low
    return np.clip(np.where(apart > 0, -low / np.where(apart > 0, apart, 1.0), 0.5), 0, 1)


def _scores(fitted: ScoredData, people: ScoredData, calibrated: bool) -> Floats:
    """Scores of the second label, rounded so that equal ones stay equal."""
    eta = beta_calibrated(fitted, people) if calibrated else people.scores[:, 1]
    rounded: Floats = np.round(eta, _DIGITS)
    return rounded


def fit_logofair(
    people: ScoredData,
    notion: str,
    eps_global: float,
    eps_local: float,
    *,
    calibrated: bool = True,
    distributed: bool = False,
) -> LoGoFair:
    """Fit thresholds on people: exactly, with ties drawn, or by the distributed solver.

    The distributed solver stops beside a score, not at it, so that its answers are certain.
    """
    eta = _scores(people, people, calibrated)
    dual = LoGoFairDual(people, eta, shares_of(people, notion), eps_global, eps_local)
    if distributed:
        threshold = dual.threshold(dual.kappa(*dual.solve_distributed()))
        return LoGoFair(people, calibrated, threshold, np.ones_like(threshold))
    overall, local, mass = dual.solve()
    threshold = dual.threshold(dual.kappa(overall, local))
    return LoGoFair(people, calibrated, *dual.randomised(threshold, mass))
