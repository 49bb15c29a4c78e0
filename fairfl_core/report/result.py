"""An option solved and judged: from the file alone, or from what a page has solved already."""

from dataclasses import dataclass, replace

from fairfl_core._io.names import shown
from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import FoldedData, ScoredData, fitted_people, unseen_people
from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.evaluation.summary import Summary, summarise
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import rate_names
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.metadata import FittedOn
from fairfl_core.report.file import UPLOADED, Option

__all__ = ["Result", "fingerprint_of", "solve_option"]


@dataclass(frozen=True, eq=False)
class Result:
    """An option, and what came of it."""

    option: Option
    study: Study
    summary: Summary
    experiment: Experiment


def solve_option(option: Option, uploaded: Experiment | None = None) -> Result:
    """Solve an option afresh, and judge it on unseen people.

    Its people are those of the bundled experiment it names, or `uploaded` ones.
    """
    experiment = _bundled(option) if option.data != UPLOADED else uploaded
    if experiment is None:
        raise InputError(
            f"option {option.name} is of an uploaded table, which a review does not hold; give "
            "that table too (--rows)."
        )
    if experiment.manifest["scores"]["sha256"] != option.sha256:
        use = "give that file" if option.data == UPLOADED else "use the same version of fairfl"
        raise InputError(
            f"the data of {shown(experiment.manifest['title'])} are not those option {option.name} "
            f"was made with (sha256 differs); {use}."
        )
    programs = [(seed, _program(option, experiment, seed)) for seed in option.seeds]
    unseen = [_unseen(option, experiment, seed) for seed in option.seeds]
    local = dict.fromkeys(experiment.clients, option.eps_local) | dict(option.own_limits)
    study = run_study(programs, unseen, option.eps_global, local)
    return Result(option, study, summarise(study), experiment)


def fingerprint_of(result: Result) -> str | None:
    """The fingerprint of the first run's predictor and its certificate; None without one."""
    option, experiment, first = result.option, result.experiment, result.study.first
    fitted_on = FittedOn(
        experiment.manifest["name"], option.sha256, first.seed, experiment.fit_split
    )
    program = _program(option, experiment, first.seed)
    predictor = replace(first.predictor, fitted_on=fitted_on).certified_by(program)
    certificate = predictor.to_json().get("certificate")
    return None if certificate is None else certificate["fingerprint"]


def _bundled(option: Option) -> Experiment:
    if option.data not in experiments.list_experiments(protocol=None):
        raise InputError(
            f'option {option.name} is of "{shown(option.data)}", which is not among the '
            "experiments here; use the version of fairfl that has it."
        )
    return experiments.open(option.data)


def _program(option: Option, experiment: Experiment, seed: int) -> FairnessProgram:
    looks = region_kind(option.region).needs_scores or option.rates not in rate_names(scores=False)
    return FairnessProgram(
        fitted_people(experiment, seed)
        if looks
        else experiment.counts(seed, experiment.fit_split),
        option.notion,
        option.region,
        rates=option.rates,
        guarantee=option.guarantee,
        policy=option.policy,
    )


def _unseen(
    option: Option, experiment: Experiment, seed: int
) -> ClientCounts | ScoredData | FoldedData | None:
    """Those it is judged on; None where only counts of the fitted people came."""
    if not experiment.has_held_out:
        return None
    if experiment.folds == 1 and not region_kind(option.region).needs_scores:
        return experiment.counts(seed, "test")
    return unseen_people(experiment, seed)
