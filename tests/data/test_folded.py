"""Unseen people answered by a mixture of fold models: exact expectations, person by person."""

import numpy as np
import pytest

from fairfl_core.data.scored import FoldedData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.scored import as_people, scored_network

FOLDS = 3


def folded(labels, rows=200):
    """The same people, scored by models that differ."""
    first = scored_network(3, 2, labels, rows=rows, seed=5)
    rng = np.random.default_rng(1)
    models = []
    for _ in range(FOLDS):
        logits = np.log(first.scores + 1e-3) + rng.normal(0, 0.8, first.scores.shape)
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        models.append(as_people(first.client, first.group, first.label, scores, 3, 2))
    return FoldedData(tuple(models))


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_what_is_told_is_the_expectation_over_the_fold_drawn(labels, region):
    people = folded(labels)
    assert len({tuple(model.predicted) for model in people.by_fold}) == FOLDS
    fair = predictor_of(
        FairnessProgram(scored_network(3, 2, labels, seed=2), "eo", region).solve(0.02, 0.05)
    )
    judged = evaluate(fair, people)
    chances = np.zeros((len(people), labels))
    own, leaves = np.zeros_like(chances), np.zeros(len(people))
    for model in people.by_fold:  # one person, one fold model at a time
        if fair.needs_scores:
            part = fair.chances_of(model)
        else:
            part = fair.lottery[model.client, model.group, model.predicted]
        chances += part / FOLDS
        own[np.arange(len(own)), model.predicted] += 1 / FOLDS
        leaves += (1 - part[np.arange(len(part)), model.predicted]) / FOLDS
    first = people.by_fold[0]
    for c, a, y, k in np.ndindex(judged.confusion.shape):
        rows = (first.client == c) & (first.group == a) & (first.label == y)
        assert judged.confusion[c, a, y, k] == pytest.approx(chances[rows, k].sum())
        assert judged.squares[c, a, y, k] == pytest.approx((chances[rows, k] ** 2).sum())
        assert judged.before.confusion[c, a, y, k] == pytest.approx(own[rows, k].sum())
        assert judged.before.squares[c, a, y, k] == pytest.approx((own[rows, k] ** 2).sum())
    for a in range(2):
        assert judged.changed[a] == pytest.approx(leaves[first.group == a].mean())
    right = chances[np.arange(len(people)), first.label].mean()
    assert judged.accuracy == pytest.approx(right)
    assert judged.counts.n == len(people)


def test_folds_hold_the_same_people():
    one = folded(2).by_fold[0]
    other = as_people(one.client, one.group, 1 - one.label, one.scores, 3, 2)
    with pytest.raises(InputError, match="each test person once a fold"):
        FoldedData((one, other))
