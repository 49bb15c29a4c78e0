"""Experiments: what is shipped, and saving and opening in general."""

import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import SeedScores
from fairfl_core.errors import InputError

SHIPPED = (
    "adult",
    "public_coverage",
    "ham10000",
    "ham10000_scenario1",
    "ham10000_scenario2",
    "ham10000_scenario3",
    "public_coverage_sex_race",
)
CROSS_FITTED = (
    "adult_cross_fitted",
    "public_coverage_cross_fitted",
    "public_coverage_sex_race_cross_fitted",
    "ham10000_cross_fitted",
)
DESCRIPTION = {
    "title": "made up",
    "labels": ["no", "maybe", "yes"],
    "groups": ["a", "b"],
    "clients": ["north", "south"],
    "favourable": "yes",
    "notion": "eo",
    "dataset": {"sample": "all rows", "rows_used": 300},
}


def seed_scores(seed: int, rows: int = 300) -> SeedScores:
    rng = np.random.default_rng(seed)
    return SeedScores(
        seed=seed,
        split=rng.integers(0, 2, rows).astype(np.int8),
        client=rng.integers(0, 2, rows),
        group=rng.integers(0, 2, rows),
        label=rng.integers(0, 3, rows),
        scores=rng.dirichlet([1, 1, 1], rows),
        clients=("north", "south"),
        chosen=2,
        loss=np.array([0.9, 0.7]),
        accuracy=np.array([0.5, 0.6]),
    )


@given(arrays(float, (40, 4), elements=st.floats(1e-6, 1)))
def test_rounded_scores_sum_to_one_and_keep_the_argmax_alone_at_the_top(raw):
    scores = raw / raw.sum(axis=1, keepdims=True)
    rounded = save_experiment.round_scores(scores)
    assert (rounded.sum(axis=1) == 1).all()
    assert (rounded >= 0).all()
    assert (rounded.argmax(axis=1) == scores.argmax(axis=1)).all()
    top = np.sort(rounded, axis=1)
    assert (top[:, -1] > top[:, -2]).all()
    assert np.abs(rounded - scores).max() < 3 / save_experiment.UNITS


def test_counts_are_the_rows_of_each_cell(tmp_path):
    one = seed_scores(3)
    made = save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(1), one])
    for code, split in enumerate(experiments.SPLITS):
        table = np.zeros((2, 2, 3, 3), int)
        rows = one.split == code
        cells = (one.client, one.group, one.label, one.scores.argmax(axis=1))
        np.add.at(table, tuple(cell[rows] for cell in cells), 1)
        counts = made.counts(3, split)
        assert np.array_equal(counts.table, table)
        assert counts.clients == ("north", "south")
        assert counts.favourable == "yes"


def test_changed_scores_are_refused(tmp_path):
    save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(0)])
    path = tmp_path / "tiny" / "scores.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"scores\.parquet: its sha256 .* is not the manifest's"):
        experiments.open("tiny", tmp_path)


def test_killed_between_scores_and_manifest_the_old_experiment_still_opens(tmp_path, monkeypatch):
    """Saved anew it is the old one or the new one at every moment, and leaves one file of scores."""
    old = save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(0)])
    held = old.scores(0, "test").scores
    with monkeypatch.context() as patch:
        patch.setattr("fairfl_core.data.save_experiment.write_json", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(5)])
    again = experiments.open("tiny", tmp_path)
    assert again.seeds == (0,)
    np.testing.assert_array_equal(again.scores(0, "test").scores, held)
    new = save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(5)])
    assert new.seeds == (5,) and len(list(new.path.glob("*.parquet"))) == 1


def test_a_manifest_names_no_scores_elsewhere(tmp_path):
    made = save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(0)])
    path = made.path / "manifest.json"
    path.write_text(path.read_text().replace("scores.parquet", "../scores.parquet"))
    with pytest.raises(InputError, match='must be called "scores.parquet"'):
        experiments.open("tiny", tmp_path)


def test_absent_experiments_seeds_and_splits_are_sentences(tmp_path):
    made = save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(0)])
    with pytest.raises(InputError, match=r'no experiment "big" \(there are: tiny\)'):
        experiments.open("big", tmp_path)
    with pytest.raises(InputError, match="seeds are 0, splits are validation and test"):
        made.counts(4, "test")
    with pytest.raises(InputError, match="no seed 0 with split 'training'"):
        made.counts(0, "training")
    (tmp_path / "tiny" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="not a whole manifest"):
        experiments.open("tiny", tmp_path)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_experiment_has_scores_names_and_nothing_else(name):
    experiment = experiments.open(name)
    schema = pq.read_schema(experiment.path / "scores.parquet")
    scores = [f"score_{y}" for y in range(len(experiment.labels))]
    assert schema.names == ["seed", "split", "client", "group", "label", *scores]
    few = name.startswith("ham") or experiment.grouping is not None
    assert len(experiment.seeds) >= (5 if few else 10)
    people = experiment.scores(experiment.seeds[-1], "test")
    assert (people.scores.sum(axis=1) == 1).all()
    seen = np.unique(people.prediction)
    assert len(seen) == len(experiment.labels), "a label is never predicted"


@pytest.mark.parametrize("name", CROSS_FITTED)
def test_a_cross_fitted_experiment_has_the_test_people_of_the_papers_split(name):
    experiment = experiments.open(name)
    schema = pq.read_schema(experiment.path / "scores.parquet")
    scores = [f"score_{y}" for y in range(1, len(experiment.labels))]
    assert schema.names == ["seed", "split", "fold", "client", "group", "label", *scores]
    assert (experiment.protocol, experiment.folds) == ("cross-fitted", 4)
    plain = experiments.open(experiment.manifest["paper_split"])
    assert experiments.cross_fitted_of(plain.name) == name
    assert set(experiment.seeds) <= set(plain.seeds)
    for seed in (experiment.seeds[0], experiment.seeds[-1]):
        by_label = plain.counts(seed, "test").n_label
        for fold in range(4):
            assert (experiment.scores(seed, "test", fold).scores.sum(axis=1) == 1).all()
            assert np.array_equal(experiment.counts(seed, "test", fold).n_label, by_label)
        fitted = experiment.counts(seed, "fit")
        everyone = (fitted.n_client + by_label.sum(axis=(1, 2))).tolist()
        assert everyone == list(plain.manifest["client_rows"].values())


@pytest.mark.parametrize("name", [*SHIPPED, *CROSS_FITTED])
def test_a_shipped_manifest_tells_how_it_was_made(name):
    manifest = experiments.open(name).manifest
    assert {"dataset", "training", "versions", "rounds_chosen", "learning_curves"} <= set(manifest)
    assert manifest["favourable"] in manifest["labels"]
    for seed, chosen in manifest["rounds_chosen"].items():
        curves = manifest["learning_curves"][seed]
        models = zip(chosen, curves, strict=True) if "protocol" in manifest else [(chosen, curves)]
        for one, curve in models:
            assert curve["validation_loss"][one - 1] == min(curve["validation_loss"])
    assert manifest["training"]["method_title"] == experiments.open(name).method
    text = json.dumps(manifest)
    assert not re.search(r'"(/|~/|[A-Z]:\\\\)', text), "a path of some machine"
    assert manifest["notion"] == {"a": "sp", "p": "eop", "h": "eo"}[name[0]]
