"""One small network for everything that is approved: neighbours differ, one cell is empty, one is tiny."""

from dataclasses import replace
from functools import cache

import numpy as np

from fairfl_core.data.columns import Grouping
from fairfl_core.data.scored import ScoredData

CLIENTS = ("north", "south", "east", "west")
LABELS = {2: ("well", "ill"), 3: ("well", "cold", "flu")}
GROUPS = {2: ("men", "women"), 4: ("man · old", "man · young", "woman · old", "woman · young")}
CROSSED = Grouping(
    ("sex", "age"), (("man", "old"), ("man", "young"), ("woman", "old"), ("woman", "young"))
)


@cache
def people(labels: int = 2, groups: int = 2, rows: int = 900, seed: int = 0) -> ScoredData:
    """Scored people; no women in the west, and three people alone in the last label of the east."""
    rng = np.random.default_rng([seed, labels, groups])
    client = rng.choice(4, rows, p=[0.45, 0.28, 0.19, 0.08])
    group = rng.choice(groups, rows)
    group[(client == 3) & (group == groups - 1)] = 0
    logits = 1.1 * rng.normal(0, 1, (rows, labels))
    logits[:, -1] += 0.7 * (group % 2) - 0.5 + 0.3 * client
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (chances.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=labels - 1)
    last = np.flatnonzero((client == 2) & (group == 0) & (label == labels - 1))
    label[last[3:]] = 0
    blurred = logits + rng.normal(0, 0.6 + 0.5 * (group == 1)[:, None], logits.shape)
    scores = np.round(np.exp(blurred) / np.exp(blurred).sum(axis=1, keepdims=True), 3)
    scores[:, 0] = 1 - scores[:, 1:].sum(axis=1)
    made = ScoredData(
        client,
        group,
        label,
        scores,
        scores.argmax(axis=1),
        CLIENTS,
        GROUPS[groups],
        LABELS[labels],
        LABELS[labels][-1],
    )
    return replace(made, grouping=CROSSED) if groups == 4 else made
