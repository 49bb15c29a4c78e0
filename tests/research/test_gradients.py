"""Penalties and gradients against finite differences, Keras by hand, and each other."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from fairfl_core.training.data import TRAINING, federate
from research.trained.gaps import Penalty, gaps_of
from research.trained.tensorflow_gradients import TensorFlowGradients
from tests.training.test_models import shaped
from tests.training.tiny import RECIPE


@pytest.fixture(scope="module")
def federation(tiny):
    return federate(tiny, RECIPE, seed=0)


@pytest.fixture(scope="module")
def trainer(federation):
    return TensorFlowGradients(federation, RECIPE)


def cells(federation, rows):
    return federation.people.group[rows], federation.people.label[rows]


def gaps_for(federation, rows, notion):
    group, label = cells(federation, rows)
    return gaps_of(notion, group, label, groups=2, labels=3, favourable=2)


def test_a_penalty_narrows_the_gap(federation, trainer):
    rows = federation.client_rows(TRAINING)[2]
    gaps, ones = gaps_for(federation, rows, "eo"), np.ones(len(rows), np.float32)
    free = penalised = trainer.model.initial(0)
    for epoch in range(8):
        free = trainer.epoch(free, rows, ones, epoch)
        penalised = trainer.penalised_epoch(
            penalised, rows, ones, epoch, Penalty(gaps, strength=20.0, momentum=0.9)
        )
    wide, narrow = (
        np.abs(trainer.gap_gradient(t, rows, gaps)[0]).max() for t in (free, penalised)
    )
    assert wide > 0.1
    assert narrow < wide / 2


def penalised_by_hand(federation, trainer, theta, rows, notion, strength, momentum, clip):
    """The penalised epoch step by step in eager TensorFlow, with Keras's Adam and dictionaries."""
    people, model = federation.people, trainer.model
    sides = np.concatenate([np.eye(2)[people.group], np.eye(3)[people.client]], axis=1)
    optimiser = keras.optimizers.Adam(RECIPE.learning_rate)
    variable = tf.Variable(theta)
    group, label = cells(federation, rows)
    compared = {
        "sp": [(y, label >= 0) for y in range(3)],
        "eo": [(y, label == y) for y in range(3)],
    }
    keys = [
        (y, a, counted & (group == a))
        for y, counted in compared[notion]
        for a in (0, 1)
        if all((counted & (group == b)).any() for b in (0, 1))
    ]
    first = trainer.scores(theta, rows)
    running = {(y, a): float(first[mine, y].mean()) for y, a, mine in keys}
    for start in range(0, len(rows), RECIPE.batch):
        batch = rows[start : start + RECIPE.batch]
        with tf.GradientTape() as tape:
            logits = model.logits(
                variable, tf.constant(people.inputs[batch]), tf.constant(sides[batch], tf.float32)
            )
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    people.label[batch].astype(int), logits
                )
            )
            scores, moved = tf.nn.softmax(logits), dict(running)
            for y, a, mine in keys:
                inside = mine[start : start + RECIPE.batch]
                if inside.any():
                    mean = tf.reduce_mean(scores[:, y][inside])
                    moved[y, a] = momentum * running[y, a] + (1 - momentum) * mean
            gaps = [moved[y, 1] - moved[y, 0] for y in {y for y, _, _ in keys}]
            total = loss + strength * sum(gap**2 for gap in gaps)
        gradient = tf.clip_by_norm(tape.gradient(total, variable), clip)
        optimiser.apply_gradients([(gradient, variable)])
        running = {key: float(value) for key, value in moved.items()}
    return variable.numpy()


@pytest.mark.parametrize(("notion", "momentum", "clip"), [("sp", 0.7, 0.3), ("eo", 0.0, 1e9)])
def test_a_penalised_epoch_is_what_one_does_by_hand(federation, trainer, notion, momentum, clip):
    rows = federation.client_rows(TRAINING)[1]
    rows = rows[np.argsort(federation.people.group[rows], kind="stable")]  # batches of one group
    theta, ones = trainer.model.initial(0), np.ones(len(rows), np.float32)
    penalty = Penalty(gaps_for(federation, rows, notion), 5.0, momentum, clip)
    ours = trainer.penalised_epoch(theta, rows, ones, 0, penalty)
    expected = penalised_by_hand(federation, trainer, theta, rows, notion, 5.0, momentum, clip)
    assert np.abs(ours - trainer.epoch(theta, rows, ones, 0)).max() > 1e-3
    assert np.allclose(ours, expected, atol=2e-5)


def double_scores(federation, trainer, theta, rows):
    """The MLP's scores in numpy and double precision: an oracle for slopes."""
    people = federation.people
    sides = (np.eye(2)[people.group[rows]], np.eye(3)[people.client[rows]])
    x = np.concatenate([people.inputs[rows], *sides], axis=1)
    layers = shaped(trainer.model, theta)
    for at in range(0, len(layers), 2):
        x = x @ layers[at] + layers[at + 1]
        x = np.maximum(x, 0) if at + 2 < len(layers) else x
    x = np.exp(x - x.max(axis=1, keepdims=True))
    return x / x.sum(axis=1, keepdims=True)


def check_slopes(function, theta, gradient, step=1e-7):
    """Compare a gradient with central differences along random directions and coordinates."""
    rng = np.random.default_rng(0)
    directions = [*np.eye(len(theta))[np.argsort(-np.abs(gradient))[:5]]]
    directions += [*rng.normal(size=(5, len(theta))) / np.sqrt(len(theta))]
    theta = theta.astype(float)
    for direction in directions:
        up, down = function(theta + step * direction), function(theta - step * direction)
        assert gradient @ direction == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=2e-6)


def test_the_gradient_of_the_loss_is_that_of_finite_differences(federation, trainer):
    theta, rows = trainer.model.initial(4), federation.client_rows(TRAINING)[1]
    group, label = cells(federation, rows)
    weight = (1 + group + 2 * label).astype(np.float32)

    def loss_of(theta):
        truth = double_scores(federation, trainer, theta, rows)[np.arange(len(rows)), label]
        return -(weight * np.log(truth)).sum() / weight.sum()

    loss, gradient = trainer.loss_gradient(theta, rows, weight)
    assert loss == pytest.approx(loss_of(theta), rel=1e-5)
    check_slopes(loss_of, theta, gradient)


@pytest.mark.parametrize("notion", ["sp", "eop", "eo"])
@pytest.mark.parametrize(("sharpness", "bound"), [(1.0, np.inf), (10.0, np.inf), (3.0, 0.2)])
def test_the_gradient_of_a_gap_is_that_of_finite_differences(
    federation, trainer, notion, sharpness, bound
):
    theta, rows = trainer.model.initial(4), federation.client_rows(TRAINING)[1]
    group, label = cells(federation, rows)
    gaps = gaps_for(federation, rows, notion)
    counted = {
        "sp": [np.ones(len(rows), bool)] * 3,
        "eop": [label == 2],
        "eo": [label == y for y in range(3)],
    }[notion]

    def gap_of(theta, place):
        score = double_scores(federation, trainer, theta, rows)[:, gaps.label[place]]
        odds = np.clip(np.log(score / (1 - score)), -bound, bound)
        soft = 1 / (1 + np.exp(-sharpness * odds))
        first, second = (soft[rows_of(place, a)].mean() for a in (0, 1))
        return second - first

    def rows_of(place, a):
        return counted[place] & (group == a)

    values, gradients = trainer.gap_gradient(theta, rows, gaps, sharpness=sharpness, bound=bound)
    assert len(values) == len(counted)
    for place in range(len(gaps)):
        if not all(rows_of(place, a).any() for a in (0, 1)):  # nobody of group 1 is "low"
            assert values[place] == 0
            assert not gradients[place].any()
            continue
        assert values[place] == pytest.approx(gap_of(theta, place), abs=2e-6)
        check_slopes(lambda theta, p=place: gap_of(theta, p), theta, gradients[place])
