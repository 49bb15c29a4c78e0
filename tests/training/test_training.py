"""Rounds, the choice of a round, going on after a kill."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.training import method as methods
from fairfl_core.training.data import TEST, TRAINING, VALIDATION, federate
from fairfl_core.training.fedavg import FedAvg
from fairfl_core.training.method import Reply, State
from fairfl_core.training.training import train_prepared, train_seed
from tests.training import toy  # noqa: F401  (it makes itself known)


def test_the_server_weighs_by_rows_or_uniformly():
    replies = [Reply(np.array([0.0, 3.0], "f4"), 1), Reply(np.array([4.0, 7.0], "f4"), 3)]
    state = State(np.zeros(2, "f4"))
    assert FedAvg().server(state, replies, None).theta.tolist() == [3, 6]
    assert FedAvg("uniform").server(state, replies, None).theta.tolist() == [2, 5]
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
    trained = train_seed(tiny, recipe, 0, on_progress=runs.append)
    assert trained.chosen == int(np.argmin(trained.loss)) + 1
    assert trained.chosen < 12, "the last round is the best: the test tests nothing"
    best = runs[trained.chosen].state.theta
    assert np.array_equal(runs[-1].best, best[None])
    validation = trained.split == 0
    truth = trained.scores[validation, trained.label[validation]]
    assert -np.log(truth).mean() == pytest.approx(trained.loss.min(), abs=1e-6)


def test_switches_change_the_model(tiny, recipe, prepared, plain):
    weighted = train_seed(tiny, replace(recipe, class_weighting=True), 0)
    for changed in (
        weighted,
        train_prepared(prepared, replace(recipe, method_settings={"weighting": "uniform"})),
        train_prepared(prepared, replace(recipe, method_settings={"epochs": 2})),
    ):
        assert np.array_equal(changed.label, plain.label)
        assert not np.allclose(changed.scores, plain.scores)


def test_a_longer_run_goes_on_from_a_shorter_one(tiny, recipe, prepared, plain, tmp_path):
    train_prepared(prepared, replace(recipe, rounds=2), folder=tmp_path)
    seen = []
    longer = train_prepared(
        prepared, recipe, folder=tmp_path, on_progress=lambda run: seen.append(run.round)
    )
    assert seen == [2, 3, 4, 5, 6]
    assert np.array_equal(longer.scores, plain.scores)
    with pytest.raises(InputError, match=r"seed_0\.npz: has 6 rounds, more than the 3 asked"):
        train_seed(tiny, replace(recipe, rounds=3), 0, folder=tmp_path)


def test_checkpoints_of_other_settings_or_broken_ones_are_refused(
    tiny, recipe, prepared, tmp_path
):
    train_prepared(prepared, replace(recipe, rounds=1), folder=tmp_path)
    with pytest.raises(InputError, match=r"seed_0\.npz: is a checkpoint of other settings"):
        train_seed(tiny, replace(recipe, batch=32), 0, folder=tmp_path)
    (tmp_path / "seed_0.npz").write_bytes(b"PK\x03\x04 half a file")
    with pytest.raises(InputError, match=r"seed_0\.npz: is not a checkpoint that can be read"):
        train_seed(tiny, recipe, 0, folder=tmp_path)


def test_a_method_in_one_file_has_every_memory_kept(tiny, recipe, prepared, plain, tmp_path):
    runs = []
    recipe = replace(recipe, method="toy", method_settings={"strength": 3.0})
    unbroken = train_prepared(prepared, recipe, on_progress=runs.append)
    train_prepared(prepared, replace(recipe, rounds=3), folder=tmp_path)
    with np.load(tmp_path / "seed_0.npz") as file:
        assert {"memory/velocity", "memory/cells", "client 2/step"} <= set(file.files)
        assert file["best"].shape == (3, file["theta"].size), "each client has its own model"
    assert np.array_equal(
        train_prepared(prepared, recipe, folder=tmp_path).scores, unbroken.scores
    )
    assert not np.allclose(plain.scores, unbroken.scores)
    # the toy's criterion is the error, so the round of best accuracy is kept
    assert unbroken.chosen == int(np.argmax(unbroken.accuracy)) + 1
    with pytest.raises(InputError, match="checkpoint of other settings"):
        other = replace(recipe, method_settings={"strength": 2.0})
        train_seed(tiny, other, 0, folder=tmp_path)
    # and each client is scored by its own model
    trainer, best = prepared.trainer, runs[-1].best
    assert not np.array_equal(best[0], best[1])
    for client in range(3):
        mine = unbroken.client == client
        expected = trainer.scores(best[client], unbroken.person[mine])
        assert np.allclose(unbroken.scores[mine], expected, atol=1e-6)


@dataclass(frozen=True)
class Asking(FedAvg):
    """Checks what a method is given against the federation itself."""

    title: ClassVar[str] = "Asking"

    def client(self, state, local, trainer):
        people = FEDERATION.people
        for rows in (local, local.validation):
            assert (people.client[rows.rows] == local.client).all()
            assert np.array_equal(people.group[rows.rows], rows.group)
            assert np.array_equal(people.label[rows.rows], rows.label)
        assert (FEDERATION.split[local.rows] == TRAINING).all()
        assert (FEDERATION.split[local.validation.rows] == VALIDATION).all()
        return super().client(state, local, trainer)

    def server(self, state, replies, clients):
        people, plan = FEDERATION.people, clients.plan
        after = super().server(state, replies, clients)
        for held_out, split in ((False, TRAINING), (True, VALIDATION)):
            rows = np.flatnonzero(FEDERATION.split == split)
            answer = TRAINER.scores(after.theta, rows.astype(np.int32)).argmax(axis=1)
            table = np.zeros((3, 2, 3, 3), int)
            np.add.at(
                table, (people.client[rows], people.group[rows], people.label[rows], answer), 1
            )
            assert np.array_equal(clients.counts(after.theta, held_out=held_out), table)
            if split == TRAINING:
                assert np.array_equal(plan.counts, table.sum(axis=3))
        rows = np.flatnonzero(FEDERATION.split == TRAINING).astype(np.int32)
        truth = TRAINER.scores(after.theta, rows)[np.arange(len(rows)), people.label[rows]]
        cell = (people.client[rows] == 1) & (people.group[rows] == 1) & (people.label[rows] == 2)
        losses = clients.cell_losses(after.theta)
        assert losses[1, 1, 2] == pytest.approx(-np.log(truth[cell]).sum(), rel=1e-9)
        assert plan.favourable == 2
        return after


def test_a_method_is_told_the_truth(recipe, prepared, plain, monkeypatch):
    global FEDERATION, TRAINER
    FEDERATION, TRAINER = prepared.federation, prepared.trainer
    monkeypatch.setitem(methods.METHODS, "asking", f"{__name__}:Asking")
    asked = train_prepared(prepared, replace(recipe, method="asking"))
    assert np.array_equal(asked.scores, plain.scores)


def test_a_fold_model_scores_those_it_never_saw_and_every_test_person(tiny, recipe):
    recipe = replace(recipe, folds=2, rounds=1)
    models = [train_seed(tiny, recipe, 0, fold=fold) for fold in range(2)]
    tested = federate(tiny, replace(recipe, folds=0), 0).rows(TEST)
    held_out = np.concatenate([one.person[one.split == 0] for one in models])
    for one in models:
        assert np.array_equal(one.person[one.split == 1], tested)
    assert sorted([*held_out, *tested]) == list(range(len(tiny)))
    # the model is the one trained without them: change them, and the other scores stay
    turned, mine = tiny.label.copy(), models[1].person[models[1].split == 0]
    turned[mine] = 0
    inputs = tiny.inputs.copy()
    inputs[mine] *= 10  # the scaler must not have seen them either
    again = train_seed(replace(tiny, label=turned, inputs=inputs), recipe, 0, fold=1)
    assert np.array_equal(again.scores[again.split == 1], models[1].scores[again.split == 1])
