"""The way from a choice to results: the core's functions behind bounded caches.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a `FairnessProgram` may be solved from several sessions at once. Those of a
visitor's own set stay with it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairfl_core import experiments
from fairfl_core.counts import ClientCounts
from fairfl_core.experiments import Experiment
from fairfl_core.frontier import Frontier, frontier
from fairfl_core.predictor import FairPredictor
from fairfl_core.program import FairnessProgram
from fairfl_core.study import Study, run_study
from pages.components import own_data

__all__ = [
    "GRID", "Choice", "client_table", "counts_of", "experiment_of", "heat_of", "predictor_of",
    "study_of",
]  # fmt: skip

# Fine near zero, where fairness begins to cost. The paper's six values are among them.
GRID = (
    0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.09, 0.1, 0.115, 0.13,
    0.15, 0.175, 0.2, 0.225, 0.25, 0.3,
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What the sidebar says: which experiment, seen how, over which seeds."""

    experiment: str
    notion: str
    region: str
    seeds: tuple[int, ...]


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


@own_data.cached(240)
def _program(name: str, notion: str, region: str, seed: int) -> FairnessProgram:
    return FairnessProgram(counts_of(name, seed, "validation"), notion, region)


def study_of(
    choice: Choice, eps_global: float, eps_local: float, own: tuple[tuple[str, float], ...] = ()
) -> Study:
    """Solve for every seed and judge on validation and test; `own` are clients' own epsilons."""
    name = choice.experiment
    programs = [(s, _program(name, choice.notion, choice.region, s)) for s in choice.seeds]
    clients = programs[0][1].counts.clients
    by_client = dict.fromkeys(clients, eps_local) | dict(own)
    unseen = [counts_of(name, seed, "test") for seed in choice.seeds]
    return run_study(programs, unseen, eps_global, by_client)


@own_data.cached(400)
def _seed_heat(
    name: str, notion: str, region: str, seed: int, grid: tuple[float, ...]
) -> Frontier:
    program = _program(name, notion, region, seed)
    return frontier(
        program.counts, notion, region, eps_local=grid, eps_global=grid, program=program
    )


def heat_of(
    choice: Choice,
    grid: tuple[float, ...] = GRID,
    progress: Callable[[float], None] | None = None,
) -> Frontier:
    """Accuracy and gaps over the grid on validation, mean over seeds; `progress` hears shares."""
    found = []
    for place, seed in enumerate(choice.seeds):
        found.append(_seed_heat(choice.experiment, choice.notion, choice.region, seed, grid))
        if progress:
            progress((place + 1) / len(choice.seeds))
    tables = ("accuracy", "gap_global", "gap_local_mean", "gap_local_worst")
    means = {name: np.mean([getattr(each, name) for each in found], axis=0) for name in tables}
    return Frontier(found[0].eps_local, found[0].eps_global, **means)


def predictor_of(
    choice: Choice, eps_global: float, eps_local: float, own: tuple[tuple[str, float], ...] = ()
) -> FairPredictor:
    """The first chosen run's predictor, from a fresh program: what a shell would give."""
    counts = counts_of(choice.experiment, choice.seeds[0], "validation")
    program = FairnessProgram(counts, choice.notion, choice.region)
    by_client = dict.fromkeys(counts.clients, eps_local) | dict(own)
    return FairPredictor.from_solution(program.solve(eps_global, by_client))


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
