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

The overall rate of a group pools its clients' rates r with weights w, which are counted as well:
its error has the variance sum over c of w^2 s^2, plus that of the weights, sum over c of
w (r - mean r)^2 / n: a second-order cone with two dimensions a cell (`overall_margin`). Every cell
adapts to its own people, and these gains do not average out over clients. Where a label is frequent
by chance a client has it more often: so the weights' part has Scheffe's constant of as many
dimensions as there are clients. What the rates are too high by is found by cross-validation of the
whole fit, and they are corrected by it (`solving.optimism`).

``proved``: widths are added instead, each a bound that holds for every rule at once.
"""

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.intervals import normal_quantile
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import (
    NO_EPSILON,
    OVERALL,
    Constraints,
    Entries,
    joined,
)
from fairfl_core.lp.constraints.gaps import scope_name
from fairfl_core.lp.constraints.overall_margin import Cone, OverallMargin, Pooled, Range
from fairfl_core.lp.constraints.widths import (
    Widths,
    binomial_widths,
    dvoretzky,
    pooled_widths,
)
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.rule_table import RuleTable

__all__ = ["MarginConstraints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ANGLES = np.linspace(0, np.pi / 2, 9)
_UNDERSHOOT = 1.005  # nine directions of a quarter circle fall short of its radius by so much


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
    optimism : ndarray, shape (groups, rates)
        What fitted overall rates are too high by: see `pooled_widths`.
    client, rate : ndarray, shape (limits,)
        Client (or `OVERALL`) and rate of the rows with an epsilon; rows that define the overall
        margin follow them.
    """

    notion: Notion
    guarantee: Guarantee
    people: Floats
    cuts: bool
    client: Ints
    rate: Ints
    optimism: Floats
    times: float = 1.0

    @classmethod
    def of(
        cls,
        notion: Notion,
        people: Floats,
        guarantee: Guarantee,
        *,
        cuts: bool,
        optimism: Floats | None = None,
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
        scope = np.concatenate(
            [np.full(len(overall), OVERALL), np.arange(clients).repeat(len(local))]
        )
        rate = np.concatenate([overall, np.tile(local, clients)])
        none = np.zeros((groups, rates))
        return cls(
            notion,
            guarantee,
            people,
            cuts,
            scope,
            rate,
            none if optimism is None else optimism,
            times,
        )

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
        return float(np.sqrt(-2 * np.log(self.error)))

    def widths(self, columns: RuleTable, *, cells: int = 1) -> Widths:
        """Rates and widths of columns; `cells` is over how many cells a proof must hold."""
        how = (self.notion, columns, self.people)
        if self.guarantee.proof == "measured":
            return binomial_widths(*how, self.z, self.times)
        tail = self.error / (4 * cells)
        if self.cuts:
            return dvoretzky(*how, tail, self.times)
        # Rules of answers: as many shares stand behind a rate as a cell has blocks.
        shares = columns.blocks // (self.people.shape[0] * self.people.shape[1])
        return binomial_widths(*how, normal_quantile(1 - tail / shares), self.times)

    # ---------------------------------------------------------------- rows

    def entries(self, columns: RuleTable) -> Entries:
        """Overall rows, then the local ones, then what defines the overall margin."""
        return joined(
            [
                self._local(columns),
                *(part.entries() for part in self._overall(columns)),
            ]
        )

    def auxiliary_entries(self, columns: RuleTable) -> Entries:
        """The overall margins stand in the overall rows."""
        return joined([part.auxiliary_entries() for part in self._overall(columns)])

    @property
    def scope(self) -> Ints:  # type: ignore[override]
        """Whose epsilon limits a row; none for what defines the overall margin."""
        return np.append(self.client, np.full(self._definitions, NO_EPSILON))

    @property
    def _definitions(self) -> int:
        return self._margins * self._kind.definitions(self.people.shape[0])

    @property
    def auxiliary(self) -> int:  # type: ignore[override]
        """Those of every overall margin."""
        return self._margins * self._kind.auxiliary(self.people.shape[0])

    @property
    def _kind(self) -> type[OverallMargin]:
        return Cone if self.guarantee.proof == "measured" else Range

    @property
    def _margins(self) -> int:
        return len(self._pairs) * self.people.shape[2]

    def _overall(self, columns: RuleTable) -> list[OverallMargin]:
        """One margin a pair of groups and rate."""
        clients, _, rates = self.people.shape
        kind, people = self._kind, self.people * self.times
        if kind is Cone:
            how = (self.z, self.optimism, self.times)
            widths, constant = pooled_widths(self.notion, columns, self.people, *how), self.z
        else:  # half of a proof's chance of error is the weights'
            widths, constant = self.widths(columns, cells=2 * clients), self.error / 4
        return [
            kind(
                Pooled.of(columns, widths, people, pair, rate),
                constant,
                row=2 * number,
                definition=len(self.client) + number * kind.definitions(clients),
                first=number * kind.auxiliary(clients),
            )
            for number, (pair, rate) in enumerate(product(self._pairs, range(rates)))
        ]

    def _local(self, columns: RuleTable) -> Entries:
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
                lean = _UNDERSHOOT * turn(_ANGLES) if measured else np.ones(1)
                lean = np.where(widths.is_range[mine][..., None], 1.0, lean)
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

    def bounds(self, eps_global: float, eps_local: Floats) -> tuple[Floats, Floats]:
        """One-sided rows; an epsilon of 1 asks for nothing, so nothing is held either."""
        upper = np.append(eps_local, eps_global)[self.client]
        upper = np.append(np.where(upper >= 1, np.inf, upper), np.zeros(self._definitions))
        return np.full(len(upper), -np.inf), upper

    def prices(self, duals: Floats) -> Floats:
        """Every limit is an upper one."""
        return np.where(self.scope == NO_EPSILON, 0.0, np.maximum(-duals, 0.0))

    def names(self, counts: ClientCounts) -> list[str]:
        """Scope and rate."""
        named = [
            f"{scope_name(client, counts)}: {self.notion.rates[rate]}"
            for client, rate in zip(self.client, self.rate, strict=True)
        ]
        return named + ["the overall margin"] * self._definitions

    def cones(self, columns: RuleTable) -> list[Entries]:
        """Those of the overall margins."""
        if not self._kind.is_cone:
            return []
        return [part.cone() for part in self._overall(columns)]
