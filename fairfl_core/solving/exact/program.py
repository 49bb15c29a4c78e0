"""The exact region: every rule of the scores, generated on demand.

The paper settles for a simplex because the surface of all rules has too many corners to list. It
need not be listed: Dantzig-Wolfe column generation solves the program over a few rules, reads
from its duals what every answer to every person is worth, and asks each cell for the one rule
that would help most. What none of them can improve is the optimum.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, gaps, not_assessable
from fairfl_core.people.calibration import Calibration
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.solving.backend import new_solver, optimum
from fairfl_core.solving.exact.pricing import Candidates, Pricing, answer_rules, by_cuts, by_scores
from fairfl_core.solving.exact.rules import ScoreRules
from fairfl_core.solving.gap_constraints import GapRows
from fairfl_core.solving.program import EpsLocal, Optimum, check_epsilon, eps_per_client, grains
from fairfl_core.solving.rate_estimates import Measured, measured

__all__ = ["MODES", "Bound", "ExactProgram", "ExactSolution"]

MODES = ("hybrid", "labels", "scores")
_HELPS = 1e-9  # a rule's reduced value, in units of a mean cell, above which it is added
_KERNEL = 1e-8  # accuracy that rules of the kernel may still promise at the end
_SPECK = 1e-11  # a smaller weight is the solver's dust
_MOST_ROUNDS = 100
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """An accuracy that no lottery of the region exceeds, if `certified`.

    It is certified when every rule was priced by what it is measured by: for two labels (over
    all cuts of the score), and for rates from scores (over all rules whatever, if the scores are
    right). Otherwise pricing trusts the scores while measuring counts labels, and `upper` only
    says what the scores still promise.
    """

    upper: float
    certified: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactSolution(Optimum):
    """The optimum of an `ExactProgram`. All figures are by its choice of rates.

    Attributes
    ----------
    region : ScoreRules
        The rules of the lotteries, those with a weight only.
    beta : ndarray, shape (rules,)
        The weight of each in its cell.
    calibration : Calibration, optional
        What scores must go through before a rule looks at them.
    rates, mode : str
    bound : Bound
    rounds : int
        How often clients were asked for rules, by this solve.
    bytes_per_client : int
        What one client sent and received for it: see `ExactProgram`.
    """

    region: ScoreRules
    beta: Floats
    calibration: Calibration | None
    rates: str
    mode: str
    bound: Bound
    rounds: int
    bytes_per_client: int

    @property
    def region_name(self) -> str:
        """The name of the region."""
        return self.region.name

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-solution/1` form, with what column generation adds."""
        return super().to_json() | {
            "rates": self.rates,
            "mode": self.mode,
            "bound": {"upper": self.bound.upper, "certified": self.bound.certified},
            "rounds": self.rounds,
            "bytes_per_client": self.bytes_per_client,
        }


class ExactProgram:
    """Maximise accuracy subject to local and global gaps over every rule of the scores.

    It starts from the rules of the `simplex` (and, with two labels, the `kernel`), so it is never
    below it on the fitted people; with more labels rules of the kernel are priced beside those of
    the scores. Rules once found are kept: a solve for other epsilons starts from all of them.
    In a federation one round costs a client, for each group, the duals it receives (one number a
    rate and one more) and the table of the rule it answers with (labels x labels), 8 bytes each;
    with rates ``shrunk`` every client also measures the rules of all others.

    Parameters
    ----------
    people : ScoredPeople or Measured
        What the lottery is fitted on. Rates from scores need recalibrated ones.
    notion : str
        A name from `notions.NOTIONS`.
    rates : {"labels", "scores", "shrunk"}
        Where rates come from; see `rates`.
    mode : {"hybrid", "labels", "scores"}, optional
        How rules are found. ``hybrid``: priced as if the scores were right, measured by the
        rates chosen. ``labels``: two labels only, the best cut of the score by what is counted.
        ``scores``: priced and measured by the scores, which is what rates from scores mean.
        Default: ``scores`` with rates from scores, ``labels`` where it can be, else ``hybrid``.
    gap : float
        Stop when no more accuracy than this is promised by any rule.
    """

    def __init__(
        self,
        people: ScoredPeople | Measured,
        notion: str = "eo",
        *,
        rates: str = "labels",
        mode: str | None = None,
        gap: float = 1e-4,
    ) -> None:
        self.people = people
        self.measured = people if isinstance(people, Measured) else measured(people, rates)
        self.calibration = people.calibration if isinstance(people, ScoredPeople) else None
        self.counts: ClientCounts = self.measured.counts
        counts = self.counts
        if not counts.n:
            raise InputError("there is nobody to fit on (noise took them all); use less noise.")
        self.rates, self.mode = self.measured.rates, _mode(self.measured, mode)
        self.gap = gap
        self.notion = Notion.of(notion, counts.labels, counts.favourable)
        self._people = self.notion.people(counts.n_label)
        # As in `FairnessProgram`: the objective in units of a mean cell.
        self._unit = counts.n / (len(counts.clients) * len(counts.groups))
        self._grains = grains(len(counts.clients), len(counts.groups))
        self._rows = GapRows.of(self._people)
        self._names = self._rows.names(counts, self.notion)
        self._not_assessable = not_assessable(self.notion, counts)
        self._prices, self._best = self._pricing()
        self._lock = threading.Lock()
        self._start()

    def _pricing(self) -> tuple[list[Pricing], Pricing | None]:
        """What finds rules, and what finds the best ones of all where that is known."""
        if len(self.counts.labels) > 2:
            full = self.notion.name == "eo-full"
            scores = by_scores(self.measured, full=full)
            if self.rates == "scores":
                return [scores, self._kernel], scores
            # A rule that the scores price out need not help by what is counted: ask for two.
            return [scores, by_scores(self.measured, full=full, refine=True), self._kernel], None
        sweep = by_cuts(self.measured, sweep=True)
        if self.mode != "hybrid":
            return [sweep], sweep
        trust = by_cuts(self.measured, sweep=False)
        # The sweep looks at the cell alone: not the best rule where rates are shrunk, but another.
        return ([trust, sweep], None) if self.rates == "shrunk" else ([trust], sweep)

    @property
    def certified(self) -> bool:
        """Whether the bound is a certificate; see `Bound`."""
        return self._best is not None

    # ---------------------------------------------------------------- the master

    def _start(self) -> None:
        """The gap rows, a row for each cell whose weights sum to one, and the first rules."""
        counts, rows = self.counts, self._rows
        clients, groups, labels = len(counts.clients), len(counts.groups), len(counts.labels)
        self._highs = new_solver()
        lower = np.concatenate([np.full(len(rows), -1.0), np.ones(clients * groups)])
        upper = np.ones(len(lower))
        none = np.zeros(0)
        self._highs.addRows(
            len(lower),
            lower,
            upper,
            0,
            np.zeros(len(lower), np.int32),
            none.astype(np.int32),
            none,
        )
        order = np.argsort(rows.level, kind="stable")
        starts = np.searchsorted(rows.level[order], np.arange(rows.levels))
        self._highs.addCols(
            rows.levels, np.zeros(rows.levels), np.zeros(rows.levels), np.ones(rows.levels),
            len(order), starts.astype(np.int32), order.astype(np.int32), np.full(len(order), -1.0),
        )  # fmt: skip
        keep = np.arange(labels)
        first = [keep, *(np.full(labels, k) for k in range(labels))]
        if labels == 2:
            first.append(keep[::-1])
        self._found: list[Candidates] = []
        for answers in first:
            self._add(answer_rules(self.measured, np.tile(answers, (clients, groups, 1))))

    def _add(self, new: Candidates) -> None:
        """Put rules into the master as columns."""
        rules = new.rules
        count = len(rules)
        answered = self.notion.answered(new.confusion)
        row, column, value = self._rows.entries(rules.client, rules.group, answered)
        cell = len(self._rows) + rules.client * len(self.counts.groups) + rules.group
        row = np.concatenate([row, cell])
        column = np.concatenate([column, np.arange(count)])
        value = np.concatenate([value, np.ones(count)])
        order = np.lexsort((row, column))
        starts = np.searchsorted(column[order], np.arange(count))
        self._highs.addCols(
            count, -self._worth(new), np.zeros(count), np.full(count, np.inf), len(order),
            starts.astype(np.int32), row[order].astype(np.int32), value[order],
        )  # fmt: skip
        self._found.append(new)

    def _worth(self, new: Candidates) -> Floats:
        """Right answers, and a grain for every kept one, in the objective's unit."""
        right = np.einsum("pyy->p", new.confusion)
        grain = self._grains[new.rules.client, new.rules.group]
        return np.asarray((right + grain * new.kept) / self._unit)

    # ---------------------------------------------------------------- solving

    def solve(
        self, eps_global: float = 1.0, eps_local: EpsLocal = 1.0, *, search: bool = True
    ) -> ExactSolution:
        """Return the optimum within these tolerances.

        Parameters
        ----------
        eps_global, eps_local
            As for `FairnessProgram.solve`.
        search : bool
            False mixes the rules already found and asks for no more.
        """
        eps_global = check_epsilon(eps_global, "eps_global")
        local = eps_per_client(self.counts.clients, eps_local)
        lower, upper = self._rows.bounds(eps_global, local)
        places = np.arange(len(self._rows), dtype=np.int32)
        with self._lock:
            self._highs.changeRowsBounds(len(places), places, lower, upper)
            rounds = 0
            while True:
                values, duals = optimum(self._highs)
                gain, sigma = self._gains(duals)
                if not search or rounds == _MOST_ROUNDS:
                    break
                rounds += 1
                helpful, enough = self._ask(gain, sigma)
                if enough:
                    break
                for new in helpful:
                    self._add(new)
            self._found = [_joined(self._found)]
            found = self._found[0]
        best = (self._best or self._prices[0])(gain)
        missing = self._promised(self._value(best, gain, sigma))
        return self._solution(eps_global, local, found, values, duals, rounds, missing)

    def _gains(self, duals: Floats) -> tuple[Floats, Floats]:
        """What each answer to each label is worth in each cell, and what a cell pays for it."""
        notion, shape = self.notion, self._people.shape[:2]
        worth = self._rows.multipliers(duals[: len(self._rows)])
        gain = np.einsum("car,ry,rk->cayk", worth, notion.given, notion.asked, optimize=True)
        right = np.eye(len(self.counts.labels)) / self._unit
        return gain + right, duals[len(self._rows) :].reshape(shape)

    def _value(self, new: Candidates, gain: Floats, sigma: Floats) -> Floats:
        """The reduced value of each rule: what a whole cell under it would add."""
        cell = (new.rules.client, new.rules.group)
        grain = self._grains[cell] * new.kept / self._unit
        return np.einsum("pyk,pyk->p", gain[cell], new.confusion) + grain + sigma[cell]

    def _promised(self, values: Floats) -> float:
        """The accuracy that rules of these reduced values, one a cell, could add at most."""
        return float(np.maximum(values, 0.0).sum() * self._unit / self.counts.n)

    def _ask(self, gain: Floats, sigma: Floats) -> tuple[list[Candidates], bool]:
        """Ask every cell for a rule: those that help, and whether it is time to stop."""
        asked = [price(gain) for price in self._prices]
        values = [self._value(new, gain, sigma) for new in asked]
        helpful = [new.take(value > _HELPS) for new, value in zip(asked, values, strict=True)]
        helpful = [new for new in helpful if len(new.rules)]
        # Not below the kernel: its rules (priced last) must have nothing left to promise.
        below = len(self.counts.labels) > 2 and self._promised(values[-1]) > _KERNEL
        enough = self._promised(np.max(values, axis=0)) <= self.gap and not below
        return helpful, enough or not helpful

    def _kernel(self, gain: Floats) -> Candidates:
        """The best rule of answers in each cell: for each answer of the model the best one."""
        worth = np.einsum("cayj,cayk->cajk", self.counts.table, gain, optimize=True)
        return answer_rules(self.measured, worth.argmax(axis=3))

    def _solution(
        self,
        eps_global: float,
        local: Floats,
        found: Candidates,
        values: Floats,
        duals: Floats,
        rounds: int,
        missing: float,
    ) -> ExactSolution:
        counts, rows = self.counts, self._rows
        beta = self._settled(values[rows.levels :], found.rules)
        used = beta > 0
        beta, found = beta[used], found.take(used)
        rules = found.rules
        confusion = np.zeros((*self._people.shape[:2], *found.confusion.shape[1:]))
        np.add.at(confusion, (rules.client, rules.group), beta[:, None, None] * found.confusion)
        accuracy = float(np.einsum("cayy->", confusion) / counts.n)
        price = rows.prices(duals[: len(rows)]) * self._unit / counts.n
        priced = rows.by_scope(price, len(local))
        once = self.measured.bytes_once
        return ExactSolution(
            status="optimal",
            counts=counts,
            notion=self.notion,
            eps_global=eps_global,
            eps_local=local,
            accuracy=accuracy,
            gaps=gaps(self.notion.answered(confusion), self._people),
            price_global=float(priced[0]),
            price_local=priced[1:],
            binding=tuple(dict.fromkeys(self._names[row] for row in np.flatnonzero(price > 1e-9))),
            not_assessable=self._not_assessable,
            region=rules,
            beta=beta,
            calibration=self.calibration,
            rates=self.rates,
            mode=self.mode,
            bound=Bound(min(accuracy + missing, 1.0), self.certified),
            rounds=rounds if once is None else 1,
            bytes_per_client=self._bytes(rounds) if once is None else once,
        )

    def _bytes(self, rounds: int) -> int:
        """The first table, then in each round the duals received and the tables sent."""
        clients, groups, labels = self.counts.table.shape[:3]
        tables = labels**2 * (clients if self.rates == "shrunk" else 1)
        return int(8 * groups * (labels**2 + rounds * (tables + len(self.notion.rates) + 1)))

    def _settled(self, beta: Floats, rules: ScoreRules) -> Floats:
        """Weights in [0, 1] that sum to one in each cell; where nobody is, the model's answer."""
        groups = len(self.counts.groups)
        cells = len(self.counts.clients) * groups
        cell = rules.client * groups + rules.group
        beta = np.where(beta > _SPECK, beta, 0.0)
        beta = beta / np.bincount(cell, beta, minlength=cells)[cell]
        empty = self.counts.table.sum(axis=(2, 3)).ravel() == 0
        keep = np.arange(len(beta)) < cells  # the first rule of every cell
        return np.where(empty[cell], keep, beta)


def _joined(parts: list[Candidates]) -> Candidates:
    if len(parts) == 1:
        return parts[0]
    return Candidates(
        ScoreRules.join([part.rules for part in parts]),
        np.concatenate([part.confusion for part in parts]),
        np.concatenate([part.kept for part in parts]),
    )


def _mode(points: Measured, mode: str | None) -> str:
    exact = len(points.counts.labels) == 2 and points.rates == "labels"
    # Trusting the scores can stall: the rule they price out need not help by what is counted.
    mode = mode or ("scores" if points.rates == "scores" else "labels" if exact else "hybrid")
    if mode not in MODES:
        raise InputError(f'there is no mode "{mode}"; choose one of {", ".join(MODES)}.')
    if (mode == "scores") != (points.rates == "scores"):
        raise InputError(
            'the mode "scores" and rates from scores go together; choose both or neither.'
        )
    if mode == "labels" and not exact:
        raise InputError(
            'the mode "labels" needs two labels and rates counted from labels; choose "hybrid".'
        )
    return mode
