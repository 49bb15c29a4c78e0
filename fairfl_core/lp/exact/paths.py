"""Two labels: what the cuts of every cell's score do, as a path from nobody to everybody.

A cut lies between two neighbouring scores. Where it moves from the lowest to the highest, the
people below it, counted by label, walk a path to the right and up; its bends outward are the only
cuts that are ever worth mixing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.exact.chains import lower_chain
from fairfl_core.lp.exact.stretches import Stretches
from fairfl_core.lp.rate_estimates import PSEUDO_ROWS, Measured

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
        self.by_score = np.argsort(measured.scores[:, 1], kind="stable")
        self.own = _Steps.of(measured.cell, measured, self.cells, self.by_score)

    @abstractmethod
    def first(self) -> tuple[Ints, Ints]:
        """Cuts to begin with: the ends of every path, and whatever is between large steps."""

    @abstractmethod
    def lowest(
        self, cell: Ints, cut: Ints, to: Ints, across: Floats, up: Floats, side: int
    ) -> Ints:
        """From one cut to another the one that lies farthest below the direction (across, up)."""

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
        cell, cut = self.first()
        people = self.below(cell, cut)
        both = [self._bends(cell, cut, people, side) for side in (0, 1)]
        cell, cut = (np.concatenate(parts) for parts in zip(*both, strict=True))
        return _distinct(cell, cut)

    def _bends(self, cell: Ints, cut: Ints, people: Floats, side: int) -> tuple[Ints, Ints]:
        """Bends below the path (0), or above it (1: below, with the labels exchanged).

        Between two cuts the path is asked for what lies farthest below the hull so far: that is
        a bend, and parts what is between. Where nothing does, there is none.
        """
        is_open = np.append((cell[1:] == cell[:-1]) & (cut[1:] > cut[:-1] + 1), False)
        while True:
            corner = lower_chain(cell, people[:, side], people[:, 1 - side], ALIKE)
            gap, middle = self._hidden(np.flatnonzero(is_open), corner, cell, cut, people, side)
            if not gap.size:
                within = corner[1:-1][cell[corner[2:]] == cell[corner[:-2]]]
                return cell[within], cut[within]
            many = np.zeros(len(cut), np.int64)  # of what is left: none, itself, and a new one
            many[corner] = many[gap + 1] = 1
            many[gap] = 2
            new = np.cumsum(many)[gap] - 1
            kept = np.repeat(np.arange(len(cut)), many)
            cell, cut, people = cell[kept], cut[kept], people[kept]
            cut[new] = middle
            people[new] = self.below(cell[new], middle)
            is_open = np.zeros(len(cut), bool)
            is_open[new - 1] = middle > cut[new - 1] + 1
            is_open[new] = cut[new + 1] > middle + 1

    def _hidden(
        self, gap: Ints, corner: Ints, cell: Ints, cut: Ints, people: Floats, side: int
    ) -> tuple[Ints, Ints]:
        """After which of these cuts, up to the next, the path goes below the hull, and where most."""
        x, y = people[:, side], people[:, 1 - side]
        out = _Edges.under(gap, corner, x, y).below(x[gap + 1], y[gap])  # as far as it may reach
        gap = gap[out]
        edge = _Edges.under(gap, corner, x, y)
        middle = self.lowest(cell[gap], cut[gap], cut[gap + 1], edge.across, edge.up, side)
        found = self.below(cell[gap], middle)
        out = edge.below(found[:, side], found[:, 1 - side])
        out &= (cut[gap] < middle) & (middle < cut[gap + 1])
        return gap[out], middle[out]


@dataclass(frozen=True, eq=False)
class _Edges:
    """The edges of a chain under some points: where each begins, and how far it goes."""

    x: Floats
    y: Floats
    across: Floats
    up: Floats

    @classmethod
    def under(cls, point: Ints, corner: Ints, x: Floats, y: Floats) -> "_Edges":
        """Of the chain of these corners."""
        edge = np.searchsorted(corner, point, side="right")
        low, high = corner[edge - 1], corner[edge]
        return cls(x[low], y[low], x[high] - x[low], y[high] - y[low])

    def below(self, x: Floats, y: Floats) -> NDArray[np.bool_]:
        """Whether these points lie below them."""
        area = (x - self.x) * self.up - (y - self.y) * self.across
        return np.asarray(area > ALIKE * (self.across + self.up + 1))


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

    def lowest(
        self, cell: Ints, cut: Ints, to: Ints, across: Floats, up: Floats, side: int
    ) -> Ints:
        """There is nothing between the cuts to begin with."""
        return cut

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
        groups = measured.cell % self.groups
        self._pool = _Steps.of(groups, measured, self.groups, self.by_score)
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
        self._known: dict[tuple[int, int], Stretches] = {}
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

    def lowest(
        self, cell: Ints, cut: Ints, to: Ints, across: Floats, up: Floats, side: int
    ) -> Ints:
        """Between own steps the path is the group's, moved and stretched."""
        group, found = cell % self.groups, cut.copy()
        stretched = self._weight[cell] * self._share[group]
        across, up = across * stretched[:, 1 - side], up * stretched[:, side]
        for number in np.unique(group).tolist():
            mine = np.flatnonzero(group == number)
            found[mine] = self._stretches(number, side).lowest(
                cut[mine], to[mine], across[mine], up[mine]
            )
        return found

    def _stretches(self, group: int, side: int) -> Stretches:
        """Of a group's path; made when first asked for, as one of its sides hardly has bends."""
        if (group, side) not in self._known:
            low, high = self._pool.start[group : group + 2]
            path = self._pool.amount_before[low : high + 1] - self._pool.amount_before[low]
            self._known[group, side] = Stretches(path, side)
        return self._known[group, side]

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
    def of(cls, part: Ints, measured: Measured, parts: int, by_score: Ints) -> "_Steps":
        """People in the order of their scores, equal ones on one step."""
        few = np.min_scalar_type(parts)  # short numbers are sorted without comparing them
        order = by_score[np.argsort(part[by_score].astype(few), kind="stable")]
        part, score = part[order], measured.scores[order, 1]
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
