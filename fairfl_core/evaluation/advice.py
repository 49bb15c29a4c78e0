"""What to ask for: the tightest limits within a price, and what certainty costs by people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.study import Spread, Study
from fairfl_core.lp.program import FairnessProgram

Floats = NDArray[np.float64]
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


def tightest_limits(
    programs: Sequence[FairnessProgram], points: float, *, resolution: float = 0.005
) -> Advice:
    """The tightest common limit that costs at most `points` (of a hundred) of accuracy.

    Found by bisection: accuracy never falls as limits loosen. A guarantee, where limits are to
    hold with a confidence, is the programs' own.

    Parameters
    ----------
    programs : sequence of FairnessProgram
        One a run, of one setting.
    points : float
        Percentage points of accuracy that may be lost, on the fitted people.
    resolution : float
        Limits are sought on multiples of this, up to 1.
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
    low, high = 0, round(1 / resolution)  # `high` is always cheap enough: 1 asks for nothing
    known = {high: unlimited}
    while low < high:
        middle = (low + high) // 2
        known[middle] = accuracy_if_any(middle * resolution)
        if unlimited - known[middle] <= points / 100 + 1e-9:
            high = middle
        else:
            low = middle + 1
    eps = round(high * resolution, 9)
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
    on_progress: Callable[[int, int], None] | None = None,
) -> CertaintyPrice:
    """Accuracy that a guarantee costs, as if each client had so many times its people.

    Parameters
    ----------
    sure, plain : sequences of FairnessProgram
        The same runs with and without a guarantee.
    """
    without = np.mean([program.solve(eps_global, eps_local).accuracy for program in plain])
    cost = []
    for place, factor in enumerate(times):
        accuracy = [one.as_if(factor).solve(eps_global, eps_local).accuracy for one in sure]
        cost.append(without - np.mean(accuracy))
        if on_progress:
            on_progress(place + 1, len(times))
    median = np.mean([np.median(program.counts.n_client) for program in sure])
    return CertaintyPrice(np.array(times) * median, np.maximum(np.array(cost), 0.0))


# ------------------------------------------------------------------- without the group


@dataclass(frozen=True, eq=False)
class ProhibitionPrice:
    """Accuracy with and without the group at the same limits, run by run.

    Floors may collide with limits sooner without the group than with it: then there is a study of
    the one and none of the other, and no price.

    Attributes
    ----------
    knowing, blind : Study
        Runs of one setting with the group, and without it.
    """

    knowing: Study
    blind: Study

    def __post_init__(self) -> None:
        asked = [study.first.solution.policy.without_group for study in (self.knowing, self.blind)]
        if asked != [False, True]:
            raise InputError("give the runs with the group first, then those without it.")

    @property
    def has_unseen(self) -> bool:
        """Whether there are unseen people to tell it by."""
        return self.knowing.has_held_out and self.blind.has_held_out

    def accuracy(self, *, unseen: bool) -> tuple[Spread, Spread]:
        """With the group and without it, on unseen people or on the fitted ones, by labels."""
        with_group, without = (
            study.over(lambda one: one.accuracy, unseen=unseen)
            for study in (self.knowing, self.blind)
        )
        return with_group, without

    def cost(self, *, unseen: bool) -> Spread:
        """Accuracy that the prohibition costs."""
        with_group, without = self.accuracy(unseen=unseen)
        return Spread(with_group.values - without.values)

    def people(self, *, unseen: bool) -> float:
        """How many the accuracies are about, mean over runs."""
        return float(np.mean([one.counts.n for one in self.blind.evaluations(unseen=unseen)]))

    def to_json(self) -> dict[str, Any]:
        """The form that `solve --json` prints: means over runs."""

        def figures(unseen: bool) -> dict[str, float]:
            with_group, without = self.accuracy(unseen=unseen)
            return {
                "n": self.people(unseen=unseen),
                "with_group": with_group.mean,
                "without_group": without.mean,
                "cost": self.cost(unseen=unseen).mean,
            }

        return {"fitted": figures(False), "unseen": figures(True) if self.has_unseen else None}
