"""Solve the program of many clients by Dantzig-Wolfe decomposition, with a certificate.

Only the R overall gaps couple the clients. At prices lambda of these every client is on its own
(`batched_simplex`), and what all of them choose is a vertex of the full program, and a bound:

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
from fairfl_core.lp.batched_simplex import BatchedSimplex, ClientPrograms, Vertices
from fairfl_core.lp.constraints.base import OVERALL
from fairfl_core.lp.highs import HighsSolver
from fairfl_core.lp.linear_program import LinearProgram
from fairfl_core.lp.solvers import FullSolver, Solver

__all__ = ["Decomposition"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PARTS = 32  # clients of one part mix their vertices alike: more parts, fewer rounds
_SETTLED = 1.5e-13  # what a part's next vertex may still promise, in units of a mean cell
_ENOUGH = 1e-10  # the same where nothing moves any more
_TIE = 1e-10  # what the tie-break costs, in the objective's unit
_NOTHING = 1e-12  # a gap below this is rounding
_MOST_ROUNDS = 500


class Decomposition(Solver):
    """Solve a program client by client; see `Solver`.

    Ties are decided by a small cost on the tie-break, instead of a second solve as in `FullSolver`:
    of optima that are within 1e-10 of a mean cell's people of each other it takes the one with the
    least tie_break.x, where `FullSolver` tells optima apart down to 1e-12. Neither depends on the
    order of rules, or on what was solved before.
    """

    def __init__(self, program: LinearProgram) -> None:
        super().__init__(program)
        self._layout = _Layout.of(program)
        self._clients = BatchedSimplex(self._layout.programs(program))

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
            master = _Master(self._clients, self._layout, eps_local)
            x, prices = master.solve(self._limits(eps_global, eps_local))
        except SolveError:  # numbers can be unlucky, as with limits near the solver's tolerance
            return self._full.solve(eps_global, eps_local)
        layout, duals = self._layout, np.zeros(len(self.program.constraints))
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
        master = _Master(self._clients, self._layout, eps_local)
        found = {}
        for eps_global in eps_globals:
            limits = self._limits(eps_global, eps_local)
            found[eps_global], prices[eps_global] = master.solve(limits, prices.get(eps_global))
        return found

    @cached_property
    def _full(self) -> FullSolver:
        return FullSolver(self.program)

    def _limits(self, eps_global: float, eps_local: Floats) -> Floats:
        return self.program.constraints.bounds(eps_global, eps_local)[1][self._layout.coupling]


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
        return cls(
            np.flatnonzero(couples), own, low[own], _places(low[own]), client, _places(client)
        )

    def programs(self, program: LinearProgram) -> ClientPrograms:
        """Return the clients' programs, side by side."""
        variables, rows = program.variables, program.constraints
        clients, columns = int(self.client.max()) + 1, int(self.place.max()) + 1
        shape, at = (columns, clients), (self.place, self.client)
        entries = program.matrix.tocoo()
        coupling, own = np.full(len(rows), -1), np.full(len(rows), -1)
        coupling[self.coupling] = np.arange(len(self.coupling))
        own[self.own] = self.own_place

        def dense(number: Ints, size: int) -> Floats:
            table, mine = np.zeros((size, *shape)), number[entries.row] >= 0
            row, variable = number[entries.row[mine]], entries.col[mine]
            table[row, self.place[variable], self.client[variable]] = entries.data[mine]
            return table

        base, slope = np.ones((self._most_own, clients)), np.zeros((self._most_own, clients))
        mine = (self.own_place, self.own_client)
        base[mine], slope[mine] = rows.limits[1, self.own], rows.moves[1, self.own]
        first = np.full(clients, variables.blocks)
        np.minimum.at(first, self.client, variables.block)
        block, there, value = np.full(shape, -1), np.zeros(shape, bool), np.zeros(shape)
        block[at], there[at] = variables.block - first[self.client], True
        value[at] = program.objective - _TIE * program.tie_break
        constant = np.flatnonzero(_one_answer(program))
        _, chosen = np.unique(variables.block[constant], return_index=True)
        return ClientPrograms(
            there=there,
            block=block,
            start=self.place[constant[chosen]].reshape(clients, -1).T,
            objective=value,
            parts=dense(coupling, len(self.coupling)),
            gaps=dense(own, self._most_own),
            base=base,
            slope=slope,
        )

    @property
    def _most_own(self) -> int:
        return int(self.own_place.max(initial=-1)) + 1


def _places(client: Ints) -> Ints:
    """Number each entry among those of its client."""
    order = np.argsort(client, kind="stable")
    many = np.bincount(client)
    place = np.empty(len(client), np.int64)
    place[order] = np.arange(len(client)) - np.repeat(np.cumsum(many) - many, many)
    return place


class _Master:
    """The master program: mixtures of vertices, the same one for all clients of a part."""

    def __init__(self, clients: BatchedSimplex, layout: _Layout, eps_local: Floats) -> None:
        self._clients, self._layout = clients, layout
        many, self._coupling = len(eps_local), len(layout.coupling)
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
        self._size = np.where(size > _NOTHING, size, 1.0)
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
        if (np.abs(self._free.parts.sum(axis=1)) <= limits + _NOTHING).all():
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
