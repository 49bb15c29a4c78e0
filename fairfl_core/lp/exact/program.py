"""The exact region: every cut of the recalibrated score, and more labels' rules of the scores.

People whom the recalibration gives one score are answered alike: cutting between them by the
model's own score gains .06 to .11 points on the fitted people of 50 states, nothing on others, and
widens these states' gaps.

The paper settles for a simplex because the surface of all rules has too many corners to list. For
two labels it need not be avoided: a cell's corners are some thirty cuts of its score, and are
listed (`hull`). For more labels Dantzig-Wolfe column generation solves the program over a few
rules, reads from its duals what every answer to every person is worth, and asks each cell for the
one rule that would help most. Where rates come from scores, what none of them can improve is the
optimum; where labels are counted it is the best found, and no bound is claimed.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.lp.constraints.base import Constraints
from fairfl_core.lp.exact.hull import hull_rules, mixable
from fairfl_core.lp.exact.pricing import Candidates, Pricing, answer_rules, by_scores
from fairfl_core.lp.exact.rules import ScoreRules
from fairfl_core.lp.exact.solution import Bound, ExactSolution
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.highs import Whole
from fairfl_core.lp.limits import EpsLocal, eps_per_client
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import Program
from fairfl_core.lp.rate_estimates import Measured, measured
from fairfl_core.lp.rule_table import RuleTable
from fairfl_core.lp.sharing import Sharing
from fairfl_core.lp.solution import Solution

if TYPE_CHECKING:
    from fairfl_core.lp.infeasible import Finder
    from fairfl_core.lp.optimism import Sample

__all__ = ["ExactProgram"]

_HELPS = 1e-9  # a rule's reduced value, in units of a mean cell, above which it is added
_KERNEL = 1e-8  # accuracy that rules of the kernel may still promise at the end
_UNMET = 1e-3  # of the penalty: a ten-millionth of one recognition
_MOST_ROUNDS = 100
_NUMBER = 8  # bytes of a number sent
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ExactProgram(Program):
    """Maximise accuracy subject to local and global gaps over the rules of the scores.

    With two labels each client lists the corners of its cells once: how many people of each label
    get the second answer there (two numbers a corner, 8 bytes each). With more labels the program
    starts from the rules of the `simplex`, and each round costs a client, for each group, the
    duals it receives (one number a rate and one more) and the table of the rule it answers with
    (labels x labels); with rates ``shrunk`` every client also measures the rules of all others.
    Every solve starts from the same rules, so that its answer depends on people and limits alone.

    Parameters
    ----------
    people : ScoredData or Measured
        What the lottery is fitted on. Rates from scores need recalibrated ones.
    notion : str
        A name from `fairness.notions.notion_names`.
    rates : {"labels", "scores", "shrunk"}
        Where rates come from; see `rate_estimates`.
    gap : float
        With three labels and more: stop when no more accuracy than this is promised by any rule.
    guarantee : Guarantee, optional
        Ask that the limits hold on unseen people with a confidence; two labels only.
    policy : Policy, optional
        What is asked beyond the epsilons.

    Attributes
    ----------
    mode : {"labels", "scores", "hybrid"}
        How rules are found: by what is counted, by the scores where rates come from them, or
        priced as if the scores were right and measured by the rates chosen.
    """

    needs_scores = True

    def __init__(
        self,
        people: ScoredData | Measured,
        notion: str = "eo",
        *,
        rates: str = "labels",
        gap: float = 1e-4,
        guarantee: Guarantee | None = None,
        policy: Policy = Policy(),
    ) -> None:
        scored = people if isinstance(people, ScoredData) else None
        self.measured: Measured = (
            people if isinstance(people, Measured) else measured(people, rates)
        )
        self.calibration = scored.calibration if scored else None
        super().__init__(
            self.measured.counts,
            notion,
            "exact",
            people=scored,
            rates=self.measured.rates,
            guarantee=guarantee,
            policy=policy,
        )
        self.gap = gap
        self._listed = self._list_rules() if len(self.counts.labels) == 2 else None
        self._rebuild()

    def _list_rules(self) -> tuple[ScoreRules, RuleTable]:
        """Two labels: the corners of every cell."""
        return hull_rules(self.measured)

    def _rebuild(self) -> None:
        if self.policy.without_group:
            raise InputError(
                "every cell has rules of its own here; for one rule for all groups build the "
                "program anew (build_program)."
            )
        if self._listed is None:  # rules that would meet a floor may be yet to be found
            self._rows = self._constraints(soft=True)
        self._mixable = self._listed  # of which some are never worth it
        if self._listed and self._rows.constants_are_feasible:
            self._mixable = mixable(*self._listed, self.notion, self._worth(self._listed[1]))
        sharing = self._listed_columns()
        self._solver = None if sharing is None else self._solver_of(sharing)

    @property
    def mode(self) -> str:
        """How rules are found."""
        if self.rates == "scores":
            return "scores"
        return "labels" if self._listed else "hybrid"

    @property
    def certified(self) -> bool:
        """Whether the bound is a certificate; see `Bound`."""
        return self._listed is not None or self.rates == "scores"

    def solve(self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0) -> ExactSolution:
        """Return the optimum within these tolerances; see `Program.solve`."""
        try:
            return cast(ExactSolution, super().solve(eps_global, eps_local))
        except InfeasibleError:
            if self._listed:
                raise
            # Looking for what would do may have found rules that do as it is.
            local = eps_per_client(self.counts.clients, eps_local)
            solution, _ = self._generated(eps_global, local, self._tried)
            if solution is None:
                raise
            return solution

    def _solve(self, eps_global: float, local: Floats) -> ExactSolution:
        if self._mixable is None or self._solver is None:
            return self._found(eps_global, local)
        rules, columns = self._mixable
        with self._lock:
            values, duals = self._solver.solve(eps_global, local)
        return self._solution(eps_global, local, rules, columns, values, duals, 1, 0.0)

    @property
    def sample(self) -> "Sample":
        """The points that rules are measured on."""
        return self.measured

    def fitted_on(self, people: "Sample") -> "ExactProgram":
        """Build the same program for other points, without floors."""
        assert isinstance(people, Measured)
        policy = replace(self.policy, floors=())
        return ExactProgram(people, self.notion.name, guarantee=self.guarantee, policy=policy)

    def expected_counts(self, solution: Solution, people: "Sample") -> Floats:
        """Expected people by client, group, label and answer under its solution."""
        assert isinstance(people, Measured)
        found = cast(ExactSolution, solution)
        rules, groups = found.rules, len(self.counts.groups)
        by_cell = np.argsort(rules.client * groups + rules.group, kind="stable")
        often = np.bincount(
            rules.client * groups + rules.group, minlength=len(self.counts.clients) * groups
        )
        # Every point with each rule of its cell.
        point = np.repeat(np.arange(len(people.cell)), often[people.cell])
        first = np.cumsum(often[people.cell]) - often[people.cell]
        start = (np.cumsum(often) - often)[people.cell[point]]
        rule = by_cell[start + np.arange(len(point)) - first[point]]
        answer = rules.answer(rule, people.scores[point], people.predicted[point])
        labels = people.amount.shape[1]
        expected = np.zeros((often.size, labels, labels))
        amount = found.beta[rule, None] * people.amount[point]
        np.add.at(expected, (people.cell[point], slice(None), answer), amount)
        return expected.reshape(self.counts.table.shape)

    def _listed_columns(self) -> Sharing | None:
        return Sharing.apart(self._mixable[1]) if self._mixable else None

    def _all_columns(self) -> Sharing:
        return Sharing.apart(self._listed[1] if self._listed else self._columns_of(self._tried))

    # ---------------------------------------------------------------- column generation

    def _found(self, eps_global: float, local: Floats) -> ExactSolution:
        """The optimum over generated rules; those that meet floors without limits are tried, too."""
        solution, tried = self._generated(eps_global, local, self._first())
        if solution is None:
            _, wide = self._generated(1.0, np.ones(len(local)), self._first())
            solution, tried = self._generated(eps_global, local, Candidates.join([tried, wide]))
        if solution is None:
            self._tried = tried
            raise InfeasibleError
        return solution

    def _generated(
        self, eps_global: float, local: Floats, first: Candidates
    ) -> tuple[ExactSolution | None, Candidates]:
        """Ask for rules until none promises more: the optimum, if there is one, and all rules."""
        met, columns = [first], self._columns_of(first)
        solver = Whole(
            self._rows, Sharing.apart(columns), self._worth(columns), self._order(columns)
        )
        values, duals = solver.solve(eps_global, local)
        place = int(np.bincount(columns.block).max())
        prices = self._pricing()
        rounds = 0
        while True:
            gain, sigma = self._gains(duals)
            if rounds == _MOST_ROUNDS:
                break
            rounds += 1
            helpful, enough = self._ask(prices, gain, sigma)
            if enough:
                break
            for new in helpful:
                met.append(new)
                columns = self._columns_of(new)
                order = self._order(columns, place)
                solver.add(Sharing.apart(columns), self._worth(columns), order)
                place += 1
            values, duals = solver.again()
        values = solver.break_ties(warm=True)
        everything = Candidates.join(met)
        if (values[: self._rows.auxiliary] * self._rows.auxiliary_costs()).sum() > _UNMET:
            return None, everything
        best = prices[0](gain)
        missing = self._promised(self._value(best, gain, sigma))
        solution = self._solution(
            eps_global,
            local,
            everything.rules,
            self._columns_of(everything),
            values,
            duals,
            rounds,
            missing,
        )
        return solution, everything

    def _first(self) -> Candidates:
        """The model's answer and the constants in every cell."""
        clients, groups, labels = self.counts.table.shape[:3]
        keep = np.arange(labels)
        first = [keep, *(np.full(labels, k) for k in range(labels))]
        parts = [
            answer_rules(self.measured, np.tile(answers, (clients, groups, 1)))
            for answers in first
        ]
        return Candidates.join(parts)

    def _columns_of(self, new: Candidates) -> RuleTable:
        rules = new.rules
        return RuleTable(
            client=rules.client,
            group=rules.group,
            block=rules.client * len(self.counts.groups) + rules.group,
            span=np.ones(len(rules), np.int64),
            confusion=new.confusion,
            kept=new.kept,
            keeps=(rules.answers == np.arange(rules.answers.shape[1])).all(axis=1),
            known=rules.known,
        )

    def _pricing(self) -> list[Pricing]:
        """What finds rules; the first is what the bound is told by."""
        full = self.notion.counts_errors or self._errors_differ
        return [*self._score_pricing(full), self._kernel]

    def _score_pricing(self, full: bool) -> list[Pricing]:
        scores = by_scores(self.measured, full=full)
        if self.rates == "scores":
            return [scores]
        # A rule that the scores price out need not help by what is counted: ask for two.
        return [scores, by_scores(self.measured, full=full, refine=True)]

    def _gains(self, duals: Floats) -> tuple[Floats, Floats]:
        """What each answer to each label is worth in each cell, and what a cell pays for it."""
        gain = self._rows.gains(duals[: len(self._rows)])
        own = self._gain / self._scale / self._unit
        return gain + own, duals[len(self._rows) :].reshape(self._behind.shape[:2])

    @property
    def _errors_differ(self) -> bool:
        """Whether it matters who is answered wrongly how: U beside the diagonal by label."""
        wrong = np.where(np.eye(len(self._gain), dtype=bool), np.nan, self._gain)
        return bool((np.nanmax(wrong, axis=0) > np.nanmin(wrong, axis=0)).any())

    def _value(self, new: Candidates, gain: Floats, sigma: Floats) -> Floats:
        """The reduced value of each rule: what a whole cell under it would add."""
        cell = (new.rules.client, new.rules.group)
        grain = self._grain(self._columns_of(new)) / self._unit
        return np.einsum("pyk,pyk->p", gain[cell], new.confusion) + grain + sigma[cell]

    def _promised(self, values: Floats) -> float:
        """The utility that rules of these reduced values, one a cell, could add at most."""
        unit = self._unit * self._scale / self.counts.n
        return float(np.maximum(values, 0.0).sum() * unit)

    def _ask(
        self, prices: list[Pricing], gain: Floats, sigma: Floats
    ) -> tuple[list[Candidates], bool]:
        """Ask every cell for a rule: those that help, and whether it is time to stop."""
        asked = [price(gain) for price in prices]
        values = [self._value(new, gain, sigma) for new in asked]
        helpful = [new.take(value > _HELPS) for new, value in zip(asked, values, strict=True)]
        helpful = [new for new in helpful if len(new.rules)]
        # Not below the kernel: its rules (priced last) must have nothing left to promise.
        below = self._promised(values[-1]) > _KERNEL
        enough = self._promised(np.max(values, axis=0)) <= self.gap and not below
        return helpful, enough or not helpful

    def _kernel(self, gain: Floats) -> Candidates:
        """The best rule of answers in each cell: for each answer of the model the best one."""
        worth = np.einsum("cayj,cayk->cajk", self.counts.table, gain, optimize=True)
        return answer_rules(self.measured, worth.argmax(axis=3))

    def _finder(self, rows: Constraints) -> "Finder | None":
        """Three labels and more: what prices rules at the duals of relaxed limits."""
        if self._listed is not None:
            return None
        prices, shape = self._pricing(), self._behind.shape[:2]

        def find(duals: Floats, sigma: Floats) -> RuleTable | None:
            gain, paid = rows.gains(duals), sigma.reshape(shape)
            new = Candidates.join([price(gain) for price in prices])
            cell = (new.rules.client, new.rules.group)
            value = np.einsum("pyk,pyk->p", gain[cell], new.confusion) + paid[cell]
            new = new.take(value > _HELPS)
            if not len(new.rules):
                return None
            self._tried = Candidates.join([self._tried, new])
            return self._columns_of(new)

        return find

    @property
    def _is_exhaustive(self) -> bool:
        return self.certified

    # ---------------------------------------------------------------- what was found

    def _solution(
        self,
        eps_global: float,
        local: Floats,
        rules: ScoreRules,
        columns: RuleTable,
        values: Floats,
        duals: Floats,
        rounds: int,
        missing: float,
    ) -> ExactSolution:
        weight = values[self._rows.auxiliary :]
        beta = columns.settled(weight, fall_back=self.guarantee is None)
        figures = self._figures(columns, beta, duals, eps_global, local)
        used = beta > 0
        return ExactSolution(
            **figures,
            rules=rules.take(used),
            beta=beta[used],
            calibration=self.calibration,
            mode=self.mode,
            bound=Bound(self._at_most(figures["utility"].value + missing), self.certified),
            rounds=rounds,
            bytes_per_client=self._bytes(rounds),
        )

    def _at_most(self, promised: float) -> float:
        """No promise exceeds what right answers to everybody would give."""
        best = (self._gain.max(axis=1) * self.counts.n_label.sum(axis=(0, 1))).sum()
        return min(promised, float(best / self.counts.n))

    def _bytes(self, rounds: int) -> int:
        """What a client sends and receives: its corners once, or duals and tables by round."""
        if self.measured.bytes_once is not None:
            return self.measured.bytes_once
        if self._listed is not None:
            return int(_NUMBER * 2 * np.bincount(self._listed[1].client).max())
        clients, groups, labels = self.counts.table.shape[:3]
        tables = labels**2 * (clients if self.rates == "shrunk" else 1)
        each = labels**2 + rounds * (tables + len(self.notion.rates) + 1)
        return int(_NUMBER * groups * each)
