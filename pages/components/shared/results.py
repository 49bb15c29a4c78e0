"""From a view to results: the core's functions behind bounded caches, and figures ready to tell.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a program may be solved from several sessions at once. Those of a visitor's own
set stay with it. What pages, reports and sentences say is computed here, or in the core, once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of as predictor_from
from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.predictors.score_predictor import ScorePredictor
from fairfl_core.solving.build import build_program, default_rates
from fairfl_core.solving.frontier import Frontier, frontier, mean_frontier
from fairfl_core.solving.program import Program
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.view import View, regions_of

__all__ = [
    "COARSE",
    "FREE",
    "GRID",
    "ClientRow",
    "Figures",
    "Price",
    "Summary",
    "client_rows",
    "counts_of",
    "heat_of",
    "heavy",
    "people_of",
    "predictor_of",
    "program_on",
    "region_curve",
    "study_of",
    "summary_of",
    "there",
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


# -------------------------------------------------------------------- people


@cached(400)
def counts_of(name: str, seed: int, split: str) -> ClientCounts | None:
    """Counts of one seed and split; no "test" where no held-out check is possible."""
    return experiment_of(name).counts(seed, split)


@cached(48)
def people_of(name: str, seed: int, split: str) -> ScoredPeople | None:
    """People with scores of one seed and split; None where there is no such split."""
    if counts_of(name, seed, split) is None:
        return None
    return ScoredPeople.from_experiment(experiment_of(name), seed, split)


def there(people: People | None) -> People:
    """The people a lottery is fitted on: every set has some."""
    if people is None:
        raise TypeError("a set without people to fit on")
    return people


def heavy(view: View, *, map_only: bool = False) -> bool:
    """Whether a set is so large that many solutions take minutes; a map may be merged instead."""
    experiment = experiment_of(view.experiment)
    if len(experiment.clients) * len(experiment.groups) <= HEAVY:
        return False
    return not (map_only and _program(view.without_limits().of_seed(view.seeds[0])).merges)


# -------------------------------------------------------------------- solutions


def program_on(people: People, view: View) -> Program:
    """The view's program on these people; they have scores where it looks at them."""
    return build_program(people, view.notion, view.region, rates=view.rates)


def _fresh_program(view: View) -> Program:
    """The program of a view's only seed, on its validation people."""
    name, (seed,) = view.experiment, view.seeds
    people = (people_of if view.needs_scores else counts_of)(name, seed, "validation")
    return program_on(there(people), view)


_program = cached(240)(_fresh_program)


@cached(64)
def study_of(view: View) -> Study:
    """Solve for every seed and judge on validation and on test."""
    one_run = view.without_limits()
    programs = [(seed, _program(one_run.of_seed(seed))) for seed in view.seeds]
    judged_on: Callable[[str, int, str], People | None]
    judged_on = people_of if view.answers_by_scores else counts_of
    unseen = [judged_on(view.experiment, seed, "test") for seed in view.seeds]
    return run_study(programs, unseen, **view.limits(experiment_of(view.experiment).clients))


@cached(400)
def _seed_heat(view: View, grid: tuple[float, ...]) -> Frontier:
    return frontier(_program(view), eps_local=grid, eps_global=grid)


def heat_of(
    view: View, grid: Sequence[float] = GRID, on_progress: OnProgress | None = None
) -> Frontier:
    """Accuracy and gaps over a grid of limits on validation, mean over seeds.

    Every client gets the same limit; clients' own limits are not in a map. `on_progress` hears
    the share done.
    """
    one_run = view.without_limits()
    parts = []
    for place, seed in enumerate(view.seeds, 1):
        parts.append(_seed_heat(one_run.of_seed(seed), tuple(grid)))
        if on_progress is not None:
            on_progress(place / len(view.seeds))
    return mean_frontier(parts)


def region_curve(view: View, on_progress: OnProgress | None = None) -> pd.DataFrame:
    """Accuracy and gaps on unseen people for each region, at limits from tight to loose."""
    regions = regions_of(experiment_of(view.experiment), view.notion)
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
    return predictor_from(program.solve(**view.limits(experiment_of(view.experiment).clients)))


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
        """Whether a perfectly fair predictor would show as large a gap on so few people."""
        return self.gap <= self.noise_floor


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
        worst=None if worst is None else rows[worst],
    )
