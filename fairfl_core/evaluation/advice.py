"""What to ask for: the tightest limits within a price, and what certainty costs by people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.kinds import predictor_of

Floats = NDArray[np.float64]
_RESOLUTION = 0.005  # of advised limits
TIMES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True)
class Advice:
    """The tightest limit, the same overall and inside every client, within a price.

    `cost` is in accuracy, on the fitted people, against no limit at all; means over runs.
    """

    eps: float
    cost: float
    accuracy: float
    unlimited: float


def tightest_limits(programs: Sequence[FairnessProgram], points: float) -> Advice:
    """The tightest common limit that costs at most `points` (of a hundred) of accuracy.

    Found by bisection, on multiples of 0.005: accuracy never falls as limits loosen. A guarantee, where limits are to
    hold with a confidence, is the programs' own.

    Parameters
    ----------
    programs : sequence of FairnessProgram
        One a run, of one setting.
    points : float
        Percentage points of accuracy that may be lost, on the fitted people.
    """
    if not 0 <= points <= 100:
        raise InputError(f"the price is {points} points; it lies between 0 and 100.")

    def accuracy(eps: float) -> float:
        return float(np.mean([program.solve(eps, eps).accuracy for program in programs]))

    def accuracy_if_any(eps: float) -> float:
        try:
            return accuracy(eps)
        except InfeasibleError:  # floors do not allow so tight a limit: too dear
            return -np.inf

    unlimited = accuracy(1.0)
    low, high = 0, round(1 / _RESOLUTION)  # `high` is always cheap enough: 1 asks for nothing
    known = {high: unlimited}
    while low < high:
        middle = (low + high) // 2
        known[middle] = accuracy_if_any(middle * _RESOLUTION)
        if unlimited - known[middle] <= points / 100 + 1e-9:
            high = middle
        else:
            low = middle + 1
    eps = round(high * _RESOLUTION, 9)
    return Advice(eps, unlimited - known[high], known[high], unlimited)


@dataclass(frozen=True, eq=False)
class CertaintyPrice:
    """What certainty costs if each client had more people, or fewer.

    Attributes
    ----------
    people : ndarray
        The median client's people.
    cost : ndarray
        Accuracy lost to certainty: without a guarantee less with it, at the same limits.
    """

    people: Floats
    cost: Floats


def price_of_certainty(
    sure: Sequence[FairnessProgram],
    plain: Sequence[FairnessProgram],
    eps_global: float,
    eps_local: float,
    *,
    times: Sequence[float] = TIMES,
) -> CertaintyPrice:
    """Accuracy that a guarantee costs, as if each client had so many times its people.

    Parameters
    ----------
    sure, plain : sequences of FairnessProgram
        The same runs with and without a guarantee.
    """
    without = np.mean([program.solve(eps_global, eps_local).accuracy for program in plain])
    cost = []
    for factor in times:
        accuracy = [one.as_if(factor).solve(eps_global, eps_local).accuracy for one in sure]
        cost.append(without - np.mean(accuracy))
    median = np.mean([np.median(program.counts.n_client) for program in sure])
    return CertaintyPrice(np.array(times) * median, np.maximum(np.array(cost), 0.0))


# ------------------------------------------------------------------- without the group


@dataclass(frozen=True)
class ProhibitionPrice:
    """Accuracy on the people fitted on, by labels, with the group and without it."""

    people: float
    with_group: float
    without_group: float

    @property
    def cost(self) -> float:
        """Accuracy that the prohibition costs."""
        return self.with_group - self.without_group

    def to_json(self) -> dict[str, Any]:
        """The form that `solve --json` prints."""
        figures = {
            "n": self.people,
            "with_group": self.with_group,
            "without_group": self.without_group,
            "cost": self.cost,
        }
        return {"fitted": figures, "unseen": None}


def price_of_prohibition(program: FairnessProgram, solution: Solution) -> ProhibitionPrice | None:
    """What it costs not to look at the group, at the same limits.

    Parameters
    ----------
    program, solution
        Without the group, and what was found.

    Returns
    -------
    ProhibitionPrice or None
        None where the limits collide with the floors when the group is known.
    """
    knowing = FairnessProgram(
        program.people,
        program.notion.name,
        program.region,
        rates=program.rates,
        guarantee=program.guarantee,
        policy=replace(program.policy, without_group=False),
    )
    try:
        other = knowing.solve(solution.eps_global, solution.eps_local)
    except InfeasibleError:
        return None
    with_group, without = (
        evaluate(predictor_of(one), program.people).accuracy for one in (other, solution)
    )
    return ProhibitionPrice(float(program.counts.n), with_group, without)
