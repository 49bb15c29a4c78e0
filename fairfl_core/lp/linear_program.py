"""The linear program of a set of rules and constraints: its objective, and its sparse matrices."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.constraints.base import Stacked
from fairfl_core.lp.rules import RuleTable, ranks
from fairfl_core.lp.utility import Utility

__all__ = ["LinearProgram", "Objective", "Optimum"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BONUS = 1.5e-8
_REDUNDANT = 1e-8  # in the objective's unit


class Objective:
    """A utility, and a bonus for every kept answer, in units of a mean cell's people.

    So HiGHS's tolerances mean the same for two clients and for two thousand. Optima are seldom
    unique: of equally accurate lotteries the one that changes fewest people is taken, by a bonus of
    1.5e-8 people and more per kept answer, which can cost accuracy less than 1e-8. Cells differ in
    it a little, so that changing two people in one cell or in another is no tie. Of those that are
    equal in this, too, the `tie_break` decides.

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
    utility_per_unit : float
        The utility that one unit of the objective is.
    """

    def __init__(
        self, counts: ClientCounts, utility: Utility, *, prefers_the_model: bool = True
    ) -> None:
        self._prefers_the_model = prefers_the_model
        self._clients, self._groups = counts.table.shape[:2]
        self._cells = cells = self._clients * self._groups
        self.gain = utility.of(counts)
        self._scale = float(np.abs(self.gain).max())
        self._unit = float(counts.n / cells)
        self.utility_per_unit = self._scale / cells
        bonus = _BONUS * (1 + np.arange(cells) / cells)
        self._bonus = bonus.reshape(self._clients, self._groups)

    @property
    def gain_in_units(self) -> Floats:
        """The same of one person's answer, (labels, answers), in units of the objective."""
        return np.asarray(self.gain / self._scale / self._unit)

    def of(self, rules: RuleTable) -> Floats:
        """Return the objective of a whole weight on each rule."""
        gained = np.einsum("pyk,yk->p", rules.confusion, self.gain / self._scale)
        value = gained / self._unit + self.bonus(rules)
        if self._prefers_the_model:
            # A block that nobody falls into has one optimum, too, and a dual.
            value += _REDUNDANT * (rules.empty - 1.0 * rules.redundant)
        return np.asarray(value)

    def bonus(self, rules: RuleTable) -> Floats:
        """Return the bonus for the answers that each rule keeps."""
        return np.asarray(self._bonus[rules.client, rules.group] * rules.kept / self._unit)

    def tie_break(self, rules: RuleTable, first: int = 0) -> Floats:
        """Return a number in [1, 2) for each rule: of optima equal in all else take the least sum.

        Drawn with a fixed seed, so that no few of them add up to others: a function of a rule's
        cell and of its place among the rules of the cell, the first of which has the place `first`.
        """
        cell = rules.client * self._groups + rules.group
        place = first + ranks(cell)
        many = (int(place.max()) + 1) * self._cells
        drawn = np.random.PCG64(0).random_raw(many) >> np.uint64(12)
        return np.asarray(1 + drawn[place * self._cells + cell] * 2.0**-52)


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearProgram:
    """Minimise cost.x subject to lower <= matrix x <= upper, blocks x = 1 and x >= 0.

    x holds the auxiliary columns of the constraints first, then the variables: one weight a rule,
    or, where the group may not be looked at, one for the same rule in all groups of a client.

    Attributes
    ----------
    constraints : Stacked
    rules : RuleTable
    variables : RuleTable
        What the rules of each variable do together.
    shares : csr_array, shape (rules, variables)
        1 where a variable is the weight of a rule.
    objective, tie_break : ndarray, shape (variables,)
        What is maximised; of equally good optima the one with the least tie_break.x is taken.
    """

    constraints: Stacked
    rules: RuleTable
    variables: RuleTable
    shares: sparse.csr_array
    objective: Floats
    tie_break: Floats

    @classmethod
    def of(
        cls,
        constraints: Stacked,
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
        return int(self.constraints.auxiliary.shape[1])

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
        return sparse.hstack([self.constraints.auxiliary, own], format="csr")

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
        return [
            sparse.hstack([auxiliary, own @ self.shares], format="csr")
            for auxiliary, own in self.constraints.cones(self.rules)
        ]

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
    program : LinearProgram
    x : ndarray
    duals : ndarray
        d cost / d limit of the rows, those of the constraints first.
    rounds : int
        How often cells were asked for rules.
    missing : float
        The utility that rules which are not listed still promise.
    """

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
