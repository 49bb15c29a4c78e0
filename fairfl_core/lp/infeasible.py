"""Explain infeasible limits: which floors stand against them, and what either would allow.

A constant answer keeps every gap and every ratio at nothing, so only floors can make limits
infeasible. Relaxations of the same rows by elastic columns say by how much:

    least epsilons      minimise e,                   gap_c <= e for every client, floors kept;
                        then the overall one with the clients' limits so widened
    highest floors      maximise lambda in [0, 1],    recognition >= lambda floor, loss <= 1 -
                        lambda (1 - delta), limits kept

Which floors are in the way is found by a third: minimise the sum over c of e_c, gap_c <= eps_c +
e_c. Where rules are generated, each program asks for those that would help it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.cone_solver import ConeProgram
from fairfl_core.lp.constraints.base import OVERALL, Stacked
from fairfl_core.lp.constraints.floors import FloorConstraints
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.rules import RuleTable

__all__ = ["Finder", "Infeasible", "explain_infeasible"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Finder = Callable[[Floats, Floats], RuleTable | None]
"""(duals of the rows, duals of the blocks) -> columns that would lower the cost, if there are any."""
_BY = 1e-9  # a limit that must give way by more is in the way
_ROUNDS = 60
_OUT_OF_REACH = 1e4  # what lowering the floors to nothing costs, in epsilons
_MISSED = 1e-7  # a share of the floors that is within reach


@dataclass(frozen=True)
class Infeasible:
    """Which floors make limits infeasible, and what would be feasible.

    Attributes
    ----------
    who : tuple of (client, group, label)
        Floors that are in the way of the limits.
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

    who: tuple[tuple[str, str, str], ...]
    least_global: float | None
    least_local: float | None
    highest_floor: dict[str, float]
    highest_keep: dict[str, float]
    certain: bool = True

    def sentence(self) -> str:
        """Return which floors are in the way and what would do, for a person.

        Where rules may have been missed it says what was found, and that better may exist.
        """
        whom = [f"{client}, {group} (“{label}”)" for client, group, label in self.who[:3]]
        more = f" and {len(self.who) - 3} more" if len(self.who) > 3 else ""
        where = f"{'; '.join(whom)}{more}"
        floors = [f"{rate:.3f} of “{label}”" for label, rate in self.highest_floor.items()]
        floors += [
            f"a loss of {loss:.3f} of “{label}”" for label, loss in self.highest_keep.items()
        ]
        most, gaps = " and ".join(floors), None
        if self.least_global is not None and self.least_local is not None:
            gaps = (
                f"a gap of {self.least_local:.3f} inside every client and {self.least_global:.3f}"
            )
        if self.certain:
            least = f"These floors allow {gaps} overall at the least."
            out_of_reach = (
                "No wider gap would help: the floors are out of reach here by themselves."
            )
            parts = [f"The limits and the floors collide in {where}."]
            parts += [least if gaps else out_of_reach, f"These limits allow at the most {most}."]
            return " ".join(parts)
        parts = [
            f"No lottery was found that keeps the limits and the floors; they collide in {where}.",
            f"One was found that keeps these floors with {gaps} overall."
            if gaps
            else "None was found with wider gaps, either.",
            f"One was found that keeps these limits with {most}.",
            "With three labels and more better ones may exist.",
        ]
        return " ".join(parts)

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
    program: LinearProgram,
    counts: ClientCounts,
    eps_global: float,
    local: Floats,
    *,
    find: Finder | None = None,
    certain: bool = True,
) -> Infeasible:
    """Relax the limits, then the floors; `find` looks for rules that are not listed."""
    floors, places = _floors(program.constraints)
    relaxed = _Relaxed(program, find)
    least_global: float | None = None
    least_local: float | None = None
    against = np.zeros(len(program.constraints))
    try:
        inside = relaxed.least_inside(len(local))
        each = max(inside, float(local.min(initial=1.0)))
        least_global = relaxed.least_overall(eps_global, np.full(len(local), each))
        least_local = each
        against = relaxed.in_the_way(eps_global, local)
    except InfeasibleError:  # the floors, ratios or other groupings are infeasible by themselves
        pass
    share, lowered = relaxed.floors(eps_global, local)
    if not against.any():
        against = np.abs(lowered)
    named = dict.fromkeys(
        (
            counts.clients[floors.client[row]],
            counts.groups[floors.group[row]],
            floors.floors[floors.floor[row]].label,
        )
        for row in np.flatnonzero(against[places] > _BY)
    )
    kept = {one.label: one.keeps for one in floors.floors if one.keeps is not None}
    return Infeasible(
        who=tuple(named),
        least_global=least_global,
        least_local=least_local,
        highest_floor={one.label: share * one.rate for one in floors.floors if one.keeps is None},
        highest_keep={label: 1 - share * (1 - keeps) for label, keeps in kept.items()},
        certain=certain,
    )


def _floors(rows: Stacked) -> tuple[FloorConstraints, slice]:
    """Return the floors among the constraints, and their rows."""
    floors = next(part for part in rows.parts if isinstance(part, FloorConstraints))
    return floors, rows.places(floors)


class _Relaxed:
    """A program with elastic columns that widen its limits or lower its floors."""

    def __init__(self, program: LinearProgram, find: Finder | None) -> None:
        self.program, self.find, self.rows = program, find, program.constraints
        floors, places = _floors(self.rows)
        self._lowers = sparse.lil_array((len(self.rows), 1))  # what lowering all floors takes off
        self._lowers[places, 0] = floors.steepness

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
        """Return the duals of the rows where limits are widened as little as possible."""
        scope = self.rows.scope
        of_row = np.where(scope == OVERALL, len(local), np.maximum(scope, -1))
        return np.abs(self._widened(eps_global, local, of_row)[1])

    def _widened(self, eps_global: float, local: Floats, of_row: Ints) -> tuple[Floats, Floats]:
        """Widen limits by as little as possible in sum: by how much, and the duals of the rows.

        `of_row` says which of the widenings a row's limit moves with, -1 for none.
        """
        row, many = np.flatnonzero(of_row >= 0), int(of_row.max(initial=0)) + 1
        widens = sparse.csr_array((np.ones(len(row)), (row, of_row[row])), (len(of_row), many))
        # A lower limit of 0, of a rate above its level, does not move with epsilon.
        below, above = widens * -self.rows.moves[0][:, None], -widens
        cost = np.ones(many)
        if self.find is not None:  # which needs duals, even while the floors seem out of reach
            below = sparse.hstack([below, self._lowers])
            above = sparse.hstack([above, 0 * self._lowers])
            cost = np.append(cost, _OUT_OF_REACH)
        found, duals = self._optimum(eps_global, local, below, above, cost)
        if (found[many:] > _MISSED).any():
            raise InfeasibleError
        return np.where(found[:many] > _BY, found[:many] + _BY, 0.0), duals

    def floors(self, eps_global: float, local: Floats) -> tuple[float, Floats]:
        """The share of the floors that the limits allow, and the duals of the rows."""
        # lower - slope (1 - lambda), written with what is taken off: 1 - lambda.
        found, duals = self._optimum(eps_global, local, self._lowers, 0 * self._lowers, np.ones(1))
        return max(1 - float(found[0]) - _BY, 0.0), duals

    def _optimum(
        self,
        eps_global: float,
        local: Floats,
        below: sparse.sparray,
        above: sparse.sparray,
        cost: Floats,
    ) -> tuple[Floats, Floats]:
        """Minimise what is given way: the elastic columns, and the duals of the rows.

        `below` and `above` are what the elastic columns add to rows that have a lower and an upper
        limit.
        """
        row, sign, limits = self.rows.upper_limits(eps_global, local)
        elastic = sparse.vstack([above.tocsr()[row[sign > 0]], -below.tocsr()[row[sign < 0]]])
        for _ in range(_ROUNDS):
            program = self.program
            conic = ConeProgram.of(
                np.append(np.zeros(program.matrix.shape[1]), cost),
                sparse.hstack([program.matrix[row] * sign[:, None], elastic], "csr"),
                limits,
                _padded(program.blocks, len(cost)),
                # An overall limit of 1 asks for nothing: its margin does not matter.
                [_padded(cone, len(cost)) for cone in program.cones if eps_global < 1],
            )
            x, prices, paid = conic.solve()
            duals = np.zeros(len(self.rows))
            np.add.at(duals, row, sign * prices)
            new = None if self.find is None else self.find(duals, paid)
            if new is None:
                break
            rules = RuleTable.join([program.rules, new])
            none = np.zeros(len(rules))
            self.program = LinearProgram.of(self.rows, rules, none, none)
        return x[-len(cost) :], duals


def _padded(matrix: sparse.csr_array, columns: int) -> sparse.csr_array:
    """A matrix with so many columns of zeros after its own."""
    nothing = sparse.csr_array((matrix.shape[0], columns))
    return sparse.hstack([matrix, nothing], format="csr")
