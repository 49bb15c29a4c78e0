"""A study in the numbers that are told of it: who is worst off, who pays, what binds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.harm import Effect, Harm, effect_of, harm_of
from fairfl_core.evaluation.limit_check import within_chance
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.evaluation.study import Study
from fairfl_core.evaluation.verdict import Verdict, verdict_of
from fairfl_core.lp.frontier import FREE
from fairfl_core.lp.policy import Policy

__all__ = [
    "FREE",
    "ClientRow",
    "Figures",
    "Payer",
    "Price",
    "Summary",
    "client_rows",
    "figures_of",
    "summarise",
]

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
    gap_one_draw: float
    noise_floor: float
    gap_reached: float
    eps_local: float
    price: float
    worst_of: int = 1

    @property
    def within_noise(self) -> bool:
        """Whether it cannot be told from none: the one rule for chance, see `verdict`."""
        return bool(within_chance(self.gap_low))


@dataclass(frozen=True)
class Figures:
    """A study on one kind of people, mean over runs: fitted or unseen."""

    n: float
    accuracy: float
    accuracy_before: float  # of the model as it is: the one baseline
    accuracy_unlimited: float  # of the same program with no limit; NaN unless it was solved too
    overall: float
    overall_before: float
    overall_low: float  # the verdict's interval where the overall limit is judged, else its own
    overall_high: float
    local_mean: float
    local_mean_before: float
    debiased: float  # of the larger half of the clients
    utility: float  # what is made as large as can be: accuracy unless asked otherwise
    utility_before: float
    worst: ClientRow | None  # by its mean over runs; None where no client has two groups

    @property
    def cost(self) -> float:
        """Accuracy lost against the model as it is; below zero where some is gained."""
        return self.accuracy_before - self.accuracy


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
    """All that is told of a study in numbers."""

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
    def harmless(self) -> bool:
        """Whether nobody's gap grew, and nobody is worse off."""
        return not (self.verdict is not None and self.verdict.worse) and not self.harm.alarms

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


def summarise(study: Study, unlimited: Study | None = None) -> Summary:
    """The numbers of a study; costs are told against the model as it is.

    `unlimited` is the same study with no limit, for `Figures.accuracy_unlimited` alone.
    """
    solution, unseen = study.first.solution, study.has_held_out
    harm = harm_of(study.evaluations(unseen=unseen))
    verdict = verdict_of(
        study.evaluations(unseen=unseen),
        solution.eps_global,
        solution.eps_local,
        solution.guarantee,
        unseen=unseen,
        harm=harm,
    )
    rows = client_rows(study)
    groups = study.client_mean(lambda e: e.changed, unseen=unseen)
    prices = [Price(None, study.price_global, solution.eps_global == 0)]
    prices += [Price(row.client, row.price, row.eps_local == 0) for row in rows]
    return Summary(
        runs=len(study.outcomes),
        reached=figures_of(study, unlimited, unseen=False, verdict=None if unseen else verdict),
        unseen=figures_of(study, unlimited, unseen=True, verdict=verdict) if unseen else None,
        eps_global=solution.eps_global,
        eps_local=(float(solution.eps_local.min()), float(solution.eps_local.max())),
        changed=study.over(
            lambda e: float(e.answers.turned.sum() / e.counts.n), unseen=unseen
        ).mean,
        changed_by_group=tuple(zip(solution.counts.groups, groups.tolist(), strict=True)),
        payers=tuple(
            Payer(row.client, row.accuracy_before, row.accuracy - row.accuracy_before)
            for row in rows
        ),
        prices=(
            *(price for price in prices[:1] if price.points > _BINDS),
            *sorted(
                (price for price in prices[1:] if price.points > _BINDS),
                key=lambda price: -price.points,
            ),
        ),
        verdict=verdict,
        harm=harm,
        policy=solution.policy,
        remarks=tuple(solution.certainty_remarks()),
    )


def client_rows(
    study: Study, *, unseen: bool | None = None, at: Sequence[int] | None = None
) -> tuple[ClientRow, ...]:
    """The client table, row by row; on unseen people where there are any, unless told."""
    unseen = study.has_held_out if unseen is None else unseen
    columns = study.client_columns(unseen=unseen, at=at)
    clients = columns.pop("client")
    rows = zip(clients, *(values.tolist() for values in columns.values()), strict=True)
    names = ("client", *columns)
    return tuple(ClientRow(**dict(zip(names, row, strict=True))) for row in rows)


def figures_of(
    study: Study,
    unlimited: Study | None = None,
    *,
    unseen: bool,
    verdict: Verdict | None = None,
) -> Figures:
    """What is told of everyone together, on unseen people or on the fitted ones.

    A gap that `verdict` judges on these people has the verdict's interval: one gap, one interval.
    """

    def mean(figure: Callable[[Evaluation], float]) -> float:
        return study.over(figure, unseen=unseen).mean

    def utility(e: Evaluation) -> float:
        return study.first.solution.policy.utility.achieved(e.confusion, e.counts)

    worst = study.worst_client(unseen=unseen)
    overall = None if verdict is None else verdict.interval_of(None)
    if overall is None:
        overall = mean(lambda e: e.global_interval[0]), mean(lambda e: e.global_interval[1])
    return Figures(
        n=mean(lambda e: e.counts.n),
        accuracy=mean(lambda e: e.accuracy),
        accuracy_before=mean(lambda e: e.before.accuracy),
        accuracy_unlimited=math.nan
        if unlimited is None
        else unlimited.over(lambda e: e.accuracy, unseen=unseen).mean,
        overall=mean(lambda e: e.gaps.overall),
        overall_before=mean(lambda e: e.before.gaps.overall),
        overall_low=overall[0],
        overall_high=overall[1],
        local_mean=mean(lambda e: e.gaps.local_mean),
        local_mean_before=mean(lambda e: e.before.gaps.local_mean),
        debiased=mean(lambda e: e.debiased(e.larger_half).gap),
        utility=mean(utility),
        utility_before=mean(lambda e: utility(e.before)),
        worst=None if worst is None else _chosen_row(study, worst, verdict, unseen=unseen),
    )


def _chosen_row(study: Study, client: int, verdict: Verdict | None, *, unseen: bool) -> ClientRow:
    """The row of a client that was chosen because its gap is the largest."""
    (row,) = client_rows(study, unseen=unseen, at=(client,))
    runs = study.evaluations(unseen=unseen)
    several = max(one.compared_clients for one in runs)
    found = None if verdict is None else verdict.interval_of(row.client, several)
    if found is None:
        found = run_mean([one.interval_at_once(client) for one in runs]).tolist()
    return replace(row, gap_low=found[0], gap_high=found[1], worst_of=several)
