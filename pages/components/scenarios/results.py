"""The paper's scenarios and clients of one's own, behind bounded caches."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.paper import printed
from fairfl_core.paper.printed import GRID, SCENARIOS
from fairfl_core.people import experiments
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.resample import even_shares, largest_size, redraw
from fairfl_core.solving.frontier import Frontier, frontier, mean_frontier
from fairfl_core.solving.program import FairnessProgram
from pages.components.session import own_data
from pages.components.shared.results import Choice, counts_of, experiment_of, heat_of, study_of

__all__ = [
    "MAP", "SCENARIOS", "Own", "Scenario", "composition", "missing", "most_people",
    "own_heat", "own_most", "own_study", "scenario_of",
]  # fmt: skip

MAP = GRID
WIDE, NARROW = MAP[-1], MAP[0]


# -------------------------------------------------------------------- the paper's three


@dataclass(frozen=True, eq=False)
class Scenario:
    """One scenario: its map on validation, and unseen people's accuracy at the map's corners."""

    choice: Choice
    paper: printed.Scenario
    heat: Frontier
    unseen: dict[tuple[float, float], float]  # by (eps_global, eps_local)

    @property
    def fitted(self) -> dict[tuple[float, float], float]:
        """The same corners on validation."""
        accuracy = self.heat.accuracy  # a row per eps_local
        return {(e0, ec): float(accuracy[MAP.index(ec), MAP.index(e0)]) for e0, ec in self.unseen}


def missing() -> list[str]:
    """Scenarios of the paper that are not among the experiments here."""
    there = experiments.list_experiments()
    return [name for name in SCENARIOS if name not in there]


def scenario_of(
    name: str, sidebar: Choice, progress: Callable[[float], None] | None = None
) -> Scenario:
    """A scenario seen as the sidebar says, where that speaks of the same dataset."""
    choice = _choice(name, sidebar)
    heat = heat_of(choice, MAP, progress)
    return Scenario(choice, SCENARIOS[name], heat, _corners(choice))


def _choice(name: str, sidebar: Choice) -> Choice:
    """Notion and region of the sidebar, unless another dataset is chosen there."""
    experiment, chosen = experiment_of(name), experiment_of(sidebar.experiment)
    one_run = len(sidebar.seeds) < len(chosen.seeds) and sidebar.seeds[0] in experiment.seeds
    seeds = sidebar.seeds if one_run else experiment.seeds
    same = experiment.manifest["dataset"]["dataset"] == chosen.manifest["dataset"]["dataset"]
    if same:
        return Choice(name, sidebar.notion, sidebar.region, seeds)
    return Choice(name, experiment.notion, "simplex", seeds)


@own_data.cached(48)
def _corners(choice: Choice) -> dict[tuple[float, float], float]:
    pairs = ((WIDE, WIDE), (NARROW, NARROW), (WIDE, NARROW))
    studies = {pair: study_of(choice, *pair) for pair in pairs}
    return {
        pair: study.over(lambda e: e.accuracy, unseen=study.has_held_out).mean
        for pair, study in studies.items()
    }


def composition(choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """Each group's share in each client, and people of each client; held-out, mean over runs."""
    people = np.mean(
        [
            sum(counts_of(choice.experiment, seed, split).table.sum(axis=(2, 3))
                for split in experiments.SPLITS)
            for seed in choice.seeds
        ],
        axis=0,
    )  # fmt: skip
    return people / people.sum(axis=1, keepdims=True), people.sum(axis=1)


# -------------------------------------------------------------------- one's own


@dataclass(frozen=True)
class Own:
    """Clients drawn anew: whose people, the first group's share in each, people of each."""

    choice: Choice
    shares: tuple[float, ...]
    size: int
    draw: int

    @property
    def even(self) -> "Own":
        """As many people of the first group, spread evenly over the clients."""
        return replace(self, shares=even_shares(self.shares, self.size))


def most_people(choice: Choice, clients: int) -> int:
    """The size that clients can have if nothing is asked of their shares."""
    return min(int(counts.n) // clients for counts in _pools(choice))


def own_most(own: Own) -> int:
    """The most people a client can have with these shares, in every run and split."""
    return min(largest_size(counts, own.shares) for counts in _pools(own.choice))


def _pools(choice: Choice) -> list[ClientCounts]:
    found = [
        counts_of(choice.experiment, seed, split)
        for seed in choice.seeds
        for split in experiments.SPLITS
    ]
    return [counts for counts in found if counts is not None]


@own_data.cached(120)
def _drawn(own: Own, seed: int) -> tuple[FairnessProgram, ClientCounts | None]:
    """One run's program on the validation people drawn, and the test people drawn, if any."""
    validation, test = (
        None if counts is None
        else redraw(counts, own.shares, own.size, seed=(own.draw, seed, code))
        for code, counts in enumerate(
            counts_of(own.choice.experiment, seed, split) for split in experiments.SPLITS
        )
    )  # fmt: skip
    return FairnessProgram(validation, own.choice.notion, own.choice.region), test


def own_study(own: Own, eps_global: float, eps_local: float) -> Study:
    """Solve every run's clients and judge on validation and test."""
    drawn = [(seed, *_drawn(own, seed)) for seed in own.choice.seeds]
    programs = [(seed, program) for seed, program, _ in drawn]
    return run_study(programs, [test for *_, test in drawn], eps_global, eps_local)


@own_data.cached(60)
def own_heat(own: Own) -> Frontier:
    """The map over the paper's grid on validation, mean over runs."""
    found = []
    for seed in own.choice.seeds:
        program, _ = _drawn(own, seed)
        found.append(
            frontier(program, eps_local=MAP, eps_global=MAP)
        )  # fmt: skip
    return mean_frontier(found)
