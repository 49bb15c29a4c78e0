"""Rows that hold the gaps down with a margin for chance: limits that hold on unseen people.

Rates are linear in beta, and so is a bound of their error: a mixture's deviation is at most the
mixture of its rules' deviations. With q a rule's counted rate on n people and s its standard
error, the rows of client c, rate r, groups a and b are, for both signs,

    +-(sum beta_a q_a - sum beta_b q_b) + z |(sum beta_a s_a, sum beta_b s_b)| <= eps_c

where the length of the pair is the largest of cos t x + sin t y over directions t (nine of them
fall short by half a percent, which z makes up for). z is Scheffe's, sqrt of the chi-square
quantile with two degrees of freedom: both groups' rates at once. A constant answer has no error,
so the program stays feasible. A rate nobody is behind is taken as 1/2 +- 1/2 for every rule but a
constant one: such a cell is driven to constants, never left out.

The overall rate of a group pools its clients with weights w, its error has the variance
sum over c of w^2 s^2: the same cone with one dimension a cell. Its directions are found as they
are needed (`Program` adds a row where the last optimum breaks the cone).

``proved``: widths are added instead, each a bound that holds for every rule at once.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.solving.columns import Columns
from fairfl_core.solving.gap_constraints import Constraints, Cut, Entries, Sharpener
from fairfl_core.solving.guarantee import Guarantee

__all__ = ["MarginConstraints", "Widths"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ANGLES = np.linspace(0, np.pi / 2, 9)
_UNDERSHOOT = 1.005  # nine directions of a quarter circle fall short of its radius by so much


_CONE = 1e-8  # how much the overall cone may be broken


@dataclass(frozen=True, eq=False)
class Widths:
    """Rates of columns and how far the truth may lie from them, each (columns, rates).

    `up` and `down` are how much larger and smaller the true rate may be.
    """

    rate: Floats
    up: Floats
    down: Floats


def _rates(
    notion: Notion, columns: Columns, people: Floats, times: float
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Counted rate of every column, people behind it, and whether it depends on people."""
    n = people[columns.client, columns.group]
    share = columns.known[:, notion.asked.argmax(axis=1)]  # a rate asks for one answer
    uncertain = np.isnan(share)
    counted = np.divide(
        notion.answered(columns.confusion), n, out=np.full(n.shape, 0.5), where=n > 0
    )
    return np.where(uncertain, counted, share), n * times, uncertain


def scheffe(
    notion: Notion, columns: Columns, people: Floats, z: float, times: float = 1.0
) -> Widths:
    """Standard errors around Wilson's middle; 1/2 where nobody is behind a rate."""
    rate, n, uncertain = _rates(notion, columns, people, times)
    middle = (n * rate + z**2 / 2) / (n + z**2)
    error = np.where(n > 0, np.sqrt(middle * (1 - middle) / (n + z**2)), 0.5 / z)
    error = np.where(uncertain, error, 0.0)
    return Widths(rate, error, error)


def clopper_pearson(
    notion: Notion, columns: Columns, people: Floats, tail: float, times: float = 1.0
) -> Widths:
    """Exact binomial limits of every rule of answers, `tail` on either side."""
    from scipy.special import betaincinv

    rate, n, uncertain = _rates(notion, columns, people, times)
    hits = rate * n
    high = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1e-9), 1 - tail), 1.0)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), n - hits + 1, tail), 0.0)
    empty = n <= 0
    up = np.where(empty, 0.5, high - rate)
    down = np.where(empty, 0.5, rate - low)
    return Widths(rate, np.where(uncertain, up, 0.0), np.where(uncertain, down, 0.0))


def dvoretzky(
    notion: Notion, columns: Columns, people: Floats, tail: float, times: float = 1.0
) -> Widths:
    """One width for every cut of a score at once, `2 tail` in all (Massart's constant)."""
    rate, n, uncertain = _rates(notion, columns, people, times)
    width = np.where(n > 0, np.sqrt(np.log(1 / tail) / (2 * np.maximum(n, 1e-9))), 0.5)
    width = np.where(uncertain, np.minimum(width, 1.0), 0.0)
    return Widths(rate, width, width)


@dataclass(frozen=True, eq=False)
class MarginConstraints(Constraints):
    """Gap rows with a margin; local ones for every client, pair of groups, rate and sign.

    Attributes
    ----------
    notion : Notion
    guarantee : Guarantee
    people : ndarray, shape (clients, groups, rates)
        Those behind each rate.
    cuts : bool
        Whether rules are cuts of a score (any number of them) rather than rules of answers.
    times : float
        As if each client had so many times its people, its rates being the same: to see what
        more data would buy. 1 for a promise.
    scope, rate, level
        See `Constraints`.
    """

    notion: Notion
    guarantee: Guarantee
    people: Floats
    cuts: bool
    scope: Ints
    rate: Ints
    level: Ints
    times: float = 1.0

    @classmethod
    def of(
        cls,
        notion: Notion,
        people: Floats,
        guarantee: Guarantee,
        *,
        cuts: bool,
        times: float = 1.0,
    ) -> "MarginConstraints":
        """Lay the rows out: overall first, then client by client."""
        clients, groups, rates = people.shape
        if cuts and len(notion.labels) > 2:
            raise InputError(
                "with three labels and more no bound holds for every rule of the scores at once; "
                "ask for a confidence in the region simplex or kernel, or for none."
            )
        pairs = groups * (groups - 1) // 2
        overall = np.tile(np.arange(rates).repeat(2), pairs)
        angles = len(_ANGLES) if guarantee.proof == "measured" else 1
        local = np.tile(np.arange(rates).repeat(2 * angles), pairs)
        scope = np.concatenate([np.full(len(overall), -1), np.arange(clients).repeat(len(local))])
        rate = np.concatenate([overall, np.tile(local, clients)])
        level = np.zeros(0, np.int64)
        return cls(notion, guarantee, people, cuts, scope, rate, level, times)

    # ---------------------------------------------------------------- how wide

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.people.shape[1]), 2))

    @property
    def error(self) -> float:
        """alpha': the chance of error that one compared rate of one pair may use up."""
        clients, _, rates = self.people.shape
        compared = rates * max(len(self._pairs), 1)
        if self.guarantee.scope == "all":
            compared *= clients + 1  # and the overall limit
        return (1 - self.guarantee.confidence) / compared

    @property
    def z(self) -> float:
        """Scheffe's constant of two dimensions."""
        # The chi-square quantile with two degrees of freedom is -2 ln alpha.
        return float(np.sqrt(-2 * np.log(self.error))) * _UNDERSHOOT

    def widths(self, columns: Columns, *, cells: int = 1) -> Widths:
        """Rates and widths of columns; `cells` is over how many cells a proof must hold."""
        if self.guarantee.proof == "measured":
            return scheffe(self.notion, columns, self.people, self.z, self.times)
        tail = self.error / (4 * cells)
        if self.cuts:
            return dvoretzky(self.notion, columns, self.people, tail, self.times)
        # Rules of answers: in the kernel as many shares as labels stand behind a rate.
        several = columns.blocks > self.people.shape[0] * self.people.shape[1]
        shares = len(self.notion.labels) if several else 1
        return clopper_pearson(self.notion, columns, self.people, tail / shares, self.times)

    # ---------------------------------------------------------------- rows

    def entries(self, columns: Columns) -> Entries:
        """Local rows whole; overall rows with their first direction."""
        parts = [self._overall(columns), self._local(columns)]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def _local(self, columns: Columns) -> Entries:
        widths = self.widths(columns)
        rates, pairs = self.people.shape[2], self._pairs
        measured = self.guarantee.proof == "measured"
        angles = len(_ANGLES) if measured else 1
        first = 2 * rates * len(pairs)
        each = first * angles
        rows, places, values = [], [], []
        for number, (one, other) in enumerate(pairs):
            for group, sign, turn in ((one, 1.0, np.cos), (other, -1.0, np.sin)):
                mine = np.flatnonzero(columns.group == group)
                lean = self.z * turn(_ANGLES) if measured else np.ones(1)
                rate, up, down = (x[mine] for x in (widths.rate, widths.up, widths.down))
                plus = sign * rate[..., None] + (up if sign > 0 else down)[..., None] * lean
                minus = -sign * rate[..., None] + (down if sign > 0 else up)[..., None] * lean
                value = np.stack([plus, minus], axis=2)  # (columns, rates, signs, angles)
                row = (
                    first
                    + columns.client[mine, None] * each
                    + np.arange(number * each // len(pairs), (number + 1) * each // len(pairs))
                )
                rows.append(row.ravel())
                places.append(mine.repeat(each // len(pairs)))
                values.append(value.reshape(len(mine), -1).ravel())
        return np.concatenate(rows), np.concatenate(places), np.concatenate(values)

    def pooled(self, columns: Columns) -> Widths:
        """Each column's part in the overall rate of its group, and in how wrong that may be."""
        widths = self.widths(columns, cells=self.people.shape[0])
        total = self.people.sum(axis=0)
        weight = np.divide(self.people, total, out=np.zeros_like(self.people), where=total > 0)
        w = weight[columns.client, columns.group]
        return Widths(w * widths.rate, w * widths.up, w * widths.down)

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which overall rows exist: both groups have people behind the rate."""
        total = self.people.sum(axis=0)
        return np.concatenate(
            [np.repeat((total[a] > 0) & (total[b] > 0), 2) for a, b in self._pairs]
        )

    def _overall(self, columns: Columns) -> Entries:
        """The overall gap with no margin (`measured`: cuts of the cone follow), or the proof's."""
        pooled = self.pooled(columns)
        proved = self.guarantee.proof == "proved"
        rates = self.people.shape[2]
        rows, places, values = [], [], []
        for number, (one, other) in enumerate(self._pairs):
            for group, sign in ((one, 1.0), (other, -1.0)):
                mine = np.flatnonzero(columns.group == group)
                rate, up, down = (x[mine] for x in (pooled.rate, pooled.up, pooled.down))
                plus = sign * rate + proved * (up if sign > 0 else down)
                minus = -sign * rate + proved * (down if sign > 0 else up)
                value = np.stack([plus, minus], axis=2)  # (columns, rates, signs)
                row = np.arange(number * 2 * rates, (number + 1) * 2 * rates)
                rows.append(np.tile(row, len(mine)))
                places.append(mine.repeat(2 * rates))
                values.append(value.reshape(len(mine), -1).ravel())
        row, place, value = (np.concatenate(x) for x in (rows, places, values))
        there = self.compared[row]
        return row[there], place[there], value[there]

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """One-sided rows; an epsilon of 1 asks for nothing, so nothing is held either."""
        upper = np.append(eps_local, eps_global)[self.scope]
        return np.full(len(upper), -np.inf), np.where(upper >= 1, np.inf, upper)

    def prices(self, duals: Floats) -> Floats:
        """Every row has an upper limit alone."""
        return np.maximum(-duals, 0.0)

    def sharpener(self, columns: Columns) -> Sharpener | None:
        """Directions of the overall cone: the one of u = v / |v|, v the errors of all cells."""
        if self.guarantee.proof == "proved":
            return None
        pooled = self.pooled(columns)

        def broken(beta: Floats, eps_global: float) -> list[Cut]:
            if eps_global >= 1:
                return []
            return [
                cut
                for number, pair in enumerate(self._pairs)
                for rate in range(self.people.shape[2])
                for cut in self._directions(number, pair, rate, pooled, columns, beta, eps_global)
            ]

        return broken

    def _directions(
        self,
        number: int,
        pair: tuple[int, int],
        rate: int,
        pooled: Widths,
        columns: Columns,
        beta: Floats,
        eps_global: float,
    ) -> list[Cut]:
        """The rows, of two signs, that a pair of groups breaks in one rate."""
        row = (number * self.people.shape[2] + rate) * 2
        if not self.compared[row]:
            return []
        clients = self.people.shape[0]
        mine = np.flatnonzero(np.isin(columns.group, pair))
        first = columns.group[mine] == pair[0]
        cell = columns.client[mine] + clients * ~first
        error = pooled.up[mine, rate]
        vector = np.bincount(cell, beta[mine] * error, minlength=2 * clients)
        length = float(np.sqrt((vector**2).sum()))
        if length == 0:
            return []
        part = np.where(first, 1.0, -1.0) * pooled.rate[mine, rate]
        gap = float((beta[mine] * part).sum())
        lean = self.z * (vector / length)[cell] * error
        sides = ((row, 1.0), (row + 1, -1.0))
        # A cut is drawn at z, which makes up for directions that are missing; what must hold does
        # not: so a few of them do.
        margin = self.z / _UNDERSHOOT * length
        excess = [toward * gap + margin - eps_global for _, toward in sides]
        return [
            (place, mine, toward * part + lean, much)
            for (place, toward), much in zip(sides, excess, strict=True)
            if much > _CONE
        ]
