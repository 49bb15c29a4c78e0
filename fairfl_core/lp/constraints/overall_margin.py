"""How wrong an overall gap may be, in rows and columns.

A group's overall rate is sum over c of w_c r_c, with r_c the rate of client c and w_c the client's
share of the people behind it. Both are counted, so both may be wrong.

`Cone` (measured): z t with t >= |v|, v the standard errors of all cells and of the weights, those of
the weights times Scheffe's constant of K dimensions over z: a second-order cone.

`Range` (proved): the widths of the rates, and for the weights their total variation times the
range of the true rates, both ends of which are auxiliary columns.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.constraints.base import Entries
from fairfl_core.lp.constraints.widths import Widths
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["Cone", "OverallMargin", "Pooled", "Range"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pooled:
    """The columns of a pair of groups, as one of their overall rates sees them.

    Attributes
    ----------
    people : ndarray, shape (2, clients)
        Those behind the rate.
    columns : ndarray
        Places of the pair's columns; all that follows is about these.
    group, cell : ndarray
        Group (0 or 1) and cell (clients of the first group, then of the second) of each.
    weight : ndarray
        w of its cell.
    rate, up, down, error : ndarray
        The rate of its rule, how much larger and smaller that may be, and its standard error.
    """

    people: Floats
    columns: Ints
    group: Ints
    cell: Ints
    weight: Floats
    rate: Floats
    up: Floats
    down: Floats
    error: Floats

    @classmethod
    def of(
        cls, columns: RuleTable, widths: Widths, people: Floats, pair: tuple[int, int], rate: int
    ) -> "Pooled":
        """Take what concerns a pair of groups and a rate; `people` (clients, groups, rates)."""
        behind = people[:, list(pair), rate].T
        clients = behind.shape[1]
        total = behind.sum(axis=1, keepdims=True)
        even = np.full_like(behind, 1 / clients)  # where nobody is behind the rate at all
        share = np.divide(behind, total, out=even, where=total > 0).ravel()
        mine = np.flatnonzero(np.isin(columns.group, pair))
        group = (columns.group[mine] == pair[1]).astype(np.int64)
        cell = columns.client[mine] + clients * group
        error = np.broadcast_to(widths.error, widths.rate.shape)
        own = (x[mine, rate] for x in (widths.rate, widths.up, widths.down, error))
        return cls(behind, mine, group, cell, share[cell], *own)

    def toward(self, sign: float) -> Floats:
        """Each column's part in the gap to one side, at worst."""
        side = np.where(self.group == 0, sign, -sign)
        width = np.where(side > 0, self.up, self.down)
        return np.asarray(self.weight * (side * self.rate + width))


class OverallMargin(ABC):
    """The margin of one overall gap.

    Parameters
    ----------
    part : Pooled
    constant : float
        What the margin is multiplied by, or the chance of error it may use up.
    row : int
        The row of the gap's one sign; that of the other follows.
    definition, first : int
        Its first row that defines, and its first auxiliary column.
    """

    is_cone: ClassVar[bool] = False

    def __init__(
        self, part: Pooled, constant: float, *, row: int, definition: int, first: int
    ) -> None:
        self.part, self.constant = part, constant
        self.row, self.definition, self.first = row, definition, first

    @staticmethod
    @abstractmethod
    def auxiliary(clients: int) -> int:
        """How many auxiliary columns it has."""

    @staticmethod
    @abstractmethod
    def definitions(clients: int) -> int:
        """How many rows define them."""

    def entries(self) -> Entries:
        """What the program's columns put into the rows of the gap, both signs."""
        part = self.part
        return (
            np.repeat([self.row, self.row + 1], len(part.columns)),
            np.tile(part.columns, 2),
            np.concatenate([part.toward(sign) for sign in (1.0, -1.0)]),
        )

    @abstractmethod
    def auxiliary_entries(self) -> Entries:
        """What its auxiliary columns put into rows."""

    def cone(self) -> Entries:
        """Rows of its cone, where it has one: see `Constraints.cones`."""
        raise NotImplementedError


class Cone(OverallMargin):
    """The length of all errors: auxiliary columns are its bound t, then the mean rates m."""

    is_cone = True

    @staticmethod
    def auxiliary(clients: int) -> int:
        """T and two means."""
        return 3

    @staticmethod
    def definitions(clients: int) -> int:
        """None: a cone defines t."""
        return 0

    def auxiliary_entries(self) -> Entries:
        """The margin z t in both signs of the gap."""
        return (
            np.array([self.row, self.row + 1]),
            np.full(2, self.first),
            np.full(2, self.constant),
        )

    def cone(self) -> Entries:
        """Rows (t, v): v = the error of each cell, then what its weight's may be, times r - m."""
        part, cells = self.part, self.part.people.size
        clients, total = part.people.shape[1], part.people.sum(axis=1, keepdims=True)
        z2 = self._scheffe_of_weights(clients)
        share = (part.people + z2 / clients) / (total + z2)  # Wilson's middle of the weights
        root = np.sqrt(z2 / self.constant**2 * share / (total + z2)).ravel()
        every = np.arange(cells)
        return (
            np.concatenate([[0], 1 + part.cell, 1 + cells + part.cell, 1 + cells + every]),
            np.concatenate(
                [[-1 - self.first], part.columns, part.columns, -2 - self.first - every // clients]
            ),
            np.concatenate([[1.0], part.weight * part.error, root[part.cell] * part.rate, -root]),
        )

    def _scheffe_of_weights(self, clients: int) -> float:
        """Scheffe's constant of the weights, squared: every client's answers may adapt to its own."""
        from scipy.special import chdtri

        # The chance of error: a chi-square variable of two dimensions exceeds z^2.
        return float(chdtri(max(clients - 1, 2), np.exp(-(self.constant**2) / 2)))


class Range(OverallMargin):
    """Widths, and the weights' total variation times the range of the rates.

    The shares of K clients among n people differ from the true ones by more than
    sqrt((K ln 2 + ln(1 / tail)) / 2n) in total variation with a chance of at most `tail`
    (Weissman and others, 2003). Auxiliary columns are the top of both groups' rates, then the
    bottom.
    """

    @staticmethod
    def auxiliary(clients: int) -> int:
        """Top and bottom of two groups."""
        return 4

    @staticmethod
    def definitions(clients: int) -> int:
        """Every client's rate lies between them."""
        return 4 * clients

    def entries(self) -> Entries:
        """Beside the gap: r + up <= top and bottom <= r - down in every cell."""
        part, cells = self.part, self.part.people.size
        row, column, value = super().entries()
        return (
            np.concatenate(
                [row, self.definition + part.cell, self.definition + cells + part.cell]
            ),
            np.concatenate([column, part.columns, part.columns]),
            np.concatenate([value, part.rate + part.up, part.down - part.rate]),
        )

    def auxiliary_entries(self) -> Entries:
        """The range times the total variation in both signs of the gap; the ends' own rows."""
        groups, clients = self.part.people.shape
        total = np.maximum(self.part.people.sum(axis=1), 1e-9)
        spread = np.sqrt((clients * np.log(2) - np.log(self.constant)) / (2 * total))
        variation = np.tile(np.append(np.minimum(spread, 1.0), -np.minimum(spread, 1.0)), 2)
        ends = self.first + np.arange(2 * groups)
        return (
            np.append(
                np.repeat([self.row, self.row + 1], 2 * groups),
                self.definition + np.arange(2 * groups * clients),
            ),
            np.append(np.tile(ends, 2), ends.repeat(clients)),
            np.append(variation, np.repeat([-1.0, 1.0], groups * clients)),
        )
