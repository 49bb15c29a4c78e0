"""What each rule of each cell does to its people: the columns of a fairness program."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RuleTable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleTable:
    """Rules, each of one cell (client, group), by what they do there.

    Attributes
    ----------
    client, group : ndarray, shape (columns,)
        The cell, as codes.
    block : ndarray, shape (columns,)
        The weights of one block sum to one; numbered from 0 over all cells.
    span : ndarray, shape (columns,)
        How many blocks, from `block` on, the column's weight counts in: one, but for a constant
        answer beside the blocks of the kernel.
    confusion : ndarray, shape (columns, labels, labels)
        People of the cell by label and answer, if the rule answered all of them.
    kept : ndarray, shape (columns,)
        People who would keep the model's answer.
    keeps : ndarray, shape (columns,)
        True for the rule that keeps the model's answer, one a block.
    known : ndarray, shape (columns, labels)
        The share of people whom the rule answers k, where that is known without counting (0 or
        1: a constant answer, an answer never given); NaN where it depends on who comes.
    response : ndarray, shape (columns, labels, labels), or None
        Pr(answer k | the model says j), of rules that look at the model's answer.
    """

    client: Ints
    group: Ints
    block: Ints
    span: Ints
    confusion: Floats
    kept: Floats
    keeps: NDArray[np.bool_]
    known: Floats
    response: Floats | None = None

    def __len__(self) -> int:
        return len(self.client)

    @cached_property
    def blocks(self) -> int:
        """How many blocks there are."""
        return int((self.block + self.span).max())

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """Block and column of every membership."""
        column = np.repeat(np.arange(len(self)), self.span)
        first = np.cumsum(self.span) - self.span
        return self.block[column] + np.arange(len(column)) - first[column], column

    @property
    def correct(self) -> Floats:
        """People answered rightly."""
        return np.einsum("pyy->p", self.confusion)

    def take(self, chosen: NDArray[np.bool_]) -> "RuleTable":
        """Some of them."""
        parts: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        taken: dict[str, Any] = {
            name: None if one is None else one[chosen] for name, one in parts.items()
        }
        return RuleTable(**taken)

    @classmethod
    def join(cls, parts: Sequence["RuleTable"]) -> "RuleTable":
        """All rules of several tables."""
        values = {part.name: [getattr(one, part.name) for one in parts] for part in fields(cls)}
        joined: dict[str, Any] = {
            name: None if any(one is None for one in each) else np.concatenate(each)
            for name, each in values.items()
        }
        return cls(**joined)

    def cleaned(self, beta: Floats, *, fall_back: bool = True) -> Floats:
        """Clean solver output: weights in [0, 1] that sum to one in each block.

        A block that nobody falls into keeps the model's answer: the data says nothing about it,
        and the people to come should not be changed for nothing. (Unless `fall_back` is off.)
        """
        beta = np.where(beta > _SPECK, np.minimum(beta, 1.0), 0.0)
        block, column = self.members
        shared = self.span > 1
        taken = np.bincount(block, np.where(shared, beta, 0.0)[column], minlength=self.blocks)
        total = np.bincount(block, np.where(shared, 0.0, beta)[column], minlength=self.blocks)
        scale = np.where(total > 0, (1 - taken) / np.maximum(total, 1e-12), 0.0)
        scaled = np.where(shared, beta, beta * np.maximum(scale[self.block], 0.0))
        return np.where(self.empty, self.keeps, scaled) if fall_back else scaled

    @cached_property
    def redundant(self) -> NDArray[np.bool_]:
        """Rules that do to everybody what the rule that keeps the model's answer does."""
        kept = np.full(self.blocks, -1)
        kept[self.block[self.keeps]] = np.flatnonzero(self.keeps)
        other = kept[self.block]
        same = (self.confusion == self.confusion[other]).all(axis=(1, 2))
        return np.asarray(same & (other >= 0) & ~self.keeps & (self.span == 1))

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Rules of blocks that nobody falls into."""
        block, column = self.members
        people = self.confusion.sum(axis=(1, 2))
        filled = np.bincount(block, people[column], minlength=self.blocks)
        return np.asarray(filled[self.block] == 0)

    def expected_counts(self, beta: Floats, clients: int, groups: int) -> Floats:
        """Expected people by client, group, label and answer under these weights."""
        labels = self.confusion.shape[1]
        size = labels * labels
        used = np.flatnonzero(beta)  # few of a cell's rules are
        cell = self.client[used] * groups + self.group[used]
        place = cell[:, None] * size + np.arange(size)
        weight = beta[used, None] * self.confusion[used].reshape(-1, size)
        total = np.bincount(place.ravel(), weight.ravel(), minlength=clients * groups * size)
        return total.astype(float).reshape(clients, groups, labels, labels)


_SPECK = 1e-11  # a smaller weight is rounding of the solver
