"""One small network for everything that is approved: neighbours differ, one cell is empty, one is tiny."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from fairfl_core.data import save_experiment
from fairfl_core.data.experiments import SeedScores
from fairfl_core.data.grouping import Grouping
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


DESCRIPTION = {
    "title": "made up, by sex",
    "labels": list(LABELS[2]),
    "groups": list(GROUPS[2]),
    "clients": list(CLIENTS),
    "favourable": "ill",
    "notion": "eop",
    "dataset": {"sample": "all rows", "rows_used": 700},
}


def seed_scores(seed: int, folds: int = 1) -> list[SeedScores]:
    """The scores of one seed: a model for each fold, all of the same people."""
    made = people(rows=700, seed=seed)
    rng = np.random.default_rng([seed, folds])
    tested, fold_of = rng.random(len(made)) < 1 / 3, rng.integers(0, folds, len(made))
    models = []
    for fold in range(folds):
        person = np.flatnonzero(tested | (fold_of == fold))
        chance = np.clip(made.scores[person, 1] + rng.normal(0, 0.05, len(person)), 0, 1)
        models.append(
            SeedScores(
                seed=seed,
                split=tested[person].astype(np.int8),
                client=made.client[person],
                group=made.group[person],
                label=made.label[person],
                scores=np.stack([1 - chance, chance], axis=1),
                clients=CLIENTS,
                chosen=2 + seed,
                loss=np.array([0.9, 0.7, 0.6 + 0.01 * seed]),
                accuracy=np.array([0.5, 0.6, 0.7 - 0.01 * seed]),
                **({"person": person} if folds > 1 else {}),
            )
        )
    return models


def save_experiments(folder: Path, seeds: Sequence[int] = (1, 4)) -> None:
    """An experiment of the small network by both protocols: `tiny`, and `tiny_cf` of two folds."""
    save_experiment.save(folder / "tiny", DESCRIPTION, [seed_scores(seed)[0] for seed in seeds])
    crossed = [seed_scores(seed, 2) for seed in seeds]
    save_experiment.save_cross_fitted(folder / "tiny_cf", DESCRIPTION, crossed, "tiny")
