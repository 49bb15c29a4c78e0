"""A region of one's own: keep the model's answer, turn it round, or give the first label."""

import numpy as np

from fairfl_core.lp.regions import AnswerRules, RegionKind


class KeepOrTurn(RegionKind):
    """The model's answer, or the next label round; and the first label for everybody."""

    name = "turn"
    title = "keep or turn"
    meaning = "The lottery keeps the model's answer, turns it round, or gives the first label."

    def answer_rules(self, labels):
        n = len(labels)
        one = np.eye(n)
        first = np.broadcast_to(one[0], (n, n))
        return AnswerRules(
            labels=labels,
            response=np.stack([one, np.roll(one, 1, axis=1), first]),
            block=np.zeros(3, np.int64),
            keeps=np.array([True, False, False]),
            names=("model's answer", "turned round", f"always {labels[0]}"),
        )
