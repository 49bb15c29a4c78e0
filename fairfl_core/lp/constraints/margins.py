"""Rows that hold the gaps down with a margin for chance: limits that hold on unseen people.

Rates are linear in beta, and so is a bound of their error: a mixture's deviation is at most the
mixture of its rules' deviations. With q a rule's counted rate on n people and up, down the
distances to its Clopper-Pearson limits, the rows of client c, rate r, groups a and b are

    sum beta_a q_a - sum beta_b q_b + |(sum beta_a up_a, sum beta_b down_b)| <= eps_c

and the same with a and b exchanged (MOVER), where the length of the pair is the largest of
cos t x + sin t y over directions t (nine of them fall short by half a percent, which is made up
for). The limits are at Scheffe's z, sqrt of the chi-square quantile with two degrees of freedom:
both groups' rates at once. A constant answer has no error, so the program stays feasible. A rate
nobody is behind is taken as 1/2 +- 1/2 for every rule but a constant one; that is a range, not an
error, and is added whatever the direction: such a cell is driven to constants, never left out.

A group's overall rate is sum over c of w_c r_c, with r_c the rate of client c and w_c the client's
share of the people behind it. Both are counted, so both may be wrong:

    measured    z |(s_a, s_b)|, s_a >= |standard errors of the cells, and of the weights|: second-order
                cones. Every cell adapts to its own people, and these gains do not average out over
                clients: the weights' part has Scheffe's constant of as many dimensions as there are
                clients, and what the rates are too high by is found by cross-validation of the whole
                fit and taken off them (`lp.optimism`).
    proved      the widths of the rates, added, each a bound that holds for every rule at once; and
                for the weights their total variation times the range of the true rates, both ends of
                which are auxiliary columns. The shares of K clients among n people differ from the
                true ones by more than sqrt((K ln 2 + ln(1 / tail)) / 2n) in total variation with a
                chance of at most `tail` (Weissman and others, 2003).
"""

from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.errors import InputError
from fairfl_core.fairness.intervals import clopper_pearson, normal_quantile
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import (
    NO_EPSILON,
    OVERALL,
    Cone,
    Constraints,
    Entries,
    assembled,
)
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.rules import RuleTable

__all__ = ["MarginConstraints", "Widths", "binomial_widths", "proved_widths"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_FEW = 5  # people behind a pooled rate below which it is not counted
_ANGLES = np.linspace(0, np.pi / 2, 9)
_UNDERSHOOT = 1.005  # nine directions of a quarter circle fall short of its radius by so much


@dataclass(frozen=True, eq=False)
class Widths:
    """Rates of columns and how far the truth may lie from them, each (columns, rates).

    `up` and `down` are how much larger and smaller the true rate may be; `is_range` is true where
    nobody is behind a rate, so that it may be anything: a range, not an error that averages out.
    `error` is a standard error beside them, of rates that are pooled.
    """

    rate: Floats
    up: Floats
    down: Floats
    is_range: NDArray[np.bool_]
    error: Floats | float = 0.0


def _rates(
    notion: Notion, columns: RuleTable, people: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Counted rate of every column, people behind it, and whether it depends on people."""
    n = people[columns.client, columns.group]
    share = columns.known[:, notion.asked.argmax(axis=1)]  # a rate asks for one answer
    uncertain = np.isnan(share)
    counted = np.divide(
        notion.answered(columns.confusion), n, out=np.full(n.shape, 0.5), where=n > 0
    )
    return np.where(uncertain, counted, share), n, uncertain


def binomial_widths(notion: Notion, columns: RuleTable, people: Floats, z: float) -> Widths:
    """Exact binomial limits of every column, as sure as a normal's at z; 1/2 +- 1/2 without people."""
    rate, n, uncertain = _rates(notion, columns, people)
    low, high = clopper_pearson(rate, n, z)
    empty = n <= 0
    up = np.where(empty, 0.5, high - rate)
    down = np.where(empty, 0.5, rate - low)
    return Widths(
        rate,
        np.where(uncertain, up, 0.0),
        np.where(uncertain, down, 0.0),
        uncertain & empty,
    )


def pooled_widths(
    notion: Notion,
    columns: RuleTable,
    people: Floats,
    z: float,
    optimism: Floats,
) -> Widths:
    """Rates with their standard errors around Wilson's middle, and what does not average out.

    `optimism` (groups, rates) is how far fitted rates may lie above the true ones, in units of
    1 / (2 sqrt n); see `lp.optimism`. With fewer than five people behind it a rate may be
    anything: 1/2 +- 1/2.
    """
    rate, n, uncertain = _rates(notion, columns, people)
    there = np.maximum(n, 1e-9)
    middle = (n * rate + z**2 / 2) / (n + z**2)
    few = uncertain & (n < _FEW)
    counted = uncertain & ~few
    error = np.where(counted, np.sqrt(middle * (1 - middle) / there), 0.0)
    too_high = np.where(counted, optimism[columns.group] / (2 * np.sqrt(there)), 0.0)
    half = np.where(few, 0.5, 0.0)
    return Widths(np.where(few, 0.5, rate), half, half + too_high, few, error)


def proved_widths(
    notion: Notion, columns: RuleTable, people: Floats, tail: float, *, cuts: bool
) -> Widths:
    """Widths that hold for every rule of a cell at once, `tail` to each side.

    Of rules of answers as many shares stand behind a rate as a cell has blocks; of cuts of a score
    there is one width for all (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant).
    """
    if not cuts:
        shares = columns.blocks // (people.shape[0] * people.shape[1])
        return binomial_widths(notion, columns, people, normal_quantile(1 - tail / shares))
    rate, n, uncertain = _rates(notion, columns, people)
    width = np.where(n > 0, np.sqrt(np.log(1 / tail) / (2 * np.maximum(n, 1e-9))), 0.5)
    width = np.where(uncertain, np.minimum(width, 1.0), 0.0)
    return Widths(rate, width, width, uncertain & (n <= 0))


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginConstraints(Constraints):
    """Gap rows with a margin: overall for every pair of groups, rate and sign, then inside clients.

    Below them are the rows that define the ends of a proved overall margin. Auxiliary columns are,
    for every group and rate, the length of its errors and its mean rate (measured), or top and
    bottom of its rates (proved); then, measured, the length of every pair's errors.

    Attributes
    ----------
    notion : Notion
    guarantee : Guarantee
    people : ndarray, shape (clients, groups, rates)
        Those behind each rate.
    cuts : bool
        Whether rules are cuts of a score (any number of them) rather than rules of answers.
    inside : bool
        Whether there are rows inside clients.
    optimism : ndarray, shape (groups, rates)
        What fitted overall rates are too high by: see `pooled_widths`.
    """

    notion: Notion
    guarantee: Guarantee
    people: Floats
    cuts: bool
    inside: bool
    optimism: Floats

    @classmethod
    def of(
        cls,
        notion: Notion,
        people: Floats,
        guarantee: Guarantee,
        *,
        cuts: bool,
        optimism: Floats | None = None,
        inside: bool = True,
    ) -> "MarginConstraints":
        """Lay the rows out: the overall ones, and those `inside` clients."""
        clients, groups, rates = people.shape
        if cuts and len(notion.labels) > 2:
            raise InputError(
                "with three labels and more no bound holds for every rule of the scores at once; "
                "ask for a confidence in the region simplex or kernel, or for none."
            )
        pairs, measured = groups * (groups - 1) // 2, guarantee.proof == "measured"
        angles = len(_ANGLES) if measured else 1
        overall = np.tile(np.arange(rates).repeat(2), pairs)
        local = np.tile(np.arange(rates).repeat(2 * angles), pairs * inside)
        ends = 0 if measured else 2 * groups * rates * clients
        client = np.concatenate(
            [np.full(len(overall), OVERALL), np.arange(clients).repeat(len(local))]
        )
        scope = np.append(client, np.full(ends, NO_EPSILON))
        has_epsilon = scope != NO_EPSILON
        rows = cls(
            notion=notion,
            guarantee=guarantee,
            people=people,
            cuts=cuts,
            inside=inside,
            optimism=np.zeros((groups, rates)) if optimism is None else optimism,
            scope=scope,
            limits=np.stack([np.full(len(scope), -np.inf), np.zeros(len(scope))]),
            moves=np.stack([0.0 * has_epsilon, 1.0 * has_epsilon]),
            client=np.append(client, np.full(ends, OVERALL)),
            about=np.concatenate([overall, np.tile(local, clients), np.full(ends, rates)]),
            titles=(*map(str, notion.rates), "ends of the rates"),
            auxiliary=sparse.csr_array((len(scope), 0)),
        )
        entries = assembled(rows._margins(), (len(scope), (2 * groups + measured * pairs) * rates))
        return replace(rows, auxiliary=entries)

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """An epsilon of 1 asks for nothing, so nothing is held either."""
        upper = self.asked(eps_global, eps_local)
        return self.limits[0], np.where(upper >= 1, np.inf, upper)

    # ---------------------------------------------------------------- how wide

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.people.shape[1]), 2))

    @property
    def _is_measured(self) -> bool:
        return self.guarantee.proof == "measured"

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
        return float(np.sqrt(-2 * np.log(self.error)))

    def widths(self, columns: RuleTable, *, cells: int = 1) -> Widths:
        """Rates and widths of columns; `cells` is over how many cells a proof must hold."""
        how = (self.notion, columns, self.people)
        if self._is_measured:
            return binomial_widths(*how, self.z)
        return proved_widths(*how, self.error / (4 * cells), cuts=self.cuts)

    def _overall_widths(self, columns: RuleTable) -> Widths:
        if self._is_measured:
            how = (self.z, self.optimism)
            return pooled_widths(self.notion, columns, self.people, *how)
        # Half of a proof's chance of error is the weights'.
        return self.widths(columns, cells=2 * len(self.people))

    # ---------------------------------------------------------------- rows

    def matrix(self, rules: RuleTable) -> sparse.csr_array:
        """Overall rows, then the local ones, then what defines the ends of overall rates."""
        overall, parts = self._overall_widths(rules), list[Entries]()
        if self.inside:
            first = 2 * len(self._pairs) * self.people.shape[2]
            lean = _UNDERSHOOT * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
            lean = lean if self._is_measured else np.ones((2, 1))
            row = first + rules.client * first * lean.shape[1]
            parts = self._gaps(rules, self.widths(rules), lean, row)
        weight = self._weight[rules.client, rules.group]
        for row, rule, value in self._gaps(rules, overall, np.ones((2, 1)), 0 * rules.client):
            parts.append((row, rule, value * weight[rule, self.about[row]]))
        if not self._is_measured:
            parts.append(self._ends(rules, overall))
        return assembled(parts, (len(self), len(rules)))

    def _gaps(
        self, columns: RuleTable, widths: Widths, lean: Floats, first: Ints
    ) -> list[Entries]:
        """Every column's part in the gaps of its pairs, to either side, at worst.

        `lean` (2, directions) is how much of the first and of the second group's width counts,
        `first` the first row of each column's scope.
        """
        parts = []
        each = 2 * self.people.shape[2] * lean.shape[1]
        for number, pair in enumerate(self._pairs):
            for group, turn, sides in zip(pair, lean, ((0, 1), (1, 0)), strict=True):
                mine = np.flatnonzero(columns.group == group)
                share = np.where(widths.is_range[mine][..., None], 1.0, turn)
                rate, up, down = (x[mine, :, None] for x in (widths.rate, widths.up, widths.down))
                toward = (rate + up * share, -rate + down * share)
                value = np.stack([toward[side] for side in sides], axis=2)
                row = first[mine, None] + np.arange(number * each, (number + 1) * each)
                parts.append((row.ravel(), mine.repeat(each), value.ravel()))
        return parts

    @property
    def _weight(self) -> Floats:
        """The share of each client among the people behind an overall rate, like `people`."""
        total = self.people.sum(axis=0)
        even = np.full(self.people.shape, 1 / len(self.people))  # where nobody is behind it at all
        return np.divide(self.people, total, out=even, where=total > 0)

    def _ends(self, columns: RuleTable, widths: Widths) -> Entries:
        """Let r + up <= top and bottom <= r - down in every cell."""
        clients, groups, rates = self.people.shape
        cell = (columns.group[:, None] * rates + np.arange(rates)) * 2
        first = len(self) - 2 * groups * rates * clients
        row = [first + (cell + side) * clients + columns.client[:, None] for side in (0, 1)]
        value = [widths.rate + widths.up, widths.down - widths.rate]
        every = np.tile(np.arange(len(columns)).repeat(rates), 2)
        return np.stack(row).ravel(), every, np.stack(value).ravel()

    def _margins(self) -> list[Entries]:
        """The overall margins in both signs of their gaps; ends of rates in their own rows."""
        clients, groups, rates = self.people.shape
        rate = np.arange(rates)
        gap = np.arange(2 * len(self._pairs) * rates)
        if self._is_measured:
            return [(gap, 2 * groups * rates + gap // 2, np.full(len(gap), self.z))]
        total = np.maximum(self.people.sum(axis=0), 1e-9)
        spread = np.sqrt((clients * np.log(2) - np.log(self.error / 4)) / (2 * total))
        parts = []
        for number, pair in enumerate(self._pairs):
            for group in pair:
                for sign in (0, 1):
                    row = 2 * (number * rates + rate) + sign
                    top, moved = 2 * (group * rates + rate), np.minimum(spread[group], 1.0)
                    parts += [(row, top, moved), (row, top + 1, -moved)]
        ends = np.arange(2 * groups * rates)
        own = len(self) - len(ends) * clients + np.arange(len(ends) * clients)
        side = np.where(ends % 2, 1.0, -1.0)
        return [*parts, (own, ends.repeat(clients), side.repeat(clients))]

    def cones(self, rules: RuleTable) -> list[Cone]:
        """Each group's errors, then those of each pair of groups."""
        if not self._is_measured:
            return []
        _, groups, rates = self.people.shape
        error, first = self._overall_widths(rules), 2 * groups * rates
        found = [self._group_cone(rules, error, *one) for one in np.ndindex(groups, rates)]
        for (number, pair), rate in product(enumerate(self._pairs), range(rates)):
            of_pair = np.array([first + number * rates, *(2 * g * rates + rate for g in pair)])
            bounds = assembled(
                [(np.arange(3), of_pair + rate, np.ones(3))], (3, self.auxiliary.shape[1])
            )
            found.append((bounds, sparse.csr_array((3, len(rules)))))
        return found

    def _group_cone(self, columns: RuleTable, widths: Widths, group: int, rate: int) -> Cone:
        """Rows (s, v): v = the error of each cell, then what its weight's may be, times r - m."""
        people, mine = self.people[:, group, rate], columns.group == group
        clients, total = len(people), people.sum()
        z2 = _scheffe_of_weights(clients, self.z)
        share = (people + z2 / clients) / (total + z2)  # Wilson's middle of the weights
        root = np.sqrt(z2 / self.z**2 * share / (total + z2))
        place, client = np.flatnonzero(mine), columns.client[mine]
        length, every = 2 * (group * self.people.shape[2] + rate), np.arange(clients)
        error = self._weight[client, group, rate] * np.asarray(widths.error)[mine, rate]
        own = [(1 + client, place, error)]
        own += [(1 + clients + client, place, root[client] * widths.rate[mine, rate])]
        bound = [(np.zeros(1, int), np.array([length]), np.ones(1))]
        bound += [(1 + clients + every, np.full(clients, length + 1), -root)]
        rows = 1 + 2 * clients
        return (
            assembled(bound, (rows, self.auxiliary.shape[1])),
            assembled(own, (rows, len(columns))),
        )


def _scheffe_of_weights(clients: int, z: float) -> float:
    """Scheffe's constant of the weights, squared: every client's answers may adapt to its own."""
    from scipy.special import chdtri

    # The chance of error: a chi-square variable of two dimensions exceeds z^2.
    return float(chdtri(max(clients - 1, 2), np.exp(-(z**2) / 2)))
