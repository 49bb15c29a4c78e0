"""One weight for the same rule in every group: what a program does where the group is not known.

Rates are measured group by group, so columns stay what they are, one a cell and rule: that is the
language of constraints. But where the group may not be looked at, the columns of one rule in all
groups of a client have one weight, and the linear program one variable for them.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.constraints.base import Entries
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["Sharing"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sharing:
    """Which variable of the linear program is the weight of each column.

    Attributes
    ----------
    columns : RuleTable
        One a cell and rule.
    merged : RuleTable
        One a variable: what its columns do together, with blocks of their own.
    variable : ndarray, shape (columns,)
        The place of each column's weight among the variables.
    """

    columns: RuleTable
    merged: RuleTable
    variable: Ints

    @classmethod
    def apart(cls, columns: RuleTable) -> "Sharing":
        """A variable for every column."""
        return cls(columns, columns, np.arange(len(columns)))

    @classmethod
    def across_groups(cls, columns: RuleTable, groups: int) -> "Sharing":
        """A variable for the same rule in all groups of a client.

        RuleTable come client by client, group by group, and every cell has the same rules in the
        same order.
        """
        clients = int(columns.client.max()) + 1
        rules = len(columns) // (clients * groups)
        client, _, rule = np.unravel_index(np.arange(len(columns)), (clients, groups, rules))
        first = columns.take(columns.group == 0)
        confusion = columns.confusion.reshape(clients, groups, rules, *first.confusion.shape[1:])
        # The first group's blocks stand for those of all: more rows would say the same again.
        _, block = np.unique(first.block, return_inverse=True)
        merged = replace(
            first,
            block=block,
            confusion=confusion.sum(axis=1).reshape(first.confusion.shape),
            kept=columns.kept.reshape(clients, groups, rules).sum(axis=1).ravel(),
        )
        return cls(columns, merged, client * rules + rule)

    @property
    def one_answer(self) -> NDArray[np.bool_]:
        """Variables that answer everybody the first label."""
        return np.asarray((self.merged.confusion[:, :, 1:] == 0).all(axis=(1, 2)))

    def entries(self, entries: Entries) -> Entries:
        """What the variables put into rows, from what the columns do: (row, variable) once each.

        Auxiliary columns, written below 0, stay what they are.
        """
        if self.merged is self.columns:
            return entries
        row, column, value = entries
        variable = np.where(column < 0, column, self.variable[np.maximum(column, 0)])
        lowest = int(variable.min(initial=0))
        width = len(self.merged) - lowest
        place, member = np.unique(row * width + variable - lowest, return_inverse=True)
        row, variable = np.divmod(place, width)
        total = np.bincount(member, value, minlength=len(place)).astype(float)
        return row, variable + lowest, total

    def totals(self, worth: Floats) -> Floats:
        """What the variables are worth, from what the columns are."""
        return np.bincount(self.variable, worth, minlength=len(self.merged)).astype(float)

    def weights(self, values: Floats) -> Floats:
        """The weight of each column, from the values of the variables."""
        return np.asarray(values[self.variable])

    def settled(self, values: Floats, *, fall_back: bool = True) -> Floats:
        """The weight of each column, cleaned: see `RuleTable.settled`.

        Where a weight is shared, a block keeps the model's answer if nobody of any group falls
        into it.
        """
        return self.weights(self.merged.settled(values, fall_back=fall_back))
