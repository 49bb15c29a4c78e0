"""The way from a choice to results: the core's functions behind bounded caches.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a `FairnessProgram` may be solved from several sessions at once. Those of a
visitor's own set stay with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.fairness.notions import Notion
from fairfl_core.people import experiments
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.experiments import Experiment
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of as predictor_from
from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.predictors.score_predictor import ScorePredictor
from fairfl_core.solving.build import build_program, default_rates
from fairfl_core.solving.frontier import Frontier, frontier, mean_frontier
from fairfl_core.solving.program import Program
from fairfl_core.solving.regions import region_kind, region_names
from pages.components.session import own_data

__all__ = [
    "COARSE", "GRID", "Choice", "client_table", "counts_of", "experiment_of", "has_scores", "heat_of", "heavy",
    "people_of", "predictor_of", "region_curve", "study_of",
]  # fmt: skip

# Fine near zero, where fairness begins to cost. The paper's six values are among them.
GRID = (
    0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.09, 0.1, 0.115, 0.13,
    0.15, 0.175, 0.2, 0.225, 0.25, 0.3,
)  # fmt: skip

COARSE = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3)  # for sets of many clients
HEAVY = 800  # clients times groups


@dataclass(frozen=True)
class Choice:
    """What the sidebar says: which experiment, seen how, over which seeds."""

    experiment: str
    notion: str
    region: str
    seeds: tuple[int, ...]
    rates: str = "labels"


@own_data.cached(16)
def experiment_of(name: str) -> Experiment:
    """An experiment, its hash checked once; or the visitor's own set."""
    if own_data.is_own(name):
        return own_data.find(name).taken.experiment
    return experiments.open(name)


@own_data.cached(400)
def counts_of(name: str, seed: int, split: str) -> ClientCounts | None:
    """Counts of one seed and split; no "test" where no held-out check is possible."""
    return experiment_of(name).counts(seed, split)


def has_scores(name: str) -> bool:
    """Whether people come with scores: the exact region and rates from scores need them."""
    experiment = experiment_of(name)
    return bool(getattr(experiment, "has_scores", True))


def regions_of(name: str, notion: str) -> tuple[str, ...]:
    """The regions that an experiment's people and a notion allow."""
    experiment = experiment_of(name)
    asked = Notion.of(notion, experiment.labels, experiment.favourable)
    return region_names(scores=has_scores(name), notion=asked)


@own_data.cached(48)
def people_of(name: str, seed: int, split: str) -> ScoredPeople | None:
    """People with scores of one seed and split; None where there is no such split."""
    if counts_of(name, seed, split) is None:
        return None
    return ScoredPeople.from_experiment(experiment_of(name), seed, split)


def _fresh_program(name: str, notion: str, region: str, seed: int, rates: str) -> Program:
    plain = not region_kind(region).needs_scores and rates == "labels"
    people = (counts_of if plain else people_of)(name, seed, "validation")
    return build_program(people, notion, region, rates=rates)


_program = own_data.cached(240)(_fresh_program)


def study_of(
    choice: Choice, eps_global: float, eps_local: float, own: tuple[tuple[str, float], ...] = ()
) -> Study:
    """Solve for every seed and judge on validation and test; `own` are clients' own epsilons."""
    name, seeds = choice.experiment, choice.seeds
    programs = [
        (seed, _program(name, choice.notion, choice.region, seed, choice.rates)) for seed in seeds
    ]
    by_client = dict.fromkeys(experiment_of(name).clients, eps_local) | dict(own)
    judged_on = people_of if region_kind(choice.region).needs_scores else counts_of
    unseen = [judged_on(name, seed, "test") for seed in seeds]
    return run_study(programs, unseen, eps_global, by_client)


@own_data.cached(400)
def _seed_heat(
    name: str, notion: str, region: str, seed: int, rates: str, grid: tuple[float, ...]
) -> Frontier:
    program = _program(name, notion, region, seed, rates)
    return frontier(program, eps_local=grid, eps_global=grid)


def heat_of(
    choice: Choice,
    grid: tuple[float, ...] = GRID,
    progress: Callable[[float], None] | None = None,
) -> Frontier:
    """Accuracy and gaps over the grid on validation, mean over seeds; `progress` hears shares."""
    found = []
    for place, seed in enumerate(choice.seeds):
        found.append(
            _seed_heat(
                choice.experiment, choice.notion, choice.region, seed, choice.rates, tuple(grid)
            )
        )
        if progress:
            progress((place + 1) / len(choice.seeds))
    return mean_frontier(found)


def heavy(choice: Choice, *, map_only: bool = False) -> bool:
    """Whether a set is so large that many solutions take minutes; a map may be merged instead."""
    experiment = experiment_of(choice.experiment)
    if len(experiment.clients) * len(experiment.groups) <= HEAVY:
        return False
    program = _program(
        choice.experiment, choice.notion, choice.region, choice.seeds[0], choice.rates
    )
    return not (map_only and program.merges)


LIMITS = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3)


def region_curve(choice: Choice, progress: Callable[[float], None] | None = None) -> pd.DataFrame:
    """Accuracy and gaps on unseen people for each region, at limits from tight to loose."""
    regions = regions_of(choice.experiment, choice.notion)
    rows = []
    for place, region in enumerate(regions):
        for step, limit in enumerate(LIMITS):
            each = replace(choice, region=region, rates=default_rates(region))
            rows.append(_curve_point(each, limit))
            if progress:
                progress((place * len(LIMITS) + step + 1) / (len(regions) * len(LIMITS)))
    return pd.DataFrame(rows)


@own_data.cached(400)
def _curve_point(choice: Choice, limit: float) -> dict[str, object]:
    study = study_of(choice, limit, limit)
    unseen = study.has_held_out
    return {
        "region": choice.region,
        "limit": limit,
        "accuracy": study.over(lambda e: e.accuracy, unseen=unseen).mean,
        "overall gap": study.over(lambda e: e.gaps.overall, unseen=unseen).mean,
        "mean client gap": study.over(lambda e: e.gaps.local_mean, unseen=unseen).mean,
    }


def predictor_of(
    choice: Choice, eps_global: float, eps_local: float, own: tuple[tuple[str, float], ...] = ()
) -> FairPredictor | ScorePredictor:
    """The first chosen run's predictor, from a fresh program: what a shell would give."""
    name = choice.experiment
    program = _fresh_program(name, choice.notion, choice.region, choice.seeds[0], choice.rates)
    by_client = dict.fromkeys(experiment_of(name).clients, eps_local) | dict(own)
    return predictor_from(program.solve(eps_global, by_client))


def client_table(study: Study) -> pd.DataFrame:
    """One row a client: gaps before and after with limits, what was asked and reached, price."""
    solution, unseen = study.first.solution, study.has_held_out
    figures = {
        "n": lambda e: e.counts.n_client.astype(float),
        "before": lambda e: e.before.gaps.local,
        "after": lambda e: e.gaps.local,
        "low": lambda e: e.local_interval[0],
        "high": lambda e: e.local_interval[1],
        "chance alone": lambda e: e.noise_floor,
        "accuracy before": lambda e: e.before.client_accuracy,
        "accuracy after": lambda e: e.client_accuracy,
    }
    table = pd.DataFrame({"client": solution.counts.clients})
    for name, figure in figures.items():
        table[name] = study.client_mean(figure, unseen=unseen)
    table["n"] = table["n"].round()
    table["reached on validation"] = study.client_mean(lambda e: e.gaps.local, unseen=False)
    table["asked"] = solution.eps_local
    table["price"] = study.price_local
    return table
