"""What real test people say of a limit: gaps once chance is taken out, and clients above it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.evaluation.study import Outcome, Study, run_study
from research.held_out_curve import squared_debiased
from research.holding.settings import Setting, programs_of

__all__ = ["Above", "above", "before", "difference", "studies"]

Floats = NDArray[np.float64]


def studies(
    experiment: Experiment,
    settings: Sequence[Setting],
    seeds: Sequence[int],
    on_progress: Callable[[], None] = lambda: None,
) -> dict[Setting, Study]:
    """Every setting over some seeds of an experiment, on its test people."""
    outcomes: dict[Setting, list[Outcome]] = {setting: [] for setting in settings}
    for seed in seeds:
        fitted, unseen = fitted_people(experiment, seed), unseen_people(experiment, seed)
        for setting, program in programs_of(fitted, experiment.notion, settings):
            limits = (setting.eps_global, setting.eps_local)
            outcomes[setting] += run_study([(seed, program)], [unseen], *limits).outcomes
        on_progress()
    return {setting: Study(tuple(its)) for setting, its in outcomes.items()}


def before(study: Study) -> Study:
    """The same people as the model itself answers them."""
    return Study(
        tuple(
            replace(one, held_out=one.held_out and one.held_out.before) for one in study.outcomes
        )
    )


def difference(study: Study, other: Study) -> tuple[float, float]:
    """Mean and standard error of a study's squared debiased gaps less another's, by seed."""
    pairs = squared_debiased(study) - squared_debiased(other)
    pairs = pairs[~np.isnan(pairs)]
    error = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else np.nan
    return float(pairs.mean()) if len(pairs) else float("nan"), float(error)


@dataclass(frozen=True)
class Above:
    """How many clients of all seeds lie above the limit, not by chance (95 %)."""

    clients: int
    judged: int

    @property
    def share(self) -> float:
        """Their share of all that have a gap."""
        return self.clients / self.judged if self.judged else float("nan")


def above(study: Study, eps_local: float) -> Above:
    """Count the clients whose interval of the gap on test people lies above a limit."""
    lows: list[Floats] = [one.local_interval[0] for one in study.evaluations(unseen=True)]
    low = np.array(lows)
    return Above(int((low > eps_local).sum()), int((~np.isnan(low)).sum()))
