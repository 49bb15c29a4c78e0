"""An option solved and judged: from the file alone, or from what a page has solved already."""

from dataclasses import dataclass

from fairfl_core._io.names import shown
from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.evaluation.summary import Summary, summarise
from fairfl_core.people import experiments
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.experiments import Experiment
from fairfl_core.people.folded import FoldedPeople, fitted_people, unseen_people
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.review.file import Option
from fairfl_core.solving.build import build_program
from fairfl_core.solving.program import Program
from fairfl_core.solving.rate_estimates import rate_names
from fairfl_core.solving.regions import region_kind

__all__ = ["Result", "solve_option"]


@dataclass(frozen=True, eq=False)
class Result:
    """An option, and what came of it."""

    option: Option
    study: Study
    summary: Summary
    experiment: Experiment


def solve_option(option: Option) -> Result:
    """Solve an option of a bundled experiment afresh, and judge it on unseen people."""
    if option.data not in experiments.list_experiments(protocol=None):
        raise InputError(
            f'option {option.name} is of "{shown(option.data)}", which is not among the '
            "experiments here; open the review in the app beside the uploaded table."
        )
    experiment = experiments.open(option.data)
    if experiment.manifest["scores"]["sha256"] != option.sha256:
        raise InputError(
            f'the scores of "{shown(option.data)}" are not those option {option.name} was made '
            "with (sha256 differs); use the same version of fairfl."
        )
    programs = [(seed, _program(option, experiment, seed)) for seed in option.seeds]
    unseen = [_unseen(option, experiment, seed) for seed in option.seeds]
    local = dict.fromkeys(experiment.clients, option.eps_local) | dict(option.own_limits)
    study = run_study(programs, unseen, option.eps_global, local)
    unlimited = run_study(programs, unseen, 1.0, 1.0)
    return Result(option, study, summarise(study, unlimited), experiment)


def _program(option: Option, experiment: Experiment, seed: int) -> Program:
    people = fitted_people(experiment, seed)
    looks = region_kind(option.region).needs_scores or option.rates not in rate_names(scores=False)
    return build_program(
        people if looks else people.counts,
        option.notion,
        option.region,
        rates=option.rates,
        guarantee=option.guarantee,
        policy=option.policy,
    )


def _unseen(
    option: Option, experiment: Experiment, seed: int
) -> ClientCounts | ScoredPeople | FoldedPeople:
    people = unseen_people(experiment, seed)
    if experiment.folds == 1 and not region_kind(option.region).needs_scores:
        return people.counts
    return people
