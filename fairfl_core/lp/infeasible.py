"""When limits and floors collide: who, and what either of them would allow.

A constant answer keeps every gap and every ratio at nothing, so only floors can collide with them.
Two relaxations of the same rows say by how much, each one more linear program:

    least epsilons      minimise e,                   gap_c <= e for every client, floors kept;
                        then the overall one with the clients' limits so widened
    highest floors      maximise lambda in [0, 1],    recognition >= lambda floor, loss <= 1 -
                        lambda (1 - delta), limits kept

Who collides is told by a third: minimise the sum over c of e_c, gap_c <= eps_c + e_c. Where rules
are generated, each program asks for those that would help it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.cone_solver import cone_matrices, solve_conic
from fairfl_core.lp.constraints.base import OVERALL, Constraints, Stacked, joined
from fairfl_core.lp.constraints.floors import FloorConstraints
from fairfl_core.lp.rule_table import RuleTable
from fairfl_core.lp.sharing import Sharing

__all__ = ["Infeasible", "Finder", "explain_infeasible"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Finder = Callable[[Floats, Floats], RuleTable | None]
"""(duals of the rows, duals of the blocks) -> columns that would lower the cost, if there are any."""
_BY = 1e-9  # a limit that must give way by more collides
_ROUNDS = 60
_OUT_OF_REACH = 1e4  # what lowering the floors to nothing costs, in epsilons
_MISSED = 1e-7  # a share of the floors that is within reach
_OPTIONS = {
    "presolve": False,  # it takes epsilons below its tolerance for contradictions
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True)
class Infeasible:
    """What collides, and what would not.

    Attributes
    ----------
    eps_global, eps_local : float, tuple of float
        What was asked.
    who : tuple of (client, group, label)
        Floors that stand against the limits.
    least_global, least_local : float or None
        The least epsilons that the floors allow, together: the least one for all clients that is
        no less than the tightest asked, and the least overall one beside it. None where no
        epsilon would do.
    highest_floor, highest_keep : dict
        By label: the highest floors that the limits allow (all lowered alike), and the least
        that may be lost of the model's own rate.
    certain : bool
        Whether all rules were looked at: with three labels and more those of the scores are found
        one by one, and a better one may have been missed.
    """

    eps_global: float
    eps_local: tuple[float, ...]
    who: tuple[tuple[str, str, str], ...]
    least_global: float | None
    least_local: float | None
    highest_floor: dict[str, float]
    highest_keep: dict[str, float]
    certain: bool = True

    def sentence(self) -> str:
        """What collides and what would do, for a person."""
        whom = [f"{client}, {group} (“{label}”)" for client, group, label in self.who[:3]]
        more = f" and {len(self.who) - 3} more" if len(self.who) > 3 else ""
        where = f"{'; '.join(whom)}{more}"
        floors = [f"{rate:.3f} of “{label}”" for label, rate in self.highest_floor.items()]
        floors += [
            f"a loss of {loss:.3f} of “{label}”" for label, loss in self.highest_keep.items()
        ]
        if not self.certain:
            return self._found(where, " and ".join(floors))
        said = f"The limits and the floors collide in {where}."
        if self.least_global is not None and self.least_local is not None:
            said += (
                f" These floors allow a gap of {self.least_local:.3f} inside every client and "
                f"{self.least_global:.3f} overall at the least."
            )
        else:
            said += " No wider gap would help: the floors are out of reach here by themselves."
        return said + f" These limits allow at the most {' and '.join(floors)}."

    def _found(self, where: str, floors: str) -> str:
        """The same where rules may have been missed."""
        said = (
            f"No lottery was found that keeps the limits and the floors; they collide in {where}."
        )
        if self.least_global is not None and self.least_local is not None:
            said += (
                f" One was found that keeps these floors with a gap of {self.least_local:.3f} "
                f"inside every client and {self.least_global:.3f} overall."
            )
        else:
            said += " None was found with wider gaps, either."
        said += f" One was found that keeps these limits with {floors}."
        return said + " With three labels and more better ones may exist."

    def to_json(self) -> dict[str, Any]:
        """The form that `solve --json` prints."""
        value: dict[str, Any] = {
            "status": "collision",
            "sentence": self.sentence(),
            "collides": [
                {"client": client, "group": group, "label": label}
                for client, group, label in self.who
            ],
            "least_eps": {"global": self.least_global, "local": self.least_local},
            "highest_floor": self.highest_floor,
            "certain": self.certain,
        }
        return value | ({"highest_keep": self.highest_keep} if self.highest_keep else {})


def explain_infeasible(
    rows: Constraints,
    sharing: Sharing,
    counts: ClientCounts,
    eps_global: float,
    local: Floats,
    *,
    find: Finder | None = None,
    certain: bool = True,
) -> Infeasible:
    """Relax the limits, then the floors; `find` looks for rules that are not listed."""
    floors = _floors(rows)
    relaxed = _Relaxed(rows, sharing, find)
    least_global: float | None = None
    least_local: float | None = None
    against = np.zeros(len(rows))
    try:
        inside = relaxed.least_inside(len(local))
        each = max(inside, float(local.min(initial=1.0)))
        least_global, least_local = (
            relaxed.least_overall(eps_global, np.full(len(local), each)),
            each,
        )
        against = relaxed.in_the_way(eps_global, local)
    except InfeasibleError:  # the floors, ratios or other groupings stand against each other
        pass
    share, lowered = relaxed.floors(eps_global, local)
    if not against.any():
        against = np.abs(lowered)
    tight = np.flatnonzero(against[relaxed.places(floors)] > _BY)
    named = dict.fromkeys(
        (
            counts.clients[floors.client[row]],
            counts.groups[floors.group[row]],
            floors.floors[floors.floor[row]].label,
        )
        for row in tight
    )
    return Infeasible(
        eps_global=eps_global,
        eps_local=tuple(local.tolist()),
        who=tuple(named),
        least_global=least_global,
        least_local=least_local,
        highest_floor={one.label: share * one.rate for one in floors.floors if one.keeps is None},
        highest_keep={
            one.label: 1 - share * (1 - one.keeps)
            for one in floors.floors
            if one.keeps is not None
        },
        certain=certain,
    )


def _floors(rows: Constraints) -> FloorConstraints:
    parts = rows.parts if isinstance(rows, Stacked) else (rows,)
    return next(part for part in parts if isinstance(part, FloorConstraints))


class _Relaxed:
    """The rows of a program with columns that widen their limits or lower their floors."""

    def __init__(self, rows: Constraints, sharing: Sharing, find: Finder | None) -> None:
        self.rows, self.find = rows, find
        self._take(sharing)

    def _take(self, sharing: Sharing) -> None:
        """Write down what the variables put into rows and blocks."""
        rows, columns, merged = self.rows, sharing.columns, sharing.merged
        self.sharing = sharing
        size = rows.auxiliary + len(merged)
        row, column, value = sharing.entries(rows.entries(columns))
        whole = joined([(row, rows.auxiliary + column, value), rows.auxiliary_entries(columns)])
        self._matrix = sparse.csr_array((whole[2], whole[:2]), shape=(len(rows), size))
        block, member = merged.members
        self._blocks = sparse.csr_array(
            (np.ones(len(block)), (block, rows.auxiliary + member)), shape=(merged.blocks, size)
        )

    def places(self, floors: FloorConstraints) -> slice:
        """The rows of the floors."""
        stacked = isinstance(self.rows, Stacked)
        return self.rows.places(floors) if stacked else slice(0, len(floors))  # type: ignore[attr-defined]

    def least_inside(self, clients: int) -> float:
        """The least limit inside all clients that the floors allow without an overall one."""
        of_row = np.where(self.rows.scope >= 0, 0, -1)
        found, _ = self._widened(1.0, np.zeros(clients), of_row)
        return min(float(found[0]), 1.0)

    def least_overall(self, eps_global: float, local: Floats) -> float:
        """The least overall limit, no less than this one, beside these inside the clients."""
        of_row = np.where(self.rows.scope == OVERALL, 0, -1)
        found, _ = self._widened(eps_global, local, of_row)
        return min(eps_global + float(found[0]), 1.0)

    def in_the_way(self, eps_global: float, local: Floats) -> Floats:
        """How much each row stands against these limits: its duals where as little gives way."""
        scope = self.rows.scope
        of_row = np.where(scope == OVERALL, len(local), np.maximum(scope, -1))
        return np.abs(self._widened(eps_global, local, of_row)[1])

    def _widened(self, eps_global: float, local: Floats, of_row: Ints) -> tuple[Floats, Floats]:
        """Widen limits by as little as possible in sum: by how much, and the duals of the rows.

        `of_row` says which of the widenings a row's limit moves with, -1 for none.
        """
        row, many = np.flatnonzero(of_row >= 0), int(of_row.max(initial=0)) + 1
        widens = sparse.csr_array(
            (np.ones(len(row)), (row, of_row[row])), shape=(len(of_row), many)
        )
        # A lower limit of 0, of a rate above its level, does not move with epsilon.
        moves = self.rows.bounds(0.5, np.full(len(local), 0.5))[0] == -0.5
        bounds = self.rows.bounds(eps_global, local)
        below, above, cost = widens * moves[:, None], -widens, np.ones(many)
        if self.find is not None:  # which needs duals, even while the floors seem out of reach
            lowers = self._lowers()
            below = sparse.hstack([below, lowers]).tocsr()
            above = sparse.hstack([above, sparse.csr_array(lowers.shape)]).tocsr()
            cost = np.append(cost, _OUT_OF_REACH)
        overall = of_row[self.rows.scope == OVERALL].max(initial=-1)
        found, duals = self._optimum(bounds, (below, above), cost, eps_global, int(overall))
        if (found[many:] > _MISSED).any():
            raise InfeasibleError
        return np.where(found[:many] > _BY, found[:many] + _BY, 0.0), duals

    def _lowers(self) -> sparse.csr_array:
        """What lowering all floors alike takes off the rows, as one column."""
        floors = _floors(self.rows)
        slope = np.zeros(len(self.rows))
        slope[self.places(floors)] = floors.steepness
        return sparse.csr_array(slope[:, None])

    def floors(self, eps_global: float, local: Floats) -> tuple[float, Floats]:
        """The share of the floors that the limits allow, and the duals of the rows."""
        bounds, lowers = self.rows.bounds(eps_global, local), self._lowers()
        # lower - slope (1 - lambda), written with what is taken off: 1 - lambda.
        gives = (lowers, sparse.csr_array(lowers.shape))
        found, duals = self._optimum(bounds, gives, np.ones(1), eps_global, -1)
        return max(1 - float(found[0]) - _BY, 0.0), duals

    def _optimum(
        self,
        bounds: tuple[Floats, Floats],
        gives: tuple[sparse.csr_array, sparse.csr_array],
        cost: Floats,
        eps_global: float,
        overall: int,
    ) -> tuple[Floats, Floats]:
        """Minimise what is given: its values, and the duals of the rows.

        `overall` is what the overall limit gives way by, -1 where it does not.
        """
        for _ in range(_ROUNDS):
            given, duals, sigma = self._over_known(bounds, gives, cost, eps_global, overall)
            new = None if self.find is None else self.find(duals, sigma)
            if new is None:
                break
            self._take(Sharing.apart(RuleTable.join([self.sharing.columns, new])))
        return given, duals

    def _over_known(
        self,
        bounds: tuple[Floats, Floats],
        gives: tuple[sparse.csr_array, sparse.csr_array],
        cost: Floats,
        eps_global: float,
        overall: int,
    ) -> tuple[Floats, Floats, Floats]:
        """The same over the columns there are, with the duals of the blocks."""
        (lower, upper), (below, above) = bounds, gives
        high, low = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
        matrix = sparse.vstack(
            [
                sparse.hstack([self._matrix[high], above[high]]),
                sparse.hstack([-self._matrix[low], -below[low]]),
            ]
        ).tocsr()
        limits = np.append(upper[high], -lower[low])
        size = self._matrix.shape[1]
        blocks = sparse.hstack(
            [self._blocks, sparse.csr_array((self._blocks.shape[0], len(cost)))]
        )
        whole = np.append(np.zeros(size), cost)
        # An overall limit of 1 asks for nothing, so its margin is no matter.
        cones = cone_matrices(self.rows, self.sharing, len(whole)) if eps_global < 1 else []
        if cones:
            values, marginals, sigma = solve_conic(whole, matrix, limits, blocks.tocsr(), cones)
        else:
            solved = linprog(
                whole, matrix, limits, blocks, np.ones(blocks.shape[0]), options=_OPTIONS
            )
            if solved.status != 0:
                raise InfeasibleError
            values, marginals, sigma = (
                solved.x,
                solved.ineqlin.marginals,
                np.asarray(solved.eqlin.marginals),
            )
        duals = np.zeros(len(self.rows))
        np.add.at(duals, high, marginals[: len(high)])
        np.subtract.at(duals, low, marginals[len(high) : len(high) + len(low)])
        return values[size:], duals, sigma
