"""The linear program of a set of rules and constraints, as sparse matrices."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.lp.constraints.base import Constraints
from fairfl_core.lp.rule_table import RuleTable

if TYPE_CHECKING:
    from fairfl_core.lp.exact.rules import ScoreRules
    from fairfl_core.lp.regions.answers import AnswerRules

__all__ = ["LinearProgram", "Optimum"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearProgram:
    """Minimise cost.x subject to lower <= matrix x <= upper, blocks x = 1 and x >= 0.

    x holds the auxiliary columns of the constraints first, then the variables: one weight a rule,
    or, where the group may not be looked at, one for the same rule in all groups of a client.

    Attributes
    ----------
    constraints : Constraints
    rules : RuleTable
    variables : RuleTable
        What the rules of each variable do together.
    shares : csr_array, shape (rules, variables)
        1 where a variable is the weight of a rule.
    objective, tie_break : ndarray, shape (variables,)
        What is maximised; of equally good optima the one with the least tie_break.x is taken.
    """

    constraints: Constraints
    rules: RuleTable
    variables: RuleTable
    shares: sparse.csr_array
    objective: Floats
    tie_break: Floats

    @classmethod
    def of(
        cls,
        constraints: Constraints,
        rules: RuleTable,
        objective: Floats,
        tie_break: Floats,
        *,
        groups: int = 0,
    ) -> "LinearProgram":
        """Lay out the program of these rules.

        Parameters
        ----------
        objective, tie_break : ndarray, shape (rules,)
        groups : int
            If given, the same rule in all of so many groups of a client is one variable. Rules
            then come client by client, group by group, and every cell has the same in one order.
        """
        variables, shares = rules, sparse.eye_array(len(rules), format="csr")
        if groups:
            variables, shares = _across_groups(rules, groups)
        return cls(
            constraints=constraints,
            rules=rules,
            variables=variables,
            shares=shares,
            objective=shares.T @ objective,
            tie_break=shares.T @ tie_break,
        )

    @property
    def auxiliary(self) -> int:
        """How many auxiliary columns come before the variables."""
        return self.constraints.auxiliary

    @property
    def cost(self) -> Floats:
        """What each entry of x costs."""
        return np.append(self.constraints.auxiliary_costs, -self.objective)

    @property
    def order(self) -> Floats:
        """The tie-break of each entry of x; auxiliary columns have none."""
        return np.append(np.zeros(self.auxiliary), self.tie_break)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """What x adds up to in the rows of the constraints."""
        own = self.constraints.matrix(self.rules) @ self.shares
        return sparse.hstack([self.constraints.auxiliary_matrix, own], format="csr")

    @cached_property
    def blocks(self) -> sparse.csr_array:
        """What x adds up to in the blocks, each of which has the sum one."""
        block, member = self.variables.members
        shape = (self.variables.blocks, self.auxiliary + len(self.variables))
        return sparse.csr_array((np.ones(len(block)), (block, self.auxiliary + member)), shape)

    @cached_property
    def whole(self) -> sparse.csc_array:
        """The rows of the constraints, and below them those of the blocks."""
        return sparse.vstack([self.matrix, self.blocks], format="csc")

    def limits(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """Lower and upper limits of all rows of `whole`."""
        lower, upper = self.constraints.bounds(eps_global, eps_local)
        ones = np.ones(self.variables.blocks)
        return np.append(lower, ones), np.append(upper, ones)

    @cached_property
    def cones(self) -> list[sparse.csr_array]:
        """Matrices M with (M x)_0 >= |(M x)_1, (M x)_2, ...|."""
        found = []
        for row, column, value in self.constraints.cones(self.rules):
            own = column >= 0
            shape = int(row.max()) + 1
            parts = [
                sparse.csr_array(
                    (value[~own], (row[~own], -1 - column[~own])), (shape, self.auxiliary)
                ),
                sparse.csr_array((value[own], (row[own], column[own])), (shape, len(self.rules)))
                @ self.shares,
            ]
            found.append(sparse.hstack(parts, format="csr"))
        return found

    @cached_property
    def start(self) -> Ints:
        """The best variable of every block, of equal ones the first; none of several blocks.

        With the rows of all constraints slack that is a dual feasible basis, whatever the limits.
        """
        single = np.flatnonzero(self.variables.span == 1)
        block = self.variables.block[single]
        best = np.lexsort((-self.objective[single], block))
        _, first = np.unique(block[best], return_index=True)
        return self.auxiliary + single[best[first]]

    def weights(self, x: Floats, *, fall_back: bool = True) -> Floats:
        """The weight of each rule; see `RuleTable.cleaned`.

        Where a weight is shared, a block keeps the model's answer if nobody of any group falls
        into it.
        """
        values = self.variables.cleaned(x[self.auxiliary :], fall_back=fall_back)
        return np.asarray(self.shares @ values)


@dataclass(frozen=True, eq=False)
class Optimum:
    """An optimum of a program over these rules.

    Attributes
    ----------
    rules : AnswerRules or ScoreRules
    program : LinearProgram
    x : ndarray
    duals : ndarray
        d cost / d limit of the rows, those of the constraints first.
    rounds : int
        How often cells were asked for rules.
    missing : float
        The utility that rules which are not listed still promise.
    """

    rules: "AnswerRules | ScoreRules"
    program: LinearProgram
    x: Floats
    duals: Floats
    rounds: int = 1
    missing: float = 0.0


def _across_groups(rules: RuleTable, groups: int) -> tuple[RuleTable, sparse.csr_array]:
    """One variable for the same rule in all groups of a client."""
    clients = int(rules.client.max()) + 1
    many = len(rules) // (clients * groups)
    client, _, rule = np.unravel_index(np.arange(len(rules)), (clients, groups, many))
    shape = (len(rules), clients * many)
    shares = sparse.csr_array(
        (np.ones(len(rules)), (np.arange(len(rules)), client * many + rule)), shape
    )
    first = rules.take(rules.group == 0)
    # The blocks of the first group suffice: those of the others are the same rows.
    _, block = np.unique(first.block, return_inverse=True)
    confusion = shares.T @ rules.confusion.reshape(len(rules), -1)
    variables = replace(
        first,
        block=block,
        confusion=confusion.reshape(first.confusion.shape),
        kept=shares.T @ rules.kept,
    )
    return variables, shares
