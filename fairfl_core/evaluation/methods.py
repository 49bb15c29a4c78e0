"""Methods side by side: what each reaches on unseen people, compared at equal held-out gaps.

A method has settings: the values of its fairness knob, the paper's own setting. Equal nominal
tolerances say little, for some methods hold what they ask and some do not. So methods are
compared by their frontiers, accuracy against the gap on test people, where the gaps agree.

    rows = method_rows("adult")                      # every method, setting and notion shipped
    ours = frontier_of(rows_of(rows, "ours_exact", "sp"), "gap_global")
    ours.at(0.02)                                    # accuracy of each seed at a gap of .02
    difference(ours, theirs, 0.02)                   # mean, and its standard error, seed by seed
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.method_answers import (
    FOLDER,
    Answered,
    MethodAnswers,
    list_methods,
    open_method,
)
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.run_means import run_mean
from fairfl_core.fairness.notions import Notion, number_or_none

__all__ = [
    "GAPS",
    "Difference",
    "MethodFrontier",
    "MethodRow",
    "difference",
    "frontier_of",
    "method_experiments",
    "method_rows",
    "rows_of",
]

Floats = NDArray[np.float64]

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


def method_experiments(folder: str | Path = FOLDER) -> list[str]:
    """Experiments for which methods are shipped."""
    return sorted({path.parent.name for path in Path(folder).glob("*/*.json")})


def method_rows(
    experiment: str, folder: str | Path = FOLDER, split: str = "test"
) -> list[MethodRow]:
    """Every method and setting shipped for an experiment."""
    rows = []
    for name in list_methods(experiment, folder):
        shipped = open_method(experiment, name, folder)
        rows += [_row(shipped, setting, split) for setting in shipped.settings]
    return rows


def rows_of(rows: Sequence[MethodRow], method: str, notion: str | None = None) -> list[MethodRow]:
    """The rows of one method (and notion)."""
    return [row for row in rows if row.method == method and notion in (None, row.notion)]


def _row(shipped: MethodAnswers, setting: str, split: str) -> MethodRow:
    manifest, given = shipped.manifest, shipped.settings[setting]
    by_seed = shipped.answered(setting, split)
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
    answers = Answers(answered.confusion, answered.squares, nobody, np.zeros(people.shape))
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
    kept: list[MethodRow] = []
    best = -np.inf
    for row in sorted(rows, key=lambda row: (row.gap(gap), -row.accuracy.mean())):
        if row.accuracy.mean() > best:
            kept.append(row)
            best = float(row.accuracy.mean())
    accuracy = np.array([[row.accuracy[row.seeds.index(seed)] for seed in seeds] for row in kept])
    gaps = np.array([row.gap(gap) for row in kept])
    return MethodFrontier(tuple(kept), gaps, accuracy, tuple(seeds))


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
