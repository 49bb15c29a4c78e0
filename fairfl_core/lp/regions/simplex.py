"""The simplex: the region of the paper's eo and eop program."""

import numpy as np

from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.regions.answers import AnswerRules
from fairfl_core.lp.regions.base import RegionKind, register_region

__all__ = ["Simplex"]


@register_region
class Simplex(RegionKind):
    """The model's own answer and each constant one, mixed by beta_0 ... beta_N (equation (8))."""

    name = "simplex"
    title = "simplex (the paper's)"
    meaning = "The lottery keeps the model's answer or gives a fixed one."

    def refusal(self, notion: Notion) -> str | None:
        """It cannot move every Pr(answer | label) on its own."""
        if not notion.counts_errors:
            return None
        return (
            f'the notion "{notion.name}" needs the region "kernel": the simplex has too few rules '
            "to move every Pr(answer | label); choose --region kernel."
        )

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """The model's answer first, then the constants."""
        n = len(labels)
        one = np.eye(n)
        constants = np.broadcast_to(one[:, None, :], (n, n, n))
        return AnswerRules(
            name=self.name,
            labels=labels,
            response=np.concatenate([one[None], constants]),
            block=np.zeros(n + 1, np.int64),
            keeps=np.arange(n + 1) == 0,
            names=("keeps the model's answer", *(f"always “{label}”" for label in labels)),
        )
