"""Everything that is measured of one experiment, by one call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import ScoredData, fitted_people, unseen_people
from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Outcome, Study, run_study
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.regions import region_kind, region_names
from research.held_out_curve import squared_debiased
from research.holding.coverage import Coverage, Setting, coverage, filled, programs_of

Ints = NDArray[np.int64]
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


Resampled = dict[Setting, Coverage]
POPULATIONS = 2  # the people of so many seeds
DRAWS = 20  # of each population
PILOT = "a pilot of 40"  # few people a client: cells are empty in a sample that are not in truth
PILOT_PEOPLE = 40
LEAST = 5  # people of every client, group and label in the population that a pilot is drawn from
ASKED = (0.01, 0.01)
LIMITS = ((1.0, 0.05), (1.0, 0.10), (0.05, 0.10), (0.01, 0.10))  # (overall, inside every client)
GUARANTEES = {
    "none": None,
    "each": Guarantee(scope="each"),
    "all": Guarantee(scope="all"),
    "proved": Guarantee(scope="each", proof="proved"),
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one experiment shows.

    Attributes
    ----------
    paper_split, cross_fitted : Experiment
        The same people, test people the same seed by seed, by either protocol.
    resampled : dict
        By protocol, whose numbers of people are drawn, and for a pilot: coverage of every setting.
    empty : float
        Share of clients, groups and labels with nobody in a draw of a pilot.
    held_out : dict
        By protocol: every setting over the cross-fitted seeds, on test people.
    """

    paper_split: Experiment
    cross_fitted: Experiment
    resampled: dict[str, Resampled]
    held_out: dict[str, dict[Setting, Study]]
    empty: float = 0.0

    @property
    def name(self) -> str:
        """The experiment's name by the paper's split."""
        return self.paper_split.name

    @property
    def constant_accuracy(self) -> float:
        """Accuracy of one answer a client, its largest label, on the first seed's population."""
        counts = self.cross_fitted.counts(self.cross_fitted.seeds[0], self.cross_fitted.fit_split)
        return float(counts.n_label.sum(axis=1).max(axis=1).sum() / counts.n)


def cross_fitting_settings() -> list[Setting]:
    """Every region with counted labels, and with the rates it is best fed; no confidence."""
    return [
        Setting(region, rates, *ASKED)
        for region in region_names()
        for rates in dict.fromkeys(("labels", region_kind(region).default_rates))
    ]


def guarantee_settings(labels: int) -> list[Setting]:
    """With and without a confidence, in the paper's region and the largest that takes one."""
    able = [one for one in region_names() if labels == 2 or not region_kind(one).needs_scores]
    return [
        Setting(region, "labels", *limits, guarantee)
        for region in dict.fromkeys((able[0], able[-1]))
        for limits in LIMITS
        for guarantee in GUARANTEES.values()
    ]


def steps(cross_fitted: Experiment, draws: int = DRAWS) -> int:
    """How often `gather` reports that something is done."""
    return len(cross_fitted.seeds[:POPULATIONS]) * 3 * draws + 2 * len(cross_fitted.seeds)


def gather(
    paper_split: Experiment,
    cross_fitted: Experiment,
    on_progress: Callable[[], None] = lambda: None,
    *,
    draws: int = DRAWS,
) -> Evidence:
    """Measure an experiment by both protocols; `on_progress` is called after every step.

    The population of a seed are the cross-fitted people of that seed: four in five of all, with
    scores of models that never saw them; for a pilot every client, group and label is given at
    least five people. Protocols are compared seed by seed: seeds that are not cross-fitted are left
    out.
    """
    if not set(cross_fitted.seeds) <= set(paper_split.seeds):
        raise InputError(
            f"{cross_fitted.name} has seeds that {paper_split.name} has not; protocols are compared "
            "seed by seed, so train those that are missing."
        )
    guarded = guarantee_settings(len(paper_split.labels))
    populations = {
        seed: fitted_people(cross_fitted, seed) for seed in cross_fitted.seeds[:POPULATIONS]
    }
    none_empty = {
        seed: filled(people, LEAST, np.random.default_rng(seed))
        for seed, people in populations.items()
    }
    pilot = {seed: _pilot_sizes(people) for seed, people in none_empty.items()}

    def resample(
        place: int,
        people: dict[int, ScoredData],
        sizes: dict[int, Ints],
        settings: list[Setting],
    ) -> Resampled:
        parts = [
            coverage(
                people[seed],
                sizes[seed],
                paper_split.notion,
                settings,
                draws=draws,
                seed=(seed, place),
                on_progress=on_progress,
            )
            for seed in people
        ]
        return {setting: Coverage.join([part[setting] for part in parts]) for setting in settings}

    resampled: dict[str, Resampled] = {}
    held_out: dict[str, dict[Setting, Study]] = {}
    local = [setting for setting in guarded if setting.eps_global == 1]
    asked = [*cross_fitting_settings(), *local]
    for place, experiment in enumerate((paper_split, cross_fitted)):
        sizes = {seed: fitted_people(experiment, seed).counts.n_client for seed in populations}
        resampled[experiment.protocol] = resample(place, populations, sizes, guarded)
        held_out[experiment.protocol] = studies(experiment, asked, cross_fitted.seeds, on_progress)
    # A pilot's clients are not in the population's proportions: it says nothing of overall limits.
    resampled[PILOT] = resample(2, none_empty, pilot, local)
    empty = np.mean([_share_empty(none_empty[seed], pilot[seed]) for seed in pilot])
    return Evidence(paper_split, cross_fitted, resampled, held_out, float(empty))


def _pilot_sizes(people: ScoredData) -> Ints:
    return np.minimum(people.counts.n_client, PILOT_PEOPLE)


def _share_empty(people: ScoredData, sizes: Ints) -> float:
    """Expected share of clients, groups and labels with nobody in a sample of these sizes."""
    there = people.counts.n_label
    absent = 1 - there / np.maximum(there.sum(axis=(1, 2), keepdims=True), 1)
    return float((absent ** sizes[:, None, None]).mean())
