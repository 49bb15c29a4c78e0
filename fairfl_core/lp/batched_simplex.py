"""Solve the linear programs of all clients at once: small simplex tableaux in one array.

Inside a client a lottery is a small program: blocks of weights that sum to one, and gaps s with
|s| <= epsilon. Where only few numbers leave the client (its part g in every overall gap), what it
would do at prices lambda of those numbers,

    maximise  value - lambda . g   within the client's own limits,

is found by a few pivots from its last vertex, for thousands of clients in one go. Clients are
the last axis of every array, so that what is done to all of them is done in long runs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import SolveError

__all__ = ["ClientPrograms", "BatchedSimplex", "Vertices"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int16]  # of a client's variables: its columns first, then its slacks
_GAIN = 1e-13  # a column that gains less stays out; the objective is in units of a mean cell
_PIVOT = 1e-9  # smaller numbers are no pivots
_TIE = 1e-12  # rows whose ratios are closer than this stop together: the largest pivot is taken
_NOTHING = 1e-9  # gaps of one answer for everybody are 0 but for rounding
_USUAL = 0.05  # an epsilon from which others are not far
_PATIENCE = 50  # pivots after which ties are broken by number (Bland): no circle is endless
_MOST_PIVOTS = 2000
_LAST = np.iinfo(np.int16).max


@dataclass(frozen=True, eq=False)
class ClientPrograms:
    """What every client may choose from, padded to one size.

    Attributes
    ----------
    there : ndarray of bool, shape (columns, clients)
        False where a client has fewer columns.
    block : ndarray, shape (columns, clients)
        The client's own number of the block that a column's weight counts in.
    start : ndarray, shape (blocks, clients)
        Of every block the column that gives everybody one and the same answer.
    objective : ndarray, shape (columns, clients)
    parts : ndarray, shape (coupling rows, columns, clients)
        What a column adds to the rows that couple the clients.
    gaps : ndarray, shape (own rows, columns, clients)
        What it adds to the client's own gaps; zeros where a client has fewer of them.
    base, slope : ndarray, shape (own rows, clients)
        Every own gap is at most base + slope epsilon_c, to either side.
    """

    there: NDArray[np.bool_]
    block: Ints
    start: Ints
    objective: Floats
    parts: Floats
    gaps: Floats
    base: Floats
    slope: Floats


@dataclass(frozen=True, eq=False)
class Vertices:
    """The current vertex of every client.

    Attributes
    ----------
    basic : ndarray, shape (rows, clients)
        The variable of each row.
    level : ndarray, shape (rows, clients)
        Its value.
    value : ndarray, shape (clients,)
    parts : ndarray, shape (coupling rows, clients)
    """

    basic: Numbers
    level: Floats
    value: Floats
    parts: Floats

    def weights(self, clients: Ints | slice, columns: int) -> Floats:
        """The weights of these clients' columns, shape (columns, clients)."""
        basic, level = self.basic[:, clients], self.level[:, clients]
        row, place = np.nonzero(basic < columns)
        weights = np.zeros((columns, basic.shape[1]))
        weights[basic[row, place], place] = level[row, place]
        return weights


@dataclass(eq=False)
class _State:
    """BatchedSimplex, and which variable is where: (rows, clients) and (columns, clients)."""

    table: Floats
    basic: Numbers
    nonbasic: Numbers

    def copy(self) -> "_State":
        """The same, to be changed."""
        return _State(self.table.copy(), self.basic.copy(), self.nonbasic.copy())

    def take(self, clients: Ints) -> "_State":
        """A copy of some clients'."""
        return _State(
            self.table.take(clients, axis=-1),
            self.basic.take(clients, axis=-1),
            self.nonbasic.take(clients, axis=-1),
        )

    def put(self, clients: Ints, other: "_State") -> None:
        """Set some clients' to others."""
        self.table[..., clients] = other.table
        self.basic[:, clients], self.nonbasic[:, clients] = other.basic, other.nonbasic


class BatchedSimplex:
    """Row i of a client says: basic_i = rhs_i - sum over j of T_ij nonbasic_j, rhs = c + epsilon p.

    Below them are the rows of the objective and of every coupling part, read the same way; c and p
    are the last two columns. The starting point is one answer for everybody, which keeps any
    limit.
    """

    def __init__(self, programs: ClientPrograms) -> None:
        self.columns, clients = programs.there.shape
        self.gaps = len(programs.gaps)
        self.rows = len(programs.start) + 2 * self.gaps
        starting = np.zeros(programs.there.shape, bool)
        np.put_along_axis(starting, programs.start, True, axis=0)
        others = np.argsort(starting, axis=0, kind="stable")[: self.columns - len(programs.start)]
        slack = self.columns + np.arange(2 * self.gaps)
        basic = np.concatenate([programs.start, np.tile(slack[:, None], clients)])
        self._start = _State(
            _first_tableau(programs, others), basic.astype(np.int16), others.astype(np.int16)
        )
        self._now = self._start.copy()
        self.limit(np.full(clients, _USUAL))
        self.best(np.zeros(len(programs.parts)))
        self._usual = self._now.copy()

    def restart(self) -> None:
        """Go back to where every solve begins: what clients do within a usual limit of their own.

        Clients for whom that is infeasible go back to one answer for everybody: see `limit`.
        """
        self._now = self._usual.copy()

    def limit(self, eps: Floats) -> None:
        """Set every client's epsilon; clients that it makes infeasible begin again."""
        self._eps = eps
        outside = np.flatnonzero((_right(self._now.table, eps)[: self.rows] < -_TIE).any(axis=0))
        self._now.put(outside, self._start.take(outside))
        self._numbers = _right(self._now.table, eps)

    def start(self) -> Vertices:
        """One answer for everybody."""
        return self._vertices(_right(self._start.table, self._eps), self._start.basic)

    def best(self, prices: Floats) -> Vertices:
        """Return what every client does at these prices of the coupling parts."""
        gain = _gain(self._now.table, self.rows, prices)
        active = np.flatnonzero(gain.max(axis=0) > _GAIN)
        if active.size:
            self._improve(active, gain[:, active], prices)
            right = self._now.table[:, -2:][..., active]
            self._numbers[:, active] = _right(right, self._eps[active])
        return self._vertices(self._numbers.copy(), self._now.basic.copy())

    def _vertices(self, numbers: Floats, basic: Numbers) -> Vertices:
        level = np.maximum(numbers[: self.rows], 0.0)
        return Vertices(basic, level, numbers[self.rows], numbers[self.rows + 1 :])

    def _improve(self, active: Ints, gain: Floats, prices: Floats) -> None:
        """Pivot these clients until no column gains."""
        state, eps = self._now.take(active), self._eps[active]
        for turn in range(_MOST_PIVOTS):
            _pivot(state, gain, self.rows, eps, by_number=turn >= _PATIENCE)
            gain = _gain(state.table, self.rows, prices)
            moves = gain.max(axis=0) > _GAIN
            if not moves.all():
                rests, moving = np.flatnonzero(~moves), np.flatnonzero(moves)
                self._now.put(active[rests], state.take(rests))
                if not moving.size:
                    return
                active, gain, eps = active[moving], gain[:, moving], eps[moving]
                state = state.take(moving)
        raise SolveError("a client's program did not settle; please report this with the counts.")

    def duals(self, prices: Floats) -> Floats:
        """d(-objective) / d(limit) of the clients' own gaps, (own rows, clients)."""
        cost = -_gain(self._now.table, self.rows, prices)
        side = np.zeros((2 * self.gaps, cost.shape[1]))
        place, client = np.nonzero(self._now.nonbasic >= self.columns)
        side[self._now.nonbasic[place, client] - self.columns, client] = cost[place, client]
        return np.asarray(side[self.gaps :] - side[: self.gaps])


def _first_tableau(programs: ClientPrograms, others: Ints) -> Floats:
    """Every other column against the one that its block starts with."""
    blocks, gaps = len(programs.start), len(programs.gaps)
    rows, width = blocks + 2 * gaps, len(others)
    block, there = (
        np.take_along_axis(part, others, axis=0) for part in (programs.block, programs.there)
    )

    def against_start(part: Floats) -> tuple[Floats, Floats]:
        """What a column changes where it takes its block's place, and what there is at first."""
        first = np.take_along_axis(part, programs.start[None], axis=1)
        own = np.take_along_axis(part, others[None], axis=1)
        change = own - np.take_along_axis(first, np.maximum(block, 0)[None], axis=1)
        return np.where(there, change, 0.0), first.sum(axis=1)

    inside, gap = against_start(programs.gaps)
    gap[np.abs(gap) < _NOTHING] = 0.0
    gain, goal = against_start(np.concatenate([programs.objective[None], programs.parts]))
    gain[0] = np.where(there, gain[0], -1.0)  # what is not there never enters
    table = np.zeros((rows + len(goal), width + 2, programs.there.shape[1]))
    table[:blocks, :width] = (np.arange(blocks)[:, None, None] == block) & there
    table[blocks:rows, :width] = np.concatenate([inside, -inside])
    table[rows:, :width] = -gain
    table[:blocks, width] = 1.0
    table[blocks:rows, width] = np.concatenate([programs.base - gap, programs.base + gap])
    table[rows:, width] = goal
    table[blocks:rows, width + 1] = np.tile(programs.slope, (2, 1))
    return table


def _right(table: Floats, eps: Floats) -> Floats:
    """The right-hand sides at these epsilons, (rows and goals, clients)."""
    return np.asarray(table[:, -2] + eps * table[:, -1])


def _gain(table: Floats, rows: int, prices: Floats) -> Floats:
    """What a unit of every nonbasic variable would gain at these prices."""
    gain = -table[rows, :-2]
    for price, part in zip(prices, table[rows + 1 :], strict=True):
        if price:
            gain += price * part[:-2]
    return gain


def _pivot(state: _State, gain: Floats, rows: int, eps: Floats, *, by_number: bool) -> None:
    """Exchange in every tableau the column that gains most with the row that stops it first."""
    table, basic, nonbasic = state.table, state.basic, state.nonbasic
    who = np.arange(table.shape[2])
    wanted = np.where(gain > _GAIN, -nonbasic, -_LAST) if by_number else gain
    enters = wanted.argmax(axis=0)
    column = table[:, enters, who]
    falls = column[:rows]
    stops = falls > _PIVOT
    level = np.maximum(_right(table[:rows], eps), 0.0)
    ratio = np.divide(level, falls, out=np.full(level.shape, np.inf), where=stops)
    first = stops & (ratio <= ratio.min(axis=0) + _TIE)
    leaves = np.where(first, _LAST - basic if by_number else falls, 0.0).argmax(axis=0)
    pivot = column[leaves, who]
    row = table[leaves, :, who].T / pivot
    table -= column[:, None] * row
    table[leaves, :, who] = row.T
    table[:, enters, who] = -column / pivot
    table[leaves, enters, who] = 1 / pivot
    basic[leaves, who], nonbasic[enters, who] = nonbasic[enters, who], basic[leaves, who]
