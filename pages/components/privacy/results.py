"""Noise studies behind bounded caches, and the paper's own table to put beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl_core.errors import InputError
from fairfl_core.paper.printed import TABLE_4, TABLE_4_ASKED, TABLE_4_FEDAVG
from fairfl_core.privacy.mechanisms import MECHANISMS, Mechanism
from fairfl_core.privacy.noise_study import (
    Judged,
    NoiseStudy,
    Runs,
    model_alone,
    noise_study,
    spending,
    without_noise,
)
from pages.components.session import own_data
from pages.components.shared.results import Choice, counts_of, experiment_of, heavy

__all__ = ["BUDGETS", "PAPER", "PAPER_ASKED", "Asked", "Found", "Three", "adult_beside_paper",
           "exact_of", "noise_of", "studied"]  # fmt: skip

BUDGETS = (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
SEED = 0


@dataclass(frozen=True)
class Three:
    """Mean local gap, global gap and accuracy: what the paper's table tells of a setting."""

    local: float
    overall: float
    accuracy: float


# Table 4, on unseen people: the key is the epsilon it names; infinite is no noise, 0 FedAvg.
PAPER_ASKED = TABLE_4_ASKED[0]
PAPER = {
    epsilon: Three(row.local.mean, row.overall.mean, row.accuracy.mean)
    for epsilon, row in (TABLE_4 | {0.0: TABLE_4_FEDAVG}).items()
}


@dataclass(frozen=True)
class Asked:
    """What is solved for, whatever the noise; `own` are clients' own epsilons."""

    choice: Choice
    eps_global: float
    eps_local: float
    own: tuple[tuple[str, float], ...] = ()

    @property
    def runs(self) -> Runs:
        """Counts of every seed, validation and test."""
        name = self.choice.experiment
        return [
            (counts_of(name, seed, "validation"), counts_of(name, seed, "test"))
            for seed in self.choice.seeds
        ]

    @property
    def limits(self) -> dict[str, Any]:
        """Both epsilons, as the core takes them."""
        clients = experiment_of(self.choice.experiment).clients
        by_client = dict.fromkeys(clients, self.eps_local) | dict(self.own)
        return {"eps_global": self.eps_global, "eps_local": by_client}


@own_data.cached(400)
def _at_budget(asked: Asked, mechanism: Mechanism, draws: int) -> NoiseStudy:
    choice = asked.choice
    return noise_study(
        asked.runs, [mechanism], choice.notion, choice.region, **asked.limits,
        draws=draws, seed=SEED,
    )  # fmt: skip


def noise_of(
    asked: Asked,
    name: str,
    neighbours: str,
    draws: int,
    budgets: Sequence[float] = BUDGETS,
    progress: Callable[[float], None] | None = None,
) -> NoiseStudy:
    """One mechanism at budgets it really spends; `progress` hears shares."""
    found = []
    for place, budget in enumerate(budgets):
        found.append(_at_budget(asked, spending(name, budget, neighbours), draws))
        if progress:
            progress((place + 1) / len(budgets))
    return NoiseStudy.joined(found)


@own_data.cached(100)
def exact_of(asked: Asked) -> tuple[Judged, Judged | None]:
    """The same without noise, on validation and on test."""
    choice = asked.choice
    return without_noise(asked.runs, choice.notion, choice.region, **asked.limits)


@dataclass(frozen=True, eq=False)
class Found:
    """What the page tells of: a study, its noiseless limit, and the other mechanism.

    `at` is the current budget's place in `study`, `other_at` in `other`.
    """

    study: NoiseStudy
    exact: Judged
    at: int
    other: NoiseStudy
    other_at: int
    both: bool

    @property
    def other_name(self) -> str:
        """The mechanism that was not chosen."""
        return self.other.mechanisms[0].name


def studied(
    asked: Asked,
    mechanism: Mechanism,
    draws: int,
    *,
    both: bool,
    progress: Callable[[float], None] | None = None,
) -> Found:
    """A mechanism at every budget; the other one too, or only at the same budget as it."""
    if heavy(asked.choice):
        raise InputError(
            "with so many clients hundreds of programs would take an hour; try fewer clients, or "
            "make noisy counts with `fairfl privatize` and upload those."
        )
    other = next(name for name in MECHANISMS if name != mechanism.name)
    at = min(range(len(BUDGETS)), key=lambda place: abs(BUDGETS[place] - mechanism.spent))
    budgets = BUDGETS if both else BUDGETS[at : at + 1]
    return Found(
        study=noise_of(asked, mechanism.name, mechanism.neighbours, draws, progress=progress),
        exact=exact_of(asked)[0],
        at=at,
        other=noise_of(asked, other, mechanism.neighbours, draws, budgets, progress),
        other_at=at if both else 0,
        both=both,
    )


def adult_beside_paper(
    neighbours: str, draws: int = 30, progress: Callable[[float], None] | None = None
) -> list[tuple[float, float, Three, Three, Three]]:
    """For each row of the paper's table: its epsilon, what that really spends, then three figures.

    Those of the paper, of ours with the paper's mechanism, and of ours with the histogram at the
    same true budget; means over draws, on unseen people.
    """
    adult = Choice("adult", "sp", "simplex", experiment_of("adult").seeds)
    asked = Asked(adult, PAPER_ASKED, PAPER_ASKED)
    named = [epsilon for epsilon in PAPER if 0 < epsilon < np.inf]
    times = Mechanism(name="paper", epsilon=1.0, neighbours=neighbours).spent
    budgets = [times * epsilon for epsilon in named]
    ours = [
        noise_of(asked, name, neighbours, draws, budgets, progress)
        for name in ("paper", "histogram")
    ]
    exact, model = exact_of(asked)[1], model_alone(asked.runs, "sp")[1]
    rows = []
    for epsilon, theirs in PAPER.items():
        if epsilon in named:
            found = [_three(study.held_out, named.index(epsilon)) for study in ours]
        else:
            found = [_three(model if epsilon == 0 else exact, 0)] * 2
        rows.append((epsilon, times * epsilon, theirs, *found))
    return rows


def _three(judged: Judged | None, budget: int) -> Three:
    if judged is None:
        return Three(*[float("nan")] * 3)
    figures = (judged.local_mean, judged.overall, judged.accuracy)
    return Three(*(float(figure[budget].mean()) for figure in figures))
