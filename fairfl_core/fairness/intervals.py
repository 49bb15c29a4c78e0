"""How sure a rate or a gap is: intervals, and what chance alone would show.

SciPy is imported where it is used: it takes longer to start than most solves.
"""

from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairfl_core.budget import look

Floats = NDArray[np.float64]


def normal_quantile(probability: float) -> float:
    """The z below which a standard normal lies so often; without SciPy, which starts slowly."""
    return NormalDist().inv_cdf(probability)


def wilson(rate: Floats, n: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """Wilson score limits of a share; (0, 1) where nobody is behind it."""
    rate, n = np.asarray(rate, float), np.asarray(n, float)
    size = np.where(n > 0, n, 1.0)
    middle = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(rate * (1 - rate) / size + z**2 / (4 * size**2))
    low = np.where(n > 0, np.clip(middle - half, 0, 1), 0.0)
    return low, np.where(n > 0, np.clip(middle + half, 0, 1), 1.0)


_REACH = 7.0  # standard deviations: beyond it a normal has 1e-12 of its weight
_STEPS = 513
_POINTS = 2048


def clopper_pearson(rate: Floats, n: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """Exact limits of a share whose tails are a normal's beyond `z`; (0, 1) where nobody is.

    Expected numbers of people may be reals: the binomial's tails are incomplete beta functions.
    """
    from scipy.special import betaincinv, ndtr

    n = np.asarray(n, float)
    counted = np.clip(np.asarray(rate, float) * n, 0.0, n)
    rest, tail = n - counted, ndtr(-np.asarray(z, float))
    low = np.where(counted > 0, betaincinv(np.maximum(counted, 1e-9), rest + 1, tail), 0.0)
    high = np.where(rest > 0, betaincinv(counted + 1, np.maximum(rest, 1e-9), 1 - tail), 1.0)
    return low, high


def mover(
    rate_1: Floats, n_1: Floats, rate_0: Floats, n_0: Floats, z: Floats | float
) -> tuple[Floats, Floats]:
    """Limits of rate_1 - rate_0 from exact limits of each (MOVER).

    The two distances to a limit add in quadrature, as those of normal errors do. On few people a
    distance ends at 0 or 1 however large `z` is, and two such ranges add up: so the distances at
    z / sqrt(2), added, count where they are larger, which they never are for normal errors.
    """
    below_1, above_1 = _distances(rate_1, n_1, z)
    below_0, above_0 = _distances(rate_0, n_0, z)
    difference = np.asarray(rate_1 - rate_0)
    return difference - _joined(below_1, above_0), difference + _joined(above_1, below_0)


def _distances(rate: Floats, n: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """How far exact limits lie below and above a rate: at z, and at z / sqrt(2)."""
    limits = [clopper_pearson(rate, n, each) for each in (z, z / np.sqrt(2))]
    below = np.stack([rate - low for low, _ in limits])
    return below, np.stack([high - rate for _, high in limits])


def _joined(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.maximum(np.hypot(one[0], other[0]), one[1] + other[1]))


def gap_interval(rate: Floats, people: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Limits of a gap: the worst over rates of the spread over groups.

    Both arrays have the shape (..., groups, rates). A gap is the largest of several differences;
    each gets its interval (`mover`) at a level such that all hold together (Bonferroni). Coverage
    is at least `level` for every pair of rates on 1 to 400 people that was tried. NaN where
    nothing can be compared.
    """
    there = people > 0
    pairs = list(combinations(range(rate.shape[-2]), 2))
    compared = np.stack([there[..., a, :] & there[..., b, :] for a, b in pairs], axis=-2)
    number = compared.sum(axis=(-2, -1))
    numbers, which = np.unique(np.maximum(number, 1), return_inverse=True)
    quantiles = [normal_quantile(1 - (1 - level) / (2 * one)) for one in numbers.tolist()]
    z = np.array(quantiles)[which.reshape(number.shape)][..., None, None]
    below, above = _distances(rate, people, z)
    low, high = np.zeros(number.shape), np.zeros(number.shape)
    for place, (a, b) in enumerate(pairs):
        difference = rate[..., a, :] - rate[..., b, :]
        lower = difference - _joined(below[..., a, :], above[..., b, :])
        upper = difference + _joined(above[..., a, :], below[..., b, :])
        nearest = np.maximum(np.maximum(lower, -upper), 0.0)
        farthest = np.minimum(np.maximum(np.abs(lower), np.abs(upper)), 1.0)
        here = compared[..., place, :]
        low = np.maximum(low, np.where(here, nearest, 0.0).max(axis=-1))
        high = np.maximum(high, np.where(here, farthest, 0.0).max(axis=-1))
    return np.where(number > 0, low, np.nan), np.where(number > 0, high, np.nan)


def at_once(level: float, several: int) -> float:
    """The level at which each of several intervals is taken so that all hold at once."""
    return 1 - (1 - level) / max(several, 1)


def holm(p_value: Floats, least: Floats, alpha: float) -> Floats:
    """p-values adjusted for how many tests were made (Holm), of any shape.

    Tests that could not fall below `alpha` whatever had happened (`least`, the smallest p-value
    that their people allow) are none of them (Tarone): their p-values stay as they are.
    """
    adjusted = np.array(p_value, float)
    able = least <= alpha
    tested = adjusted[able]
    order = np.argsort(tested, kind="stable")
    steps = tested[order] * np.arange(tested.size, 0, -1)
    raised = np.empty_like(tested)
    raised[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted[able] = raised
    return adjusted


def sign_test(losing: Floats, gaining: Floats) -> Floats:
    """How likely chance alone is to part so many people so unevenly: a two-sided p-value.

    Of people who are judged twice, `losing` are right the first time only and `gaining` the
    second time only (McNemar's exact test). Expected numbers may be reals: the binomial's sum is
    an incomplete beta function, which takes them.
    """
    fewer, more = np.minimum(losing, gaining), np.maximum(losing, gaining)
    if (fewer > 0).any():
        from scipy.special import betainc

        tail = betainc(np.maximum(more, 1e-12), np.maximum(fewer, 0.0) + 1, 0.5)
    else:  # where all lose, or all gain, no more than powers of a half
        tail = 0.5 ** np.maximum(more, 1e-12)
    return np.where(more > 0, np.minimum(2 * tail, 1.0), 1.0)


def expected_gap(mean: Floats, variance: Floats, there: NDArray[np.bool_]) -> Floats:
    """E[gap] when each group's rate is normal around `mean`: chance alone opens a gap.

    All arrays have the shape (clients, groups, rates); `there` says which rates exist. Rates are
    taken as independent of each other, which they are for eo, eop and two labels; for sp and
    eo-full with three labels that overstates the gap by a quarter or more: an upper estimate. With
    two groups it is the integral of Pr(gap > x), for one rate in closed form; with more groups,
    the mean over a fixed low-discrepancy set of points. None draws.
    """
    compared = there.sum(axis=1) > 1  # (clients, rates)
    if mean.shape[1] > 2:
        gap = _largest_range(mean, np.sqrt(variance), there)
        return np.where(compared.any(axis=1), gap, np.nan)
    spread = np.sqrt(np.maximum(variance, 1e-14))
    if mean.shape[2] == 1:
        gap = np.minimum(_folded(mean[:, :, 0], spread[:, :, 0]), 1.0)
        return np.where(compared[:, 0], gap, np.nan)
    low, high = _window(mean, spread, there)
    x = np.linspace(low, high, _STEPS, axis=-1)  # (clients, steps)
    below = np.ones_like(x)
    for r in range(mean.shape[2]):
        rows = np.flatnonzero(compared[:, r])
        below[rows] *= _within(x[rows], mean[rows, :, r], spread[rows, :, r])
    gap = np.minimum(low + np.trapezoid(1 - below, x, axis=-1), 1.0)
    return np.where(compared.any(axis=1), gap, np.nan)


def _window(mean: Floats, spread: Floats, there: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Between which two values each client's gap lies, but for 1e-12 of its distribution."""
    both = there.all(axis=1)
    middle = np.abs(mean[:, 0] - mean[:, 1])
    width = _REACH * np.hypot(spread[:, 0], spread[:, 1])
    low = np.where(both, np.maximum(middle - width, 0.0), 0.0).max(axis=1)
    return low, np.where(both, middle + width, 0.0).max(axis=1)


def _folded(mean: Floats, spread: Floats) -> Floats:
    """E|difference| of two normals (the folded normal's mean), for many clients."""
    from scipy.special import ndtr

    middle, width = mean[:, 0] - mean[:, 1], np.hypot(spread[:, 0], spread[:, 1])
    far = middle / width
    return np.asarray(
        width * np.sqrt(2 / np.pi) * np.exp(-(far**2) / 2) + middle * (2 * ndtr(far) - 1)
    )


def _within(x: Floats, mean: Floats, spread: Floats) -> Floats:
    """Pr(|difference| <= x) of two normals, for many clients: x is (clients, steps)."""
    from scipy.special import ndtr

    middle = (mean[:, 0] - mean[:, 1])[:, None]
    width = np.hypot(spread[:, 0], spread[:, 1])[:, None]
    return np.asarray(ndtr((x - middle) / width) - ndtr((-x - middle) / width))


def _largest_range(mean: Floats, spread: Floats, there: NDArray[np.bool_]) -> Floats:
    """Mean of the worst spread over groups when each rate is normal, group by group."""
    from scipy.special import ndtri
    from scipy.stats import qmc  # half a second to import, for three groups and more

    clients, groups, rates = mean.shape
    points = qmc.Sobol(groups * rates, scramble=True, rng=0).random(_POINTS)
    normal = ndtri(points).reshape(_POINTS, groups, rates)
    gap = np.empty(clients)
    for c in range(clients):  # one client at a time: all at once would not fit for thousands
        look()
        drawn = mean[c] + spread[c] * normal
        highest = np.max(drawn, axis=1, where=there[c], initial=-np.inf)
        lowest = np.min(drawn, axis=1, where=there[c], initial=np.inf)
        gap[c] = np.maximum(highest - lowest, 0.0).max(axis=1).mean()
    return np.minimum(gap, 1.0)


# ------------------------------------------------------------------- people whose group is not known


def rate_bounds(
    answered: Floats, people: Floats, chance: Floats, many: Floats
) -> tuple[Floats, Floats]:
    """The least and the largest rate when any of further people may belong behind it.

    A rate is (answered + part of those who join) / (people + those who join): the largest lets in,
    most likely first, whoever raises it, which is a prefix of them; the least likewise.

    Parameters
    ----------
    answered, people : ndarray, shape (...)
        Behind the rate for certain.
    chance : ndarray, shape (..., kinds)
        How likely each kind of the further people is counted by the rate, if they belong.
    many : ndarray, shape (..., kinds)
        How many of each kind there are.

    Returns
    -------
    low, high : ndarray, shape (...)
        NaN where nobody is behind the rate for certain: it cannot be assessed.
    """

    def extreme(sign: float) -> Floats:
        order = np.argsort(-sign * chance, axis=-1)
        joining = np.take_along_axis(many, order, axis=-1)
        counted = joining * np.take_along_axis(chance, order, axis=-1)
        whole = people[..., None] + np.cumsum(joining, axis=-1)
        part = answered[..., None] + np.cumsum(counted, axis=-1)
        start = (answered[..., None], people[..., None])
        part, whole = (
            np.concatenate(pair, axis=-1) for pair in zip(start, (part, whole), strict=True)
        )
        rate = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
        with np.errstate(invalid="ignore"):
            best = np.where(np.isnan(rate), -np.inf, sign * rate).max(axis=-1)
        return np.where(np.isneginf(best), np.nan, sign * best)

    low, high = extreme(-1.0), extreme(1.0)
    return np.where(people > 0, low, np.nan), np.where(people > 0, high, np.nan)


def gap_bounds(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The least and the largest gap of rates within bounds of shape (..., groups, rates).

    Sharp for two groups and answers without chance, as nobody is wanted by two bounds at once;
    else a little wide. NaN where fewer than two groups have a rate.
    """
    groups = low.shape[-2]
    least, most = np.full(low.shape[:-2], -np.inf), np.full(low.shape[:-2], -np.inf)
    for a, b in permutations(range(groups), 2):
        there = ~np.isnan(low[..., a, :]) & ~np.isnan(low[..., b, :])
        for found, value in (
            (least, low[..., a, :] - high[..., b, :]),
            (most, high[..., a, :] - low[..., b, :]),
        ):
            worst = np.where(there, value, -np.inf).max(axis=-1)
            np.maximum(found, worst, out=found)
    none = np.isneginf(most)
    return (
        np.where(none, np.nan, np.clip(least, 0.0, 1.0)),
        np.where(none, np.nan, np.clip(most, 0.0, 1.0)),
    )
