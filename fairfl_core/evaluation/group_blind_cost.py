"""What it costs that the group may not be looked at, beside the same limits with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import Spread, Study

__all__ = ["ProhibitionPrice"]


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
