"""Methods side by side: what each reaches on unseen people, compared at equal held-out gaps.

A method has settings: the values of its fairness knob, the paper's own setting. Equal nominal
tolerances say little, for some methods hold what they ask and some do not. So methods are
compared by their frontiers, accuracy against the gap on test people, where the gaps agree.

    rows = method_rows("adult")                      # every method, setting and notion shipped
    ours = frontier_of(rows_of(rows, "ours_exact", "sp"), "gap_global")
    ours.at(0.02)                                    # accuracy of each seed at a gap of .02
    difference(ours, theirs, 0.02)                   # mean, and its standard error, seed by seed

Several models of an uploaded table are compared in the same way: each is made fair by the same
program, fitted on the people set aside for it and judged on the others.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import APP_ROOT
from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import (
    METHODS_FOLDER,
    Answered,
    Experiment,
    MethodAnswers,
    list_methods,
    open_method,
)
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.errors import SolveError
from fairfl_core.evaluation.before_after import run_mean
from fairfl_core.evaluation.evaluation import Evaluation, evaluate
from fairfl_core.fairness.notions import Notion, number_or_none
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.predictor import People

Floats = NDArray[np.float64]

# Every number of the paper that is quoted, as printed, and what differs here.
PAPER = tomllib.loads((APP_ROOT / "data/methods/paper.toml").read_text(encoding="utf-8"))
GRID: tuple[float, ...] = tuple(PAPER["grid"])  # limits of its maps

# The gaps methods can be compared at, and what they are in words.
GAPS = {
    "gap_global": "overall",
    "gap_local_mean": "mean client",
    "gap_local_worst": "worst client",
    "gap_local_debiased": "inside clients, chance taken out",
}
_OPTIONAL = ("rounds", "seconds", "bytes_per_client", "rounds_to_converge", "seconds_to_converge")
_FEWEST_SEEDS = 3  # two that happen to agree have a standard error near nothing


@dataclass(frozen=True, eq=False)
class MethodRow:
    """One method with one setting, on test people.

    Attributes
    ----------
    experiment, method, title, setting, notion : str
        `setting` names the notion and the knob's value, as in the file.
    role : str
        Whether the setting is the paper's, the one the tuning chose, or one of the sweep.
    seeds : tuple of int
    accuracy, gap_global, gap_local_mean, gap_local_debiased : ndarray, shape (seeds,)
        Of each seed; gaps are of expected rates.
    client_gaps : ndarray, shape (seeds, clients)
        Each client's gap; NaN where it has none.
    rounds, seconds, bytes_per_client : float
        Means over seeds: rounds until the model that is kept, processor time of one core until
        then, and bytes that a client receives and sends until then.
    pooled : bool
        Whether it sees everyone's rows in one place and knows nothing of clients.
    rounds_to_converge, seconds_to_converge : float
        Means over seeds: up to the first round whose criterion is nearly the least.
    """

    experiment: str
    method: str
    title: str
    setting: str
    notion: str
    role: str
    seeds: tuple[int, ...]
    accuracy: Floats
    gap_global: Floats
    gap_local_mean: Floats
    gap_local_debiased: Floats
    client_gaps: Floats
    rounds: float
    seconds: float
    bytes_per_client: float
    pooled: bool
    rounds_to_converge: float = float("nan")
    seconds_to_converge: float = float("nan")

    @property
    def gap_local_worst(self) -> Floats:
        """The gap of each seed, of the client whose mean over the seeds is largest."""
        means = np.nan_to_num(run_mean(list(self.client_gaps)))
        worst: Floats = self.client_gaps[:, int(means.argmax())]
        return worst

    def gap(self, name: str) -> float:
        """A gap's mean over seeds; of the worst client, that client's mean over seeds."""
        if name not in GAPS:
            raise ValueError(f"{name} is none of {', '.join(GAPS)}")
        return float(np.nanmean(getattr(self, name)))

    def to_json(self) -> dict[str, Any]:
        """The row that `python -m research methods --json` prints."""
        spread = float(self.accuracy.std(ddof=1)) if len(self.seeds) > 1 else 0.0
        return {
            "experiment": self.experiment,
            "method": self.method,
            "setting": self.setting,
            "seeds": len(self.seeds),
            "accuracy": float(self.accuracy.mean()),
            "accuracy_sd": spread,
            **{name: number_or_none(self.gap(name)) for name in GAPS},
            "rounds": number_or_none(self.rounds),
            "seconds": number_or_none(self.seconds),
            "bytes_per_client": number_or_none(self.bytes_per_client),
        }


def method_experiments(folder: str | Path = METHODS_FOLDER) -> list[str]:
    """Experiments for which methods are shipped."""
    return sorted({path.parent.name for path in Path(folder).glob("*/*.json")})


def method_rows(experiment: str, folder: str | Path = METHODS_FOLDER) -> list[MethodRow]:
    """Every method and setting shipped for an experiment."""
    rows = []
    for name in list_methods(experiment, folder):
        shipped = open_method(experiment, name, folder)
        rows += [_row(shipped, setting) for setting in shipped.settings]
    return rows


def rows_of(rows: Sequence[MethodRow], method: str, notion: str | None = None) -> list[MethodRow]:
    """The rows of one method (and notion)."""
    return [row for row in rows if row.method == method and notion in (None, row.notion)]


def _row(shipped: MethodAnswers, setting: str) -> MethodRow:
    manifest, given = shipped.manifest, shipped.settings[setting]
    by_seed = shipped.answered(setting, "test")
    judged = [
        _evaluated(answered, manifest, str(given["notion"])) for answered in by_seed.values()
    ]
    return MethodRow(
        experiment=str(manifest["experiment"]),
        method=shipped.method,
        title=str(manifest["title"]),
        setting=setting,
        notion=str(given["notion"]),
        role=str(given["role"]),
        seeds=tuple(by_seed),
        accuracy=np.array([each.accuracy for each in judged]),
        gap_global=np.array([each.gaps.overall for each in judged]),
        gap_local_mean=np.array([each.gaps.local_mean for each in judged]),
        gap_local_debiased=np.array([each.debiased(each.larger_half).gap for each in judged]),
        client_gaps=np.array([each.gaps.local for each in judged]),
        **{name: _number(given.get(name)) for name in _OPTIONAL},
        pooled=bool(manifest.get("pooled", False)),
    )


def _evaluated(answered: Answered, manifest: Any, notion: str) -> Evaluation:
    names = (tuple(manifest[name]) for name in ("clients", "groups", "labels"))
    clients, groups, labels = names
    people = answered.confusion.sum(axis=3).round().astype(np.int64)
    table = people[..., None] * np.eye(
        len(labels), dtype=np.int64
    )  # of the model nothing is asked
    counts = ClientCounts(table, clients, groups, labels, str(manifest["favourable"]))
    nobody = np.zeros(people.shape[:2])
    answers = Answers(answered.confusion, lambda: answered.squares, nobody, np.zeros(people.shape))
    return Evaluation(counts, Notion.of(notion, labels, counts.favourable), answers, answers)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


# ---------------------------------------------------------------- frontiers


@dataclass(frozen=True, eq=False)
class MethodFrontier:
    """The settings of a method that no other setting of it beats, by growing gap.

    Attributes
    ----------
    rows : tuple of MethodRow
    gaps : ndarray, shape (rows,)
        Mean gaps on test people.
    accuracy : ndarray, shape (rows, seeds)
    seeds : tuple of int
        Those that all its settings have.
    """

    rows: tuple[MethodRow, ...]
    gaps: Floats
    accuracy: Floats
    seeds: tuple[int, ...]

    def at(self, gap: float) -> Floats | None:
        """Accuracy of each seed at a held-out gap; None where the method never gets there.

        In between two settings it is interpolated: who draws one of two models by chance reaches
        it. A gap wider than all its settings' is the most accurate setting's.
        """
        if gap < self.gaps[0]:
            return None
        after = int(np.searchsorted(self.gaps, gap, side="right"))
        if after == len(self.gaps):
            return np.asarray(self.accuracy[-1])
        share = (gap - self.gaps[after - 1]) / (self.gaps[after] - self.gaps[after - 1])
        return np.asarray((1 - share) * self.accuracy[after - 1] + share * self.accuracy[after])


def frontier_of(rows: Sequence[MethodRow], gap: str = "gap_global") -> MethodFrontier:
    """The frontier of one method's rows against one of `GAPS`."""
    if not rows:
        raise ValueError("there are no rows to draw a frontier of")
    seeds = sorted(set.intersection(*(set(row.seeds) for row in rows)))
    kept = _unbeaten(rows, [row.gap(gap) for row in rows], [row.accuracy.mean() for row in rows])
    accuracy = np.array([[row.accuracy[row.seeds.index(seed)] for seed in seeds] for row in kept])
    gaps = np.array([row.gap(gap) for row in kept])
    return MethodFrontier(tuple(kept), gaps, accuracy, tuple(seeds))


def _unbeaten(rows: Sequence[Any], gaps: Sequence[float], accuracy: Sequence[float]) -> list[Any]:
    """Those of which no other has a smaller gap and is as accurate, by growing gap."""
    kept: list[Any] = []
    best = -np.inf
    for k in np.lexsort((-np.array(accuracy), np.array(gaps))):
        if accuracy[k] > best:
            kept.append(rows[k])
            best = accuracy[k]
    return kept


@dataclass(frozen=True)
class Difference:
    """Accuracy of one method less another's at one held-out gap, over the seeds both have."""

    mean: float
    standard_error: float
    seeds: int

    @property
    def verdict(self) -> str:
        """Better or worse beyond two standard errors, else alike; so are too few seeds to say."""
        if self.seeds < _FEWEST_SEEDS or not abs(self.mean) > 2 * self.standard_error:
            return "alike"
        return "better" if self.mean > 0 else "worse"


def difference(one: MethodFrontier, other: MethodFrontier, gap: float) -> Difference | None:
    """One method less another at a held-out gap, paired by seed; None where one never gets there."""
    ours, theirs = one.at(gap), other.at(gap)
    if ours is None or theirs is None:
        return None
    both = [seed for seed in one.seeds if seed in other.seeds]
    apart = np.array([ours[one.seeds.index(s)] - theirs[other.seeds.index(s)] for s in both])
    error = float(apart.std(ddof=1) / np.sqrt(len(both))) if len(both) > 1 else float("nan")
    return Difference(float(apart.mean()), error, len(both))


# ------------------------------------------------------------------- several models of an uploaded table

EPSILONS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)  # limits every method is tried at
# The gaps models can be compared at, and what they are in words.
MODEL_GAPS = {name: GAPS[name] for name in ("gap_global", "gap_local_mean", "gap_local_worst")}
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
        return float(gaps.overall if which == "gap_global" else getattr(gaps, which[4:]))

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


def frontier(settings: Iterable[ModelSetting], which: str) -> list[ModelSetting]:
    """Those that none of the others beats, by growing gap; without those that have no gap."""
    known = [one for one in settings if not np.isnan(one.gap(which))]
    gaps = [one.gap(which) for one in known]
    return _unbeaten(known, gaps, [one.evaluation.accuracy for one in known])
