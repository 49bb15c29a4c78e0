"""The linear program: the most accurate lottery whose gaps stay within the epsilons."""

import threading
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError, InputError, check_type
from fairfl_core.fairness.notions import Notion, gaps, not_assessable
from fairfl_core.lp.column_generation import ColumnGeneration
from fairfl_core.lp.constraints import constraints_for
from fairfl_core.lp.constraints.base import NO_EPSILON, Stacked
from fairfl_core.lp.decomposition import Decomposition
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.highs import FullSolver, Solver
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.hull import mixable
from fairfl_core.lp.linear_program import LinearProgram, Objective, Optimum
from fairfl_core.lp.policy import EpsLocal, Policy, check_epsilon, eps_per_client
from fairfl_core.lp.rate_estimates import Measured, check_rates
from fairfl_core.lp.regions import FittedOn, default_rates, default_region, region_kind
from fairfl_core.lp.solution import Bound, Solution
from fairfl_core.lp.utility import Achieved

if TYPE_CHECKING:
    from fairfl_core.lp.infeasible import Infeasible
    from fairfl_core.lp.optimism import Sample

__all__ = ["FairnessProgram", "exact_program", "solver_for"]

Floats = NDArray[np.float64]
_FEW = 8  # variables of a block that count for a program's size, at most
_BINDS = 1e-9  # of utility: a price below this is none
_LARGE = 4000  # variables from which on a program is decomposed into its clients


class FairnessProgram:
    """Maximise a utility subject to local and global gaps; built once, solved for any limits.

    ::

        maximise   sum over rules p of  beta_p U . confusion_p / n      (U = 1: accuracy)
        subject to |global rate gaps| <= eps_global
                   |local rate gaps of client c| <= eps_local[c]
                   whatever else the policy asks (floors, ratios, groupings)
                   sum of beta over a block = 1,  beta >= 0

    What the rules are is the region's matter. Only right-hand sides depend on the epsilons. Every
    solve starts from the same point, so that its answer does not depend on earlier ones. `solve`
    may be called from several threads: a lock guards the one solver.

    Parameters
    ----------
    people : ScoredData or ClientCounts
        Those to fit on. Where scores are looked at they are recalibrated on these people first,
        unless they are already: by the exact region always, by others for rates from scores. The
        exact region also takes a `ScoreHistogram`.
    notion : str
        A name from `fairness.notions.notion_names`, or fairlearn's: ``demographic_parity`` is
        `sp`, ``equal_opportunity`` and ``true_positive_rate_parity`` are `eop`, and
        ``equalized_odds`` is `eo`: of two labels just what fairlearn means; of more, which
        fairlearn does not serve, the paper's form of it (`eo-full` is the textbook's).
    region : str, optional
        A name from `regions.region_names`. Default: `regions.default_region`.
    rates : {"labels", "scores", "shrunk"}, optional
        Where rates come from (see `rate_estimates`). Default: `regions.default_rates`.
    guarantee : Guarantee, optional
        Ask that the limits hold on unseen people with a confidence.
    policy : Policy, optional
        What is asked beyond the epsilons: floors, ratios, groupings, a utility.
    gap : float
        Where rules are generated: stop when no more utility than this is promised by any rule.

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
    needs_scores : bool
        Whether what it finds looks at scores.
    constraints : Stacked
    linear_program : LinearProgram or None
        Objective, matrix, limits and cones that are solved; None where rules are generated.
    """

    def __init__(
        self,
        people: FittedOn,
        notion: str = "eo",
        region: str | None = None,
        *,
        rates: str | None = None,
        guarantee: Guarantee | None = None,
        policy: Policy = Policy(),
        gap: float = 1e-4,
    ) -> None:
        check_type(
            people,
            (ScoredData, ClientCounts, ScoreHistogram, Measured),
            "what holds the people",
            "ClientCounts, or ScoredData",
        )
        check_type(guarantee, (Guarantee, type(None)), "the guarantee", "a Guarantee or None")
        check_type(policy, Policy, "the policy", "a Policy")
        given = people if isinstance(people, ScoredData | ClientCounts) else people.counts
        if region is None:
            has_scores = not isinstance(people, ClientCounts)
            region = default_region(notion, len(given.labels), scores=has_scores)
        kind = region_kind(region)
        self.region, self.guarantee, self.policy, self.gap = region, guarantee, policy, gap
        self.notion = Notion.of(notion, given.labels, given.favourable)
        refusal = kind.refusal(self.notion)
        if refusal:
            raise InputError(refusal)
        rates = check_rates(rates or default_rates(region, guarantee, given.folds))
        self._rules = kind.rules(people, rates, guarantee, policy)
        self.counts, self.people = self._rules.counts, self._rules.people
        self.rates = self._rules.rates
        self._check()
        self._objective = Objective(
            self.counts, policy.utility, prefers_the_model=guarantee is None
        )
        self._not_assessable = not_assessable(self.notion, self.counts)
        self._optimism: Floats | None = None  # measured where it is first needed
        self._inside = True
        self._lock, self._measuring = threading.Lock(), threading.Lock()
        self._set_up()

    def _check(self) -> None:
        """Raise a sentence where these people do not have, or allow, what is asked."""
        if not self.counts.n:
            raise InputError(
                "the counts hold nobody (noise took them all); use a larger privacy epsilon."
            )
        if self.guarantee is not None and (self.rates != "labels" or self.counts.noisy):
            raise InputError(
                "a confidence can be had for counted labels only, not for rates that are "
                "estimated, shrunk or noised; choose --rates labels and counts without noise."
            )
        self.policy.check(self.counts)
        policy = self.policy
        if self.guarantee is not None and (
            policy.has_ratios or policy.limits or policy.has_shares
        ):
            raise InputError(
                "a confidence can be had for gaps between the groups as they are and for floors, "
                "not for ratios, other groupings, precision or capacity; ask for one of the two."
            )

    # ---------------------------------------------------------------- laying it out

    def _set_up(self) -> None:
        """Lay out constraints and rules; the solver is made where it is first needed."""
        generates = self._rules.measured is not None and len(self.counts.labels) > 2
        self.constraints = self._constraints()
        self._names: list[str] = []  # of the rows, once something binds
        self._solver: Solver | None = None
        self._generation: ColumnGeneration | None = None
        self.linear_program: LinearProgram | None = None
        if generates and self._rules.measured is not None:
            self._generation = ColumnGeneration(
                self._rules.measured,
                self.notion,
                self._objective,
                self._constraints(soft=True),
                self.gap,
            )
            self.constraints = self._generation.constraints
            return
        table = self._rules.table
        # Margins are concave in a rate, so that corners between others are no surer either.
        has_margins = self.guarantee is not None and not self.policy.asks_for_rows
        of_gaps = has_margins or self.constraints.constants_are_feasible
        if table.scores is not None and of_gaps:
            table = mixable(table, self.notion, self._objective.of(table))
        self.linear_program = LinearProgram.of(
            self.constraints,
            table,
            self._objective.of(table),
            self._objective.tie_break(table),
            groups=len(self.counts.groups) if self.policy.without_group else 0,
        )

    def _constraints(self, *, soft: bool = False) -> Stacked:
        """The gaps' rows, and below them what the policy asks."""
        return constraints_for(
            self.counts,
            self.notion,
            self.guarantee,
            self.policy,
            cuts=self.needs_scores,
            optimism=self._optimism,
            inside=self._inside,
            soft=soft,
        )

    @property
    def needs_scores(self) -> bool:
        """Whether what it finds looks at scores."""
        return self._rules.rules.needs_scores

    @property
    def can_judge(self) -> bool:
        """Whether the people it was fitted on can be judged by what it finds."""
        return isinstance(self.people, ScoredData) or not self.needs_scores

    @property
    def mode(self) -> str | None:
        """How rules of the scores are found; see `Solution.mode`."""
        if self._rules.measured is None:
            return None
        if self.rates == "scores":
            return "scores"
        return "labels" if self._generation is None else "hybrid"

    @property
    def sample(self) -> "Sample":
        """The people it was fitted on, in the form that `fitted_on` takes others."""
        if self._rules.measured is not None:
            return self._rules.measured
        return self.people if self.needs_scores else self.counts

    def fitted_on(self, people: "Sample", optimism: Floats) -> "FairnessProgram":
        """Return the same program for other people, without floors and limits inside clients.

        Overall rates are charged for what they may be too high by.
        """
        other = FairnessProgram(
            people,
            self.notion.name,
            self.region,
            rates=self.rates,
            guarantee=self.guarantee,
            policy=replace(self.policy, floors=()),
            gap=self.gap,
        )
        other._optimism, other._inside = optimism, False
        other._set_up()
        return other

    def as_if(self, times: float) -> "FairnessProgram":
        """Return the same program as if each client had so many times its people.

        Shows what more data would buy: margins shrink as people grow. No promise follows from it.
        """
        self.measure_optimism(0.0)
        other, counts, rules = copy(self), self.counts, self._rules.table
        other._lock, other._measuring = threading.Lock(), threading.Lock()
        # So many times the people are no whole numbers, as they are with noise.
        table = times * np.asarray(counts.table, float)
        other.counts = replace(counts, table=table, noisy=True)
        rules = replace(rules, confusion=times * rules.confusion, kept=times * rules.kept)
        other._rules = replace(self._rules, table=rules)
        other._objective = Objective(
            other.counts, self.policy.utility, prefers_the_model=self.guarantee is None
        )
        other._set_up()
        return other

    def measure_optimism(self, eps_global: float) -> None:
        """Measure the optimism of overall rates, once, where an overall limit is to hold."""
        if self.guarantee is None or self.guarantee.proof != "measured" or eps_global >= 1:
            return
        with self._measuring:
            if self._optimism is None:
                from fairfl_core.lp import optimism

                self._optimism = optimism.measure_optimism(self)
                self._set_up()

    def _own_solver(self) -> Solver:
        assert self.linear_program is not None
        if self._solver is None:
            self._solver = solver_for(self.linear_program)
        return self._solver

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
        self.measure_optimism(eps_global)
        try:
            return self.optimum(eps_global, local)
        except InfeasibleError:
            infeasible = self.explain_infeasible(eps_global, local)
            if self._generation is not None:
                # Looking for what would do may have found rules that do as it is.
                generated = self._generation.solve_again(eps_global, local)
                if generated is not None:
                    return self._solution(generated, eps_global, local)
            raise InfeasibleError(infeasible.sentence(), infeasible) from None

    def optimum(self, eps_global: float, local: Floats) -> Solution:
        """Return the optimum within checked tolerances, one a client; see `solve`."""
        if self._generation is not None:
            found = self._generation.solve(eps_global, local)
        else:
            with self._lock:
                x, duals = self._own_solver().solve(eps_global, local)
            assert self.linear_program is not None
            found = Optimum(self.linear_program, x, duals)
        return self._solution(found, eps_global, local)

    def explain_infeasible(self, eps_global: float, local: Floats) -> "Infeasible":
        """Return which floors make limits infeasible, and what would be feasible."""
        from fairfl_core.lp.infeasible import explain_infeasible

        if not self.policy.floors:
            raise InfeasibleError(
                "The limits collide with the precision, capacity or ratios asked for: no lottery "
                "keeps all of them. Ask for a wider gap, a lower precision or a larger capacity."
            )
        if self._generation is None:
            assert self.linear_program is not None
            return explain_infeasible(self.linear_program, self.counts, eps_global, local)
        rows, table = self._constraints(), self._generation.tried
        none = np.zeros(len(table))
        return explain_infeasible(
            LinearProgram.of(rows, table, none, none),
            self.counts,
            eps_global,
            local,
            find=partial(self._generation.find, rows),
            certain=self.rates == "scores",
        )

    def _solution(self, found: Optimum, eps_global: float, local: Floats) -> Solution:
        """Put an optimum together: the one place, for every region."""
        counts, constraints = self.counts, found.program.constraints
        # Where nobody speaks a guarantee is kept by constants, and none by the model's answer.
        beta = found.program.weights(found.x, fall_back=self.guarantee is None)
        confusion = found.program.rules.expected_counts(beta, *counts.table.shape[:2])
        duals = found.duals[: len(constraints)]
        price = constraints.prices(duals) * self._objective.utility_per_unit
        has_epsilon = constraints.scope != NO_EPSILON
        by_scope = np.bincount(
            constraints.scope[has_epsilon] + 1, price[has_epsilon], minlength=len(local) + 1
        )
        binds = (
            np.where(has_epsilon, price, np.abs(duals) * self._objective.utility_per_unit) > _BINDS
        )
        self._names = self._names or constraints.names(counts)
        own = np.asarray(counts.table, float)
        achieved = [self.policy.utility.achieved(part, counts) for part in (confusion, own)]
        rules, more = self._rules.rules, dict[str, Any]()
        if found.program.rules.scores is not None:
            used = beta > 0
            rules, beta = found.program.rules.scores.take(used), beta[used]
            more = self._search(found, achieved[0])
        else:
            beta = beta.reshape(*counts.table.shape[:2], -1)
        return Solution(
            status="optimal",
            counts=counts,
            notion=self.notion,
            region=self.region,
            rates=self.rates,
            guarantee=self.guarantee,
            policy=self.policy,
            utility=Achieved(self.policy.utility.name, *achieved),
            eps_global=eps_global,
            eps_local=local,
            accuracy=float(np.einsum("cayy->", confusion) / counts.n),
            gaps=gaps(self.notion.answered(confusion), self.notion.people(counts.n_label)),
            price_global=float(by_scope[0]),
            price_local=by_scope[1:].astype(float),
            binding=tuple(dict.fromkeys(self._names[row] for row in np.flatnonzero(binds))),
            not_assessable=self._not_assessable,
            rules=rules,
            beta=beta,
            duals=duals,
            **more,
        )

    def _search(self, found: Optimum, utility: float) -> dict[str, Any]:
        """What the exact region adds: how rules were found, and what no lottery exceeds."""
        measured = self._rules.measured
        assert measured is not None
        # No promise exceeds what right answers to everybody would give.
        best = self._objective.gain.max(axis=1) * self.counts.n_label.sum(axis=(0, 1))
        upper = min(utility + found.missing, float(best.sum() / self.counts.n))
        return {
            "calibration": self._rules.calibration,
            "mode": self.mode,
            "bound": Bound(upper, self._generation is None or self.rates == "scores"),
            "rounds": found.rounds,
            "bytes_per_client": measured.bytes_sent(found.rounds, len(self.notion.rates)),
        }


def solver_for(program: LinearProgram) -> Solver:
    """Return the solver of a program, by its rows and its size.

    Of equally good optima `FullSolver` takes the one with the least tie_break.x.
    """
    if program.cones:
        from fairfl_core.lp.cone_solver import ConeSolver  # SciPy starts slowly

        return ConeSolver(program)
    # HiGHS sets up less, and is slowed by blocks more than by how many variables each has.
    size = min(len(program.variables), _FEW * program.variables.blocks)
    if size >= _LARGE and Decomposition.serves(program):
        return Decomposition(program)
    return FullSolver(program)


def exact_program(people: Any, notion: str = "eo", **more: Any) -> FairnessProgram:
    """Build what `fairfl_core.ExactProgram` was in 0.2, which goes in the next release."""
    return FairnessProgram(people, notion, "exact", **more)
