"""What is tried of each fair method: trials of equal number, the knob swept, the paper's setting.

The protocol is one for all. Every method has the same number of trials, judged on validation
people of the first seeds only: the least global plus mean local gap among those whose accuracy is
at most six points below FedAvg's. The chosen trial's knob is then swept on all seeds.

All of these go on from FedAvg's kept model of the same seed, so that no method is judged before
its model has learnt; only the paper's own settings start from first weights, as in the paper.

Each run is kept in a file of its own as soon as it is done, so that a killed sweep goes on.
Everything of one seed trains on one prepared federation: its steps are compiled once.
"""

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import write_whole
from fairfl_core.data.datasets import People
from fairfl_core.errors import InputError
from fairfl_core.training.method import make_method
from fairfl_core.training.recipes import Recipe
from fairfl_core.training.training import Prepared, Run, plan_of, prepare, train_prepared
from research.trained.gaps import rates_of, with_gradients

TRIALS = 8
MOST_LOST = 0.06  # accuracy that a trial may lose to FedAvg
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Sweep:
    """What is run of one method for one notion.

    Attributes
    ----------
    method, notion : str
    rounds : int
        Rounds of the method, after FedAvg's.
    trials : sequence of mapping
        Settings that are tuned over.
    knob : str
        The setting that trades accuracy for fairness.
    values : mapping of str to tuple of float
        The knob's values; by the value of `by` in the chosen trial, or under "" for all.
    by : str
        A setting on which the knob's range depends, or "".
    besides : tuple
        A setting and the values for each of which the knob is swept.
    paper : mapping, optional
        The paper's own setting (Section 7 and its appendix), with its rounds in `paper_rounds`.
    """

    method: str
    notion: str
    rounds: int
    trials: Sequence[Settings]
    knob: str
    values: Mapping[str, tuple[float, ...]]
    by: str = ""
    besides: tuple[str, tuple[str, ...]] | None = None
    paper: Settings = field(default_factory=dict)
    paper_rounds: int = 0

    def swept(self, chosen: Settings) -> dict[str, dict[str, Any]]:
        """The settings of the sweep by their names, with all but the knob as in `chosen`.

        The chosen value is among them, whether or not it is one of `values`.
        """
        values = self.values[str(chosen[self.by]) if self.by else ""]
        values = tuple(sorted({*values, chosen[self.knob]}))
        settings = {}
        for extra in self.besides[1] if self.besides else ("",):
            fixed = {self.besides[0]: extra} if self.besides else {}
            for value in values:
                name = " ".join(filter(None, (self.notion, extra, f"{self.knob}={value:g}")))
                settings[name] = {**chosen, **fixed, self.knob: value}
        return settings

    @property
    def paper_name(self) -> str:
        """The name of the paper's setting."""
        return f"{self.notion} paper"


def sweep_of(method: str, experiment: str, notion: str) -> Sweep:
    """What is run of a method on an experiment for a notion."""
    makers = {
        "fairfed": _fairfed,
        "fair_fate": _fair_fate,
        "fcfl": _fcfl,
        "equifl": _equifl,
        "fedfb": _fedfb,
        "reweighing": _reweighing,
    }
    if method not in makers:
        raise InputError(f'no sweep of "{method}" is known; choose one of: {", ".join(makers)}.')
    return makers[method](notion, experiment == "public_coverage")


def _grid(**options: Sequence[Any]) -> list[dict[str, Any]]:
    """Every combination."""
    combinations = product(*options.values())
    return [dict(zip(options, values, strict=True)) for values in combinations]


_STEPS = {"sp": (0.05, 0.2), "eop": (0.002, 0.01), "eo": (0.002, 0.01)}  # FairBatch's alpha


def _fairfed(notion: str, many: bool) -> Sweep:
    steps = _STEPS[notion]
    trials = [
        *_grid(
            beta=[1.0],
            variant=["published", "exponential"],
            debiasing=["reweighing"],
            strength=[1.0],
        ),
        *_grid(beta=[0.05], variant=["published"], debiasing=["reweighing"], strength=[1.0, 2.0]),
        *_grid(beta=[1.0], variant=["exponential"], debiasing=["reweighing"], strength=[2.0]),
        *_grid(beta=[1.0], variant=["exponential"], debiasing=["fairbatch"], strength=steps),
        *_grid(beta=[0.05], variant=["published"], debiasing=["fairbatch"], strength=steps[1:]),
    ]
    values = {
        "reweighing": (0.25, 0.5, 1.0, 1.5, 2.0, 3.0),
        "fairbatch": _alphas(notion),
    }
    paper = trials[0]
    rounds = 8 if many else 12
    return Sweep(
        "fairfed", notion, rounds, trials, "strength", values, "debiasing", None, paper, 15
    )


def _alphas(notion: str) -> tuple[float, ...]:
    by_notion = {
        "sp": (0.005, 0.01, 0.03, 0.1, 0.3, 1.0),
        "eop": (0.0003, 0.001, 0.002, 0.005, 0.01, 0.03),
    }
    return by_notion.get(notion, by_notion["eop"])


def _fedfb(notion: str, many: bool) -> Sweep:
    alphas = {"sp": [0.05, 0.2, 0.5, 1.0]}.get(notion, [0.001, 0.003, 0.01, 0.03])
    trials = _grid(proxy=["loss", "errors"], alpha=alphas)
    return Sweep("fedfb", notion, 10 if many else 15, trials, "alpha", {"": _alphas(notion)})


def _reweighing(notion: str, many: bool) -> Sweep:
    trials = _grid(scope=["local", "global"], strength=[0.5, 1.0, 1.5, 2.0])
    values = {"": (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)}
    besides = None if many else ("scope", ("local", "global"))
    return Sweep("reweighing", notion, 8 if many else 12, trials, "strength", values, "", besides)


def _equifl(notion: str, many: bool) -> Sweep:
    trials = [
        *_grid(share=["kernels"], strength=[0.3, 1.0, 10.0, 100.0, 1000.0]),
        *_grid(share=["everything"], strength=[1.0, 10.0, 100.0]),
    ]
    values = {"": (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)}
    paper = {"share": "kernels", "strength": 1e5 if many else 100.0}
    rounds = 8 if many else 12
    return Sweep("equifl", notion, rounds, trials, "strength", values, "", None, paper, 30)


def _fair_fate(notion: str, many: bool) -> Sweep:
    rounds = 8 if many else 12
    plan = {"rounds": [rounds], "every": [5 if many else 1]}
    trials = _grid(start=[0.1, 0.5], most=[0.8, 1.0], momentum=[0.9, 0.99], **plan)
    values = {"": (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)}
    paper = {
        "start": 0.5,
        "most": 1.0,
        "momentum": 0.9 if many else 0.99,
        "rounds": 15,
        "every": 5 if many else 1,
    }
    return Sweep("fair_fate", notion, rounds, trials, "most", values, "", None, paper, 15)


def _fcfl(notion: str, many: bool) -> Sweep:
    min_max, pareto = (20, 10) if many else (40, 20)
    stages = {"warm": [0], "min_max": [min_max]}
    trials = _grid(epsilon=[0.01, 0.05], rate=[0.03, 0.1, 0.3, 1.0], **stages)
    values = {"": (0.01, 0.03, 0.05, 0.1, 0.15, 0.2)}
    rounds = min_max + pareto
    return Sweep("fcfl", notion, rounds, trials, "epsilon", values)


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a run: answers of everyone held out, curves, and what it took.

    Attributes
    ----------
    split, client, group, label, prediction : ndarray of uint8, shape (people,)
        Split 0 is validation, 1 is test.
    loss, accuracy, criterion : ndarray, shape (rounds,)
        On validation people, after each round.
    seconds : ndarray, shape (rounds,)
        Processor time of each round, compiling included in the first.
    numbers : ndarray, shape (2,)
        How many numbers a client receives and sends: once, and in each round.
    theta : ndarray
        The kept model (the first client's, where each has its own).
    """

    split: NDArray[np.uint8]
    client: NDArray[np.uint8]
    group: NDArray[np.uint8]
    label: NDArray[np.uint8]
    prediction: NDArray[np.uint8]
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    criterion: NDArray[np.float64]
    seconds: NDArray[np.float64]
    numbers: NDArray[np.float64]
    theta: NDArray[np.float32]

    def counts(self, split: int) -> NDArray[np.int64]:
        """n[client, group, label, prediction] of one split."""
        rows = self.split == split
        codes = [getattr(self, name) for name in ("client", "group", "label", "prediction")]
        labels = int(max(self.label.max(), self.prediction.max())) + 1
        shape = (int(self.client.max()) + 1, int(self.group.max()) + 1, labels, labels)
        cell = np.ravel_multi_index([code[rows] for code in codes], shape)
        return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)


@dataclass(frozen=True)
class Trial:
    """A trial's settings, and what they gave on validation people, the mean over its seeds."""

    settings: Mapping[str, Any]
    accuracy: float
    gap_global: float
    gap_local: float


def choose(trials: Sequence[Trial], fedavg_accuracy: float) -> Trial:
    """The least global plus local gap among trials within six points of FedAvg's accuracy.

    Where none is, the most accurate.
    """
    near = [trial for trial in trials if trial.accuracy >= fedavg_accuracy - MOST_LOST]
    if not near:
        return max(trials, key=lambda trial: trial.accuracy)
    return min(near, key=lambda trial: trial.gap_global + trial.gap_local)


class Sweeper:
    """Runs of one experiment, kept in a folder.

    Parameters
    ----------
    people : People
    recipe : Recipe
        The experiment's own, of FedAvg.
    folder : path
        Where runs are kept.
    on_run : callable
        Called with a line about every run.
    """

    def __init__(
        self,
        people: People,
        recipe: Recipe,
        folder: Path,
        *,
        on_run: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._people, self._recipe, self._folder = people, recipe, folder
        self._on_run = on_run
        self._prepared: dict[int, Prepared] = {}

    def fedavg(self, seed: int) -> Kept:
        """FedAvg of the recipe."""
        return self._run(self._recipe, seed, None)

    def run(self, sweep: Sweep, settings: Mapping[str, Any], seed: int) -> Kept:
        """A setting that goes on from FedAvg's kept model: from the folder if it is there."""
        recipe = self._of(sweep, settings, sweep.rounds)
        return self._run(recipe, seed, self.fedavg(seed).theta)

    def paper(self, sweep: Sweep, seed: int) -> Kept:
        """The paper's own setting, from first weights."""
        return self._run(self._of(sweep, sweep.paper, sweep.paper_rounds), seed, None)

    def _of(self, sweep: Sweep, settings: Mapping[str, Any], rounds: int) -> Recipe:
        return replace(
            self._recipe,
            method=sweep.method,
            method_settings={"notion": sweep.notion, **settings},
            rounds=rounds,
        )

    def tried(self, sweep: Sweep, seeds: Sequence[int]) -> list[Trial]:
        """All trials on the validation people of some seeds."""
        return [self._trial(sweep, settings, seeds) for settings in sweep.trials]

    def chosen(self, sweep: Sweep, seeds: Sequence[int]) -> Trial:
        """The trial that the protocol chooses."""
        accuracy = np.mean([_right(self.fedavg(seed).counts(0)) for seed in seeds])
        return choose(self.tried(sweep, seeds), float(accuracy))

    def _trial(self, sweep: Sweep, settings: Mapping[str, Any], seeds: Sequence[int]) -> Trial:
        tables = [self.run(sweep, settings, seed).counts(0) for seed in seeds]
        favourable = self._people.labels.index(self._people.favourable or self._people.labels[-1])
        overall = [rates_of(sweep.notion, n.sum(axis=0), favourable).gap for n in tables]
        local = [np.nanmean(rates_of(sweep.notion, n, favourable).gap) for n in tables]
        figures = (np.mean([_right(n) for n in tables]), np.mean(overall), np.mean(local))
        return Trial(settings, *(float(figure) for figure in figures))

    def _run(self, recipe: Recipe, seed: int, start: NDArray[np.float32] | None) -> Kept:
        path = self._folder / recipe.method / f"{_mark(recipe, start is not None)}_seed_{seed}.npz"
        if path.is_file():
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                return Kept(**{name: file[name] for name in file.files})
        kept = self._trained(recipe, seed, start)
        file_bytes = io.BytesIO()
        np.savez_compressed(file_bytes, **asdict(kept))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, file_bytes.getvalue())
        self._on_run(
            f"{recipe.method} {dict(recipe.method_settings)} seed {seed}: "
            f"{kept.seconds.sum():.1f} s, validation {kept.accuracy[kept.criterion.argmin()]:.4f}"
        )
        return kept

    def _trained(self, recipe: Recipe, seed: int, start: NDArray[np.float32] | None) -> Kept:
        prepared = self._prepared_for(seed)
        ticks = [process_time()]
        runs: list[Run] = []

        def on_progress(run: Run) -> None:
            runs[:] = [run]
            ticks.append(process_time())

        scored = train_prepared(prepared, recipe, start=start, on_progress=on_progress)
        plan = plan_of(prepared.federation, prepared.trainer)
        numbers = make_method(recipe.method, recipe.method_settings).numbers(plan)
        return Kept(
            split=scored.split.astype(np.uint8),
            client=scored.client.astype(np.uint8),
            group=scored.group.astype(np.uint8),
            label=scored.label.astype(np.uint8),
            prediction=scored.prediction.astype(np.uint8),
            loss=scored.loss,
            accuracy=scored.accuracy,
            criterion=runs[0].criterion,
            seconds=np.diff(ticks)[1:],
            numbers=np.array(numbers, float),
            theta=runs[0].best[0],
        )

    def _prepared_for(self, seed: int) -> Prepared:
        if seed not in self._prepared:
            self._prepared[seed] = with_gradients(prepare(self._people, self._recipe, seed))
        return self._prepared[seed]


def _mark(recipe: Recipe, goes_on: bool) -> str:
    """A short name of a method's settings and rounds."""
    decisive = {**recipe.to_json(), "title": "", "goes_on": goes_on}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def _right(counts: NDArray[np.int64]) -> float:
    return float(np.einsum("cayy->", counts) / counts.sum())
