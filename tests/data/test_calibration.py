"""Whether scores mean what they say."""

import json

import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression

from fairfl_core.data.calibration import Calibration
from fairfl_core.errors import InputError
from tests.helpers.scored import as_people, scored_network, scored_people


def distorted(people, power=3.0):
    """Scores of a model that is far too sure of itself."""
    scores = people.scores**power
    return as_people(
        people.client,
        people.group,
        people.label,
        scores / scores.sum(axis=1, keepdims=True),
        len(people.clients),
        len(people.groups),
    )


@given(scored_people())
def test_the_maps_are_those_of_scikit_learn(people):
    for group, maps in enumerate(Calibration.fit(people).knots):
        mine = people.group == group
        for label, (at, value) in enumerate(maps):
            if not mine.any():
                continue
            peer = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
            peer.fit(people.scores[mine, label], (people.label[mine] == label).astype(float))
            asked = np.r_[people.scores[:, label], np.linspace(0, 1, 101)]
            np.testing.assert_allclose(
                np.interp(asked, at, value), peer.predict(asked), rtol=0, atol=1e-12
            )


@given(scored_people())
def test_recalibrated_scores_are_probabilities_and_json_brings_them_back(people):
    fitted = Calibration.fit(people)
    ready = people.recalibrated(fitted)
    np.testing.assert_allclose(ready.scores.sum(axis=1), 1.0)
    assert (ready.scores > 0).all() and (ready.predicted == people.predicted).all()
    value = json.loads(json.dumps(fitted.to_json(), allow_nan=False))
    back = Calibration.from_json(value, people.clients, people.groups, people.labels)
    np.testing.assert_array_equal(
        back.apply(people.client, people.group, people.scores), ready.scores
    )


@pytest.mark.parametrize("labels", [2, 4])
def test_it_mends_a_model_that_is_too_sure(labels):
    right, sure = scored_network(3, 2, labels, rows=4000, seed=1), 0
    wrong = distorted(right)
    rows = np.arange(len(wrong)) % 2 == 0
    half = as_people(
        wrong.client[rows], wrong.group[rows], wrong.label[rows], wrong.scores[rows], 3, 2
    )
    fitted = Calibration.fit(half)
    mended = fitted.apply(wrong.client[~rows], wrong.group[~rows], wrong.scores[~rows])
    sure = np.abs(wrong.scores[~rows] - right.scores[~rows]).mean()
    assert np.abs(mended - right.scores[~rows]).mean() < 0.35 * sure


def test_a_client_with_another_base_rate_is_shifted():
    people = scored_network(2, 2, 2, rows=6000, seed=2)
    flipped = np.where(
        (people.client == 1) & (np.random.default_rng(0).random(len(people)) < 0.4),
        1,
        people.label,
    )
    other = as_people(people.client, people.group, flipped, people.scores, 2, 2)
    ready = other.recalibrated(Calibration.fit(other))
    for c in range(2):
        rows = other.client == c
        assert ready.scores[rows, 1].mean() == pytest.approx(other.label[rows].mean(), abs=0.01)


def test_broken_maps_are_refused():
    people = scored_network(2, 2, 2)
    names = people.clients, people.groups, people.labels
    fitted = Calibration.fit(people)
    whole = fitted.to_json()
    for broken, says in (
        ([], "an object"),
        (whole | {"more": 1}, "unknown key"),
        (whole | {"knots": whole["knots"][:1]}, "one entry per group"),
        (whole | {"shift": [[0.0, "a"]] * 2}, "not a number"),
        (whole | {"shift": [[0.0, 99.0]] * 2}, "too large"),
        (whole | {"knots": [[[[0.5, 0.1], [0.0, 1.0]]] * 2] * 2}, "must rise"),
        (whole | {"knots": [[[[], []]] * 2] * 2}, "two lists"),
        (whole | {"knots": [[[[], [0.5]]] * 2] * 2}, "two lists"),
        (whole | {"knots": [[[[0.5], []]] * 2] * 2}, r'one entry per point \(1: "0"\)'),
    ):
        with pytest.raises(InputError, match=says):
            Calibration.from_json(broken, *names)
    farthest = whole | {"shift": [[0.0, 20.0]] * 2}  # where a fit ends at the latest
    assert Calibration.from_json(farthest, *names).shift.max() == 20
    with pytest.raises(InputError, match="already"):
        Calibration.fit(people.recalibrated(fitted))
    with pytest.raises(InputError, match="already"):
        people.recalibrated(fitted).recalibrated(fitted)
