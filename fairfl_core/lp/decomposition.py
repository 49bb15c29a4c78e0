"""A program of many clients, solved client by client: the dual over the rows that couple them.

Only the R overall gaps couple the clients. At prices lambda of these every client is on its own
(`tableaux`), and what all of them make of it is a vertex of the whole program, and a bound:

    UB(lambda) = sum over c of  max (value_c - lambda . g_c)  +  sum over r of |lambda_r| eps_r.

Lotteries over the vertices met so far keep every limit inside clients; the best of them that keeps
the overall ones too is a program of R rows and a few more (Dantzig and Wolfe, "Decomposition
principle for linear programs", 1960). Its value is what is reached, LB; its duals are the next
prices. It ends where UB is LB: no lottery does better, and that is proved, not assumed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import SolveError
from fairfl_core.lp.batched_simplex import ClientPrograms, Tableaux, Vertices
from fairfl_core.lp.constraints.base import OVERALL, Constraints
from fairfl_core.lp.highs import Whole
from fairfl_core.lp.highs_model import Model
from fairfl_core.lp.sharing import Sharing

__all__ = ["ClientsApart"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PARTS = 32  # clients of one part mix their vertices alike: more parts, fewer rounds
_SETTLED = 1.5e-13  # what a part's next vertex may still promise, in units of a mean cell
_ENOUGH = 1e-10  # the same where nothing moves any more
_NOTHING = 1e-12  # a gap below this is rounding
_MOST_ROUNDS = 500


class ClientsApart:
    """Solves a program by its clients; see `solvers.Solver`.

    Parameters
    ----------
    rows : Constraints
        That one answer for everybody keeps (`Constraints.constants_are_feasible`).
    sharing : Sharing
    worth, order : ndarray, shape (variables,)
    """

    def __init__(self, rows: Constraints, sharing: Sharing, worth: Floats, order: Floats) -> None:
        self._rows, self._sharing, self._worth, self._order = rows, sharing, worth, order
        self._layout = _Layout.of(rows, sharing)
        self._tableaux = Tableaux(self._layout.programs(rows, sharing, worth))

    @staticmethod
    def serves(rows: Constraints, sharing: Sharing) -> bool:
        """Whether the program falls apart: one answer for everybody keeps all of its rows."""
        merged = sharing.merged
        if not rows.constants_are_feasible or (merged.span > 1).any():
            return False
        return len(np.unique(merged.block[sharing.one_answer])) == merged.blocks

    def solve(self, eps_global: float, local: Floats) -> tuple[Floats, Floats]:
        """Values of the variables and duals of the rows, from the starting point on."""
        self._tableaux.restart()
        try:
            master = _Master(self._tableaux, self._layout, local)
            values, prices = master.solve(self._limits(eps_global, local))
        except SolveError:  # numbers can be unlucky, as with limits near the solver's tolerance
            return self._whole.solve(eps_global, local)
        layout, duals = self._layout, np.zeros(len(self._rows))
        duals[layout.coupling] = -prices
        own = self._tableaux.duals(prices)
        duals[layout.own] = own[layout.own_place, layout.own_client]
        return values, duals

    def grid(
        self, eps_globals: Sequence[float], locals_: Sequence[Floats]
    ) -> Iterator[list[Floats | None]]:
        """Every row downward: vertices met on the way serve all its limits; see `Solver`."""
        self._tableaux.restart()
        prices: dict[float, Floats] = {}
        for local in locals_:
            try:
                values = self._row(sorted(set(eps_globals), reverse=True), local, prices)
            except SolveError:
                yield from self._whole.grid(eps_globals, [local])
            else:
                yield [values[eps_global] for eps_global in eps_globals]

    def _row(
        self, eps_globals: list[float], local: Floats, prices: dict[float, Floats]
    ) -> dict[float, Floats]:
        """Values at falling overall limits; `prices` are those of the row before, then its own."""
        master = _Master(self._tableaux, self._layout, local)
        values = {}
        for eps_global in eps_globals:
            limits = self._limits(eps_global, local)
            values[eps_global], prices[eps_global] = master.solve(limits, prices.get(eps_global))
        return values

    @cached_property
    def _whole(self) -> Whole:
        return Whole(self._rows, self._sharing, self._worth, self._order)

    def _limits(self, eps_global: float, local: Floats) -> Floats:
        return self._rows.bounds(eps_global, local)[1][self._layout.coupling]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where rows and variables of the whole program stand in those of the clients.

    `coupling` and `own` are rows of the whole; `own_client` and `own_place` say whose an own row
    is and which of that client's; `client` and `place` say the same of every variable.
    """

    coupling: Ints
    own: Ints
    own_client: Ints
    own_place: Ints
    client: Ints
    place: Ints

    @classmethod
    def of(cls, rows: Constraints, sharing: Sharing) -> "_Layout":
        """A row couples clients if the overall epsilon limits it or several stand in it."""
        client = sharing.merged.client
        clients = int(client.max()) + 1
        row, variable, _ = sharing.entries(rows.entries(sharing.columns))
        low, high = np.full(len(rows), clients), np.full(len(rows), -1)
        np.minimum.at(low, row, client[variable])
        np.maximum.at(high, row, client[variable])
        couples = (rows.scope == OVERALL) | (low < high)
        own = np.flatnonzero(~couples & (high >= 0))
        return cls(
            np.flatnonzero(couples), own, low[own], _places(low[own]), client, _places(client)
        )

    def programs(self, rows: Constraints, sharing: Sharing, worth: Floats) -> ClientPrograms:
        """The clients' programs, side by side."""
        merged = sharing.merged
        clients, columns = int(self.client.max()) + 1, int(self.place.max()) + 1
        shape, at = (columns, clients), (self.place, self.client)
        row, variable, value = sharing.entries(rows.entries(sharing.columns))
        coupling, own = np.full(len(rows), -1), np.full(len(rows), -1)
        coupling[self.coupling] = np.arange(len(self.coupling))
        own[self.own] = self.own_place

        def dense(number: Ints, size: int) -> Floats:
            table, mine = np.zeros((size, *shape)), number[row] >= 0
            whose = variable[mine]
            table[number[row[mine]], self.place[whose], self.client[whose]] = value[mine]
            return table

        nothing, one = np.zeros(clients), np.ones(clients)
        upper = rows.bounds(0.0, nothing)[1]
        base, slope = np.ones((self._most_own, clients)), np.zeros((self._most_own, clients))
        mine = (self.own_place, self.own_client)
        base[mine] = upper[self.own]
        slope[mine] = (rows.bounds(0.0, one)[1] - upper)[self.own]
        first = np.full(clients, merged.blocks)
        np.minimum.at(first, self.client, merged.block)
        block, there, gain = np.full(shape, -1), np.zeros(shape, bool), np.zeros(shape)
        block[at], there[at], gain[at] = merged.block - first[self.client], True, worth
        constant = np.flatnonzero(sharing.one_answer)
        _, chosen = np.unique(merged.block[constant], return_index=True)
        return ClientPrograms(
            there=there,
            block=block,
            start=self.place[constant[chosen]].reshape(clients, -1).T,
            worth=gain,
            parts=dense(coupling, len(self.coupling)),
            gaps=dense(own, self._most_own),
            base=base,
            slope=slope,
        )

    @property
    def _most_own(self) -> int:
        return int(self.own_place.max(initial=-1)) + 1


def _places(client: Ints) -> Ints:
    """The number of each entry among those of its client."""
    order = np.argsort(client, kind="stable")
    many = np.bincount(client)
    place = np.empty(len(client), np.int64)
    place[order] = np.arange(len(client)) - np.repeat(np.cumsum(many) - many, many)
    return place


class _Master:
    """Lotteries over vertices: clients of one part mix theirs alike."""

    def __init__(self, tableaux: Tableaux, layout: _Layout, local: Floats) -> None:
        self._tableaux, self._layout = tableaux, layout
        clients, self._coupling = len(local), len(layout.coupling)
        parts = min(_PARTS, clients)
        self._starts = np.arange(parts) * clients // parts
        self._part = np.searchsorted(self._starts, np.arange(clients), side="right") - 1
        limits = np.concatenate([np.zeros(self._coupling), np.ones(parts)])
        self._model = Model(limits, limits)
        self._met: list[tuple[Vertices, Ints]] = []
        tableaux.limit(local)
        self._start, self._free = tableaux.start(), tableaux.best(np.zeros(self._coupling))
        # Where clients keep tiny limits their shares are tiny, too: rows are told by their size.
        size = np.abs(self._totals(self._free)[1]).max(axis=0)
        self._size = np.where(size > _NOTHING, size, 1.0)
        self._meet(self._start)
        self._meet(self._free)

    @cached_property
    def _free_values(self) -> Floats:
        everyone = self._free.weights(slice(None), self._tableaux.columns)
        return np.asarray(everyone[self._layout.place, self._layout.client])

    def _meet(self, vertices: Vertices, helps: NDArray[np.bool_] | None = None) -> None:
        """Add what clients do as one column a part, of those parts that it `helps`."""
        value, share = self._totals(vertices)
        chosen = np.arange(len(value)) if helps is None else np.flatnonzero(helps)
        number = np.arange(len(chosen))
        row = np.append(np.tile(np.arange(self._coupling), len(chosen)), self._coupling + chosen)
        column = np.append(np.repeat(number, self._coupling), number)
        entry = np.append((share[chosen] / self._size).ravel(), np.ones(len(chosen)))
        self._model.add_columns(-value[chosen], (row, column, entry))
        self._met.append((vertices, chosen))

    def _totals(self, vertices: Vertices) -> tuple[Floats, Floats]:
        """Value and coupling shares of every part of the clients.

        Values are told from those without overall limits, where few clients differ; shares from
        those of one answer for everybody, which add up to no gap at all. So they stay small, and
        so do errors.
        """
        value, share = vertices.value - self._free.value, vertices.parts - self._start.parts
        return np.add.reduceat(value, self._starts), np.add.reduceat(share, self._starts, axis=1).T

    def solve(self, limits: Floats, guess: Floats | None = None) -> tuple[Floats, Floats]:
        """Values of the variables within these overall limits, and the prices of those.

        A `guess` of the prices, from limits nearby, saves rounds.
        """
        if (np.abs(self._free.parts.sum(axis=1)) <= limits + _NOTHING).all():
            return self._free_values, np.zeros(self._coupling)
        at_most = limits / self._size
        self._model.change_limits(np.arange(self._coupling), -at_most, at_most)
        if guess is not None and guess.any():
            self._meet(self._tableaux.best(guess))
        prices = np.full(self._coupling, np.nan)
        for _ in range(_MOST_ROUNDS):
            last = prices
            shares, duals = self._model.optimum()
            prices, paid = np.split(-duals, [self._coupling])
            prices /= self._size
            vertices = self._tableaux.best(prices)
            value, share = self._totals(vertices)
            promise = value - share @ prices - paid
            if promise.max() <= (_ENOUGH if np.array_equal(prices, last) else _SETTLED):
                return self._mixed(shares), prices
            self._meet(vertices, promise > _SETTLED)
        raise SolveError("the clients' prices did not settle; please report this with the counts.")

    def _mixed(self, shares: Floats) -> Floats:
        """Values of the variables where every part mixes its vertices by these shares."""
        weights = np.zeros((self._tableaux.columns, len(self._part)))
        first = 0
        for vertices, parts in self._met:
            share = np.zeros(len(self._starts))
            share[parts] = shares[first : first + len(parts)]
            first += len(parts)
            whom = np.flatnonzero(share[self._part] > 0)
            if whom.size:
                mine = vertices.weights(whom, len(weights))
                weights[:, whom] += share[self._part[whom]] * mine
        return np.asarray(weights[self._layout.place, self._layout.client])
