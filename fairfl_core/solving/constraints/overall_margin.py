"""How wrong an overall gap may be, in rows and columns.

A group's overall rate is sum over c of w_c r_c, with r_c the rate of client c and w_c the client's
share of the people behind it. Both are counted, so both may be wrong.

`Cone` (measured): z |v|, v the standard errors of all cells and of the weights. A ball of many
dimensions has too many faces to list, but it is |v| <= t where v_1^2/t + v_2^2/t + ... <= t, and each
term is a curve of one dimension (Vielma and others, "Extended formulations in mixed integer conic
quadratic programming", 2017). So with auxiliary columns t and s_i

    s_1 + s_2 + ... <= t,      s_i >= 2 a v_i - a^2 t     for any a

and the tangents a are added where the last optimum breaks the cone.

`Range` (proved): the widths of the rates, and for the weights their total variation times the
range of the true rates, both ends of which are auxiliary columns.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl_core.solving.columns import Columns
from fairfl_core.solving.constraints.base import Entries
from fairfl_core.solving.constraints.widths import Widths

__all__ = ["Cone", "OverallMargin", "Pooled", "Range"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BROKEN = 3e-8  # how much a limit may be broken; 1e-7 is promised
_TANGENT = 1e-10  # how far below its curve an s may lie


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
    rate, up, down : ndarray
        The rate of its rule, and how much larger and smaller that may be.
    """

    people: Floats
    columns: Ints
    group: Ints
    cell: Ints
    weight: Floats
    rate: Floats
    up: Floats
    down: Floats

    @classmethod
    def of(
        cls, columns: Columns, widths: Widths, people: Floats, pair: tuple[int, int], rate: int
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
        own = (x[mine, rate] for x in (widths.rate, widths.up, widths.down))
        return cls(behind, mine, group, cell, share[cell], *own)

    def toward(self, sign: float, *, widened: bool) -> Floats:
        """Each column's part in the gap to one side: by counted rates or, widened, at worst."""
        side = np.where(self.group == 0, sign, -sign)
        width = np.where(side > 0, self.up, self.down) if widened else 0.0
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

    grows: ClassVar[bool] = False  # whether rows are added while solving
    _widened: ClassVar[bool]

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
            np.concatenate([part.toward(sign, widened=self._widened) for sign in (1.0, -1.0)]),
        )

    @abstractmethod
    def auxiliary_entries(self) -> Entries:
        """What its auxiliary columns put into rows."""

    def missing(self, auxiliary: Floats, beta: Floats, eps_global: float) -> Entries:
        """Rows `<= 0` that are broken; auxiliary column i is written -1 - i, the others as is."""
        raise NotImplementedError


class Cone(OverallMargin):
    """The length of all errors: auxiliary columns are t, the mean rates m, then s."""

    grows = True
    _widened = False

    def __init__(
        self, part: Pooled, constant: float, *, row: int, definition: int, first: int
    ) -> None:
        super().__init__(part, constant, row=row, definition=definition, first=first)
        clients, total = part.people.shape[1], part.people.sum(axis=1, keepdims=True)
        z2 = constant**2
        share = (part.people + z2 / clients) / (total + z2)  # Wilson's middle of the weights
        root = np.sqrt(share / (total + z2)).ravel()
        # Where nobody at all is behind a group's rate its cells' errors do not average out.
        cell = np.where((total > 0).ravel()[part.group], part.cell, part.group * clients)
        error = part.weight * part.up
        # All lengths in units of the longest there can be, so that tolerances mean the same.
        longest = np.zeros(len(root))
        np.maximum.at(longest, part.cell, error)
        self._unit = float(np.sqrt((longest**2).sum() + (root**2).sum()))
        # v = inside, then between = root (r - m): one dimension a cell each. The best m, the mean
        # of the rates, is found by the program.
        self._dimension = np.concatenate([cell, len(root) + part.cell])
        self._own = np.concatenate([error, root[part.cell] * part.rate]) / self._unit
        self._center = root / self._unit

    @staticmethod
    def auxiliary(clients: int) -> int:
        """t, two means, and two dimensions a cell."""
        return 3 + 4 * clients

    @staticmethod
    def definitions(clients: int) -> int:
        """That s adds up to t at most."""
        return 1

    def auxiliary_entries(self) -> Entries:
        """The margin z t in both signs of the gap, and sum s - t <= 0."""
        dimensions = 2 * len(self._center)
        s = self.first + 3 + np.arange(dimensions)
        rows = [self.row, self.row + 1, self.definition]
        margin = self.constant * self._unit
        return (
            np.append(rows, np.full(dimensions, self.definition)),
            np.append(np.full(3, self.first), s),
            np.append([margin, margin, -1.0], np.ones(dimensions)),
        )

    def missing(self, auxiliary: Floats, beta: Floats, eps_global: float) -> Entries:
        """Tangents at the direction of v, where the limit is broken."""
        part, cells = self.part, len(self._center)
        weights = beta[part.columns]
        mine = auxiliary[self.first : self.first + self.auxiliary(cells // 2)]
        t, mean, s = mine[0], mine[1:3], mine[3:]
        v = np.bincount(self._dimension, np.tile(weights, 2) * self._own, minlength=2 * cells)
        v[cells:] -= self._center * mean.repeat(cells // 2)
        length = float(np.sqrt((v**2).sum()))
        gap = abs(float((weights * part.toward(1.0, widened=False)).sum()))
        broken = gap + self.constant * self._unit * length - eps_global > _BROKEN
        a = v / (length or 1.0)
        steep = np.flatnonzero(broken & (2 * a * v - a**2 * t - s > _TANGENT))
        number = np.full(2 * cells, -1)
        number[steep] = np.arange(len(steep))
        # 2 a v - a^2 t - s <= 0
        own = np.flatnonzero(number[self._dimension] >= 0)
        centered = steep[steep >= cells]
        mean_of = self.first + 1 + (centered - cells) // (cells // 2)
        return (
            np.concatenate([number[self._dimension[own]], number[centered], *[number[steep]] * 2]),
            np.concatenate(
                [
                    np.tile(part.columns, 2)[own],
                    -1 - mean_of,
                    np.full(len(steep), -1 - self.first),
                    -1 - (self.first + 3 + steep),
                ]
            ),
            np.concatenate(
                [
                    2 * a[self._dimension[own]] * self._own[own],
                    -2 * a[centered] * self._center[centered - cells],
                    -(a[steep] ** 2),
                    -np.ones(len(steep)),
                ]
            ),
        )


class Range(OverallMargin):
    """Widths, and the weights' total variation times the range of the rates.

    The shares of K clients among n people differ from the true ones by more than
    sqrt((K ln 2 + ln(1 / tail)) / 2n) in total variation with a chance of at most `tail`
    (Weissman and others, 2003). Auxiliary columns are the top of both groups' rates, then the
    bottom.
    """

    _widened = True

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
