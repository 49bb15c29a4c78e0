"""What people are answered, in expectation: the table every figure is computed from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answers", "answers_to", "of_lottery"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answers:
    """Expected answers. With p_i(k) the probability that person i is answered k:

    Attributes
    ----------
    confusion : ndarray, shape (clients, groups, labels, labels)
        Expected people by client, group, label and answer: sums of p_i(k).
    squares : ndarray, shape (clients, groups, labels, labels)
        Sums of p_i(k) squared: how much of it is luck.
    turned : ndarray, shape (clients, groups)
        Expected people whose answer is not the model's.
    both_right : ndarray, shape (clients, groups, labels)
        Expected people of each label whom the model answers rightly, and who are so answered.
    """  # noqa: D400, D415

    confusion: Floats
    squares: Floats
    turned: Floats
    both_right: Floats


def of_lottery(table: NDArray[Any], lottery: Floats) -> Answers:
    """Answers of people counted as n[c, a, y, j] under Pr(answer k | model says j)."""
    table = np.asarray(table, float)
    confusion, squares = (
        np.einsum("cayj,cajk->cayk", table, part, optimize=True) for part in (lottery, lottery**2)
    )
    kept = np.einsum("cayj,cajj->ca", table, lottery)
    both_right = np.einsum("cayy,cayy->cay", table, lottery)
    return Answers(confusion, squares, table.sum(axis=(2, 3)) - kept, both_right)


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
    place = ((cell * labels + label)[:, None] * labels + np.arange(labels)).ravel()
    size = int(np.prod(shape))
    many = 1.0 if weight is None else weight[:, None]
    confusion, squares = (
        np.bincount(place, (many * part).ravel(), minlength=size).astype(float).reshape(shape)
        for part in (chances, chances**2)
    )
    once = 1.0 if weight is None else weight
    cells = shape[0] * shape[1]
    turned = np.bincount(cell, once * leaves, minlength=cells).astype(float)
    right = np.bincount(cell * labels + label, once * both_right, minlength=cells * labels)
    return Answers(
        confusion,
        squares,
        turned.reshape(shape[:2]),
        right.astype(float).reshape(shape[:3]),
    )
