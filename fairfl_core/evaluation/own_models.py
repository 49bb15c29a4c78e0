"""Several models on the same people: what each reaches on unseen ones under tighter limits.

Each model is made fair by the same program at the same limits, fitted on the people set aside for
it and judged on the others. Models are compared as methods are: accuracy against the gap that
unseen people see, never at equal limits.

    settings = [s for model in intake.models for s in model_settings(model.name, model.experiment, "sp")]
    frontier(settings_of(settings, "first"), "gap_global")    # by growing gap, none beaten
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.errors import SolveError
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.fairness.notions import number_or_none
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.predictor import People

__all__ = ["EPSILONS", "MODEL_GAPS", "ModelSetting", "frontier", "model_settings", "settings_of"]

EPSILONS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)  # limits every method is tried at
# The gaps models can be compared at, and what they are in words.
MODEL_GAPS = {
    "gap_global": "overall",
    "gap_local_mean": "mean client",
    "gap_local_worst": "worst client",
}
_USUAL = "simplex"  # the region of a model that gives no scores


@dataclass(frozen=True, eq=False)
class ModelSetting:
    """One model under one limit of all gaps, judged on unseen people.

    Attributes
    ----------
    model, region : str
    epsilon : float or None
        The limit; None for the model as it is.
    fitted : float
        How many people it was fitted on.
    evaluation : Evaluation
        On unseen people.
    """

    model: str
    region: str
    epsilon: float | None
    fitted: float
    evaluation: Evaluation

    @property
    def unseen(self) -> float:
        """How many people it is judged on."""
        return float(self.evaluation.counts.n)

    def gap(self, which: str) -> float:
        """One of `MODEL_GAPS`."""
        gaps = self.evaluation.gaps
        if which == "gap_global":
            return float(gaps.overall)
        if which == "gap_local_mean":
            return float(gaps.local_mean)
        return float("nan") if gaps.worst is None else float(gaps.local[gaps.worst])

    def to_json(self) -> dict[str, Any]:
        """The row that `fairfl compare --json` prints."""
        low, high = self.evaluation.global_interval
        return {
            "model": self.model,
            "region": self.region,
            "epsilon": self.epsilon,
            "fitted": self.fitted,
            "unseen": self.unseen,
            "accuracy": self.evaluation.accuracy,
            "accuracy_interval": list(self.evaluation.accuracy_interval),
            **{name: number_or_none(self.gap(name)) for name in MODEL_GAPS},
            "gap_global_interval": [number_or_none(low), number_or_none(high)],
        }


def model_settings(
    name: str,
    experiment: Experiment,
    notion: str,
    region: str = _USUAL,
    epsilons: Sequence[float] = EPSILONS,
) -> tuple[ModelSetting, ...]:
    """A model as it is, and under each limit of the global and every local gap.

    A region that looks at scores serves the models that have them; the others are made fair in
    the simplex. A limit that has no solution is left out.
    """
    (seed,) = experiment.seeds
    has_scores = experiment.has_scores
    region = region if has_scores or not region_kind(region).needs_scores else _USUAL
    fit, test = _people(experiment, seed, has_scores)
    program = FairnessProgram(fit, notion, region)
    fitted = float(fit.counts.n)
    settings = []
    for epsilon in epsilons:
        try:
            judged = evaluate(predictor_of(program.solve(epsilon, epsilon)), test)
        except SolveError:
            continue
        settings.append(ModelSetting(name, region, epsilon, fitted, judged))
    if settings:
        own = settings[0].evaluation.before
        settings.insert(0, ModelSetting(name, region, None, fitted, own))
    return tuple(settings)


def _people(experiment: Experiment, seed: int, has_scores: bool) -> tuple[Any, People]:
    """Those fitted on and the unseen: person by person where there are scores, else counted."""
    if has_scores:
        return fitted_people(experiment, seed), unseen_people(experiment, seed)
    fit = experiment.counts(seed, experiment.fit_split)
    if experiment.folds > 1:
        return fit, unseen_people(experiment, seed)
    return fit, experiment.counts(seed, "test")


def settings_of(settings: Iterable[ModelSetting], model: str) -> list[ModelSetting]:
    """The settings of one model."""
    return [setting for setting in settings if setting.model == model]


def frontier(settings: Iterable[ModelSetting], which: str) -> list[ModelSetting]:
    """Those that none of the others beats, by growing gap; without those that have no gap."""
    kept: list[ModelSetting] = []
    known = [setting for setting in settings if not np.isnan(setting.gap(which))]
    for setting in sorted(known, key=lambda one: (one.gap(which), -one.evaluation.accuracy)):
        if not kept or setting.evaluation.accuracy > kept[-1].evaluation.accuracy:
            kept.append(setting)
    return kept
