"""What is tried of each fair method: trials of equal number, the knob swept, the paper's setting.

The protocol is one for all. Every method has the same number of trials, judged on validation
people of the first seeds only: the least global plus mean local gap among those whose accuracy is
at most six points below FedAvg's. The chosen trial's knob is then swept on all seeds.

All of these go on from FedAvg's kept model of the same seed, so that no method is judged before
its model has learnt; only the paper's own settings start from first weights, as in the paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairfl_core.errors import InputError

__all__ = ["MOST_LOST", "TRIALS", "Sweep", "sweep_of"]

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
    made = makers[method](notion, experiment == "public_coverage")
    if len(made.trials) != TRIALS:
        raise ValueError(f"{method} has {len(made.trials)} trials, not {TRIALS}")
    return made


def _grid(**options: Sequence[Any]) -> list[dict[str, Any]]:
    """Every combination."""
    settings: list[dict[str, Any]] = [{}]
    for name, values in options.items():
        settings = [{**setting, name: value} for setting in settings for value in values]
    return settings


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
