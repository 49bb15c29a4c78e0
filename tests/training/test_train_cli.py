"""`fairfl train`."""

import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.data import experiments
from fairfl_core.errors import InputError
from fairfl_core.training import recipes
from tests.training.tiny import as_adult, train_tiny

with warnings.catch_warnings():  # Typer 0.20 touches a name that click 8.5 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from fairfl_core.cli.train import _silenced, folder_name, seeds_from, train

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


def test_other_methods_and_folds_have_folders_of_their_own():
    usual = recipes.recipe("adult")
    assert folder_name(replace(usual, folds=4)) == "adult_cross_fitted"
    assert folder_name(replace(usual, method="toy", folds=4)) == "adult_toy_cross_fitted"


def test_a_run_leaves_an_experiment_that_opens(tmp_path, capsys):
    options = {"seeds": "0,1", "rounds": 3, "out": tmp_path, "setting": ["weighting=uniform"]}
    train_tiny("linear", **options)
    output = capsys.readouterr()
    made = experiments.open("tiny", tmp_path)
    assert "of 2 seeds; FedAvg on test" in output.out
    assert "seed 1 round" in output.err
    assert made.seeds == (0, 1)
    assert made.manifest["training"]["method"] == "fedavg"
    assert made.manifest["training"]["method_settings"] == {"weighting": "uniform", "epochs": 1}
    assert made.manifest["training"]["rounds"] == 3
    assert len(made.manifest["learning_curves"]["1"]["validation_loss"]) == 3
    everyone = len(as_adult())
    assert sum(made.manifest["client_rows"].values()) == everyone
    rows = sum(made.counts(0, split).table.sum() for split in made.splits)
    assert rows == pytest.approx(0.4 * everyone, abs=4)
    before = (tmp_path / "tiny" / "scores.parquet").read_bytes()
    train_tiny("linear", **options)
    assert (tmp_path / "tiny" / "scores.parquet").read_bytes() == before


def test_a_toy_method_cross_fitted_and_killed_gives_the_scores_of_an_unbroken_run(tmp_path):
    command = [sys.executable, "-m", "tests.training.tiny", str(tmp_path)]
    checkpoints = tmp_path / "tiny_toy_cross_fitted" / "checkpoints"
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 180
    fold = int(os.urandom(1)[0]) % 2
    while not (checkpoints / f"seed_5_fold_{fold}.npz").is_file() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(int(os.urandom(1)[0]) / 700)  # some moment in rounds 1 to 2 of this fold
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (checkpoints.parent / "scores.parquet").exists()
    subprocess.run(command, cwd=root, check=True, stderr=subprocess.DEVNULL)
    whole = tmp_path / "whole"
    options = {"seeds": "5", "rounds": 3, "folds": 2, "method": "toy", "setting": ["strength=0"]}
    train_tiny("linear", **options, out=whole)
    made, unbroken = (
        experiments.open("tiny_toy_cross_fitted", folder) for folder in (tmp_path, whole)
    )
    assert made.manifest["scores"]["sha256"] == unbroken.manifest["scores"]["sha256"]
    assert made.manifest["learning_curves"] == unbroken.manifest["learning_curves"]
    assert made.manifest["protocol"] == {"name": "cross-fitted", "folds": 2}
    assert made.manifest["paper_split"] == "tiny_toy"
    assert made.manifest["training"]["method_settings"]["pause"] == 0.2
    assert made.manifest["training"]["round_choice"] == "least error on the held-out fold"
    assert made.method == "Toy"
    assert len(made.manifest["rounds_chosen"]["5"]) == 2
    assert len(made.scores(5, "fit")) + len(made.scores(5, "test", 0)) == len(as_adult())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"folds": 1}, "--folds 1: cross-fitting needs at least 2 folds"),
        ({"folds": -4}, "--folds -4: cross-fitting needs at least 2"),
        ({"folds": 100}, 'client "north" has .* leaves one of 100 folds empty in seed 0'),
        ({"method": "models"}, 'no method "models"; choose one of: fedavg'),
        ({"setting": ["beta=1"]}, 'FedAvg has no setting "beta"; it has: weighting, epochs'),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(tmp_path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        train_tiny(seeds="0", out=tmp_path / "runs", **options)
    assert not list(tmp_path.iterdir())


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
    for split in shipped.splits:
        ours, theirs = again.scores(0, split), shipped.scores(0, split)
        # the same processor gives the same bits; another one other last digits
        assert np.abs(ours.scores - theirs.scores).max() < 0.01
        assert (ours.prediction == theirs.prediction).mean() > 0.999


def test_tensorflow_is_asked_to_say_little(monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "")  # so that it is put back
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL")
    with _silenced():
        assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "2"
