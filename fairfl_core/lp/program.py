"""The linear program: the most accurate lottery whose gaps stay within the epsilons."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.fairness.notions import Notion, gaps, not_assessable
from fairfl_core.lp.constraints.asked import constraints_for
from fairfl_core.lp.constraints.base import NO_EPSILON, Constraints
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.limits import EpsLocal, check_epsilon, eps_per_client
from fairfl_core.lp.map_figures import MapFigures
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.regions import region_kind
from fairfl_core.lp.rule_table import RuleTable
from fairfl_core.lp.sharing import Sharing
from fairfl_core.lp.solution import Solution
from fairfl_core.lp.solvers import Solver, solver_for
from fairfl_core.lp.utility import Achieved

if TYPE_CHECKING:
    from fairfl_core.lp.infeasible import Finder, Infeasible
    from fairfl_core.lp.optimism import Sample

__all__ = ["Program", "tie_break", "tie_order"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_GRAIN = 1.5e-8
_NEEDLESS = 1e-8  # in the objective's unit


class Program(ABC):
    """Maximise a utility subject to local and global gaps; built once, solved for any limits.

    ::

        maximise   sum over columns p of  beta_p U . confusion_p / n      (U = 1: accuracy)
        subject to |global rate gaps| <= eps_global
                   |local rate gaps of client c| <= eps_local[c]
                   whatever else the policy asks (floors, ratios, groupings)
                   sum of beta over a block = 1,  beta >= 0

    What the columns are is the region's matter. Only right-hand sides depend on the epsilons.
    Every solve starts from the same point, so that its answer does not depend on earlier ones.
    `solve` may be called from several threads: a lock guards the one HiGHS model.

    Attributes
    ----------
    counts : ClientCounts
        What the program sees: counted, or estimated by its `rates`.
    people : ClientCounts or ScoredData
        Whom it was fitted on, with their labels: what was reached is judged on them.
    notion : Notion
    region, rates : str
    guarantee : Guarantee or None
    policy : Policy
        What is asked beyond the epsilons.
    needs_scores : bool
        Whether what it finds looks at scores.
    """

    needs_scores = False

    def __init__(
        self,
        counts: ClientCounts,
        notion: str,
        region: str,
        *,
        people: ClientCounts | ScoredData | None = None,
        rates: str = "labels",
        guarantee: Guarantee | None = None,
        policy: Policy = Policy(),
    ) -> None:
        self.counts = counts
        self.people = counts if people is None else people
        self.notion = Notion.of(notion, counts.labels, counts.favourable)
        self.region, self.rates = region, rates
        self.guarantee, self.policy = guarantee, policy
        refusal = region_kind(region).refusal(self.notion)
        if refusal:
            raise InputError(refusal)
        if not counts.n:
            raise InputError(
                "the counts hold nobody (noise took them all); use a larger privacy epsilon."
            )
        if guarantee is not None and (rates != "labels" or counts.noisy):
            raise InputError(
                "a confidence can be had for counted labels only, not for rates that are "
                "estimated, shrunk or noised; choose --rates labels and counts without noise."
            )
        policy.check(counts)
        if guarantee is not None and (policy.has_ratios or policy.limits):
            raise InputError(
                "a confidence can be had for gaps between the groups as they are and for floors, "
                "not for ratios or other groupings; ask for one of the two."
            )
        self._behind = self.notion.people(counts.n_label)  # (clients, groups, rates)
        # The objective is in units of a mean cell, so that HiGHS's tolerances mean the same
        # for two clients and for two thousand.
        self._unit = counts.n / (len(counts.clients) * len(counts.groups))
        self._not_assessable = not_assessable(self.notion, counts)
        self._gain = policy.utility.of(counts)
        self._scale = float(np.abs(self._gain).max())
        self._optimism: Floats | None = None  # measured where it is first needed
        self._rows = self._constraints()
        self._names = self._rows.names(counts)
        self._lock = threading.Lock()
        self._measuring = threading.Lock()

    def _constraints(self, times: float = 1.0, *, soft: bool = False) -> Constraints:
        """The gaps' rows, and below them what the policy asks."""
        return constraints_for(
            self.counts,
            self.notion,
            self.guarantee,
            self.policy,
            cuts=self.needs_scores,
            optimism=self._optimism,
            times=times,
            soft=soft,
        )

    def _correct_rates(self, eps_global: float) -> None:
        """Measure the optimism of overall rates, once, where an overall limit is to hold."""
        if self.guarantee is None or self.guarantee.proof != "measured" or eps_global >= 1:
            return
        with self._measuring:
            if self._optimism is None:
                from fairfl_core.lp.optimism import measure_optimism

                self.charge(measure_optimism(self))

    @property
    def sample(self) -> "Sample":
        """The people it was fitted on, as `fitted_on` and `expected_counts` take others."""
        return self.people if self.needs_scores else self.counts

    def fitted_on(self, people: "Sample") -> "Program":
        """Build the same program for other people, without floors."""
        assert isinstance(people, ClientCounts | ScoredData)
        policy = replace(self.policy, floors=())
        kind = region_kind(self.region)
        return kind.program(people, self.notion.name, self.rates, self.guarantee, policy)

    def charge(self, optimism: Floats) -> None:
        """Correct overall rates by so much of what they may be too high by, and rebuild."""
        self._optimism = optimism
        self._rows = self._constraints()
        self._rebuild()

    @abstractmethod
    def expected_counts(self, solution: Solution, people: "Sample") -> Floats:
        """Expected people by client, group, label and answer under its solution."""

    def asking(self, policy: Policy) -> Self:
        """The same program with another policy."""
        policy.check(self.counts)
        other = copy(self)
        other.policy = policy
        other._gain = policy.utility.of(self.counts)
        other._scale = float(np.abs(other._gain).max())
        other._optimism = None
        other._rows = other._constraints()
        other._names = other._rows.names(self.counts)
        other._lock, other._measuring = threading.Lock(), threading.Lock()
        other._rebuild()
        return other

    def as_if(self, times: float) -> Self:
        """The same program as if each client had so many times its people, at the same rates.

        Shows what more data would buy: margins shrink as people grow. No promise follows from it.
        """
        self._correct_rates(0.0)
        other = copy(self)
        other._rows = self._constraints(times)
        other._lock, other._measuring = threading.Lock(), threading.Lock()
        other._rebuild()
        return other

    def _rebuild(self) -> None:
        """Make the model anew after the rows changed."""
        raise NotImplementedError

    # ---------------------------------------------------------------- the model

    def _worth(self, columns: RuleTable) -> Floats:
        """What the utility gives, and a grain for every kept answer, in the objective's unit."""
        gained = np.einsum("pyk,yk->p", columns.confusion, self._gain / self._scale)
        worth = (gained + self._grain(columns)) / self._unit
        if (
            self.guarantee
        ):  # constants are surer than the model's answer, even where nobody differs
            return np.asarray(worth)
        # So that a block that nobody falls into has one optimum, too, and a dual.
        return np.asarray(worth + _NEEDLESS * (columns.empty - 1.0 * columns.needless))

    def _grain(self, columns: RuleTable) -> Floats:
        grain = tie_break(len(self.counts.clients), len(self.counts.groups))
        return np.asarray(grain[columns.client, columns.group] * columns.kept)

    def _solver_of(self, sharing: Sharing) -> Solver:
        """What solves the program of these columns."""
        return solver_for(self._rows, sharing, *self._objective(sharing))

    def _objective(self, sharing: Sharing) -> tuple[Floats, Floats]:
        """What the variables are worth, and what decides between optima of equal worth."""
        columns = sharing.columns
        worth, order = self._worth(columns), self._order(columns)
        return sharing.totals(worth), sharing.totals(order)

    def _order(self, columns: RuleTable, first: int = 0) -> Floats:
        """The order of columns: see `tie_order`."""
        cells = len(self.counts.clients) * len(self.counts.groups)
        cell = columns.client * len(self.counts.groups) + columns.group
        return tie_order(cell, cells, first)

    # ---------------------------------------------------------------- solving

    def solve(self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0) -> Solution:
        """Return the optimum within these tolerances.

        Parameters
        ----------
        eps_global : float
            The paper's epsilon_0, in [0, 1]; 1 asks for nothing.
        eps_local : float, sequence, or mapping from client to float
            The paper's epsilon_c: one for all clients, or one each.

        Raises
        ------
        InfeasibleError
            Where the policy asks for more than these limits allow; it says what would do.
        """
        eps_global = check_epsilon(eps_global, "eps_global")
        local = eps_per_client(self.counts.clients, eps_local)
        self._correct_rates(eps_global)
        try:
            return self._solve(eps_global, local)
        except InfeasibleError:
            infeasible = self.explain_infeasible(eps_global, local)
            raise InfeasibleError(infeasible.sentence(), infeasible) from None

    def explain_infeasible(self, eps_global: float, local: Floats) -> "Infeasible":
        """Where limits collide with the policy: who, and what either of them would allow."""
        from fairfl_core.lp.infeasible import explain_infeasible  # SciPy starts slowly

        rows = self._constraints()
        return explain_infeasible(
            rows,
            self._all_columns(),
            self.counts,
            eps_global,
            local,
            find=self._finder(rows),
            certain=self._is_exhaustive,
        )

    def _finder(self, rows: Constraints) -> "Finder | None":
        """What finds columns that are not listed, where rules are generated."""
        return None

    @property
    def _is_exhaustive(self) -> bool:
        """Whether no rule of the region is overlooked."""
        return True

    @abstractmethod
    def _all_columns(self) -> Sharing:
        """RuleTable that reach what the region can, to see what is possible at all."""

    @abstractmethod
    def _solve(self, eps_global: float, local: Floats) -> Solution:
        """Return the optimum within checked tolerances."""

    def _figures(
        self, columns: RuleTable, beta: Floats, duals: Floats, eps_global: float, local: Floats
    ) -> dict[str, Any]:
        """What every region's solution tells: the one place where an optimum is put together."""
        counts = self.counts
        confusion = columns.mixed(beta, len(counts.clients), len(counts.groups))
        unit = self._unit * self._scale / counts.n
        duals = duals[: len(self._rows)]
        price = self._rows.prices(duals) * unit
        has_epsilon = self._rows.scope != NO_EPSILON
        by_scope = np.bincount(
            self._rows.scope[has_epsilon] + 1, price[has_epsilon], minlength=len(local) + 1
        )
        binding = np.where(has_epsilon, price, np.abs(duals) * unit) > 1e-9
        own = np.asarray(counts.table, float)
        achieved = [self.policy.utility.achieved(part, counts) for part in (confusion, own)]
        return {
            "status": "optimal",
            "counts": counts,
            "notion": self.notion,
            "region": self.region,
            "rates": self.rates,
            "guarantee": self.guarantee,
            "policy": self.policy,
            "utility": Achieved(self.policy.utility.name, *achieved),
            "eps_global": eps_global,
            "eps_local": local,
            "accuracy": float(np.einsum("cayy->", confusion) / counts.n),
            "gaps": gaps(self.notion.answered(confusion), self._behind),
            "price_global": float(by_scope[0]),
            "price_local": by_scope[1:].astype(float),
            "binding": tuple(dict.fromkeys(self._names[row] for row in np.flatnonzero(binding))),
            "not_assessable": self._not_assessable,
        }

    @property
    def can_judge(self) -> bool:
        """Whether the people it was fitted on can be judged by what it finds."""
        return isinstance(self.people, ScoredData) or not self.needs_scores

    def map_rows(self, eps_local: Floats, eps_global: Floats) -> Iterator[Floats]:
        """Row by row of a map: accuracy, global gap, mean and worst local gap, (4, eps_global).

        NaN where limits collide.
        """
        self._correct_rates(float(np.min(eps_global)))
        sharing = self._listed_columns()
        if sharing is None:
            yield from (self._map_row(float(local), eps_global) for local in eps_local)
            return
        figures = MapFigures(sharing, self.notion, self.counts)
        each = [eps_per_client(self.counts.clients, float(local)) for local in eps_local]
        # A solver of its own: others may move a slider meanwhile.
        for values in self._solver_of(sharing).grid(eps_global.tolist(), each):
            yield figures.of(
                [None if one is None else one[self._rows.auxiliary :] for one in values]
            )

    def _listed_columns(self) -> Sharing | None:
        """All columns there are, where they can be listed."""
        return None

    def _map_row(self, eps_local: float, eps_globals: Floats) -> Floats:
        """Cell by cell, from the tightest limit on, until the overall one has no price."""
        local = eps_per_client(self.counts.clients, eps_local)
        cells: dict[float, Floats] = {}
        price = np.inf
        figures = np.full(4, np.nan)
        for eps_global in sorted(set(map(float, eps_globals))):
            if price > 0:
                try:
                    found = self._solve(eps_global, local)
                    price, gap = found.price_global, found.gaps
                    figures = np.array(
                        [found.accuracy, gap.overall, gap.local_mean, gap.local_worst]
                    )
                except InfeasibleError:
                    pass
            cells[eps_global] = figures
        return np.stack([cells[float(eps_global)] for eps_global in eps_globals], axis=1)


def tie_break(clients: int, groups: int) -> Floats:
    """What one kept answer is worth in each cell, in people: a tie-break between optima.

    Optima are seldom unique: of equally accurate lotteries the one that changes fewer people is
    taken, and of those that are equal in this, too, the one that `tie_order` puts first. The grain is far below what is reported: it can cost accuracy less than 1e-8. Cells
    weigh a little differently, so that changing two people in one cell or in another is no tie
    either.
    """
    cells = clients * groups
    return (_GRAIN * (1 + np.arange(cells) / cells)).reshape(clients, groups)


def tie_order(cell: Ints, cells: int, first: int = 0) -> Floats:
    """Numbers in [1, 2), each rule its own: of optima equal in all else the one with the least.

    Drawn once and for all, so that no few of them add up to others: a function of a rule's cell
    and of its place among the rules of the cell, the first of which has the place `first`.
    """
    order = np.argsort(cell, kind="stable")
    many = np.bincount(cell, minlength=cells)
    place = np.empty(len(cell), np.int64)
    place[order] = first + np.arange(len(cell)) - np.repeat(np.cumsum(many) - many, many)
    drawn = np.random.PCG64(0).random_raw((int(place.max()) + 1) * cells) >> np.uint64(12)
    return np.asarray(1 + drawn[place * cells + cell] * 2.0**-52)
