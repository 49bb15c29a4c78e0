"""From a view to results: the core's functions behind bounded caches.

Programs and counts of bundled experiments are the same for every visitor and never change, so
they are shared; a program may be solved from several sessions at once. Those of a visitor's own
set stay with it. Nothing here is computed before a page asks for it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InfeasibleError
from fairfl_core.evaluation.advice import (
    Advice,
    CertaintyPrice,
    price_of_certainty,
    tightest_limits,
)
from fairfl_core.evaluation.study import Study, Summary, run_study, summarise
from fairfl_core.explore.file import LIMITS
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.frontier import Frontier, frontier, joined_frontier, mean_frontier
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import default_rates
from fairfl_core.lp.utility import ACCURACY
from fairfl_core.monitoring.plan import Plan, plan_people
from fairfl_core.predictors.certificate import evidence_of
from fairfl_core.predictors.kinds import predictor_of as predictor_from
from fairfl_core.predictors.metadata import FittedOn
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.predictors.verify_predictor import verify
from pages.shared.catalogue import cached, experiment_of
from pages.shared.view import NO_LIMIT, View, can_be_sure, regions_of

if TYPE_CHECKING:
    from fairfl_core.lp.infeasible import Infeasible  # starts slowly

GRID = LIMITS[:-1]
LEVELS = LIMITS  # what a slider offers
COARSE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)  # where a map takes long
CURVE = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3)  # limits of the regions' curves
HEAVY = 800  # clients times groups, of two labels

OnProgress = Callable[[float], None]


# -------------------------------------------------------------------- people

People = ClientCounts | ScoredData
Unseen = People | FoldedData


@cached(400)
def counts_of(name: str, seed: int, split: str) -> ClientCounts | None:
    """Counts of one seed and split; no "test" where no held-out check is possible.

    Test people of several fold models are counted as the mean over the models.
    """
    if split == "test":
        folded = folded_of(name, seed)
        if folded is not None:
            return folded.mean_counts
    return experiment_of(name).counts(seed, split)


@cached(48)
def people_of(name: str, seed: int, split: str) -> ScoredData | None:
    """People with scores of one seed and split; None where there is no such split."""
    if counts_of(name, seed, split) is None:
        return None
    return ScoredData.from_experiment(experiment_of(name), seed, split)


def folded_of(name: str, seed: int) -> FoldedData | None:
    """The test people of several fold models; None where one model answers, or nobody is there."""
    experiment = experiment_of(name)
    if experiment.folds == 1 or not experiment.has_held_out:
        return None  # not kept: it would take the place of people who are large
    return _folded(name, seed)


@cached(48)
def _folded(name: str, seed: int) -> FoldedData:
    return FoldedData.from_experiment(experiment_of(name), seed)


def unseen_of(view: View, seed: int) -> Unseen | None:
    """The unseen people of a run, as the view's lottery looks at them; None if there are none."""
    folded = folded_of(view.data, seed)
    if folded is not None:
        return folded
    return (people_of if view.answers_by_scores else counts_of)(view.data, seed, "test")


def required(people: People | None) -> People:
    """The people a lottery is fitted on: every set has some."""
    if people is None:
        raise TypeError("a set without people to fit on")
    return people


# -------------------------------------------------------------------- programs and studies


def is_large(view: View) -> bool:
    """Whether many solutions take minutes: a large set, or a confidence with many margins.

    A confidence has a margin for every rate of every pair of groups in every client.
    """
    experiment = experiment_of(view.data)
    clients, groups = len(experiment.clients), len(experiment.groups)
    if view.guarantee is not None:
        rates = Notion.of(view.notion, experiment.labels, experiment.favourable).rates
        if clients * groups * (groups - 1) * len(rates) > HEAVY:
            return True
    return clients * groups * len(experiment.labels) > 2 * HEAVY


def is_dear(view: View) -> bool:
    """Whether a map takes long, so that a coarse one of one run is drawn.

    A confidence makes every cell a cone program; more than two labels by scores, a column
    generation; many groups by scores, many cuts; and very many clients are many rows.
    """
    experiment = experiment_of(view.data)
    cells = len(experiment.clients) * len(experiment.groups) * len(experiment.labels)
    by_scores = view.answers_by_scores and (len(experiment.labels) > 2 or cells >= HEAVY)
    return view.guarantee is not None or by_scores or is_large(view)


def program_on(people: People, view: View) -> FairnessProgram:
    """The view's program on these people; they have scores where it looks at them."""
    return FairnessProgram(
        people,
        view.notion,
        view.region,
        rates=view.rates,
        guarantee=view.guarantee,
        policy=view.policy,
    )


def _fresh_program(view: View) -> FairnessProgram:
    """The program of a view's only seed, on the people it is fitted on."""
    name, (seed,) = view.data, view.seeds
    split = experiment_of(name).fit_split
    people = (people_of if view.needs_scores else counts_of)(name, seed, split)
    return program_on(required(people), view)


_program = cached(240)(_fresh_program)


@cached(200)
def model_accuracy(view: View) -> float:
    """How often the model as it is is right of the people a rule is set on; mean over runs."""
    return float(np.mean([program.counts.model_accuracy for program in programs_of(view)]))


def programs_of(view: View) -> list[FairnessProgram]:
    """The program of every run."""
    one_run = view.without_limits()
    return [_program(one_run.of_seed(seed)) for seed in view.seeds]


def _solved(view: View) -> Study:
    programs = list(zip(view.seeds, programs_of(view), strict=True))
    unseen = [unseen_of(view, seed) for seed in view.seeds]
    return run_study(programs, unseen, **view.limits(experiment_of(view.data).clients))


_run_of = cached(240)(_solved)  # of one seed


def study_of(view: View) -> Study:
    """Solve for every seed and judge on the fitted people and on unseen ones.

    Where that takes long each run is a result of its own: it may take most of a budget.
    """
    if is_dear(view):
        for seed in view.seeds:
            _run_of(view.of_seed(seed))
    return _study_of(view)


@cached(24)  # the largest of results, and seldom asked for again once it is shown
def _study_of(view: View) -> Study:
    if is_dear(view):
        return Study(tuple(_run_of(view.of_seed(seed)).first for seed in view.seeds))
    return _solved(view)


def summary_of(view: View) -> Summary:
    """What is reported of a view's study in numbers."""
    if is_dear(view):
        study_of(view)  # outside of the summary's own budget
    return _summary_of(view)


@cached(24)  # it holds the study
def _summary_of(view: View) -> Summary:
    return summarise(study_of(view))


@cached(400)
def clients_of(view: View) -> pd.DataFrame:
    """One row a client of a view's study, on unseen people where there are any."""
    study = study_of(view)
    return study.client_table(unseen=study.has_held_out)


@cached(400)
def _seed_heat(view: View, grid: tuple[float, ...]) -> Frontier:
    return frontier(_program(view), eps_local=grid, eps_global=grid)


def heat_of(
    view: View, grid: Sequence[float] = GRID, on_progress: OnProgress | None = None
) -> Frontier:
    """Accuracy and gaps over a grid of limits and no limit, fitted people, mean over seeds.

    Every client gets the same limit; clients' own limits are not in a map. `on_progress` hears
    the share done.
    """
    asked, whole = view.without_limits(), (*grid, NO_LIMIT)
    if is_dear(view):
        return _heat_by_rows(asked, whole, on_progress)
    maps = []
    for seed in view.seeds:
        maps.append(_seed_heat(asked.of_seed(seed), whole))
        if on_progress is not None:
            on_progress(len(maps) / len(view.seeds))
    return mean_frontier(maps)


def _heat_by_rows(view: View, grid: tuple[float, ...], on_progress: OnProgress | None) -> Frontier:
    """The same where a map takes long: row by row, so that a visitor can stop it and go on later."""
    maps: list[Frontier] = []
    for seed in view.seeds:
        rows = []
        for eps_local in grid:
            rows.append(_heat_row(view.of_seed(seed), eps_local, grid))
            if on_progress is not None:
                on_progress((len(maps) + len(rows) / len(grid)) / len(view.seeds))
        maps.append(joined_frontier(rows))
    return mean_frontier(maps)


@cached(4000)
def _heat_row(view: View, eps_local: float, eps_global: tuple[float, ...]) -> Frontier:
    return frontier(_program(view), eps_local=(eps_local,), eps_global=eps_global)


def region_curve(view: View, on_progress: OnProgress | None = None) -> pd.DataFrame:
    """Accuracy and gaps on unseen people for each region, at limits from tight to loose."""
    regions = regions_of(experiment_of(view.data), view.notion)
    rows: list[dict[str, object]] = []
    for region in regions:
        for limit in CURVE:
            point = replace(
                view.without_limits(),
                region=region,
                rates=default_rates(region, folds=experiment_of(view.data).folds),
                eps_global=limit,
                eps_local=limit,
            )
            rows.append(_curve_point(point))
            if on_progress is not None:
                on_progress(len(rows) / (len(regions) * len(CURVE)))
    return pd.DataFrame(rows)


@cached(400)
def _curve_point(view: View) -> dict[str, object]:
    judged = summary_of(view).judged
    return {
        "region": view.region,
        "limit": view.eps_global,
        "accuracy": judged.accuracy,
        "gap_global": judged.overall,
        "gap_local_mean": judged.local_mean,
    }


def predictor_of(view: View) -> Predictor:
    """The first chosen run's predictor, from a fresh program: what a shell would give."""
    seed, experiment = view.seeds[0], experiment_of(view.data)
    program = _fresh_program(view.without_limits().of_seed(seed))
    predictor = predictor_from(program.solve(**view.limits(experiment.clients)))
    sha256 = experiment.manifest["scores"]["sha256"]
    fitted_on = FittedOn(experiment.manifest["name"], sha256, seed, experiment.fit_split)
    return replace(predictor, fitted_on=fitted_on).certified_by(program)


def accuracy_within(view: View, limits: dict[str, Any]) -> float:
    """Accuracy of a view's only run on the fitted people; NaN where limits and floors collide."""
    try:
        return programs_of(view)[0].solve(**limits).accuracy
    except InfeasibleError:
        return float("nan")


@cached(40)
def proof_of(view: View) -> tuple[list[str], dict[str, Any]]:
    """Prove the first chosen run's predictor; see `verify_predictor.verify`."""
    evidence = evidence_of(_fresh_program(view.without_limits().of_seed(view.seeds[0])))
    value = predictor_of(view).to_json()
    if evidence is None or "certificate" not in value:
        return [NO_CERTIFICATE], {}
    return verify(value, evidence)


NO_CERTIFICATE = (
    "a confidence overall or of scores, rates from scores, and rules of scores for three labels or "
    "without the group have no certificate"
)


@cached(40)
def plan_of(view: View) -> Plan | None:
    """Which people to see next, by the first chosen run's new people; None without any."""
    study = study_of(view)
    if not study.has_held_out:
        return None
    return plan_people(study.evaluations(unseen=True)[0])


# -------------------------------------------------------------------- certainty

SURE = Guarantee()  # 95 % for all limits at once: what is offered first
CERTAINTIES = {
    "none": None,
    "each": Guarantee(scope="each"),
    "all": SURE,
    "proved": Guarantee(scope="each", proof="proved"),
}


def advice_of(view: View, points: float) -> Advice:
    """The tightest limits that hold with the view's confidence (or 95 %) within a price."""
    return _advice(_sure(view.without_limits()), points)


@cached(200)
def _advice(view: View, points: float) -> Advice:
    return tightest_limits(programs_of(view), points)


NO_SHARES: dict[str, Any] = {"precision": (), "capacity_global": None, "capacity_local": None}


def _sure(view: View) -> View:
    policy = replace(view.policy, ratio_global=None, ratio_local=None, limits=(), **NO_SHARES)
    return replace(view, guarantee=view.guarantee or SURE, rates="labels", policy=policy)


@cached(100)
def certainty_of(view: View) -> CertaintyPrice:
    """What certainty costs against people per client, at the view's limits; one run."""
    one = replace(view.of_seed(view.seeds[0]), own_limits=())
    plain = replace(_sure(one), guarantee=None)
    return price_of_certainty(
        programs_of(_sure(one)), programs_of(plain), view.eps_global, view.eps_local
    )


def certainty_possible(view: View) -> bool:
    """Whether limits can be asked for with a confidence here."""
    return can_be_sure(experiment_of(view.data), view.region)


def median_client(view: View) -> float:
    """People of the median client that a lottery is fitted on; one run."""
    program = programs_of(view.of_seed(view.seeds[0]))[0]
    return float(np.median(program.counts.n_client))


@cached(2000)
def certainty_costs(view: View) -> dict[str, float]:
    """Accuracy that each certainty costs at the view's limits, against none; one run, fitted."""
    one = _sure(view).of_seed(view.seeds[0])
    limits = view.limits(experiment_of(view.data).clients)
    accuracy = {
        name: accuracy_within(replace(one, guarantee=guarantee), limits)
        for name, guarantee in CERTAINTIES.items()
    }
    plain = accuracy.pop("none")
    return {name: plain - value for name, value in accuracy.items()}


# -------------------------------------------------------------------- what is asked beyond the limits


def parts_of(policy: Policy) -> dict[str, Policy]:
    """The policy without each of the parts that it has."""
    parts = {
        "floors": replace(policy, floors=()),
        "ratios": replace(policy, ratio_global=None, ratio_local=None),
        "limits": replace(policy, limits=()),
        "shares": replace(policy, **NO_SHARES),
        "utility": replace(policy, utility=ACCURACY),
        "without_group": replace(policy, without_group=False),
    }
    return {name: less for name, less in parts.items() if less != policy}


@cached(200)
def policy_cost(view: View) -> tuple[float, dict[str, float]]:
    """Accuracy on the fitted people of one run with all that is asked, and without each part of it.

    NaN where limits and floors collide.
    """
    one = view.of_seed(view.seeds[0])
    limits = view.limits(experiment_of(view.data).clients)
    without = {
        name: accuracy_within(replace(one, policy=less), limits)
        for name, less in parts_of(view.policy).items()
    }
    return accuracy_within(one, limits), without


@dataclass(frozen=True)
class Collided:
    """A collision over all runs of a view: what would do in every one of them.

    Attributes
    ----------
    who : tuple of (client, group, label)
    least_global, least_local : float or None
        Limits that these floors allow; None where no gap would do.
    lowered : Policy
        Floors that these limits allow.
    certain : bool
        Whether no rule can have been overlooked.
    """

    who: tuple[tuple[str, str, str], ...]
    least_global: float | None
    least_local: float | None
    lowered: Policy
    certain: bool = True


@cached(60)
def collision_of(view: View) -> Collided:
    """Who collides in some run, and what would do in all."""
    limits = view.limits(experiment_of(view.data).clients)
    met: list[Infeasible] = []
    for program in programs_of(view):
        try:
            program.solve(**limits)
        except InfeasibleError as error:
            met.append(error.infeasible)
    overall = [one.least_global for one in met if one.least_global is not None]
    inside = [one.least_local for one in met if one.least_local is not None]
    every = len(overall) == len(inside) == len(met)
    return Collided(
        who=tuple(dict.fromkeys(place for one in met for place in one.who)),
        least_global=_up(max(overall)) if every else None,
        least_local=_up(max(inside)) if every else None,
        lowered=replace(view.policy, floors=tuple(_lowered(view.policy.floors, met))),
        certain=all(one.certain for one in met),
    )


def _lowered(floors: tuple[Floor, ...], met: "list[Infeasible]") -> list[Floor]:
    """Each floor as low as it must be in some run, on the safe side of three decimals."""
    return [
        Floor(floor.label, min(_down(one.highest_floor[floor.label]) for one in met))
        if floor.keeps is None
        else Floor(floor.label, keeps=max(_up(one.highest_keep[floor.label], 1000) for one in met))
        for floor in floors
    ]


def _up(value: float, steps: int = 10_000) -> float:
    return min(math.ceil(value * steps - 1e-6) / steps, 1.0)


def _down(value: float) -> float:
    return math.floor(value * 1000 + 1e-6) / 1000
