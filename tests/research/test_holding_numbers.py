"""What the document on limits that hold says where a confidence fell short, or is dear."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import CROSS_FITTED, SeedScores
from research.holding.document import in_short, written
from research.holding.evidence import GUARANTEES, gather
from research.holding.settings import Setting

CLIENTS = ("east", "north", "south")
DESCRIPTION = {
    "title": "made up",
    "labels": ["no", "yes"],
    "groups": ["a", "b"],
    "clients": list(CLIENTS),
    "favourable": "yes",
    "notion": "eop",
    "dataset": {"sample": "all rows", "rows_used": 600},
}


def models(seed, folds):
    """Fold models of the same people, one for the paper's split.

    Of group b they know less; of its test people in the south, who are not as those before, nothing.
    """
    rng = np.random.default_rng(seed)
    n = 600
    client = rng.choice(3, n, p=[0.2, 0.3, 0.5])
    group, label = rng.integers(0, 2, n), (rng.random(n) < 0.35).astype(int)
    tested, fold_of = rng.random(n) < 1 / 3, rng.integers(0, folds, n)
    made = []
    for fold in range(folds):
        person = np.flatnonzero(tested | (fold_of == fold))
        known = np.where(group == 1, 1.0, 2.5)
        known[tested & (group == 1) & (client == 2)] = -2.0
        signal = (known * (label - 0.5))[person]
        score = 1 / (1 + np.exp(-signal - rng.normal(0, 0.8, len(person))))
        made.append(
            SeedScores(
                seed=seed,
                split=tested[person].astype(np.int8),
                client=client[person],
                group=group[person],
                label=label[person],
                scores=np.stack([1 - score, score], axis=1),
                clients=CLIENTS,
                chosen=1,
                loss=np.array([0.9, 0.7]),
                accuracy=np.array([0.5, 0.6]),
                **({"person": person} if folds > 1 else {}),
            )
        )
    return made


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """One made-up experiment by both protocols."""
    folder = tmp_path_factory.mktemp("holding")
    save_experiment.save(folder / "tiny", DESCRIPTION, [models(seed, 1)[0] for seed in (1, 4)])
    crossed = [models(seed, 2) for seed in (1, 4)]
    save_experiment.save_cross_fitted(folder / "tiny_cf", DESCRIPTION, crossed, "tiny")
    opened = [experiments.open(name, folder) for name in ("tiny", "tiny_cf")]
    return gather(*opened, draws=3)


def test_a_confidence_that_fell_short_is_listed(evidence):
    """Gaps are set: in two of six draws one client is above its limit, in one the overall gap is."""
    found = evidence
    setting = Setting("simplex", "labels", 0.05, 0.10)
    none, each, every, proved = (
        replace(setting, guarantee=one)
        for one in map(GUARANTEES.get, ("none", "each", "all", "proved"))
    )
    held = np.zeros((6, len(CLIENTS)))
    above = held.copy()
    above[[0, 4], 1] = 0.1 + 1e-3
    overall = np.array([0, 0, 0, 0.05 + 1e-3, 0, 0])
    gaps = {
        none: (above, overall),  # promised nothing
        each: (above, np.zeros(6)),  # 16 of 18
        every: (above, overall),  # in 4 of 6 draws all, in 5 overall
        proved: (held + 0.1, np.full(6, 0.05)),  # on the limits is within
    }
    covered = {
        one: replace(measured, local=local, overall=overall)
        for one, measured in found.resampled[CROSS_FITTED].items()
        for local, overall in [gaps.get(one, (held, np.zeros(6)))]
    }
    text = written({"tiny": replace(found, resampled=found.resampled | {CROSS_FITTED: covered})})
    short = text.partition("### Where a confidence fell short")[2].partition("\n## ")[0]
    where = f"- tiny, people as in {CROSS_FITTED}, simplex, limit 0.10, overall 0.05"
    assert [line for line in short.splitlines() if CROSS_FITTED in line] == [
        f"{where}, each: inside clients 0.889",
        f"{where}, all: inside clients 0.667",
        f"{where}, all: overall 0.833",
    ]


@pytest.mark.parametrize(
    ("left", "dear"), [(-0.2, True), (0.3, True), (0.51, False), (1.1, False)]
)
def test_certainty_is_dear_where_less_than_half_is_left(evidence, left, dear):
    """Accuracies on either side of half of what the lottery adds to one answer a client."""
    one = evidence
    sure = Setting("exact", "labels", 1.0, 0.10, GUARANTEES["each"])
    constant = one.constant_accuracy
    covered = one.resampled[CROSS_FITTED]
    made = {
        setting: replace(covered[setting], accuracy=np.full_like(covered[setting].accuracy, value))
        for setting, value in ((sure.unguarded, constant + 0.1), (sure, constant + 0.1 * left))
    }
    (line,) = in_short(replace(one, resampled={CROSS_FITTED: made}))
    assert ("certainty costs what the data lack" in line) == dear
    assert (f"{100 * max(left, 0):.0f} % are left." in line) == dear
