"""Generate rules of the scores of more than two labels as the program asks for them.

The paper settles for a simplex because the surface of all rules has too many corners to list.
Dantzig-Wolfe column generation solves the program over a few rules, reads from its duals the
reduced value of every answer to every person, and asks each cell for the one rule that would help most.
Where rates come from scores, what none of them can improve is the optimum; where labels are
counted it is the best found, and no bound is claimed.

At the duals of the master program answering k to a person with label y in cell (c, a) has the value
G[c, a, y, k] (`gain`). The best rule of a cell maximises the sum of that over its people.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InfeasibleError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.constraints.base import Stacked
from fairfl_core.lp.highs import HighsSolver, highs_solver
from fairfl_core.lp.linear_program import LinearProgram, Objective, Optimum
from fairfl_core.lp.rate_estimates import Measured, pull
from fairfl_core.lp.rules import RuleTable, ScoreRules

__all__ = ["ColumnGeneration", "Pricing", "by_scores", "first_rules"]

_HELPS = 1e-9  # a rule's reduced value, in units of a mean cell, above which it is added
_KERNEL = 1e-8  # accuracy that rules of the kernel may still promise at the end
_UNMET = 1e-3  # of the penalty: a ten-millionth of one recognition
_MOST_ROUNDS = 100
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


Pricing = Callable[[Floats], RuleTable]  # gain (clients, groups, labels, labels) -> one a cell


def _of_answers(counts: ClientCounts, answers: Ints) -> RuleTable:
    """Rules of answers, `answers` (clients, groups, labels): measured by the counts alone."""
    clients, groups, labels = answers.shape
    table = np.asarray(counts.table, float)
    response = np.eye(labels)[answers]  # (clients, groups, predicted, answer)
    confusion = np.einsum("cayj,cajk->cayk", table, response)
    kept = np.einsum("cayj,cajj->ca", table, response)
    client, group = np.divmod(np.arange(clients * groups), groups)
    rules = ScoreRules.of_answers(client, group, answers.reshape(-1, labels))
    return rules.table(confusion.reshape(-1, labels, labels), kept.ravel(), groups)


def first_rules(measured: Measured) -> RuleTable:
    """Return the model's answer and the constants in every cell."""
    clients, groups, labels = measured.counts.table.shape[:3]
    keep = np.arange(labels)
    first = [keep, *(np.full(labels, k) for k in range(labels))]
    parts = [
        _of_answers(measured.counts, np.tile(answers, (clients, groups, 1))) for answers in first
    ]
    return RuleTable.join(parts)


class ColumnGeneration:
    """Solve a program over rules that are generated on demand.

    Every solve starts from the same rules, so that its answer depends on people and limits alone.

    Parameters
    ----------
    measured : Measured
    notion : Notion
    objective : Objective
    constraints : Stacked
        Floors among them are soft: rules that would meet one may be yet to be found.
    gap : float
        Stop when no more utility than this is promised by any rule.
    """

    def __init__(
        self,
        measured: Measured,
        notion: Notion,
        objective: Objective,
        constraints: Stacked,
        gap: float,
    ) -> None:
        self._measured, self._objective, self.constraints = measured, objective, constraints
        self._gap, self._counts, self._first = gap, measured.counts, first_rules(measured)
        # Whether it matters who is answered wrongly how: U beside the diagonal by label.
        gain = objective.gain
        wrong = np.where(np.eye(len(gain), dtype=bool), np.nan, gain)
        errors_differ = bool((np.nanmax(wrong, axis=0) > np.nanmin(wrong, axis=0)).any())
        full = notion.counts_errors or errors_differ
        # The first is what the bound is computed with.
        self._pricing = [by_scores(measured, full=full), self._kernel]
        if measured.rates != "scores":
            # A rule that the scores price out need not help by what is counted: ask for two.
            self._pricing.insert(1, by_scores(measured, full=full, refine=True))

    def solve(self, eps_global: float, eps_local: Floats) -> Optimum:
        """Return the optimum; where floors are missed, over rules that meet them without limits."""
        found, tried = self._generate(eps_global, eps_local, self._first)
        if found is None:
            _, wide = self._generate(1.0, np.ones(len(eps_local)), self._first)
            found, tried = self._generate(eps_global, eps_local, RuleTable.join([tried, wide]))
        if found is None:
            self.tried = tried
            raise InfeasibleError
        return found

    def solve_again(self, eps_global: float, eps_local: Floats) -> Optimum | None:
        """Return the optimum if the rules that `find` came upon meet the floors."""
        return self._generate(eps_global, eps_local, self.tried)[0]

    def find(self, constraints: Stacked, duals: Floats, paid: Floats) -> RuleTable | None:
        """Return rules that would help at the duals of relaxed limits; see `infeasible`."""
        gain = constraints.gains(duals)
        new = RuleTable.join([price(gain) for price in self._pricing])
        cell = (new.client, new.group)
        value = np.einsum("pyk,pyk->p", gain[cell], new.confusion)
        new = new.take(value + paid.reshape(gain.shape[:2])[cell] > _HELPS)
        if not len(new):
            return None
        self.tried = RuleTable.join([self.tried, new])
        return new

    def _program(self, rules: RuleTable) -> LinearProgram:
        objective = self._objective.of(rules), self._objective.tie_break(rules)
        return LinearProgram.of(self.constraints, rules, *objective)

    def _add(self, solver: HighsSolver, rules: RuleTable, place: int) -> None:
        """Add columns to the program; `place` is that of the rules among those of their cells."""
        shape = self._counts.table[..., 0, 0].size, len(rules)
        blocks = sparse.csr_array(
            (np.ones(len(rules)), (rules.block, np.arange(len(rules)))), shape
        )
        matrix = sparse.vstack([self.constraints.matrix(rules), blocks])
        order = self._objective.tie_break(rules, place)
        solver.add_columns(-self._objective.of(rules), matrix, order)

    def _generate(
        self, eps_global: float, eps_local: Floats, first: RuleTable
    ) -> tuple[Optimum | None, RuleTable]:
        """Ask for rules until none promises more: the optimum, if there is one, and all rules."""
        found, program = [first], self._program(first)
        solver, auxiliary = highs_solver(program), program.auxiliary
        _, duals = solver.solve(*program.limits(eps_global, eps_local))
        place = int(np.bincount(first.block).max())
        rounds = 0
        while True:
            gain, paid = self._gains(duals)
            if rounds == _MOST_ROUNDS:
                break
            rounds += 1
            helpful, enough = self._ask(gain, paid)
            if enough:
                break
            for new in helpful:
                found.append(new)
                self._add(solver, new, place)
                place += 1
            _, duals = solver.solve(warm=True)
        x = solver.break_ties()
        every = RuleTable.join(found)
        if (x[:auxiliary] * self.constraints.auxiliary_costs).sum() > _UNMET:
            return None, every
        best = self._pricing[0](gain)
        missing = self._promised(self._value(best, gain, paid))
        return Optimum(self._program(every), x, duals, rounds, missing), every

    def _gains(self, duals: Floats) -> tuple[Floats, Floats]:
        """Return the reduced value of each answer to each label in each cell, and the cell's dual."""
        many = len(self.constraints)
        gain = self.constraints.gains(duals[:many]) + self._objective.gain_in_units
        return gain, duals[many:].reshape(gain.shape[:2])

    def _value(self, new: RuleTable, gain: Floats, paid: Floats) -> Floats:
        """The reduced value of each rule: what a whole cell under it would add."""
        cell = (new.client, new.group)
        value = np.einsum("pyk,pyk->p", gain[cell], new.confusion)
        return np.asarray(value + self._objective.bonus(new) + paid[cell])

    def _promised(self, values: Floats) -> float:
        """The utility that rules of these reduced values, one a cell, could add at most."""
        return float(np.maximum(values, 0.0).sum() * self._objective.utility_per_unit)

    def _ask(self, gain: Floats, paid: Floats) -> tuple[list[RuleTable], bool]:
        """Ask every cell for a rule: those that help, and whether it is time to stop."""
        asked = [price(gain) for price in self._pricing]
        values = [self._value(new, gain, paid) for new in asked]
        helpful = [new.take(value > _HELPS) for new, value in zip(asked, values, strict=True)]
        helpful = [new for new in helpful if len(new)]
        # Not below the kernel: its rules (priced last) must have nothing left to promise.
        below = self._promised(values[-1]) > _KERNEL
        enough = self._promised(np.max(values, axis=0)) <= self._gap and not below
        return helpful, enough or not helpful

    def _kernel(self, gain: Floats) -> RuleTable:
        """The best rule of answers in each cell: for each answer of the model the best one."""
        gained = np.einsum("cayj,cayk->cajk", self._counts.table, gain, optimize=True)
        return _of_answers(self._counts, gained.argmax(axis=3))


# ------------------------------------------------------------------- which rule to try next


def by_scores(measured: Measured, *, full: bool, refine: bool = False) -> Pricing:
    """The answer that would be best for each person if the scores were right.

    Unless `full` the gain depends on the answer and on whether it is right, not on which wrong
    label: G[y, k] = b_k + theta_k [y = k], and as scores sum to one the rule is (theta, b). With
    `refine` each b_k in turn is then moved to where it is best by what is measured.
    """
    counts = measured.counts
    groups, labels = len(counts.groups), len(counts.labels)
    cells = len(counts.clients) * groups
    client, group = np.divmod(np.arange(cells), groups)
    one = np.eye(labels)

    def price(gain: Floats) -> RuleTable:
        gain = gain.reshape(cells, labels, labels)
        size = np.maximum(np.abs(gain).max(axis=(1, 2), keepdims=True), 1e-300)
        weights, b = gain / size, np.zeros((cells, labels))
        if not full:
            b = weights[:, np.roll(np.arange(labels), 1), np.arange(labels)]
            weights = (np.einsum("pkk->pk", weights) - b)[:, None, :] * one
        if refine:
            b = _refined(weights, b, measured, gain)
        rules = ScoreRules.of_scores(client, group, weights, b)
        answer = rules.answer(measured.cell, measured.scores, measured.predicted)
        confusion = _tally(measured.cell, answer, measured.amount, cells)
        keeps = np.where(answer == measured.predicted, measured.amount.sum(axis=1), 0.0)
        kept = np.bincount(measured.cell, keeps, minlength=cells).astype(float)
        if measured.rates == "shrunk":
            confusion = pull(confusion, _on_the_group(rules, measured, groups))
        return rules.table(confusion, kept, groups)

    return price


def _refined(weights: Floats, b: Floats, measured: Measured, gain: Floats) -> Floats:
    """Move each b_k of each cell to its best place, the others held: one sorted sweep each.

    A person is answered k once b_k exceeds what the best other label leads by; in the order of
    that lead, how much everyone up to a place gains by k is one running sum.
    """
    cell, everyone = measured.cell, np.arange(len(measured.cell))
    b = b.copy()
    client, group = np.divmod(np.arange(len(b)), len(measured.counts.groups))
    plain = ScoreRules.of_scores(client, group, weights, 0 * b).values(cell, measured.scores)
    gained = gain[cell, measured.amount.argmax(axis=1)]  # labels are counted: one a person
    for k in range(b.shape[1]):
        others = plain + b[cell]
        others[:, k] = -np.inf
        rival = others.argmax(axis=1)
        lead = others[everyone, rival] - plain[:, k]
        b[:, k] = _best_cut(cell, lead, gained[:, k] - gained[everyone, rival], b[:, k])
    return b


def _best_cut(part: Ints, key: Floats, value: Floats, now: Floats) -> Floats:
    """For each part the cut of `key` below which the sum of `value` is largest.

    A part with nobody in it keeps what it has `now`.
    """
    if not len(part):
        return now
    order = key.argsort()  # np.lexsort takes nine times as long
    order = order[part[order].astype(np.min_scalar_type(len(now))).argsort(kind="stable")]
    part, key, value = part[order], key[order], value[order]
    last = np.append(part[1:] != part[:-1], True)
    first = np.append(True, last[:-1])
    total = value.cumsum()
    total -= (total - value)[first][np.cumsum(first) - 1]
    after = np.append(key[1:], 0.0)
    after[last] = key[last] + 2.0
    total[key == after] = -np.inf  # equals are not parted
    best = np.maximum.reduceat(total, np.flatnonzero(first))
    found = np.flatnonzero(total == best[np.cumsum(first) - 1])
    parts, where = np.unique(part[found], return_index=True)
    at = found[where]
    cut = now.copy()
    cut[parts] = np.where(best > 0, (key[at] + after[at]) / 2, key[first] - 1.0)
    return cut


def _tally(part: Ints, answer: Ints, amount: Floats, parts: int) -> Floats:
    """People by part, label and answer."""
    labels = amount.shape[1]
    place, size = part * labels + answer, parts * labels
    found = np.zeros((parts, labels, labels))
    for y in range(labels):
        found[:, y] = np.bincount(place, amount[:, y], minlength=size).reshape(parts, labels)
    return found


def _on_the_group(rules: ScoreRules, measured: Measured, groups: int) -> Floats:
    """What each cell's rule does on its group in all clients."""
    found = np.empty(rules.weights.shape)
    for group in range(groups):
        rows = np.flatnonzero(measured.cell % groups == group)
        scores, predicted, amount = (
            measured.scores[rows],
            measured.predicted[rows],
            measured.amount[rows],
        )
        for rule in np.flatnonzero(rules.group == group):
            answer = rules.answer(np.full(len(rows), rule), scores, predicted)
            found[rule] = _tally(np.zeros(len(rows), np.int64), answer, amount, 1)[0]
    return found
