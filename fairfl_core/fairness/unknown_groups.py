"""Gaps where the group of some people is not known: the least and the largest they can be."""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

__all__ = ["gap_bounds", "rate_bounds"]

Floats = NDArray[np.float64]


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
