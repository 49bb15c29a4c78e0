"""Answers of every method that starts from FedAvg's scores: ours, and other people's.

All are fitted on the same people and judged on the same test people. What a setting names is
asked of the global and of every local gap; "local only" and "global only" ask one of the two.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data import experiments
from fairfl_core.data.answers import Answers
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.experiments import SPLITS, Answered, Experiment, MethodAnswers, open_method
from fairfl_core.data.scored import FoldedData, ScoredData, fitted_people, unseen_people
from fairfl_core.errors import InputError, SolveError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.methods import EPSILONS
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from research.rivals.fedfact import fit_fedfact
from research.rivals.logofair import fit_logofair
from research.rivals.post_ffl import fit_post_ffl
from research.shipping import save_method

_PAPER = 0.01  # the paper's epsilon
_BYTES = 8
People = ScoredData | FoldedData
Floats = NDArray[np.float64]


class Fitted(Protocol):
    """A fitted method: it answers people, and says what it took a client."""

    bytes_per_client: int

    def answers(self, people: People) -> Answers:
        """Expected answers."""
        ...


@dataclass(frozen=True)
class PostProcessed:
    """A method on scores.

    Attributes
    ----------
    title : str
    ours : bool
        Whether it is of this house.
    fit : callable
        Of people, a notion, eps_global and eps_local.
    extra : mapping
        Further settings at every epsilon: what is added to the name, and another `fit`.
    cross_fitted : bool
        Whether it is fitted and judged on the cross-fitted experiment.
    notions, multi_class, only_global
        What it can do: notions, more than two labels, and no gaps inside clients.
    """

    title: str
    ours: bool
    fit: Callable[[ScoredData, str, float, float], Fitted]
    extra: Mapping[str, Callable[[ScoredData, str, float, float], Fitted]] = field(
        default_factory=dict
    )
    cross_fitted: bool = False
    notions: tuple[str, ...] = ("sp", "eop", "eo")
    multi_class: bool = True
    only_global: bool = False


class _Ours:
    """Our program in one region, solved."""

    def __init__(
        self,
        region: str,
        guarantee: Guarantee | None,
        people: ScoredData,
        notion: str,
        eps_global: float,
        eps_local: float,
    ) -> None:
        program = FairnessProgram(people, notion, region, guarantee=guarantee)
        solution = program.solve(eps_global, eps_local)
        self._predictor = predictor_of(solution)
        cell = people.counts.table[0].size  # counts up, a lottery down
        self.bytes_per_client = solution.bytes_per_client or 2 * _BYTES * cell

    def answers(self, people: People) -> Answers:
        return evaluate(self._predictor, people).answers


class _ByChances:
    """A rival that gives every person chances."""

    def __init__(self, rule: Any, numbers: int, calibration: Calibration | None = None) -> None:
        self._rule, self._calibration = rule, calibration
        self.bytes_per_client = _BYTES * numbers

    def answers(self, people: People) -> Answers:
        def chances(each: ScoredData) -> Floats:
            fitted = each if self._calibration is None else each.recalibrated(self._calibration)
            answered: Floats = self._rule.chances(fitted)
            return answered

        return people.under_chances(chances)


def _logofair(distributed: bool, people: ScoredData, *asked: Any) -> Fitted:
    rule = fit_logofair(people, *asked, distributed=distributed)
    return _ByChances(rule, 2 * (30 if distributed else 60))  # a multiplier each way a round


def _fedfact(people: ScoredData, *asked: Any) -> Fitted:
    calibration = Calibration.fit(people)
    rule = fit_fedfact(people.recalibrated(calibration), *asked)
    rates = rule.prices.shape[-1]
    return _ByChances(rule, 2 * rates * 300, calibration)  # at most so many steps


def _post_ffl(
    similar: float, people: ScoredData, notion: str, eps_global: float, eps_local: float
) -> Fitted:
    rule = fit_post_ffl(people.counts, notion, eps_global, similar)
    return _ByChances(rule, people.counts.table[0].size + 4)


def _ours(title: str, region: str, guarantee: Guarantee | None, crossed: bool) -> PostProcessed:
    return PostProcessed(title, True, partial(_Ours, region, guarantee), {}, crossed)


POST_PROCESSED: dict[str, PostProcessed] = {
    "ours_simplex": _ours("Ours, simplex", "simplex", None, False),
    "ours_exact": _ours("Ours, exact", "exact", None, False),
    "ours_simplex_guaranteed": _ours(
        "Ours, simplex, 95 % sure", "simplex", Guarantee(scope="each"), False
    ),
    "ours_exact_guaranteed": _ours(
        "Ours, exact, 95 % sure", "exact", Guarantee(scope="each"), False
    ),
    "ours_exact_cross_fitted": _ours("Ours, exact, cross-fitted", "exact", None, True),
    "ours_exact_cross_fitted_guaranteed": _ours(
        "Ours, exact, cross-fitted, 95 % sure", "exact", Guarantee(scope="each"), True
    ),
    "logofair": PostProcessed(
        "LoGoFair",
        False,
        partial(_logofair, False),
        {" distributed": partial(_logofair, True)},
        notions=("sp", "eop"),
        multi_class=False,
    ),
    "fedfact": PostProcessed("FedFACT, post-processing", False, _fedfact),
    "post_ffl": PostProcessed(
        "Post-FFL",
        False,
        partial(_post_ffl, 1.0),
        {" similar=0.05": partial(_post_ffl, 0.05)},
        notions=("sp", "eop"),
        multi_class=False,
        only_global=True,
    ),
}


def answers_of(
    method: PostProcessed,
    experiment: Experiment,
    notion: str,
    seeds: Sequence[int],
    epsilons: Sequence[float] = EPSILONS,
) -> Iterator[tuple[str, dict[str, Any], dict[int, dict[str, Answered]]]]:
    """Each setting's name, what the manifest says of it, and its answers by seed and split.

    A setting that has no solution is left out.
    """
    fitted = [fitted_people(experiment, seed) for seed in seeds]
    unseen = [unseen_people(experiment, seed) for seed in seeds]
    for name, eps_global, eps_local, fit in _settings(method, notion, epsilons):
        by_seed, seconds, sent = {}, [], []
        try:
            for seed, people, test in zip(seeds, fitted, unseen, strict=True):
                start = process_time()
                rule = fit(people, notion, eps_global, eps_local)
                seconds.append(process_time() - start)
                sent.append(rule.bytes_per_client)
                found = rule.answers(people), rule.answers(test)
                by_seed[seed] = {
                    split: Answered(one.confusion, one.squares)
                    for split, one in zip(SPLITS, found, strict=True)
                }
        except SolveError:
            continue
        described = {
            "notion": notion,
            "role": "paper" if method.ours and name.endswith(f"eps={_PAPER:g}") else "swept",
            "seeds": list(seeds),
            "settings": {"eps_global": eps_global, "eps_local": eps_local},
            "seconds": float(np.mean(seconds)),
            "bytes_per_client": float(np.mean(sent)),
        }
        yield name, described, by_seed


def _settings(
    method: PostProcessed, notion: str, epsilons: Sequence[float]
) -> Iterator[tuple[str, float, float, Callable[..., Fitted]]]:
    for epsilon in epsilons:
        for extra, fit in {"": method.fit, **method.extra}.items():
            yield f"{notion} eps={epsilon:g}{extra}", epsilon, epsilon, fit
    # One gap limited and the other free, as in the paper's Table 2.
    yield f"{notion} eps={_PAPER:g} local only", 1.0, _PAPER, method.fit
    yield f"{notion} eps={_PAPER:g} global only", _PAPER, 1.0, method.fit


def ship_post_processed(
    name: str, experiment: str, notions: Sequence[str], seeds: Sequence[int], folder: Path
) -> MethodAnswers:
    """Write the answers of one method on an experiment's scores.

    Rounds, seconds and bytes are FedAvg's (shipped before), one round of statistics, and what
    the method itself took; FedAvg as often as there are folds where it is cross-fitted.
    """
    method = POST_PROCESSED[name]
    companion = experiments.cross_fitted_of(experiment) if method.cross_fitted else None
    opened = experiments.open(companion or experiment)
    fedavg = open_method(experiment, "fedavg", folder).settings
    settings: dict[str, dict[str, Any]] = {}
    answers = {}
    missing = [notion for notion in notions if notion not in fedavg]
    if missing:
        raise InputError(
            f'FedAvg on "{experiment}" has no setting for {", ".join(missing)}; '
            f"choose --notion {' or '.join(sorted(fedavg))}."
        )
    for notion in notions:
        before = fedavg[notion]
        for setting, described, by_seed in answers_of(method, opened, notion, seeds):
            settings[setting] = described | {
                "rounds": before["rounds"] + 1,
                "rounds_to_converge": before["rounds_to_converge"] + 1,
                **{
                    figure: round(opened.folds * before[figure] + described[own], 3)
                    for figure, own in (
                        ("seconds", "seconds"),
                        ("seconds_to_converge", "seconds"),
                        ("bytes_per_client", "bytes_per_client"),
                    )
                },
            }
            answers[setting] = by_seed
    manifest = {
        "method": name,
        "title": method.title,
        "ours": method.ours,
        "experiment": experiment,
        "fitted_on": f"{opened.name}, {opened.fit_split}",
        "capabilities": {
            "level": "global" if method.only_global else "local and global",
            "approach": "post-processing",
            "notions": list(method.notions),
            "multi_class": method.multi_class,
        },
        "clients": list(opened.clients),
        "groups": list(opened.groups),
        "labels": list(opened.labels),
        "favourable": opened.favourable,
        "settings": settings,
    }
    return save_method(manifest, answers, folder)
