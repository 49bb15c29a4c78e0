"""From a view to results: the core's functions behind bounded caches.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a program may be solved from several sessions at once. Those of a visitor's own
set stay with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from fairfl_core.errors import CollisionError
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.evaluation.summary import Figures, Summary, figures_of, summarise
from fairfl_core.fairness.notions import Notion
from fairfl_core.predictors.heading import FittedOn
from fairfl_core.predictors.load import predictor_of as predictor_from
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.solving.build import build_program, default_rates
from fairfl_core.solving.frontier import Frontier, frontier, mean_frontier
from fairfl_core.solving.program import Program
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.session.streamlit_internals import give_way
from pages.components.shared.people import People, counts_of, people_of, required, unseen_of
from pages.components.shared.shipped import shipped_summary
from pages.components.view import NO_LIMIT, PAPERS_REGION, View, regions_of

__all__ = [
    "COARSE",
    "GRID",
    "LEVELS",
    "accuracy_kept",
    "accuracy_within",
    "clients_of",
    "computed_summary",
    "first_run_of",
    "heat_of",
    "heavy",
    "judged_of",
    "many_margins",
    "papers_region_serves",
    "predictor_of",
    "program_on",
    "programs_of",
    "region_curve",
    "study_of",
    "summary_of",
]

# Fine near zero, where fairness begins to cost. The paper's six values are among them.
GRID = (
    *(0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.09, 0.1),
    *(0.115, 0.13, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3),
)
LEVELS = (*GRID, NO_LIMIT)  # what a slider offers
COARSE = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3)  # for sets of many clients
CURVE = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3)  # limits of the regions' curves
_POLITE = 10  # as `nice` counts: a large set beside those who only move a slider
HEAVY = 800  # clients times groups, of two labels

OnProgress = Callable[[float], None]


def many_margins(view: View) -> bool:
    """Whether a confidence takes minutes: every rate of every pair of groups in every client."""
    experiment = experiment_of(view.data)
    groups = len(experiment.groups)
    rates = Notion.of(view.notion, experiment.labels, experiment.favourable).rates
    return len(experiment.clients) * groups * (groups - 1) * len(rates) > HEAVY


def heavy(view: View, *, map_only: bool = False) -> bool:
    """Whether a set is so large that many solutions take minutes; a map may be merged instead."""
    if view.guarantee is not None and many_margins(view):
        return True
    experiment = experiment_of(view.data)
    cells = len(experiment.clients) * len(experiment.groups) * len(experiment.labels)
    if cells <= 2 * HEAVY:
        return False
    return not (map_only and _program(view.without_limits().of_seed(view.seeds[0])).merges)


def papers_region_serves(view: View) -> bool:
    """Whether the paper's region can serve the view's notion at all."""
    return PAPERS_REGION in regions_of(experiment_of(view.data), view.notion)


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
    return program_on(required(people), view)


_program = cached(240)(_fresh_program)


def programs_of(view: View) -> list[Program]:
    """The program of every run."""
    one_run = view.without_limits()
    return [_program(one_run.of_seed(seed)) for seed in view.seeds]


@cached(24)  # the largest of results, and seldom asked for again once it is told
def study_of(view: View) -> Study:
    """Solve for every seed and judge on the fitted people and on unseen ones."""
    if heavy(view):
        give_way(_POLITE)  # each run of a page has a thread of its own
    programs = list(zip(view.seeds, programs_of(view), strict=True))
    unseen = [unseen_of(view, seed) for seed in view.seeds]
    return run_study(programs, unseen, **view.limits(experiment_of(view.data).clients))


@cached(320)
def summary_of(view: View) -> Summary:
    """What is told of a view's study in numbers: as shipped, for views that visits begin with."""
    return shipped_summary(view) or computed_summary(view)


def computed_summary(view: View) -> Summary:
    """The same, solved and judged here; costs are against the view without limits."""
    return summarise(study_of(view), study_of(view.without_limits()))


@cached(400)
def judged_of(view: View) -> Figures:
    """What is told of everyone together, on the people it is judged on: `summary_of`'s own part."""
    shipped = shipped_summary(view)
    if shipped is not None:
        return shipped.judged
    study = study_of(view)
    return figures_of(study, study_of(view.without_limits()), unseen=study.has_held_out)


@cached(400)
def clients_of(view: View) -> pd.DataFrame:
    """One row a client of a view's study, on unseen people where there are any."""
    study = study_of(view)
    return study.client_table(unseen=study.has_held_out)


@cached(400)
def first_run_of(view: View) -> Figures:
    """What is told of the first run alone: its part of the study, not solved again."""
    with_limits, without = (
        Study(study_of(one).outcomes[:1]) for one in (view, view.without_limits())
    )
    return figures_of(with_limits, without, unseen=with_limits.has_held_out)


def accuracy_kept(view: View, other: View) -> float:
    """How much more accurate another view is, on the people both are judged on."""
    kept, others = (
        study.over(lambda e: e.accuracy, unseen=study.has_held_out).mean
        for study in (study_of(view), study_of(other))
    )
    return others - kept


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
                rates=default_rates(region, folds=experiment_of(view.data).folds),
                eps_global=limit,
                eps_local=limit,
            )
            rows.append(_curve_point(point))
            if on_progress is not None:
                on_progress(len(rows) / (len(regions) * len(CURVE)))
    return pd.DataFrame(rows)


@cached(400)
def _curve_point(view: View) -> dict[str, object]:
    judged = judged_of(view)
    return {
        "region": view.region,
        "limit": view.eps_global,
        "accuracy": judged.accuracy,
        "gap_global": judged.overall,
        "gap_local_mean": judged.local_mean,
    }


def predictor_of(view: View) -> Predictor:
    """The first chosen run's predictor, from a fresh program: what a shell would give."""
    seed, experiment = view.seeds[0], experiment_of(view.data)
    program = _fresh_program(view.without_limits().of_seed(seed))
    predictor = predictor_from(program.solve(**view.limits(experiment.clients)))
    sha256 = experiment.manifest["scores"]["sha256"]
    fitted_on = FittedOn(experiment.manifest["name"], sha256, seed, experiment.fit_split)
    return replace(predictor, fitted_on=fitted_on)


def accuracy_within(view: View, limits: dict[str, Any]) -> float:
    """Accuracy of a view's only run on the fitted people; NaN where limits and floors collide."""
    try:
        return programs_of(view)[0].solve(**limits).accuracy
    except CollisionError:
        return float("nan")
