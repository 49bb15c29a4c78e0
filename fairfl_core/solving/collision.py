"""When limits and floors collide: who, and what either of them would allow.

A constant answer keeps every gap and every ratio at nothing, so only floors can collide with them.
Two relaxations of the same rows say by how much, each one more linear program:

    least epsilons      minimise sum over c of e_c,   gap_c <= eps_c + e_c, floors kept; then the
                        overall one with the clients' limits so widened
    highest floors      maximise lambda in [0, 1],    recognition >= lambda floor, loss <= 1 -
                        lambda (1 - delta), limits kept
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from fairfl_core.people.counts import ClientCounts
from fairfl_core.solving.backend import Infeasible
from fairfl_core.solving.constraints.base import OVERALL, Constraints, Stacked, joined
from fairfl_core.solving.constraints.floors import FloorConstraints
from fairfl_core.solving.sharing import Sharing

__all__ = ["Collision", "collision_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BY = 1e-9  # a limit that must give way by more collides
_ROUNDS = 60
_OPTIONS = {
    "presolve": False,  # it takes epsilons below its tolerance for contradictions
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True)
class Collision:
    """What collides, and what would not.

    Attributes
    ----------
    eps_global, eps_local : float, tuple of float
        What was asked.
    who : tuple of (client, group, label)
        Floors that stand against the limits.
    least_global, least_local : float or None
        The least epsilons that the floors allow, together: one for all clients. None where no
        epsilon would do.
    least_by_client : tuple of float
        The same, client by client.
    highest_floor, highest_keep : dict
        By label: the highest floors that the limits allow (all lowered alike), and the least
        that may be lost of the model's own rate.
    """

    eps_global: float
    eps_local: tuple[float, ...]
    who: tuple[tuple[str, str, str], ...]
    least_global: float | None
    least_local: float | None
    least_by_client: tuple[float, ...]
    highest_floor: dict[str, float]
    highest_keep: dict[str, float]

    def sentence(self) -> str:
        """What collides and what would do, for a person."""
        whom = [f"{client}, {group} (“{label}”)" for client, group, label in self.who[:3]]
        more = f" and {len(self.who) - 3} more" if len(self.who) > 3 else ""
        said = f"The limits and the floors collide in {'; '.join(whom)}{more}."
        if self.least_global is not None and self.least_local is not None:
            said += (
                f" These floors allow a gap of {self.least_local:.3f} inside every client and "
                f"{self.least_global:.3f} overall at the least."
            )
        else:
            said += " No wider gap would help: the floors are out of reach here by themselves."
        floors = [f"{rate:.3f} of “{label}”" for label, rate in self.highest_floor.items()]
        floors += [
            f"a loss of {loss:.3f} of “{label}”" for label, loss in self.highest_keep.items()
        ]
        return said + f" These limits allow at the most {' and '.join(floors)}."

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
        }
        return value | ({"highest_keep": self.highest_keep} if self.highest_keep else {})


def collision_of(
    rows: Constraints, sharing: Sharing, counts: ClientCounts, eps_global: float, local: Floats
) -> Collision:
    """Relax the limits, then the floors."""
    floors = _floors(rows)
    relaxed = _Relaxed(rows, sharing)
    try:
        extra, duals = relaxed.limits(1.0, local, overall=False)
        widened = np.minimum(local + extra[:-1], 1.0)
        more, overall_duals = relaxed.limits(eps_global, widened, overall=True)
        least_global: float | None = min(eps_global + float(more[-1]), 1.0)
        least_local: float | None = float(widened.max(initial=0.0))
        against = np.abs(duals) + np.abs(overall_duals)
    except Infeasible:  # the floors, ratios or other groupings stand against each other
        least_global, least_local, widened = None, None, np.ones_like(local)
        against = np.zeros(len(rows))
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
    return Collision(
        eps_global=eps_global,
        eps_local=tuple(local.tolist()),
        who=tuple(named),
        least_global=least_global,
        least_local=least_local,
        least_by_client=tuple(widened.tolist()),
        highest_floor={one.label: share * one.rate for one in floors.floors if one.keeps is None},
        highest_keep={
            one.label: 1 - share * (1 - one.keeps)
            for one in floors.floors
            if one.keeps is not None
        },
    )


def _floors(rows: Constraints) -> FloorConstraints:
    parts = rows.parts if isinstance(rows, Stacked) else (rows,)
    return next(part for part in parts if isinstance(part, FloorConstraints))


class _Relaxed:
    """The rows of a program with columns that widen their limits or lower their floors."""

    def __init__(self, rows: Constraints, sharing: Sharing) -> None:
        self.rows, self.sharing = rows, sharing
        columns, merged = sharing.columns, sharing.merged
        self._missing = rows.sharpener(columns)
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

    def limits(self, eps_global: float, local: Floats, *, overall: bool) -> tuple[Floats, Floats]:
        """How much more each epsilon needs, the overall one last, and the duals of the rows.

        Either the overall one gives way, or the clients' own do.
        """
        scope = self.rows.scope
        gives = (scope == OVERALL) if overall else (scope >= 0)
        row = np.flatnonzero(gives)
        widens = sparse.csr_array(
            (np.ones(len(row)), (row, scope[row] % (len(local) + 1))),
            shape=(len(scope), len(local) + 1),
        )
        # A lower limit of 0, of a rate above its level, does not move with epsilon.
        moves = self.rows.bounds(0.5, np.full(len(local), 0.5))[0] == -0.5
        lower, upper = self.rows.bounds(eps_global, local)
        cost = np.ones(len(local) + 1)
        found, duals = self._optimum(
            (lower, upper), (widens * moves[:, None], -widens), cost, eps_global
        )
        return np.where(found > _BY, found + _BY, 0.0), duals

    def floors(self, eps_global: float, local: Floats) -> tuple[float, Floats]:
        """The share of the floors that the limits allow, and the duals of the rows."""
        floors = _floors(self.rows)
        slope = np.zeros(len(self.rows))
        slope[self.places(floors)] = floors.steepness
        lower, upper = self.rows.bounds(eps_global, local)
        lowers = sparse.csr_array(slope[:, None])
        # lower - slope (1 - lambda), written with what is taken off: 1 - lambda.
        found, duals = self._optimum(
            (lower, upper), (lowers, sparse.csr_array(lowers.shape)), np.ones(1), eps_global
        )
        return max(1 - float(found[0]) - _BY, 0.0), duals

    def _optimum(
        self,
        bounds: tuple[Floats, Floats],
        gives: tuple[sparse.csr_array, sparse.csr_array],
        cost: Floats,
        eps_global: float,
    ) -> tuple[Floats, Floats]:
        """Minimise what is given: its values, and the duals of the rows."""
        (lower, upper), (below, above) = bounds, gives
        high, low = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
        matrix = sparse.vstack(
            [
                sparse.hstack([self._matrix[high], above[high]]),
                sparse.hstack([-self._matrix[low], -below[low]]),
            ]
        ).tocsr()
        limits = np.append(upper[high], -lower[low])
        size, auxiliary = self._matrix.shape[1], self.rows.auxiliary
        blocks = sparse.hstack(
            [self._blocks, sparse.csr_array((self._blocks.shape[0], len(cost)))]
        )
        whole = np.append(np.zeros(size), cost)
        for _ in range(_ROUNDS):
            solved = linprog(
                whole, matrix, limits, blocks, np.ones(blocks.shape[0]), options=_OPTIONS
            )
            if solved.status != 0:
                raise Infeasible
            values = solved.x
            wider = float(values[-1]) if len(cost) > 1 else 0.0
            if self._missing is None:
                break
            beta = self.sharing.weights(values[auxiliary:size])
            row, column, value = self.sharing.entries(
                self._missing(values[:auxiliary], beta, min(eps_global + wider, 1.0))
            )
            if not len(row):
                break
            column = np.where(column < 0, -1 - column, auxiliary + column)
            cuts = sparse.csr_array(
                (value, (row, column)), shape=(int(row.max()) + 1, matrix.shape[1])
            )
            matrix = sparse.vstack([matrix, cuts]).tocsr()
            limits = np.append(limits, np.zeros(cuts.shape[0]))
        duals = np.zeros(len(self.rows))
        marginals = solved.ineqlin.marginals
        np.add.at(duals, high, marginals[: len(high)])
        np.add.at(duals, low, marginals[len(high) : len(high) + len(low)])
        return values[size:], duals
