"""One setting over several seeds: what was asked, what was reached, what held on unseen people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import to_frame
from fairfl_core.budget import look
from fairfl_core.data.answers import Answers
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.lp.limits import EpsLocal
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.predictor import People, Predictor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Outcome", "Spread", "Study", "run_study"]

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

    def client_table(self, *, unseen: bool, at: Sequence[int] | None = None) -> "pd.DataFrame":
        """`client_columns` as a table."""
        return to_frame(self.client_columns(unseen=unseen, at=at))

    def client_columns(self, *, unseen: bool, at: Sequence[int] | None = None) -> dict[str, Any]:
        """One row a client, mean over seeds: the columns of `Evaluation.client_table`, and three.

        ``gap_reached`` is the gap on the people it was fitted on, ``eps_local`` what was asked,
        ``price`` the price of the client's limit: points of accuracy, over everyone,
        for one more hundredth. A figure that some seeds do not have is the mean of the others.
        `at` names the clients by position; all unless told.
        """
        if at is None:
            means = self._unseen_columns if unseen else self._fitted_columns
        else:
            means = _client_means(self.evaluations(unseen=unseen), at)
        chosen = list(range(len(self.price_local)) if at is None else at)
        clients = self.first.solution.counts.clients
        return (
            {"client": [clients[place] for place in chosen]}
            | means
            | {
                "n": means["n"].round(),
                "gap_reached": self.client_mean(lambda e: e.gaps.local, unseen=False)[chosen],
                "eps_local": self.first.solution.eps_local[chosen],
                "price": self.price_local[chosen],
            }
        )

    @cached_property
    def _fitted_columns(self) -> dict[str, Floats]:
        return _client_means(self.evaluations(unseen=False))

    @cached_property
    def _unseen_columns(self) -> dict[str, Floats]:
        return _client_means(self.evaluations(unseen=True))

    def group_table(self, *, unseen: bool) -> "pd.DataFrame":
        """One row a group over all clients, mean over seeds: as `Evaluation.group_table`."""
        runs = [each.group_columns() for each in self.evaluations(unseen=unseen)]
        means = {name: run_mean([run[name] for run in runs]) for name in runs[0]}
        groups = self.first.solution.counts.groups
        return to_frame({"group": groups} | means | {"n": means["n"].round()})


def _client_means(
    runs: Sequence[Evaluation], at: Sequence[int] | None = None
) -> dict[str, Floats]:
    """`Evaluation.client_columns` of these clients (default all), each the mean over the runs."""
    columns = _together(runs, at).client_columns()
    return {name: run_mean(values.reshape(len(runs), -1)) for name, values in columns.items()}


def _together(runs: Sequence[Evaluation], at: Sequence[int] | None) -> Evaluation:
    """The clients of all runs side by side, run by run: what is told of each is computed once.

    What is told of everyone together means nothing here.
    """
    if len(runs) == 1 and at is None:
        return runs[0]
    chosen = slice(None) if at is None else list(at)
    tables = [one.counts.table[chosen] for one in runs]
    names = tuple(f"{k}:{c}" for k, table in enumerate(tables) for c in range(len(table)))
    counts = replace(  # noisy, as a run may lack a client
        runs[0].counts, table=np.concatenate(tables), clients=names, noisy=True
    )
    answers, own = (
        Answers(
            *(
                np.concatenate([getattr(part, one.name)[chosen] for part in parts])
                for one in fields(Answers)
            )
        )
        for parts in ([one.answers for one in runs], [one.own for one in runs])
    )
    return Evaluation(counts, runs[0].notion, answers, own)


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
