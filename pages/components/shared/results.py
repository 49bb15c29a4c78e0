"""From a view to results: the core's functions behind bounded caches, and figures ready to tell.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a program may be solved from several sessions at once. Those of a visitor's own
set stay with it. What pages, reports and sentences say is computed here, or in the core, once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.advice import (
    Advice,
    CertaintyPrice,
    price_of_certainty,
    tightest_limits,
)
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.evaluation.verdict import Verdict, verdict_of, within_chance
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.folded import FoldedPeople
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of as predictor_from
from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.predictors.score_predictor import ScorePredictor
from fairfl_core.solving.build import build_program, default_rates
from fairfl_core.solving.frontier import Frontier, frontier, mean_frontier
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Policy
from fairfl_core.solving.program import Program
from fairfl_core.solving.solution import Solution
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.view import NO_LIMIT, PAPERS_REGION, View, regions_of

__all__ = [
    "COARSE",
    "FREE",
    "GRID",
    "ClientRow",
    "Figures",
    "Price",
    "SURE",
    "Summary",
    "accuracy_within",
    "advice_of",
    "certainty_costs",
    "certainty_of",
    "client_rows",
    "counts_of",
    "experiment_people",
    "heat_of",
    "heavy",
    "papers_region_serves",
    "people_of",
    "predictor_of",
    "program_on",
    "programs_of",
    "region_curve",
    "regions_sure",
    "study_of",
    "summary_of",
    "there",
    "unseen_of",
]

# Fine near zero, where fairness begins to cost. The paper's six values are among them.
GRID = (
    *(0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.09, 0.1),
    *(0.115, 0.13, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3),
)
COARSE = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3)  # for sets of many clients
CURVE = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3)  # limits of the regions' curves
HEAVY = 800  # clients times groups
FREE = 0.0005  # a twentieth of a point of accuracy: what costs no more costs nothing
_BINDS = 1e-7  # a price above it is not the solver's rounding

OnProgress = Callable[[float], None]
People = ClientCounts | ScoredPeople
Unseen = People | FoldedPeople


# -------------------------------------------------------------------- people


@cached(400)
def counts_of(name: str, seed: int, split: str) -> ClientCounts | None:
    """Counts of one seed and split; no "test" where no held-out check is possible.

    Test people of several fold models are counted as the mean over the models.
    """
    experiment = experiment_of(name)
    if experiment.folds > 1 and split == "test":
        return _folded(name, seed).mean_counts
    return experiment.counts(seed, split)


@cached(48)
def people_of(name: str, seed: int, split: str) -> ScoredPeople | None:
    """People with scores of one seed and split; None where there is no such split."""
    if counts_of(name, seed, split) is None:
        return None
    return ScoredPeople.from_experiment(experiment_of(name), seed, split)


@cached(48)
def _folded(name: str, seed: int) -> FoldedPeople:
    return FoldedPeople.from_experiment(experiment_of(name), seed)


def unseen_of(view: View, seed: int) -> Unseen | None:
    """The unseen people of a run, as the view's lottery looks at them; None if there are none."""
    if experiment_of(view.data).folds > 1:
        return _folded(view.data, seed)
    return (people_of if view.answers_by_scores else counts_of)(view.data, seed, "test")


def there(people: People | None) -> People:
    """The people a lottery is fitted on: every set has some."""
    if people is None:
        raise TypeError("a set without people to fit on")
    return people


def heavy(view: View, *, map_only: bool = False) -> bool:
    """Whether a set is so large that many solutions take minutes; a map may be merged instead."""
    experiment = experiment_of(view.data)
    if len(experiment.clients) * len(experiment.groups) <= HEAVY:
        return False
    return not (map_only and _program(view.without_limits().of_seed(view.seeds[0])).merges)


# -------------------------------------------------------------------- solutions


def program_on(people: People, view: View) -> Program:
    """The view's program on these people; they have scores where it looks at them."""
    return build_program(
        people,
        view.notion,
        view.region,
        rates=view.rates,
        guarantee=view.guarantee,
        policy=view.policy,
    )


def _fresh_program(view: View) -> Program:
    """The program of a view's only seed, on the people it is fitted on."""
    name, (seed,) = view.data, view.seeds
    split = experiment_of(name).fit_split
    people = (people_of if view.needs_scores else counts_of)(name, seed, split)
    return program_on(there(people), view)


_program = cached(240)(_fresh_program)


def programs_of(view: View) -> list[Program]:
    """The program of every run."""
    one_run = view.without_limits()
    return [_program(one_run.of_seed(seed)) for seed in view.seeds]


@cached(64)
def study_of(view: View) -> Study:
    """Solve for every seed and judge on the fitted people and on unseen ones."""
    programs = list(zip(view.seeds, programs_of(view), strict=True))
    unseen = [unseen_of(view, seed) for seed in view.seeds]
    return run_study(programs, unseen, **view.limits(experiment_of(view.data).clients))


@cached(400)
def _seed_heat(view: View, grid: tuple[float, ...]) -> Frontier:
    return frontier(_program(view), eps_local=grid, eps_global=grid)


def heat_of(
    view: View, grid: Sequence[float] = GRID, on_progress: OnProgress | None = None
) -> Frontier:
    """Accuracy and gaps over a grid of limits and no limit, fitted people, mean over seeds.

    Every client gets the same limit; clients' own limits are not in a map. `on_progress` hears
    the share done.
    """
    one_run = view.without_limits()
    parts = []
    for place, seed in enumerate(view.seeds, 1):
        parts.append(_seed_heat(one_run.of_seed(seed), (*grid, NO_LIMIT)))
        if on_progress is not None:
            on_progress(place / len(view.seeds))
    return mean_frontier(parts)


def region_curve(view: View, on_progress: OnProgress | None = None) -> pd.DataFrame:
    """Accuracy and gaps on unseen people for each region, at limits from tight to loose."""
    regions = regions_of(experiment_of(view.data), view.notion)
    rows: list[dict[str, object]] = []
    for region in regions:
        for limit in CURVE:
            point = replace(
                view.without_limits(),
                region=region,
                rates=default_rates(region),
                eps_global=limit,
                eps_local=limit,
            )
            rows.append(_curve_point(point))
            if on_progress is not None:
                on_progress(len(rows) / (len(regions) * len(CURVE)))
    return pd.DataFrame(rows)


@cached(400)
def _curve_point(view: View) -> dict[str, object]:
    judged = summary_of(study_of(view)).judged
    return {
        "region": view.region,
        "limit": view.eps_global,
        "accuracy": judged.accuracy,
        "gap_global": judged.overall,
        "gap_local_mean": judged.local_mean,
    }


def predictor_of(view: View) -> FairPredictor | ScorePredictor:
    """The first chosen run's predictor, from a fresh program: what a shell would give."""
    program = _fresh_program(view.without_limits().of_seed(view.seeds[0]))
    experiment = experiment_of(view.data)
    return predictor_from(program.solve(**view.limits(experiment.clients)), experiment.folds)


# -------------------------------------------------------------------- certainty

SURE = Guarantee()  # 95 % for each client: what is offered first


def advice_of(view: View, points: float) -> Advice:
    """The tightest limits that hold with the view's confidence (or 95 %) within a price."""
    return _advice(_sure(view.without_limits()), points)


@cached(200)
def _advice(view: View, points: float) -> Advice:
    return tightest_limits(programs_of(view), points)


def _sure(view: View) -> View:
    policy = replace(view.policy, ratio_global=None, ratio_local=None, limits=())
    return replace(view, guarantee=view.guarantee or SURE, rates="labels", policy=policy)


@cached(100)
def certainty_of(view: View, on_progress: OnProgress | None = None) -> CertaintyPrice:
    """What certainty costs against people per client, at the view's limits; one run."""
    one = replace(view.of_seed(view.seeds[0]), own_limits=())
    plain = replace(_sure(one), guarantee=None)
    return price_of_certainty(
        programs_of(_sure(one)), programs_of(plain), view.eps_global, view.eps_local
    )


def papers_region_serves(view: View) -> bool:
    """Whether the paper's region can serve the view's notion at all."""
    return PAPERS_REGION in regions_of(experiment_of(view.data), view.notion)


def regions_sure(view: View) -> bool:
    """Whether limits can be asked for with a confidence here."""
    return not view.answers_by_scores or len(experiment_of(view.data).labels) == 2


def experiment_people(view: View) -> float:
    """People of the median client that a lottery is fitted on."""
    program = programs_of(view.of_seed(view.seeds[0]))[0]
    return float(np.median(program.counts.n_client))


@cached(200)
def certainty_costs(view: View, offered: tuple[Guarantee, ...]) -> list[float]:
    """Accuracy that each certainty costs at the view's limits, against none; one run, fitted."""
    limits = view.limits(experiment_of(view.data).clients)
    accuracy = []
    for guarantee in (None, *offered):
        asked = replace(_sure(view).of_seed(view.seeds[0]), guarantee=guarantee)
        accuracy.append(accuracy_within(asked, limits))
    return [accuracy[0] - one for one in accuracy[1:]]


def accuracy_within(view: View, limits: dict[str, Any]) -> float:
    """Accuracy of a view's only run on the fitted people; NaN where limits and floors collide."""
    try:
        return programs_of(view)[0].solve(**limits).accuracy
    except CollisionError:
        return float("nan")


# -------------------------------------------------------------------- figures ready to tell


@dataclass(frozen=True)
class ClientRow:
    """A row of a study's client table."""

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

    @property
    def within_noise(self) -> bool:
        """Whether it cannot be told from none: the one rule for chance, see `verdict`."""
        return bool(within_chance(self.gap_low))


@dataclass(frozen=True)
class Figures:
    """A study on one kind of people, mean over runs: fitted or unseen."""

    n: float
    accuracy: float
    accuracy_before: float
    overall: float
    overall_before: float
    overall_low: float
    overall_high: float
    local_mean: float
    local_mean_before: float
    debiased: float  # of the larger half of the clients
    utility: float  # what is made as large as can be: accuracy unless asked otherwise
    utility_before: float
    worst: ClientRow | None  # by its mean over runs; None where no client has two groups

    @property
    def cost(self) -> float:
        """Accuracy lost to fairness."""
        return self.accuracy_before - self.accuracy


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
    loses_most: ClientRow
    gains_most: ClientRow
    prices: tuple[Price, ...]  # the overall one, then clients, dearest first; those that bind
    verdict: Verdict
    policy: Policy
    remarks: tuple[str, ...]

    @property
    def judged(self) -> Figures:
        """On unseen people, or on the fitted ones where there are no others."""
        return self.unseen or self.reached


def summary_of(study: Study) -> Summary:
    """The numbers of a study."""
    solution, unseen = study.first.solution, study.has_held_out
    rows = client_rows(study)
    groups = study.client_mean(lambda e: e.changed, unseen=unseen)
    prices = [Price(None, study.price_global, solution.eps_global == 0)]
    prices += [Price(row.client, row.price, row.eps_local == 0) for row in rows]
    return Summary(
        runs=len(study.outcomes),
        reached=_figures(study, client_rows(study, unseen=False), unseen=False),
        unseen=_figures(study, rows, unseen=True) if unseen else None,
        eps_global=solution.eps_global,
        eps_local=(float(solution.eps_local.min()), float(solution.eps_local.max())),
        changed=study.over(
            lambda e: float(e.answers.turned.sum() / e.counts.n), unseen=unseen
        ).mean,
        changed_by_group=tuple(zip(solution.counts.groups, groups.tolist(), strict=True)),
        loses_most=min(rows, key=_change),
        gains_most=max(rows, key=_change),
        prices=(
            *(price for price in prices[:1] if price.points > _BINDS),
            *sorted(
                (price for price in prices[1:] if price.points > _BINDS),
                key=lambda price: -price.points,
            ),
        ),
        verdict=verdict_of(
            study.evaluations(unseen=unseen),
            solution.eps_global,
            solution.eps_local,
            solution.guarantee,
            unseen=unseen,
        ),
        policy=solution.policy,
        remarks=tuple(Solution.remarks(solution)),
    )


def client_rows(study: Study, *, unseen: bool | None = None) -> tuple[ClientRow, ...]:
    """The client table, row by row; on unseen people where there are any, unless told."""
    unseen = study.has_held_out if unseen is None else unseen
    records = study.client_table(unseen=unseen).to_dict("records")
    return tuple(ClientRow(**record) for record in records)


def _change(row: ClientRow) -> float:
    change = row.accuracy - row.accuracy_before
    return 0.0 if np.isnan(change) else change


def _figures(study: Study, rows: Sequence[ClientRow], *, unseen: bool) -> Figures:
    def mean(figure: Callable[[Evaluation], float]) -> float:
        return study.over(figure, unseen=unseen).mean

    def utility(e: Evaluation) -> float:
        return study.first.solution.policy.utility.achieved(e.confusion, e.counts)

    worst = study.worst_client(unseen=unseen)
    return Figures(
        n=mean(lambda e: e.counts.n),
        accuracy=mean(lambda e: e.accuracy),
        accuracy_before=mean(lambda e: e.before.accuracy),
        overall=mean(lambda e: e.gaps.overall),
        overall_before=mean(lambda e: e.before.gaps.overall),
        overall_low=mean(lambda e: e.global_interval[0]),
        overall_high=mean(lambda e: e.global_interval[1]),
        local_mean=mean(lambda e: e.gaps.local_mean),
        local_mean_before=mean(lambda e: e.before.gaps.local_mean),
        debiased=mean(lambda e: e.debiased(e.larger_half).gap),
        utility=mean(utility),
        utility_before=mean(lambda e: utility(e.before)),
        worst=None if worst is None else rows[worst],
    )
