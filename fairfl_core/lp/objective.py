"""What a program maximises, and what decides between equally good optima."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.rule_table import RuleTable
from fairfl_core.lp.utility import Utility

__all__ = ["Objective", "kept_bonus", "tie_order"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BONUS = 1.5e-8
_REDUNDANT = 1e-8  # in the objective's unit


class Objective:
    """A utility, and a bonus for every kept answer, in units of a mean cell's people.

    So HiGHS's tolerances mean the same for two clients and for two thousand.

    Parameters
    ----------
    counts : ClientCounts
    utility : Utility
    prefers_the_model : bool
        Whether of rules that do the same to everybody, or to nobody, the model's answer is taken.

    Attributes
    ----------
    gain : ndarray, shape (labels, answers)
        The utility of every answer to every label.
    scale : float
        The largest of them.
    """

    def __init__(
        self, counts: ClientCounts, utility: Utility, *, prefers_the_model: bool = True
    ) -> None:
        self._counts, self._prefers_the_model = counts, prefers_the_model
        self.gain = utility.of(counts)
        self.scale = float(np.abs(self.gain).max())
        self._clients, self._groups = counts.table.shape[:2]

    @cached_property
    def _unit(self) -> float:
        return float(self._counts.n / (self._clients * self._groups))

    @property
    def utility_per_unit(self) -> float:
        """The utility that one unit of the objective is."""
        return self.scale / (self._clients * self._groups)

    @property
    def gain_in_units(self) -> Floats:
        """The same of one person's answer, (labels, answers), in units of the objective."""
        return np.asarray(self.gain / self.scale / self._unit)

    def of(self, rules: RuleTable) -> Floats:
        """Return the objective of a whole weight on each rule."""
        gained = np.einsum("pyk,yk->p", rules.confusion, self.gain / self.scale)
        value = gained / self._unit + self.bonus(rules)
        if self._prefers_the_model:
            # A block that nobody falls into has one optimum, too, and a dual.
            value += _REDUNDANT * (rules.empty - 1.0 * rules.redundant)
        return np.asarray(value)

    def bonus(self, rules: RuleTable) -> Floats:
        """Return the bonus for the answers that each rule keeps."""
        bonus = self._bonus[rules.client, rules.group]
        return np.asarray(bonus * rules.kept / self._unit)

    @cached_property
    def _bonus(self) -> Floats:
        return kept_bonus(self._clients, self._groups)

    def tie_break(self, rules: RuleTable, first: int = 0) -> Floats:
        """Return the order of rules; see `tie_order`."""
        cell = rules.client * self._groups + rules.group
        return tie_order(cell, self._clients * self._groups, first)


def kept_bonus(clients: int, groups: int) -> Floats:
    """Return the bonus of 1.5e-8 people and more per kept answer, (clients, groups).

    Optima are seldom unique: of equally accurate lotteries the one that changes fewest people is
    taken, and of those that are equal in this, too, the one that `tie_order` puts first. The bonus
    is far below what is reported: it can cost accuracy less than 1e-8. Cells differ a little, so
    that changing two people in one cell or in another is no tie either.
    """
    cells = clients * groups
    return (_BONUS * (1 + np.arange(cells) / cells)).reshape(clients, groups)


def tie_order(cell: Ints, cells: int, first: int = 0) -> Floats:
    """Return a number in [1, 2) for each rule: of optima equal in all else take the least sum.

    Drawn with a fixed seed, so that no few of them add up to others: a function of a rule's cell
    and of its place among the rules of the cell, the first of which has the place `first`.
    """
    order = np.argsort(cell, kind="stable")
    many = np.bincount(cell, minlength=cells)
    place = np.empty(len(cell), np.int64)
    place[order] = first + np.arange(len(cell)) - np.repeat(np.cumsum(many) - many, many)
    drawn = np.random.PCG64(0).random_raw((int(place.max()) + 1) * cells) >> np.uint64(12)
    return np.asarray(1 + drawn[place * cells + cell] * 2.0**-52)
