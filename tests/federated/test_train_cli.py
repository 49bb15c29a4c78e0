"""`fairfl train`."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core import datasets
from fairfl_core.errors import InputError
from fairfl_core.federated import recipes
from fairfl_core.people import experiments

with warnings.catch_warnings():  # Typer 0.20 touches a name that click 8.5 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from fairfl_core.cli.train import folder_name, seeds_from, train

SHARED = Path(__file__).resolve().parents[3] / "shared" / "datasets"


def test_seeds_are_ranges_and_lists():
    assert seeds_from("0-2,7,1") == [0, 1, 2, 7]
    for wrong in ("", "a", "1-", "3-1", "1..2"):
        with pytest.raises(InputError, match="--seeds"):
            seeds_from(wrong)


def test_another_grouping_has_a_folder_of_its_own():
    usual = recipes.recipe("public_coverage")
    assert folder_name(usual) == "public_coverage"
    assert folder_name(replace(usual, grouping="white")) == "public_coverage"
    assert folder_name(replace(usual, grouping="race")) == "public_coverage_race"


def test_a_run_leaves_an_experiment_that_opens(tiny, recipe, tmp_path, monkeypatch, capsys):
    people = replace(
        tiny,
        label=(tiny.label > 0).astype(np.int16),
        labels=("up to 50K", "over 50K"),
        origin={"sample": "made up", "rows_used": len(tiny), "grouping": "sex"},
    )
    monkeypatch.setattr(datasets, "open", lambda name, source, grouping: people)
    monkeypatch.setitem(recipes.RECIPES, "tiny", replace(recipe, dataset="adult", batch=64))
    train("tiny", seeds="0,1", rounds=3, out=tmp_path, uniform=True)
    told = capsys.readouterr()
    made = experiments.open("tiny", tmp_path)
    assert "of 2 seeds; FedAvg on test" in told.out
    assert "seed 1 round" in told.err
    assert made.seeds == (0, 1)
    assert made.manifest["training"]["weighting"] == "uniform"
    assert made.manifest["training"]["rounds"] == 3
    assert len(made.manifest["learning_curves"]["1"]["validation_loss"]) == 3
    assert sum(made.manifest["client_rows"].values()) == len(people)
    rows = sum(made.counts(0, split).table.sum() for split in experiments.SPLITS)
    assert rows == pytest.approx(0.4 * len(people), abs=4)
    before = (tmp_path / "tiny" / "scores.parquet").read_bytes()
    train("tiny", seeds="0,1", rounds=3, out=tmp_path, uniform=True)
    assert (tmp_path / "tiny" / "scores.parquet").read_bytes() == before


def test_an_unknown_experiment_is_a_sentence():
    with pytest.raises(InputError, match='no experiment "compas"; choose one of: adult'):
        train("compas")


@pytest.mark.skipif(
    not (SHARED / "adult.parquet").is_file(),
    reason="needs the copies of the datasets, which are not at ../shared/datasets",
)
def test_training_adult_again_gives_the_shipped_scores_back(tmp_path):
    train("adult", seeds="0", out=tmp_path, source=SHARED)
    shipped, again = experiments.open("adult"), experiments.open("adult", tmp_path)
    assert again.manifest["rounds_chosen"]["0"] == shipped.manifest["rounds_chosen"]["0"]
    for split in experiments.SPLITS:
        ours, theirs = again.scores(0, split), shipped.scores(0, split)
        # the same processor gives the same bits; another one other last digits
        assert np.abs(ours.scores - theirs.scores).max() < 0.01
        assert (ours.prediction == theirs.prediction).mean() > 0.999
