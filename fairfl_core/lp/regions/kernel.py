"""The kernel: the region of the paper's SP program, for every notion."""

import numpy as np

from fairfl_core.lp.regions.answers import AnswerRules
from fairfl_core.lp.regions.base import RegionKind, register_region

__all__ = ["Kernel"]


@register_region
class Kernel(RegionKind):
    """Rules like "when the model says j, answer k", weight kappa[k given j]; contains the simplex."""

    name = "kernel"
    title = "kernel (more freedom)"
    meaning = "The lottery may look at the model's answer before it gives another."

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """For each answer of the model a block of N answers."""
        n = len(labels)
        one = np.eye(n)
        predicted, answer = np.divmod(np.arange(n * n), n)
        return AnswerRules(
            name=self.name,
            labels=labels,
            response=np.einsum("pj,qk->pqjk", one, one).reshape(n * n, n, n),
            block=predicted,
            keeps=predicted == answer,
            names=tuple(
                f"keeps “{labels[j]}”" if j == k else f"turns “{labels[j]}” into “{labels[k]}”"
                for j, k in zip(predicted, answer, strict=True)
            ),
        )
