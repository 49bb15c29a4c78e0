"""How far a counted rate may lie from the true one, rule by rule."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.notions import Notion
from fairfl_core.solving.columns import Columns

__all__ = ["Widths", "clopper_pearson", "dvoretzky", "scheffe"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Widths:
    """Rates of columns and how far the truth may lie from them, each (columns, rates).

    `up` and `down` are how much larger and smaller the true rate may be.
    """

    rate: Floats
    up: Floats
    down: Floats


def _rates(
    notion: Notion, columns: Columns, people: Floats, times: float
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Counted rate of every column, people behind it, and whether it depends on people."""
    n = people[columns.client, columns.group]
    share = columns.known[:, notion.asked.argmax(axis=1)]  # a rate asks for one answer
    uncertain = np.isnan(share)
    counted = np.divide(
        notion.answered(columns.confusion), n, out=np.full(n.shape, 0.5), where=n > 0
    )
    return np.where(uncertain, counted, share), n * times, uncertain


def scheffe(
    notion: Notion, columns: Columns, people: Floats, z: float, times: float = 1.0
) -> Widths:
    """Standard errors around Wilson's middle; 1/2 where nobody is behind a rate."""
    rate, n, uncertain = _rates(notion, columns, people, times)
    middle = (n * rate + z**2 / 2) / (n + z**2)
    error = np.where(n > 0, np.sqrt(middle * (1 - middle) / (n + z**2)), 0.5 / z)
    error = np.where(uncertain, error, 0.0)
    return Widths(rate, error, error)


def clopper_pearson(
    notion: Notion, columns: Columns, people: Floats, tail: float, times: float = 1.0
) -> Widths:
    """Exact binomial limits of every rule of answers, `tail` on either side."""
    from scipy.special import betaincinv

    rate, n, uncertain = _rates(notion, columns, people, times)
    hits = rate * n
    high = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1e-9), 1 - tail), 1.0)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), n - hits + 1, tail), 0.0)
    empty = n <= 0
    up = np.where(empty, 0.5, high - rate)
    down = np.where(empty, 0.5, rate - low)
    return Widths(rate, np.where(uncertain, up, 0.0), np.where(uncertain, down, 0.0))


def dvoretzky(
    notion: Notion, columns: Columns, people: Floats, tail: float, times: float = 1.0
) -> Widths:
    """One width for every cut of a score at once, `2 tail` in all (Massart's constant)."""
    rate, n, uncertain = _rates(notion, columns, people, times)
    width = np.where(n > 0, np.sqrt(np.log(1 / tail) / (2 * np.maximum(n, 1e-9))), 0.5)
    width = np.where(uncertain, np.minimum(width, 1.0), 0.0)
    return Widths(rate, width, width)
