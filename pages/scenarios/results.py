"""The paper's scenarios and clients of one's own, behind bounded caches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.resample import (
    largest_size,
    redraw,
    redraw_folded,
    redraw_people,
)
from fairfl_core.data.scored import ScoredData
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.methods import GRID, PAPER
from fairfl_core.evaluation.study import Study, Summary, run_study, summarise
from fairfl_core.lp.frontier import Frontier, frontier, mean_frontier
from fairfl_core.lp.program import FairnessProgram
from pages.shared.catalogue import cached, catalogue, experiment_of
from pages.shared.results import (
    People,
    Unseen,
    counts_of,
    folded_of,
    heat_of,
    is_dear,
    people_of,
    program_on,
    required,
    study_of,
)
from pages.shared.view import NO_LIMIT, START, View, read_view

KINDS = dict(zip(("alike", "little", "far"), PAPER["scenarios"], strict=True))  # to experiments
MAP = (0.0, START["eps_global"], *GRID)  # the paper's limits, none at all, and where ours begin
Floats = NDArray[np.float64]


# -------------------------------------------------------------------- the paper's three


def scenario_view(name: str, settings: Mapping[str, str], limits: View) -> View:
    """A scenario by this page's own settings, with the limits of a view and nothing else of it."""
    view, _ = read_view({"experiment": name, **settings}, catalogue())
    return replace(view, eps_global=limits.eps_global, eps_local=limits.eps_local)


def map_of(view: View, on_progress: Callable[[float], None] | None = None) -> Frontier:
    """The map of a scenario over the paper's grid, on the people the rules are made for.

    Where maps take long it is of the first run.
    """
    return heat_of(view.of_seed(view.seeds[0]) if is_dear(view) else view, MAP, on_progress)


def cost_difference(one: View, other: View) -> tuple[float, float]:
    """How much more accuracy the limits cost in the other view, and its standard error over runs.

    The error is NaN where a view has a single run: it tells nothing of chance.
    """
    costs = [study.over(_cost, unseen=study.has_held_out) for study in map(study_of, (one, other))]
    if min(len(cost.values) for cost in costs) < 2:
        return costs[1].mean - costs[0].mean, float("nan")
    error = np.sqrt(sum(cost.deviation**2 / len(cost.values) for cost in costs))
    return costs[1].mean - costs[0].mean, float(error)


def _cost(evaluation: Evaluation) -> float:
    return evaluation.before.accuracy - evaluation.accuracy


def composition(view: View) -> tuple[Floats, Floats]:
    """Each group's share in each client, and people of each client; held-out, mean over runs."""
    people = np.mean(
        [
            np.sum([pool.table.sum(axis=(2, 3)) for pool in _pools(view.of_seed(seed))], axis=0)
            for seed in view.seeds
        ],
        axis=0,
    )
    return people / people.sum(axis=1, keepdims=True), people.sum(axis=1)


# -------------------------------------------------------------------- one's own


@dataclass(frozen=True)
class OwnClients:
    """Clients drawn anew: whose people, the first group's share in each, people of each."""

    view: View
    shares: tuple[float, ...]
    size: int
    draw: int

    def without_limits(self) -> "OwnClients":
        """What the draw and its map depend on."""
        return replace(self, view=self.view.without_limits())


def most_people(view: View, clients: int) -> int:
    """The size that clients can have if nothing is asked of their shares."""
    return min(int(counts.n) // clients for counts in _pools(view))


def own_most(own: OwnClients) -> int:
    """The most people a client can have with these shares, in every run and split."""
    return min(largest_size(counts, own.shares) for counts in _pools(own.view))


def _pools(view: View) -> list[ClientCounts]:
    name = view.experiment
    pools: list[Unseen | None] = []
    for seed in view.seeds:
        pools.append(counts_of(name, seed, experiment_of(name).fit_split))
        pools.append(folded_of(name, seed) or counts_of(name, seed, "test"))
    return [people.counts for people in pools if people is not None]


def own_people(own: OwnClients) -> list[tuple[People | None, Unseen | None]]:
    """Every run's fitted and test people, drawn; refused where there are too few."""
    return [_drawn(own.without_limits(), seed) for seed in own.view.seeds]


@cached(120)
def _drawn(own: OwnClients, seed: int) -> tuple[People | None, Unseen | None]:
    view, name = own.view, own.view.experiment

    def dealt(code: int, split: str) -> People | None:
        state = (own.draw, seed, code)
        if view.needs_scores:
            people = people_of(name, seed, split)
            return people and redraw_people(people, own.shares, own.size, seed=state)
        counts = counts_of(name, seed, split)
        return counts and redraw(counts, own.shares, own.size, seed=state)

    fitted = dealt(0, experiment_of(name).fit_split)
    folded = folded_of(name, seed)
    if folded is not None:
        return fitted, redraw_folded(folded, own.shares, own.size, seed=(own.draw, seed, 1))
    return fitted, dealt(1, "test")


@cached(120)
def _program(own: OwnClients, seed: int) -> FairnessProgram:
    return program_on(required(_drawn(own, seed)[0]), own.view)


@cached(12)
def own_study(own: OwnClients) -> Study:
    """Solve every run's clients and judge on validation and test.

    The new clients have names of their own, so no client's own limit reaches them.
    """
    view, drawn = own.view, own_people(own)
    programs = [(seed, _program(own.without_limits(), seed)) for seed in view.seeds]
    unseen = [test if view.answers_by_scores else _counted(test) for _, test in drawn]
    return run_study(programs, unseen, view.eps_global, view.eps_local)


def own_summary(own: OwnClients) -> Summary:
    """What is reported of a study of these clients."""
    return summarise(own_study(own))


def _counted(people: Unseen | None) -> Unseen | None:
    return people.counts if isinstance(people, ScoredData) else people


def own_heat(own: OwnClients) -> Frontier:
    """The map over the paper's grid on the fitted people, mean over runs."""
    return _own_heat(own.without_limits())


@cached(60)
def _own_heat(own: OwnClients) -> Frontier:
    programs = [_program(own, seed) for seed in own.view.seeds]
    grid = (*MAP, NO_LIMIT)
    return mean_frontier(
        [frontier(program, eps_local=grid, eps_global=grid) for program in programs]
    )
