"""Solve the program of many clients by Dantzig-Wolfe decomposition, with a certificate.

Only the R overall gaps couple the clients. At prices lambda of these every client is on its own
(`BatchedSimplex`), and what all of them choose is a vertex of the full program, and a bound:

    UB(lambda) = sum over c of  max (value_c - lambda . g_c)  +  sum over r of |lambda_r| eps_r.

Mixtures of the vertices found so far keep every limit inside clients; the best of them that keeps
the overall ones too is a program of R rows and a few more (Dantzig and Wolfe, "Decomposition
principle for linear programs", 1960). Its value is what is reached, LB; its duals are the next
prices. It ends where UB is LB: no lottery does better, and that is proved, not assumed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.errors import SolveError
from fairfl_core.lp.constraints.base import OVERALL
from fairfl_core.lp.highs import FullSolver, HighsSolver, Solver
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.rules import ranks

__all__ = ["BatchedSimplex", "Decomposition"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PARTS = 32  # clients of one part mix their vertices alike: more parts, fewer rounds
_SETTLED = 1.5e-13  # what a part's next vertex may still promise, in units of a mean cell
_ENOUGH = 1e-10  # the same where nothing moves any more
_TIE_BREAK = 1e-10  # what the tie-break costs, in the objective's unit
_ROUNDING = 1e-12  # a gap below this is rounding
_MOST_ROUNDS = 500
Numbers = NDArray[np.int16]  # of a client's variables: its columns first, then its slacks
_GAIN = 1e-13  # a column that gains less stays out; the objective is in units of a mean cell
_PIVOT = 1e-9  # smaller numbers are no pivots
_TIE = 1e-12  # rows whose ratios are closer than this stop together: the largest pivot is taken
_NOTHING = 1e-9  # gaps of one answer for everybody are 0 but for rounding
_USUAL = 0.05  # an epsilon from which others are not far
_PATIENCE = 50  # pivots after which ties are broken by number (Bland): no circle is endless
_MOST_PIVOTS = 2000
_LAST = np.iinfo(np.int16).max


def _one_answer(program: LinearProgram) -> NDArray[np.bool_]:
    """Variables that answer everybody the first label."""
    return np.asarray((program.variables.confusion[:, :, 1:] == 0).all(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where rows and variables of the full program are in those of the clients.

    `coupling` and `own` are rows of the full program; `own_client` and `own_place` say whose an
    own row is and which of that client's; `client` and `place` say the same of every variable.
    """

    coupling: Ints
    own: Ints
    own_client: Ints
    own_place: Ints
    client: Ints
    place: Ints

    @classmethod
    def of(cls, program: LinearProgram) -> "_Layout":
        """Find the rows that couple clients: the overall epsilon limits them, or several are in them."""
        client, rows = program.variables.client, program.constraints
        clients, entries = int(client.max()) + 1, program.matrix.tocoo()
        low, high = np.full(len(rows), clients), np.full(len(rows), -1)
        np.minimum.at(low, entries.row, client[entries.col])
        np.maximum.at(high, entries.row, client[entries.col])
        couples = (rows.scope == OVERALL) | (low < high)
        own = np.flatnonzero(~couples & (high >= 0))
        return cls(np.flatnonzero(couples), own, low[own], ranks(low[own]), client, ranks(client))


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
    """Solve the programs of all clients at once: small simplex tableaux in one array.

    Inside a client a lottery is a small program: blocks of weights that sum to one, and gaps s with
    |s| <= epsilon. What it would do at prices lambda of its parts g in the rows that couple clients,

        maximise  value - lambda . g   within the client's own limits,

    is found by a few pivots from its last vertex, for thousands of clients in one go. Clients are
    the last axis of every array, so that what is done to all of them is done in long runs.

    Row i of a client says: basic_i = rhs_i - sum over j of T_ij nonbasic_j, rhs = c + epsilon p.

    Below them are the rows of the objective and of every coupling part, read the same way; c and p
    are the last two columns. The starting point is one answer for everybody, which keeps any
    limit.
    """

    def __init__(self, program: LinearProgram) -> None:
        self.layout = layout = _Layout.of(program)
        clients, self.columns = int(layout.client.max()) + 1, int(layout.place.max()) + 1
        self.gaps = int(layout.own_place.max(initial=-1)) + 1
        constant = np.flatnonzero(_one_answer(program))
        _, chosen = np.unique(program.variables.block[constant], return_index=True)
        start = layout.place[constant[chosen]].reshape(clients, -1).T  # of every block
        self.rows = len(start) + 2 * self.gaps
        starting = np.zeros((self.columns, clients), bool)
        np.put_along_axis(starting, start, True, axis=0)
        others = np.argsort(starting, axis=0, kind="stable")[: self.columns - len(start)]
        slack = self.columns + np.arange(2 * self.gaps)
        basic = np.concatenate([start, np.tile(slack[:, None], clients)])
        self._start = _State(
            self._first_tableau(program, start, others),
            basic.astype(np.int16),
            others.astype(np.int16),
        )
        self._now = self._start.copy()
        self.limit(np.full(clients, _USUAL))
        self.best(np.zeros(len(layout.coupling)))
        self._usual = self._now.copy()

    def _first_tableau(self, program: LinearProgram, start: Ints, others: Ints) -> Floats:
        """Every other column against the one that its block starts with."""
        layout, variables, rows = self.layout, program.variables, program.constraints
        shape, at = (self.columns, start.shape[1]), (layout.place, layout.client)
        entries = program.matrix.tocoo()

        def dense(mine: Ints, place: Ints, size: int) -> Floats:
            """What columns add to some of the rows, each at its place; 0 where none is."""
            number = np.full(len(rows), -1)
            number[mine] = place
            here = number[entries.row] >= 0
            variable, table = entries.col[here], np.zeros((size, *shape))
            where = number[entries.row[here]], layout.place[variable], layout.client[variable]
            table[where] = entries.data[here]
            return table

        first = np.full(shape[1], variables.blocks)
        np.minimum.at(first, layout.client, variables.block)
        block, value = np.full(shape, -1), np.zeros(shape)  # -1: no column of this client
        block[at] = variables.block - first[layout.client]
        value[at] = program.objective - _TIE_BREAK * program.tie_break
        block = np.take_along_axis(block, others, axis=0)
        there = block >= 0

        def against_start(part: Floats) -> tuple[Floats, Floats]:
            """What a column changes where it takes its block's place, and what there is at first."""
            before = np.take_along_axis(part, start[None], axis=1)
            own = np.take_along_axis(part, others[None], axis=1)
            change = own - np.take_along_axis(before, np.maximum(block, 0)[None], axis=1)
            return np.where(there, change, 0.0), before.sum(axis=1)

        inside, gap = against_start(dense(layout.own, layout.own_place, self.gaps))
        gap[np.abs(gap) < _NOTHING] = 0.0
        parts = dense(layout.coupling, np.arange(len(layout.coupling)), len(layout.coupling))
        gain, goal = against_start(np.concatenate([value[None], parts]))
        gain[0] = np.where(there, gain[0], -1.0)  # what is not there never enters
        # Every own gap is at most base + slope epsilon_c, to either side.
        base, slope = np.ones((self.gaps, shape[1])), np.zeros((self.gaps, shape[1]))
        mine = layout.own_place, layout.own_client
        base[mine], slope[mine] = rows.limits[1, layout.own], rows.moves[1, layout.own]
        blocks, width = len(start), len(others)
        table = np.zeros((self.rows + len(goal), width + 2, shape[1]))
        table[:blocks, :width] = np.arange(blocks)[:, None, None] == block
        table[blocks : self.rows, :width] = np.concatenate([inside, -inside])
        table[self.rows :, :width] = -gain
        table[:blocks, width] = 1.0
        table[blocks : self.rows, width] = np.concatenate([base - gap, base + gap])
        table[self.rows :, width] = goal
        table[blocks : self.rows, width + 1] = np.tile(slope, (2, 1))
        return table

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


# ------------------------------------------------------------------- what couples the clients


class _Master:
    """The master program: mixtures of vertices, the same one for all clients of a part."""

    def __init__(self, clients: BatchedSimplex, eps_local: Floats) -> None:
        self._clients, self._layout = clients, clients.layout
        many, self._coupling = len(eps_local), len(clients.layout.coupling)
        parts = min(_PARTS, many)
        self._starts = np.arange(parts) * many // parts
        self._part = np.searchsorted(self._starts, np.arange(many), side="right") - 1
        self._ones = np.ones(parts)
        self._highs = HighsSolver(*self._bounds(np.zeros(self._coupling)))
        self._found: list[tuple[Vertices, Ints]] = []
        clients.limit(eps_local)
        self._start, self._free = clients.start(), clients.best(np.zeros(self._coupling))
        # Where clients keep tiny limits their shares are tiny, too: rows are scaled by their size.
        size = np.abs(self._totals(self._free)[1]).max(axis=0)
        self._size = np.where(size > _ROUNDING, size, 1.0)
        self._add(self._start)
        self._add(self._free)

    def _bounds(self, limits: Floats) -> tuple[Floats, Floats]:
        return np.append(-limits, self._ones), np.append(limits, self._ones)

    @cached_property
    def _free_x(self) -> Floats:
        everyone = self._free.weights(slice(None), self._clients.columns)
        return np.asarray(everyone[self._layout.place, self._layout.client])

    def _add(self, vertices: Vertices, helps: NDArray[np.bool_] | None = None) -> None:
        """Add what clients choose as one column a part, of those parts that it `helps`."""
        value, share = self._totals(vertices)
        chosen = np.arange(len(value)) if helps is None else np.flatnonzero(helps)
        part = np.eye(len(self._starts))[:, chosen]
        columns = np.vstack([(share[chosen] / self._size).T, part])
        self._highs.add_columns(-value[chosen], sparse.csc_array(columns))
        self._found.append((vertices, chosen))

    def _totals(self, vertices: Vertices) -> tuple[Floats, Floats]:
        """Value and coupling shares of every part of the clients.

        Values are differences to those without overall limits, where few clients differ; shares
        to those of one answer for everybody, which add up to no gap at all. So they stay small,
        and so do errors.
        """
        value, share = vertices.value - self._free.value, vertices.parts - self._start.parts
        return np.add.reduceat(value, self._starts), np.add.reduceat(share, self._starts, axis=1).T

    def solve(self, limits: Floats, guess: Floats | None = None) -> tuple[Floats, Floats]:
        """Return x within these overall limits, and their prices.

        A `guess` of the prices, from limits nearby, saves rounds.
        """
        if (np.abs(self._free.parts.sum(axis=1)) <= limits + _ROUNDING).all():
            return self._free_x, np.zeros(self._coupling)
        bounds = self._bounds(limits / self._size)
        if guess is not None and guess.any():
            self._add(self._clients.best(guess))
        prices = np.full(self._coupling, np.nan)
        for _ in range(_MOST_ROUNDS):
            last = prices
            shares, duals = self._highs.solve(*bounds, warm=True)
            prices, paid = np.split(-duals, [self._coupling])
            prices /= self._size
            vertices = self._clients.best(prices)
            value, share = self._totals(vertices)
            promise = value - share @ prices - paid
            if promise.max() <= (_ENOUGH if np.array_equal(prices, last) else _SETTLED):
                return self._mixed(shares), prices
            self._add(vertices, promise > _SETTLED)
        raise SolveError("the clients' prices did not settle; please report this with the counts.")

    def _mixed(self, shares: Floats) -> Floats:
        """Return x where every part mixes its vertices by these shares."""
        weights = np.zeros((self._clients.columns, len(self._part)))
        first = 0
        for vertices, parts in self._found:
            share = np.zeros(len(self._starts))
            share[parts] = shares[first : first + len(parts)]
            first += len(parts)
            whom = np.flatnonzero(share[self._part] > 0)
            if whom.size:
                mine = vertices.weights(whom, len(weights))
                weights[:, whom] += share[self._part[whom]] * mine
        return np.asarray(weights[self._layout.place, self._layout.client])


class Decomposition(Solver):
    """Solve a program client by client; see `Solver`.

    Ties are decided by a small cost on the tie-break, instead of a second solve as in `FullSolver`:
    of optima that are within 1e-10 of a mean cell's people of each other it takes the one with the
    least tie_break.x, where `FullSolver` tells optima apart down to 1e-12. Neither depends on the
    order of rules, or on what was solved before.
    """

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._clients = BatchedSimplex(program)

    @staticmethod
    def serves(program: LinearProgram) -> bool:
        """Whether one answer for everybody keeps all rows, so that every client can start there."""
        variables = program.variables
        if not program.constraints.constants_are_feasible or (variables.span > 1).any():
            return False
        return len(np.unique(variables.block[_one_answer(program)])) == variables.blocks

    def solve(
        self, eps_global: float, eps_local: Floats, *, warm: bool = False
    ) -> tuple[Floats, Floats]:
        """Return x and the duals of the constraints, from the starting point on."""
        self._clients.restart()
        try:
            master = _Master(self._clients, eps_local)
            x, prices = master.solve(self._limits(eps_global, eps_local))
        except SolveError:  # numbers can be unlucky, as with limits near the solver's tolerance
            return self._full.solve(eps_global, eps_local)
        layout, duals = self._clients.layout, np.zeros(len(self.program.constraints))
        duals[layout.coupling] = -prices
        own = self._clients.duals(prices)
        duals[layout.own] = own[layout.own_place, layout.own_client]
        return x, duals

    def grid(
        self, eps_globals: Sequence[float], eps_locals: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Solve every row downward: vertices found on the way serve all its limits."""
        self._clients.restart()
        prices: dict[float, Floats] = {}
        for eps_local in eps_locals:
            try:
                found = self._row(sorted(set(eps_globals), reverse=True), eps_local, prices)
            except SolveError:
                yield from self._full.grid(eps_globals, [eps_local])
            else:
                yield [found[eps_global] for eps_global in eps_globals]

    def _row(
        self, eps_globals: list[float], eps_local: Floats, prices: dict[float, Floats]
    ) -> dict[float, Floats]:
        """Solve at falling overall limits; `prices` are those of the row before, then its own."""
        master = _Master(self._clients, eps_local)
        found = {}
        for eps_global in eps_globals:
            limits = self._limits(eps_global, eps_local)
            found[eps_global], prices[eps_global] = master.solve(limits, prices.get(eps_global))
        return found

    @cached_property
    def _full(self) -> FullSolver:
        return FullSolver(self.program)

    def _limits(self, eps_global: float, eps_local: Floats) -> Floats:
        return self.program.constraints.bounds(eps_global, eps_local)[1][
            self._clients.layout.coupling
        ]
