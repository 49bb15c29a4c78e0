"""Clients drawn anew from the same people."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.resample import (
    largest_size,
    redraw,
    redraw_folded,
    redraw_people,
)
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InputError
from fairfl_core.privacy.mechanisms import Mechanism, what_if
from tests.helpers.scored import scored_network
from tests.helpers.strategies import count_tables

shares_of = st.lists(st.floats(0, 1), min_size=2, max_size=6)


@given(count_tables(), shares_of, st.integers(0, 10**6), st.data())
def test_sizes_and_shares_are_exact_and_nobody_is_invented(counts, shares, seed, data):
    most = largest_size(counts, shares)
    assume(most >= 2)
    sizes = [size for size in range(2, most + 1) if _possible(counts, shares, size)]
    size = data.draw(st.sampled_from(sizes))
    drawn = redraw(counts, shares, size, seed=seed)
    assert (drawn.n_client == size).all()
    first = drawn.table[:, 0].sum(axis=(1, 2))
    assert first.tolist() == [int(np.rint(share * size)) for share in shares]
    assert (drawn.table.sum(axis=0) <= counts.table.sum(axis=0)).all()
    assert (drawn.groups, drawn.labels) == (counts.groups, counts.labels)
    assert drawn.favourable == counts.favourable
    np.testing.assert_array_equal(drawn.table, redraw(counts, shares, size, seed=seed).table)


def _possible(counts, shares, size):
    pool = counts.table.sum(axis=(0, 2, 3))
    first = sum(int(np.rint(share * size)) for share in shares)
    return first <= pool[0] and len(shares) * size - first <= pool[1:].sum()


@given(count_tables(), shares_of)
def test_the_largest_size_is_possible_and_none_larger_is(counts, shares):
    most = largest_size(counts, shares)
    total = int(counts.n)
    possible = [size for size in range(2, total + 1) if _possible(counts, shares, size)]
    assert most == max(possible, default=0)


def test_impossible_draws_say_what_is_there():
    table = np.array([[[[5, 0], [0, 5]], [[20, 0], [0, 20]]]])
    counts = ClientCounts(table, ("a",), ("women", "men"), ("no", "yes"))
    with pytest.raises(InputError, match="2 clients of 10 .* need 16 women, but only 10"):
        redraw(counts, (0.8, 0.8), 10, seed=0)
    with pytest.raises(InputError, match="need 60 men, but only 40"):
        redraw(counts, (0.0, 0.0), 30, seed=0)
    for shares, size in (((1.2,), 5), ((-0.1,), 5), ((0.5,), 1), ((), 5)):
        with pytest.raises(InputError, match="between 0 and 1"):
            redraw(counts, shares, size, seed=0)
    with pytest.raises(InputError, match="no people"):
        redraw(what_if(counts, Mechanism(epsilon=1), seed=0), (0.5,), 4, seed=0)


def scored(rng, people=300):
    score = rng.random(people)  # all different: a score is a person's name here
    label, said = rng.integers(0, 2, people), rng.integers(0, 2, people)
    return ScoredData(
        client=rng.integers(0, 3, people),
        group=rng.integers(0, 3, people),
        label=label,
        scores=np.stack([1 - score, score], axis=1),
        predicted=said,
        clients=("a", "b", "c"),
        groups=("x", "y", "z"),
        labels=("no", "yes"),
        favourable="yes",
    )


@given(st.integers(0, 10**6), st.lists(st.floats(0.2, 0.5), min_size=2, max_size=4))
def test_people_are_drawn_as_their_counts_are_and_nobody_twice(seed, shares):
    people = scored(np.random.default_rng(seed))
    drawn = redraw_people(people, shares, 40, seed=(seed, 1))
    expected = redraw(people.counts, shares, 40, seed=(seed, 1))
    np.testing.assert_array_equal(drawn.counts.table, expected.table)
    assert drawn.clients == expected.clients
    name = {score: place for place, score in enumerate(people.scores[:, 1])}
    who = [name[score] for score in drawn.scores[:, 1]]
    assert len(set(who)) == len(who) == 40 * len(shares)
    for column in ("group", "label", "predicted"):
        np.testing.assert_array_equal(getattr(drawn, column), getattr(people, column)[who])
    again = redraw_people(people, shares, 40, seed=(seed, 1))
    np.testing.assert_array_equal(again.scores, drawn.scores)


def test_recalibrated_people_are_not_drawn_anew():
    people = scored(np.random.default_rng(0))
    with pytest.raises(InputError, match="draw clients first"):
        redraw_people(people.recalibrated(Calibration.fit(people)), (0.3, 0.3), 20, seed=0)


def test_people_of_several_models_are_drawn_with_all_their_scores():
    """Scores are made to tell who a person is, so that a draw can be followed."""
    rng = np.random.default_rng(3)
    first = scored_network(2, 2, 2, rows=150, seed=1)
    who = (np.arange(len(first)) + 1) / (len(first) + 1)
    models = []
    for _ in range(3):
        order = rng.permutation(len(first))  # a score names one person in each model
        score = who[order]
        models.append(
            replace(
                first, scores=np.stack([1 - score, score], axis=1), predicted=(score > 0.5) + 0
            )
        )
    drawn = redraw_folded(FoldedData(tuple(models)), [0.2, 0.5], 40, seed=4)
    assert drawn.counts.n_client.tolist() == [40, 40]
    assert (drawn.counts.table == redraw(models[0].counts, [0.2, 0.5], 40, seed=4).table).all()
    place = {score: row for row, score in enumerate(models[0].scores[:, 1])}
    rows = [place[score] for score in drawn.by_fold[0].scores[:, 1]]
    assert len(set(rows)) == 80
    for model, mine in zip(models, drawn.by_fold, strict=True):
        np.testing.assert_array_equal(mine.scores, model.scores[rows])
        np.testing.assert_array_equal(mine.predicted, model.predicted[rows])
        np.testing.assert_array_equal(mine.group, first.group[rows])
