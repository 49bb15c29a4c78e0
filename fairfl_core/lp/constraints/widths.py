"""How far a counted rate may lie from the true one, rule by rule."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.intervals import clopper_pearson, normal_quantile
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["Widths", "binomial_widths", "pooled_widths", "proved_widths"]

Floats = NDArray[np.float64]
_FEW = 5  # people behind a pooled rate below which it is not counted


@dataclass(frozen=True, eq=False)
class Widths:
    """Rates of columns and how far the truth may lie from them, each (columns, rates).

    `up` and `down` are how much larger and smaller the true rate may be; `is_range` is true where
    nobody is behind a rate, so that it may be anything: a range, not an error that averages out.
    `error` is a standard error beside them, of rates that are pooled.
    """

    rate: Floats
    up: Floats
    down: Floats
    is_range: NDArray[np.bool_]
    error: Floats | float = 0.0


def _rates(
    notion: Notion, columns: RuleTable, people: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Counted rate of every column, people behind it, and whether it depends on people."""
    n = people[columns.client, columns.group]
    share = columns.known[:, notion.asked.argmax(axis=1)]  # a rate asks for one answer
    uncertain = np.isnan(share)
    counted = np.divide(
        notion.answered(columns.confusion), n, out=np.full(n.shape, 0.5), where=n > 0
    )
    return np.where(uncertain, counted, share), n, uncertain


def binomial_widths(notion: Notion, columns: RuleTable, people: Floats, z: float) -> Widths:
    """Exact binomial limits of every column, as sure as a normal's at z; 1/2 +- 1/2 without people."""
    rate, n, uncertain = _rates(notion, columns, people)
    low, high = clopper_pearson(rate, n, z)
    empty = n <= 0
    up = np.where(empty, 0.5, high - rate)
    down = np.where(empty, 0.5, rate - low)
    return Widths(
        rate,
        np.where(uncertain, up, 0.0),
        np.where(uncertain, down, 0.0),
        uncertain & empty,
    )


def pooled_widths(
    notion: Notion,
    columns: RuleTable,
    people: Floats,
    z: float,
    optimism: Floats,
) -> Widths:
    """Rates with their standard errors around Wilson's middle, and what does not average out.

    `optimism` (groups, rates) is how far fitted rates may lie above the true ones, in units of
    1 / (2 sqrt n); see `lp.optimism`. With fewer than five people behind it a rate may be
    anything: 1/2 +- 1/2.
    """
    rate, n, uncertain = _rates(notion, columns, people)
    there = np.maximum(n, 1e-9)
    middle = (n * rate + z**2 / 2) / (n + z**2)
    few = uncertain & (n < _FEW)
    counted = uncertain & ~few
    error = np.where(counted, np.sqrt(middle * (1 - middle) / there), 0.0)
    too_high = np.where(counted, optimism[columns.group] / (2 * np.sqrt(there)), 0.0)
    half = np.where(few, 0.5, 0.0)
    return Widths(np.where(few, 0.5, rate), half, half + too_high, few, error)


def proved_widths(
    notion: Notion, columns: RuleTable, people: Floats, tail: float, *, cuts: bool
) -> Widths:
    """Widths that hold for every rule of a cell at once, `tail` to each side.

    Of rules of answers as many shares stand behind a rate as a cell has blocks; of cuts of a score
    there is one width for all (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant).
    """
    if not cuts:
        shares = columns.blocks // (people.shape[0] * people.shape[1])
        return binomial_widths(notion, columns, people, normal_quantile(1 - tail / shares))
    rate, n, uncertain = _rates(notion, columns, people)
    width = np.where(n > 0, np.sqrt(np.log(1 / tail) / (2 * np.maximum(n, 1e-9))), 0.5)
    width = np.where(uncertain, np.minimum(width, 1.0), 0.0)
    return Widths(rate, width, width, uncertain & (n <= 0))
