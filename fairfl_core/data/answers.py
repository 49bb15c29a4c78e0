"""What people are answered, in expectation: the table every figure is computed from."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answers:
    """Expected answers. With p_i(k) the probability that person i is answered k:

    Attributes
    ----------
    confusion : ndarray, shape (clients, groups, labels, labels)
        Expected people by client, group, label and answer: sums of p_i(k).
    find_squares : callable
        Returns `squares`, which only figures of single draws need.
    turned : ndarray, shape (clients, groups)
        Expected people whose answer is not the model's.
    both_right : ndarray, shape (clients, groups, labels)
        Expected people of each label whom the model answers rightly, and who are so answered.
    """  # noqa: D400, D415

    confusion: Floats
    find_squares: Callable[[], Floats]
    turned: Floats
    both_right: Floats

    @cached_property
    def squares(self) -> Floats:
        """Sums of p_i(k) squared, shape as `confusion`: how much of it is luck."""
        return self.find_squares()

    @property
    def right(self) -> Floats:
        """Expected people of each label who are answered rightly: (clients, groups, labels)."""
        return np.einsum("cayy->cay", self.confusion)


def unchanged(shape: tuple[int, ...]) -> Floats:
    """The lottery that keeps every answer of the model, of this shape."""
    return np.broadcast_to(np.eye(shape[-1]), shape)


def of_lottery(table: NDArray[Any], lottery: Floats) -> Answers:
    """Answers of people counted as n[c, a, y, j] under Pr(answer k | model says j)."""
    table = np.asarray(table, float)
    counts = "cayj,cajk->cayk"
    kept = np.einsum("cayj,cajj->ca", table, lottery)
    both_right = np.einsum("cayy,cayy->cay", table, lottery)
    return Answers(
        np.einsum(counts, table, lottery, optimize=True),
        lambda: np.einsum(counts, table, lottery**2, optimize=True),
        table.sum(axis=(2, 3)) - kept,
        both_right,
    )


def answers_to(
    cell: Ints,
    label: Ints,
    chances: Floats,
    leaves: Floats,
    both_right: Floats,
    shape: tuple[int, ...],
    weight: Floats | None = None,
) -> Answers:
    """Answers of people (or of `weight` people each) with these probabilities.

    Parameters
    ----------
    cell, label : ndarray, shape (people,)
        Client times the number of groups plus group, and the label, as codes.
    chances : ndarray, shape (people, labels)
        p_i(k).
    leaves : ndarray, shape (people,)
        The probability that the answer is not the model's.
    both_right : ndarray, shape (people,)
        The probability that it and the model's are both the label.
    shape : tuple
        (clients, groups, labels, labels).
    """
    labels = shape[2]
    size = int(np.prod(shape))
    many = 1.0 if weight is None else weight[:, None]

    def summed(part: Floats) -> Floats:
        place = (cell * labels + label)[:, None] * labels + np.arange(labels)
        return (
            np.bincount(place.ravel(), (many * part).ravel(), minlength=size)
            .astype(float)
            .reshape(shape)
        )

    once = 1.0 if weight is None else weight
    cells = shape[0] * shape[1]
    turned = np.bincount(cell, once * leaves, minlength=cells).astype(float)
    right = np.bincount(cell * labels + label, once * both_right, minlength=cells * labels)
    return Answers(
        summed(chances),
        lambda: summed(chances**2),
        turned.reshape(shape[:2]),
        right.astype(float).reshape(shape[:3]),
    )


class Ranks:
    """People sorted by cell and by the score of the second of two labels.

    A lottery over cuts gives everybody between two neighbouring cuts the same chances, so what a
    cell's people are answered is a matter of a few sums, whatever their number.

    Parameters
    ----------
    cell, label, predicted : ndarray of int, shape (people,)
        Client times the number of groups plus group, the label, and the model's answer.
    score : ndarray, shape (people,)
        Of the second label.
    cells : int
        How many there are.
    """

    def __init__(
        self, cell: Ints, label: Ints, predicted: Ints, score: Floats, cells: int
    ) -> None:
        self.order = np.lexsort((score, cell))
        self.score = score[self.order]
        self.predicted = predicted
        self.starts = np.searchsorted(cell[self.order], np.arange(cells + 1))
        kind = (label * 2 + predicted)[self.order]
        counted = np.zeros((len(score) + 1, 4), np.int32)
        np.cumsum(np.eye(4, dtype=np.int32)[kind], axis=0, out=counted[1:])
        self._before = counted  # people of each (label, predicted) that stand before a place

    def places(self, cell: Ints, at: Floats, above: NDArray[np.bool_]) -> Ints:
        """Where cuts fall: the first person above `at`, or the first at or above it."""
        found = [
            (bisect_right if strictly else bisect_left)(
                self.score, cut, self.starts[one], self.starts[one + 1]
            )
            for one, cut, strictly in zip(cell, at, above, strict=True)
        ]
        return np.array(found, np.int64)

    def cells_at(self, place: Ints) -> Ints:
        """The cell of the person at each place."""
        return np.asarray(np.searchsorted(self.starts, place, side="right") - 1)

    def between(self, place: Ints) -> Ints:
        """People of each (label, predicted) between neighbouring places: (places - 1, 2, 2)."""
        return np.diff(self._before[place], axis=0).astype(np.int64).reshape(-1, 2, 2)


@dataclass(frozen=True, eq=False)
class BetweenCuts:
    """Two labels: the chance of the second one, between the places at which it changes.

    Attributes
    ----------
    ranks : Ranks
    place : ndarray of int
        Every cell's start, every cut's place, and the end.
    second : ndarray, shape (len(place) - 1, 2)
        Pr(second | predicted) of everybody between two neighbouring places.
    """

    ranks: Ranks
    place: Ints
    second: Floats

    def of_people(self) -> Floats:
        """Each person's chance of the second label, in their own order."""
        interval = np.empty(len(self.ranks.order), np.int64)
        interval[self.ranks.order] = np.repeat(np.arange(len(self.second)), np.diff(self.place))
        return self.second[interval, self.ranks.predicted]

    def answers(self, shape: tuple[int, ...]) -> Answers:
        """What they are answered: sums between cuts instead of a look at each person.

        `shape` is (clients, groups, labels, labels).
        """
        cell = self.ranks.cells_at(self.place[:-1])
        many = self.ranks.between(self.place).astype(float)  # (intervals, label, predicted)
        chances = np.stack(
            [1 - self.second, self.second], axis=2
        )  # (intervals, predicted, answer)
        first = np.flatnonzero(np.diff(cell, prepend=-1))  # of every cell that has people

        def summed(part: Floats) -> Floats:
            flat = part.reshape(len(part), -1)
            total = np.zeros((shape[0] * shape[1], flat.shape[1]))
            if len(first):
                total[cell[first]] = np.add.reduceat(flat, first)
            return total

        def counted(part: Floats) -> Floats:
            return summed(np.matmul(many, part)).reshape(shape)

        kept = np.einsum("iyj,ijj->i", many, chances)
        turned = summed(many.sum(axis=(1, 2)) - kept).reshape(shape[:2])
        both_right = summed(np.einsum("iyy,iyy->iy", many, chances)).reshape(shape[:3])
        return Answers(counted(chances), lambda: counted(chances**2), turned, both_right)
