"""Rounds, the choice of a round, going on after a kill."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.federated import training
from fairfl_core.federated.fedavg import FedAvg
from fairfl_core.federated.method import Reply, State
from fairfl_core.federated.training import train_seed


def test_the_server_weighs_by_rows_or_uniformly():
    replies = [Reply(np.array([0.0, 3.0], "f4"), 1), Reply(np.array([4.0, 7.0], "f4"), 3)]
    state = State(np.zeros(2, "f4"))
    assert FedAvg().server(state, replies).theta.tolist() == [3, 6]
    assert FedAvg("uniform").server(state, replies).theta.tolist() == [2, 5]
    with pytest.raises(InputError, match="neither rows nor uniform"):
        FedAvg("squares")


def test_training_learns_and_is_the_same_each_time(tiny, recipe, plain):
    again, other = (train_seed(tiny, recipe, seed) for seed in (0, 1))
    assert np.array_equal(plain.scores, again.scores)
    assert not np.array_equal(plain.scores, other.scores)
    majority = np.bincount(plain.label).max() / len(plain)
    assert (plain.prediction == plain.label).mean() > majority + 0.1
    assert plain.loss[-1] < plain.loss[0]


def test_the_round_with_the_least_validation_loss_is_taken(tiny, recipe):
    runs = []
    recipe = replace(recipe, rounds=12, learning_rate=0.05)  # so fast that it overshoots
    trained = train_seed(tiny, recipe, 0, told=runs.append)
    assert trained.chosen == int(np.argmin(trained.loss)) + 1
    assert trained.chosen < 12, "the last round is the best: the test tests nothing"
    best = runs[trained.chosen].state.theta
    assert np.array_equal(runs[-1].best_theta, best)
    validation = trained.split == 0
    truth = trained.scores[validation, trained.label[validation]]
    assert -np.log(truth).mean() == pytest.approx(trained.loss.min(), abs=1e-6)


@pytest.mark.parametrize(
    "change", [{"class_weighting": True}, {"weighting": "uniform"}, {"epochs": 2}], ids=str
)
def test_switches_change_the_model(tiny, recipe, plain, change):
    changed = train_seed(tiny, replace(recipe, **change), 0)
    assert np.array_equal(changed.label, plain.label)
    assert not np.allclose(changed.scores, plain.scores)


def test_a_longer_run_goes_on_from_a_shorter_one(tiny, recipe, plain, tmp_path):
    train_seed(tiny, replace(recipe, rounds=2), 0, folder=tmp_path)
    seen = []
    longer = train_seed(tiny, recipe, 0, folder=tmp_path, told=lambda run: seen.append(run.round))
    assert seen == [2, 3, 4, 5, 6]
    assert np.array_equal(longer.scores, plain.scores)
    with pytest.raises(InputError, match=r"seed_0\.npz: has 6 rounds, more than the 3 asked"):
        train_seed(tiny, replace(recipe, rounds=3), 0, folder=tmp_path)


def test_checkpoints_of_other_settings_or_broken_ones_are_refused(tiny, recipe, tmp_path):
    train_seed(tiny, replace(recipe, rounds=1), 0, folder=tmp_path)
    with pytest.raises(InputError, match=r"seed_0\.npz: is a checkpoint of other settings"):
        train_seed(tiny, replace(recipe, batch=32), 0, folder=tmp_path)
    (tmp_path / "seed_0.npz").write_bytes(b"PK\x03\x04 half a file")
    with pytest.raises(InputError, match=r"seed_0\.npz: is not a checkpoint that can be read"):
        train_seed(tiny, recipe, 0, folder=tmp_path)


def test_killed_and_started_again_gives_the_scores_of_an_unbroken_run(tiny, recipe, tmp_path):
    command = [sys.executable, "-m", "tests.federated.tiny", str(tmp_path)]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 180
    while not (tmp_path / "seed_5.npz").is_file() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1 + int.from_bytes(os.urandom(1)) / 1000)  # some moment in rounds 1 to 3
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    with np.load(tmp_path / "seed_5.npz") as checkpoint:
        done = len(checkpoint["loss"])
    assert 1 <= done < recipe.rounds
    subprocess.run(command, cwd=root, check=True, stderr=subprocess.DEVNULL)
    resumed = np.load(tmp_path / "scores.npy")
    assert np.array_equal(resumed, train_seed(tiny, recipe, 5).scores)


@dataclass(frozen=True)
class Momentum(FedAvg):
    """A method that remembers: it must survive a kill as FedAvg does."""

    def begin(self, theta, clients):
        return State(theta, {"speed": np.zeros_like(theta)})

    def server(self, state, replies):
        step = super().server(state, replies).theta - state.theta
        speed = 0.5 * state.memory["speed"] + step
        return State(state.theta + speed, {"speed": speed})


def test_another_method_needs_two_answers_and_its_memory_is_kept(
    tiny, recipe, plain, tmp_path, monkeypatch
):
    monkeypatch.setattr(training, "method_of", lambda recipe: Momentum())
    unbroken = train_seed(tiny, recipe, 0)
    train_seed(tiny, replace(recipe, rounds=3), 0, folder=tmp_path)
    assert np.array_equal(train_seed(tiny, recipe, 0, folder=tmp_path).scores, unbroken.scores)
    assert not np.allclose(plain.scores, unbroken.scores)


def test_an_unknown_method_is_a_sentence(recipe):
    for name in ("fairfed", "models", "data"):
        with pytest.raises(InputError, match=f'no method "{name}"'):
            training.method_of(replace(recipe, method=name))
