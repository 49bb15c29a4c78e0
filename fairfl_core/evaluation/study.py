"""One setting over several seeds: what was asked, what was reached, what held on unseen people."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import to_frame
from fairfl_core.budget import look
from fairfl_core.evaluation.before_after import run_mean
from fairfl_core.evaluation.checks import within_chance
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.evaluation.harm import FEW, Harm, harm_of
from fairfl_core.evaluation.verdict import Verdict, verdict_of
from fairfl_core.lp.policy import EpsLocal, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.predictor import People, Predictor

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """A figure over seeds: its mean, and the standard deviation between seeds."""

    values: Floats

    @property
    def mean(self) -> float:
        """Mean over the seeds that have the figure."""
        there = self.values[~np.isnan(self.values)]
        return float(there.mean()) if there.size else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation between seeds; 0 for one seed."""
        there = self.values[~np.isnan(self.values)]
        return float(there.std(ddof=1)) if there.size > 1 else 0.0


@dataclass(frozen=True, eq=False)
class Outcome:
    """One seed: the solution on validation, and the same lottery on validation and on test.

    `held_out` is None where there are no unseen people to judge it on.
    """

    seed: int
    solution: Solution
    predictor: Predictor
    reached: Evaluation
    held_out: Evaluation | None


@dataclass(frozen=True, eq=False)
class Study:
    """The outcomes of all seeds of one setting (experiment, notion, region, epsilons)."""

    outcomes: tuple[Outcome, ...]

    @property
    def first(self) -> Outcome:
        """The first seed's outcome, for what all seeds share: names, epsilons."""
        return self.outcomes[0]

    @property
    def has_held_out(self) -> bool:
        """Whether there are unseen people."""
        return self.first.held_out is not None

    def over(self, figure: Callable[[Evaluation], float], *, unseen: bool) -> Spread:
        """A figure of every seed's evaluation, on unseen people or on the fitted ones."""
        return Spread(np.array([figure(each) for each in self.evaluations(unseen=unseen)], float))

    def evaluations(self, *, unseen: bool) -> list[Evaluation]:
        """Every seed's evaluation, on unseen people or on the fitted ones."""
        look()  # here, for every figure begins with them: a guess ends within a few milliseconds
        if not unseen:
            return [outcome.reached for outcome in self.outcomes]
        return [one.held_out for one in self.outcomes if one.held_out is not None]

    def client_mean(self, figure: Callable[[Evaluation], Floats], *, unseen: bool) -> Floats:
        """A figure of each client, averaged over the seeds in which it is defined."""
        return run_mean([figure(each) for each in self.evaluations(unseen=unseen)])

    @cached_property
    def price_global(self) -> float:
        """Price of the overall limit, mean over seeds."""
        return float(np.mean([one.solution.price_global for one in self.outcomes]))

    @cached_property
    def price_local(self) -> Floats:
        """Price of each client's limit, mean over seeds."""
        return np.mean([one.solution.price_local for one in self.outcomes], axis=0)

    def worst_client(self, *, unseen: bool) -> int | None:
        """Position of *the worst client*: whose gap, as its mean over seeds, is largest.

        One client is worst in a study, and it has a name. The mean over seeds of each seed's
        largest gap is another figure, larger and of nobody in particular; it is not used.
        """
        gaps = self.client_mean(lambda e: e.gaps.local, unseen=unseen)
        return None if np.isnan(gaps).all() else int(np.nanargmax(gaps))

    def client_table(self, *, unseen: bool) -> "pd.DataFrame":
        """`client_columns` as a table, and beside them what chance alone does."""
        return to_frame(self.client_columns(unseen=unseen, chance=True))

    def client_columns(self, *, unseen: bool, chance: bool = False) -> dict[str, Any]:
        """One row a client, mean over seeds: those of `Evaluation.client_columns`, and three.

        ``gap_reached`` is the gap on the people it was fitted on, ``eps_local`` what was asked,
        ``price`` the price of the client's limit: points of accuracy, over everyone,
        for one more hundredth. A figure that some seeds do not have is the mean of the others.
        With `chance` come the columns of what chance alone does.
        """
        columns = self._means(Evaluation.client_columns, unseen=unseen)
        if chance:
            columns = columns | self._means(Evaluation.chance_columns, unseen=unseen)
        return (
            {"client": self.first.solution.counts.clients}
            | columns
            | {
                "n": columns["n"].round(),
                "gap_reached": self.client_mean(lambda e: e.gaps.local, unseen=False),
                "eps_local": self.first.solution.eps_local,
                "price": self.price_local,
            }
        )

    def _means(
        self, columns_of: Callable[[Evaluation], dict[str, Floats]], *, unseen: bool
    ) -> dict[str, Floats]:
        """Columns of every seed's evaluation, each the mean over the seeds."""
        runs = [columns_of(each) for each in self.evaluations(unseen=unseen)]
        return {name: run_mean([run[name] for run in runs]) for name in runs[0]}

    def group_table(self, *, unseen: bool) -> "pd.DataFrame":
        """One row a group over all clients, mean over seeds: as `Evaluation.group_table`."""
        means = self._means(Evaluation.group_columns, unseen=unseen)
        groups = self.first.solution.counts.groups
        return to_frame({"group": groups} | means | {"n": means["n"].round()})


def run_study(
    programs: Sequence[tuple[int, FairnessProgram]],
    unseen: Sequence[People | None],
    eps_global: float,
    eps_local: EpsLocal,
) -> Study:
    """Solve every seed's program and judge its lottery on the fitted and on unseen people.

    Parameters
    ----------
    programs : sequence of (seed, FairnessProgram)
        One program a seed, built on that seed's fitted people. What was reached is judged on
        them by their labels, whatever rates the program saw.
    unseen : sequence of people or None
        The test people of the same seeds, in the same order; the exact region needs scores.
    eps_global, eps_local
        As for `FairnessProgram.solve`.
    """
    outcomes = []
    for (seed, program), test in zip(programs, unseen, strict=True):
        solution = program.solve(eps_global, eps_local)
        predictor = predictor_of(solution)
        outcomes.append(
            Outcome(
                seed=seed,
                solution=solution,
                predictor=predictor,
                reached=evaluate(predictor, program.people),
                held_out=None if test is None else evaluate(predictor, test),
            )
        )
    return Study(tuple(outcomes))


# ------------------------------------------------------------------- the numbers that are reported

_BINDS = 1e-7  # a price above it is not the solver's rounding


@dataclass(frozen=True)
class ClientRow:
    """A row of a study's client table.

    `worst_of` is 1 for a client's own figures. For the client with the largest gap of several it
    is how many, and the limits of its gap are those that hold for all of them at once: the
    verdict's where it judges them all.
    """

    client: str
    n: float
    accuracy_before: float
    accuracy: float
    gap_before: float
    gap: float
    gap_low: float
    gap_high: float
    gap_reached: float
    eps_local: float
    price: float
    worst_of: int = 1

    @property
    def within_noise(self) -> bool:
        """Whether it cannot be distinguished from none: the one rule for chance, see `verdict`."""
        return bool(within_chance(self.gap_low))


@dataclass(frozen=True, eq=False)
class Figures:
    """A study on one kind of people, mean over runs; each figure is computed where it is read.

    Attributes
    ----------
    study : Study
    is_unseen : bool
        On unseen people, or on the fitted ones.
    verdict : Verdict or None
        On these people, where there is one: a gap that it judges has its interval.
    of_model : bool
        Of the model's own answers.
    """

    study: Study
    is_unseen: bool
    verdict: Verdict | None = None
    of_model: bool = False

    def _mean(self, figure: Callable[[Evaluation], float]) -> float:
        def of(one: Evaluation) -> float:
            return figure(one.before if self.of_model else one)

        return self.study.over(of, unseen=self.is_unseen).mean

    @cached_property
    def before(self) -> "Figures":
        """The same of the model as it is: the one baseline."""
        return replace(self, verdict=None, of_model=True)

    @cached_property
    def n(self) -> float:
        """How many people there are."""
        return self._mean(lambda e: e.counts.n)

    @cached_property
    def accuracy(self) -> float:
        """Share of right answers."""
        return self._mean(lambda e: e.accuracy)

    @property
    def cost(self) -> float:
        """Accuracy lost against the model as it is; below zero where some is gained."""
        return self.before.accuracy - self.accuracy

    @cached_property
    def overall(self) -> float:
        """The overall gap."""
        return self._mean(lambda e: e.gaps.overall)

    @cached_property
    def overall_interval(self) -> tuple[float, float]:
        """The overall gap's interval: the verdict's where it judges it."""
        found = None if self.verdict is None else self.verdict.interval_of(None)
        if found is not None:
            return found
        low = self._mean(lambda e: e.global_interval[0])
        return low, self._mean(lambda e: e.global_interval[1])

    @cached_property
    def local_mean(self) -> float:
        """The clients' mean gap."""
        return self._mean(lambda e: e.gaps.local_mean)

    @cached_property
    def debiased(self) -> float:
        """The debiased gap of the larger half of the clients."""
        return self._mean(lambda e: e.debiased(e.larger_half).gap)

    @cached_property
    def utility(self) -> float:
        """What is made as large as can be: accuracy unless asked otherwise."""
        utility = self.study.first.solution.policy.utility
        return self._mean(lambda e: utility.achieved(e.confusion, e.counts))

    @cached_property
    def worst(self) -> ClientRow | None:
        """The client whose gap, as its mean over runs, is largest; None where none has a gap.

        It was chosen for that, so its interval is one that holds for all clients at once.
        """
        client = self.study.worst_client(unseen=self.is_unseen)
        if client is None:
            return None
        row = client_row(self.study, client, unseen=self.is_unseen)
        runs = self.study.evaluations(unseen=self.is_unseen)
        several = max(one.compared_clients for one in runs)
        found = None if self.verdict is None else self.verdict.interval_of(row.client, several)
        if found is None:
            found = run_mean([one.interval_at_once(client) for one in runs]).tolist()
        return replace(row, gap_low=found[0], gap_high=found[1], worst_of=several)


COSTS, GAINS, ON_AVERAGE = "costs", "gains", "gains on average"


@dataclass(frozen=True)
class Effect:
    """How a change of accuracy may be spoken of.

    Attributes
    ----------
    word : {"costs", "gains", "gains on average"}
        The last where somebody is worse off all the same.
    but : str
        Who that is, to be written in the same sentence; empty where nobody is.
    colour : {"better", "worse", "mixed"}
        Green is for *better* alone; *mixed* is never green.
    """

    word: str
    but: str
    colour: str

    def describe(self, points: str) -> str:
        """The word with its points, and who is worse off all the same."""
        return f"{self.word} {points}" + (f", but {self.but}" if self.but else "")


def effect_of(change: float, harm: Harm, client: str | None = None) -> Effect:
    """The word for a change of accuracy in a client, or of everyone (None).

    Nobody gains where a label is lost: everyone's gain is one only if no client has an alarm.
    """
    if not change > 0:  # NaN too: what is not known is no gain
        return Effect(COSTS, "", "worse")
    own = harm.by_client.get(client)
    if client is None and harm.by_client:
        own = next(iter(harm.by_client.values()))
    if own is None:
        return Effect(GAINS, "", "better")
    where = "" if own.client in (None, client) else f"in {own.client} "
    named = next((alarm for alarm in own.lost if alarm.n >= FEW), own.alarms[0])
    return Effect(ON_AVERAGE, f"{where}{named.brief()}", "mixed")


@dataclass(frozen=True)
class Payer:
    """A client's accuracy by the model as it is, and how far the fair answers change it."""

    client: str
    before: float
    change: float


@dataclass(frozen=True)
class Price:
    """Points of accuracy that one more hundredth of tolerance buys; overall, or in a client.

    Where nothing at all is allowed it is an upper bound: more would buy at most that.
    """

    client: str | None
    points: float
    at_most: bool


@dataclass(frozen=True)
class Summary:
    """All that is reported of a study in numbers."""

    runs: int
    reached: Figures
    unseen: Figures | None
    eps_global: float
    eps_local: tuple[float, float]  # of the strictest and of the laxest client
    changed: float
    changed_by_group: tuple[tuple[str, float], ...]
    payers: tuple[Payer, ...]  # every client, in their order
    prices: tuple[Price, ...]  # the overall one, then clients, dearest first; those that bind
    verdict: Verdict | None  # None where no limit was asked for
    harm: Harm
    policy: Policy
    remarks: tuple[str, ...]

    @property
    def effect(self) -> Effect:
        """What everyone's change of accuracy may be called."""
        return effect_of(-self.judged.cost, self.harm)

    @property
    def loses_most(self) -> Payer:
        """The client that loses most accuracy against the model as it is."""
        return min(self.payers, key=_known_change)

    @property
    def gains_most(self) -> Payer:
        """The client that gains most, or loses least."""
        return max(self.payers, key=_known_change)

    @property
    def judged(self) -> Figures:
        """On unseen people, or on the fitted ones where there are no others."""
        return self.unseen or self.reached


def _known_change(payer: Payer) -> float:
    return 0.0 if math.isnan(payer.change) else payer.change


def summarise(study: Study) -> Summary:
    """The numbers of a study; costs are against the model as it is."""
    solution, unseen = study.first.solution, study.has_held_out
    harm = harm_of(study.evaluations(unseen=unseen))
    verdict = verdict_of(
        study.evaluations(unseen=unseen),
        solution.eps_global,
        solution.eps_local,
        solution.guarantee,
        policy=solution.policy,
        unseen=unseen,
        harm=harm,
    )
    clients, eps_local = solution.counts.clients, solution.eps_local
    before, after = (
        study.client_mean(figure, unseen=unseen)
        for figure in (lambda e: e.before.client_accuracy, lambda e: e.client_accuracy)
    )
    groups = study.client_mean(lambda e: e.changed, unseen=unseen)
    asked = zip(
        (None, *clients),
        (study.price_global, *study.price_local.tolist()),
        (solution.eps_global, *eps_local.tolist()),
        strict=True,
    )
    prices = [Price(name, price, eps == 0) for name, price, eps in asked if price > _BINDS]
    return Summary(
        runs=len(study.outcomes),
        reached=Figures(study, False, None if unseen else verdict),
        unseen=Figures(study, True, verdict) if unseen else None,
        eps_global=solution.eps_global,
        eps_local=(float(solution.eps_local.min()), float(solution.eps_local.max())),
        changed=study.over(
            lambda e: float(e.answers.turned.sum() / e.counts.n), unseen=unseen
        ).mean,
        changed_by_group=tuple(zip(solution.counts.groups, groups.tolist(), strict=True)),
        payers=tuple(
            Payer(client, was, now - was)
            for client, was, now in zip(clients, before.tolist(), after.tolist(), strict=True)
        ),
        prices=tuple(sorted(prices, key=lambda one: (one.client is not None, -one.points))),
        verdict=verdict,
        harm=harm,
        policy=solution.policy,
        remarks=tuple(solution.certainty_remarks()),
    )


def client_row(study: Study, client: int, *, unseen: bool | None = None) -> ClientRow:
    """A client's row of the table; on unseen people where there are any, unless given."""
    columns = study.client_columns(unseen=study.has_held_out if unseen is None else unseen)
    name = columns.pop("client")[client]
    return ClientRow(name, **{key: values[client].item() for key, values in columns.items()})
