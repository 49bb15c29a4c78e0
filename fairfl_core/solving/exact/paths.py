"""Two labels: what the cuts of every cell's score do, as a path from nobody to everybody.

A cut lies between two neighbouring scores. Where it moves from the lowest to the highest, the
people below it, counted by label, walk a path to the right and up; its bends outward are the only
cuts that are ever worth mixing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.solving.exact.apexes import Apexes, roundest
from fairfl_core.solving.exact.chains import lower_chain
from fairfl_core.solving.rate_estimates import PSEUDO_ROWS, Measured

__all__ = ["ALIKE", "Paths", "paths_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ALIKE = 1e-9  # people: corners closer than this to a line are on it


def paths_of(measured: Measured) -> "Paths":
    """The paths of all cells by the rates that people are measured by."""
    return (_ShrunkPaths if measured.rates == "shrunk" else _OwnPaths)(measured)


class Paths(ABC):
    """A cut is told by its cell and by how many of the path's steps, distinct scores, are below."""

    def __init__(self, measured: Measured) -> None:
        self.groups = len(measured.counts.groups)
        self.cells = len(measured.counts.clients) * self.groups
        self.own = _Steps.of(measured.cell, measured, self.cells)

    @abstractmethod
    def first(self) -> tuple[Ints, Ints]:
        """Cuts to begin with: the ends of every path, and whatever is between large steps."""

    @abstractmethod
    def extreme(self, cell: Ints, cut: Ints, to: Ints, side: int) -> Floats:
        """A point that the path does not go beyond from one cut to another, shape (cuts, 2)."""

    @abstractmethod
    def below(self, cell: Ints, cut: Ints) -> Floats:
        """People by label below these cuts, shape (cuts, 2)."""

    @abstractmethod
    def said_below(self, cell: Ints, cut: Ints) -> Floats:
        """People by the model's answer below these cuts, shape (cuts, 2)."""

    @abstractmethod
    def around(self, cell: Ints, cut: Ints) -> tuple[Floats, Floats]:
        """The scores to the left and right of these cuts, which are no ends of a path."""

    def ends(self, cell: Ints) -> tuple[Floats, Floats]:
        """Everybody of these cells: by label, and by the model's answer."""
        own, end = self.own, self.own.start[cell + 1]
        sums = [own.sums(before, cell, end) for before in (own.amount_before, own.said_before)]
        return sums[0], sums[1]

    def bends(self) -> tuple[Ints, Ints]:
        """Cells and cuts where a path bends outward to either side; its ends are no bends."""
        both = [self._bends(side) for side in (0, 1)]
        cell, cut = (np.concatenate(parts) for parts in zip(*both, strict=True))
        return _distinct(cell, cut)

    def _bends(self, side: int) -> tuple[Ints, Ints]:
        """Bends below the path (0), or above it (1: below, with the labels exchanged).

        Of the path between two cuts it is known how far out it can reach. Where that is inside
        the hull already, nothing there can be a bend; else it is parted.
        """
        cell, cut = self.first()
        people = self.below(cell, cut)
        is_open = np.append((cell[1:] == cell[:-1]) & (cut[1:] > cut[:-1] + 1), False)
        while True:
            x, y = people[:, side], people[:, 1 - side]
            corner = lower_chain(cell, x, y, ALIKE)
            gap = np.flatnonzero(is_open)  # what follows these cuts may still hide a bend
            reach = self.extreme(cell[gap], cut[gap], cut[gap + 1], side)
            gap = gap[_sticks_out(x, y, corner, gap, reach[:, side], reach[:, 1 - side])]
            if not gap.size:
                within = corner[1:-1][cell[corner[2:]] == cell[corner[:-2]]]
                return cell[within], cut[within]
            middle = roundest(cut[gap], cut[gap + 1])
            many = np.zeros(len(cut), np.int64)  # of what is left: none, itself, and a new one
            many[corner] = many[gap + 1] = 1
            many[gap] = 2
            new = np.cumsum(many)[gap] - 1
            cell, cut = np.repeat(cell, many), np.repeat(cut, many)
            people = np.repeat(people, many, axis=0)
            cut[new] = middle
            people[new] = self.below(cell[new], middle)
            is_open = np.zeros(len(cut), bool)
            is_open[new - 1] = middle > cut[new - 1] + 1
            is_open[new] = cut[new + 1] > middle + 1


def _sticks_out(
    x: Floats, y: Floats, corner: Ints, gap: Ints, reach_x: Floats, reach_y: Floats
) -> NDArray[np.bool_]:
    """Whether what follows a point reaches below the chain of these corners."""
    edge = np.searchsorted(corner, gap, side="right")
    low, high = corner[edge - 1], corner[edge]
    across, up = x[high] - x[low], y[high] - y[low]
    area = (reach_x - x[low]) * up - (reach_y - y[low]) * across
    return np.asarray(area > ALIKE * (across + up + 1))


class _OwnPaths(Paths):
    """Of a cell's own people."""

    def first(self) -> tuple[Ints, Ints]:
        """The ends, and the cut before every step that somebody stands on."""
        own = self.own
        stands = np.flatnonzero(own.amount.any(axis=1))
        every = np.arange(self.cells)
        return _distinct(
            np.concatenate([own.part[stands], every, every]),
            np.concatenate([own.number[stands], np.zeros(self.cells, np.int64), own.many]),
        )

    def extreme(self, cell: Ints, cut: Ints, to: Ints, side: int) -> Floats:
        """There is nothing between the cuts to begin with."""
        return self.below(cell, cut)

    def below(self, cell: Ints, cut: Ints) -> Floats:
        """Sums over the steps."""
        return self.own.sums(self.own.amount_before, cell, self.own.start[cell] + cut)

    def said_below(self, cell: Ints, cut: Ints) -> Floats:
        """Sums over the steps."""
        return self.own.sums(self.own.said_before, cell, self.own.start[cell] + cut)

    def around(self, cell: Ints, cut: Ints) -> tuple[Floats, Floats]:
        """The scores of two steps."""
        right = self.own.start[cell] + cut
        return self.own.score[right - 1], self.own.score[right]


class _ShrunkPaths(Paths):
    """Of a cell's people by label, spread as its own and, for `PSEUDO_ROWS`, as its group.

    The group's steps are the path's: a cell's own people are of its group, too.
    """

    def __init__(self, measured: Measured) -> None:
        super().__init__(measured)
        self._pool = _Steps.of(measured.cell % self.groups, measured, self.groups)
        pool, own = self._pool, self.own
        total = pool.amount_before[pool.start[1:]] - pool.amount_before[pool.start[:-1]]
        self._share = np.divide(
            PSEUDO_ROWS, total, out=np.zeros_like(total), where=total > 0
        )  # by group and label: what one of the group counts for
        people = own.amount_before[own.start[1:]] - own.amount_before[own.start[:-1]]
        self._weight = people / (people + PSEUDO_ROWS)
        self._rank = np.empty(len(own.part), np.int64)
        for group in range(self.groups):
            mine = own.part % self.groups == group
            steps = pool.score[pool.start[group] : pool.start[group + 1]]
            self._rank[mine] = np.searchsorted(steps, own.score[mine])
        before = [
            pool.amount_before[low : high + 1] - pool.amount_before[low]
            for low, high in zip(pool.start[:-1], pool.start[1:], strict=True)
        ]
        self._apexes = [Apexes(before, side) for side in (0, 1)]
        self._width = int(pool.many.max(initial=0)) + 1
        self._key = own.part * self._width + self._rank

    def first(self) -> tuple[Ints, Ints]:
        """The ends, and the cuts before and after every own step."""
        every = np.arange(self.cells)
        return _distinct(
            np.concatenate([self.own.part, self.own.part, every, every]),
            np.concatenate(
                [self._rank, self._rank + 1, 0 * every, self._pool.many[every % self.groups]]
            ),
        )

    def extreme(self, cell: Ints, cut: Ints, to: Ints, side: int) -> Floats:
        """Between own steps the path is the group's, moved and stretched."""
        own = self.own.sums(self.own.amount_before, cell, self._own_place(cell, to))
        group = cell % self.groups
        pool = self._apexes[side].of(group, cut, to)
        return np.asarray(self._weight[cell] * (own + self._share[group] * pool))

    def _own_place(self, cell: Ints, cut: Ints) -> Ints:
        """The first own step that is not below the cut."""
        place = np.searchsorted(self._key, cell * self._width + np.minimum(cut, self._width - 1))
        return np.where(cut < self._width, place, self.own.start[cell + 1])

    def below(self, cell: Ints, cut: Ints) -> Floats:
        """Own people and the group's, weighted."""
        own = self.own.sums(self.own.amount_before, cell, self._own_place(cell, cut))
        group = cell % self.groups
        pool = self._pool.sums(self._pool.amount_before, group, self._pool.start[group] + cut)
        return np.asarray(self._weight[cell] * (own + self._share[group] * pool))

    def said_below(self, cell: Ints, cut: Ints) -> Floats:
        """Own people only: the others' answers are not theirs."""
        return self.own.sums(self.own.said_before, cell, self._own_place(cell, cut))

    def around(self, cell: Ints, cut: Ints) -> tuple[Floats, Floats]:
        """The scores of two steps of the group."""
        right = self._pool.start[cell % self.groups] + cut
        return self._pool.score[right - 1], self._pool.score[right]


@dataclass(frozen=True, eq=False)
class _Steps:
    """The distinct scores of the second label in every part, and who stands on them.

    Attributes
    ----------
    part, number : ndarray, shape (steps,)
        Whose step it is, and which of them.
    score : ndarray, shape (steps,)
    amount : ndarray, shape (steps, 2)
        People by label.
    start : ndarray, shape (parts + 1,)
        Where the steps of each part begin.
    amount_before, said_before : ndarray, shape (steps + 1, 2)
        People by label, and by the model's answer, on all steps before.
    """

    part: Ints
    number: Ints
    score: Floats
    amount: Floats
    start: Ints
    amount_before: Floats
    said_before: Floats

    @classmethod
    def of(cls, part: Ints, measured: Measured, parts: int) -> "_Steps":
        """People in the order of their scores, equal ones on one step."""
        score = measured.scores[:, 1]
        order = np.lexsort((score, part))
        part, score = part[order], score[order]
        new = np.ones(len(part), bool)
        new[1:] = (part[1:] != part[:-1]) | (score[1:] != score[:-1])
        first = np.flatnonzero(new)

        def by_step(people: Floats) -> Floats:
            return np.add.reduceat(people[order], first) if len(first) else np.zeros((0, 2))

        amount = by_step(measured.amount)
        whole = measured.amount.sum(axis=1, keepdims=True)
        said = by_step(whole * (measured.said[:, None] == np.arange(2)))
        start = np.searchsorted(part[first], np.arange(parts + 1))
        nobody = np.zeros((1, 2))
        return cls(
            part=part[first],
            number=np.arange(len(first)) - start[part[first]],
            score=score[first],
            amount=amount,
            start=start,
            amount_before=np.concatenate([nobody, amount.cumsum(axis=0)]),
            said_before=np.concatenate([nobody, said.cumsum(axis=0)]),
        )

    @property
    def many(self) -> Ints:
        """How many steps each part has."""
        return np.diff(self.start)

    def sums(self, before: Floats, part: Ints, place: Ints) -> Floats:
        """What is before these places within their parts."""
        return np.asarray(before[place] - before[self.start[part]])


def _distinct(cell: Ints, cut: Ints) -> tuple[Ints, Ints]:
    """Each cut once, in order."""
    width = int(cut.max(initial=0)) + 1
    key = np.sort(cell * width + cut)  # np.unique hashes, which is slow for so many
    return np.divmod(key[np.append(True, key[1:] > key[:-1])[: len(key)]], width)
