"""What a region costs at equal *held-out* fairness: accuracy against the gap on unseen people.

Equal tolerances are no fair comparison: a richer region fits the validation people more closely
and its gaps open a little more on unseen ones. Regions are compared where their test gaps agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.evaluation.study import Study, run_study
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.predictor import People

EPSILONS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Means over seeds, one entry for each tolerance (used globally and locally), on test."""

    epsilons: Floats
    accuracy: Floats
    gap_global: Floats
    gap_local_mean: Floats


def held_out_curve(
    programs: Sequence[tuple[int, FairnessProgram]],
    unseen: Sequence[People],
    epsilons: Sequence[float] = EPSILONS,
) -> Curve:
    """Solve every seed for each tolerance and judge it on unseen people.

    Parameters
    ----------
    programs, unseen
        As for `run_study`.
    epsilons : sequence of float
        Each is asked of the global and of every local gap.
    """
    points = []
    for epsilon in epsilons:
        study = run_study(programs, unseen, epsilon, epsilon)
        points.append(
            (
                study.over(lambda e: e.accuracy, unseen=True).mean,
                study.over(lambda e: e.gaps.overall, unseen=True).mean,
                study.over(lambda e: e.gaps.local_mean, unseen=True).mean,
            )
        )
    return Curve(np.array(epsilons, float), *np.array(points).T)


def pooled_debiased(study: Study) -> tuple[float, float, float]:
    """The debiased local gap of the larger half over all seeds, and about 95 % limits.

    One seed's estimate is mostly noise; squares may be averaged, roots may not. The root of the
    mean square with its sign kept, and the same of two standard errors either side. Seeds split
    the same people anew, so the limits are too narrow if anything.
    """
    squares = squared_debiased(study)
    squares = squares[~np.isnan(squares)]
    if not squares.size:
        return (float("nan"),) * 3
    error = squares.std(ddof=1) / np.sqrt(len(squares)) if len(squares) > 1 else np.nan
    middle = squares.mean()

    def root(square: float) -> float:
        return float(np.sign(square) * np.sqrt(abs(square)))

    return root(middle), root(middle - 2 * error), root(middle + 2 * error)


def squared_debiased(study: Study) -> Floats:
    """Each seed's debiased local gap of the larger half, squared with its sign kept."""
    gaps = [one.debiased(one.larger_half).gap for one in study.evaluations(unseen=True)]
    return np.array([np.sign(gap) * gap**2 for gap in gaps])
